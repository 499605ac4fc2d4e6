// Numbers for the lemmas of two texts in the order in which they are first met, as FirstMet gives them. Most texts are so short
// that a table which is neither cleared nor grown serves them: no key has to protect it, since even if all lemmas want the same
// slot, there are few of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/flat_table.h"

namespace tesla {

// One object serves one thread and keeps its memory.
class LemmaNumbers {
   public:
    // For texts with so many tokens in all.
    void reset(std::size_t tokens) {
        few_ = tokens <= kFew;
        if (!few_) many_.reset(tokens);
        if (next_ > std::numeric_limits<std::uint32_t>::max() - kFew) {
            slots_.fill({});
            next_ = 1;
        }
        first_ = next_;
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
    // A slot is free if its mark is below first_: marks grow from one pair of texts to the next.
    struct Slot {
        std::uint32_t lemma = 0, mark = 0;
    };

    // Whether lemmas are new nobody could foresee: the only branch is whether another one has the slot.
    void number_few(const std::uint32_t* lemmas, std::size_t size, std::uint32_t* numbers) {
        const std::uint32_t first = first_, last_free = first - 1;
        std::uint32_t next = next_;
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t lemma = lemmas[i];
            std::size_t place = lemma % kSlots;
            const auto is_taken = [&](const Slot& slot) {
                return std::min(slot.lemma ^ lemma, std::max(slot.mark, last_free) - last_free) != 0;
            };
            while (is_taken(slots_[place])) place = (place + 1) % kSlots;
            const std::uint32_t known = slots_[place].mark;
            const bool fresh = known < first;
            const std::uint32_t mark = fresh ? next : known;
            slots_[place] = {lemma, mark};
            next += fresh;
            numbers[i] = mark - first;
        }
        next_ = next;
    }

    std::array<Slot, kSlots> slots_{};
    std::uint32_t first_ = 1, next_ = 1;  // marks: the first and the next one of these texts
    bool few_ = true;
    FirstMet many_;
};

}  // namespace tesla
