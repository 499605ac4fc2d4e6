// Numbers for the lemmas of two texts in the order in which they are first met, as FirstMet gives them. Most texts are so short
// that a small table serves them, which never grows. No key has to protect it: even if all lemmas want the same slot, there are
// few of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_table.h"

namespace tesla {

// One object serves one thread and keeps its memory.
class LemmaNumbers {
   public:
    // For texts with so many tokens in all.
    void reset(std::size_t tokens) {
        few_ = tokens <= kFew;
        if (!few_) return many_.reset(tokens);
        slots_.fill({});
        met_ = 0;
    }
    // The numbers of the lemmas of one of the texts.
    template <class Lemmas>
    void number(const Lemmas& lemmas, std::vector<std::uint32_t>& numbers) {
        numbers.resize(lemmas.size());
        if (few_) {
            number_few(lemmas.data(), lemmas.size(), numbers.data());
        } else {
            std::transform(lemmas.begin(), lemmas.end(), numbers.begin(), [this](auto lemma) { return many_.number_of(lemma); });
        }
    }

   private:
    static constexpr std::size_t kFew = 128, kSlots = 2 * kFew;
    struct Slot {
        std::uint32_t lemma = 0, mark = 0;  // one more than the number; 0: the slot is free
    };

    // Whether a lemma is new nobody could foresee: the only branch is whether another one has the slot. Compilers make two of
    // `&&`, but none of a minimum.
    void number_few(const std::uint32_t* lemmas, std::size_t size, std::uint32_t* numbers) {
        std::uint32_t met = met_;
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t lemma = lemmas[i];
            std::size_t place = lemma % kSlots;
            while (std::min(slots_[place].lemma ^ lemma, slots_[place].mark) != 0) place = (place + 1) % kSlots;
            Slot& slot = slots_[place];
            const std::uint32_t fresh = slot.mark == 0;
            met += fresh;
            slot.lemma = lemma;
            slot.mark += fresh * met;
            numbers[i] = slot.mark - 1;
        }
        met_ = met;
    }

    std::array<Slot, kSlots> slots_{};
    std::uint32_t met_ = 0;  // lemmas
    bool few_ = true;
    FirstMet many_;
};

}  // namespace tesla
