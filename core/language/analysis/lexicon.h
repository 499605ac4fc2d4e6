// The interned words of one analysis: every word type is looked at once, every later token is an integer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_table.h"
#include "base/fork_safe.h"
#include "base/hashing.h"
#include "base/keyed_hash.h"
#include "base/portable.h"
#include "base/rounding.h"
#include "base/stable_array.h"
#include "language/analysis/feature_store.h"
#include "language/analysis/tagger.h"
#include "language/analysis/tokeniser.h"

namespace tesla {

// Fills up rows of words: no word and no lemma has this number.
inline constexpr std::uint32_t kNoWord = FlatTable<>::kMissing;

// A text and its hash, which is computed once.
struct HashedText {
    HashedText(std::string_view given) : text(given), hash(table_hash(given)) {}

    std::string_view text;
    std::uint32_t hash;
};

// Strings to consecutive integers.
class Interner {
   public:
    static constexpr std::uint32_t kMissing = FlatTable<>::kMissing;

    std::uint32_t find(const HashedText& key) const;  // under the reader's lock
    void find_all(const HashedText* keys, std::size_t count, std::uint32_t* ids) const;  // the same for many
    std::uint32_t intern(const HashedText& key);  // under the writer's lock; nothing is changed where it throws
    std::size_t size() const { return keys_.size(); }
    const std::string& key(std::uint32_t id) const { return keys_[id]; }

   private:
    StableArray<std::string> keys_;
    FlatTable<> ids_{512};
};

// A part of a compound: its word type, and where it lies in the compound (code points).
struct CompoundPart {
    std::uint32_t word, start, end;
};

struct WordType {
    static constexpr std::uint32_t kUndefined = 0xFFFFFFFF;

    const WordFeatures* features = nullptr;  // for the tagger, if there is one
    std::vector<CompoundPart> parts;         // empty: not a compound; written before `lemma` is
    std::atomic<std::uint32_t> lemma{kUndefined};
    bool alphanumeric = false;  // has a letter or a digit: takes part in matching
};

// A lemma and its senses, as they are handed over.
struct LemmaSenses {
    std::string_view text;
    const std::uint32_t* senses;
    std::size_t count;
};

struct WordDefinition {
    std::uint32_t word, lemma;
    std::vector<CompoundPart> parts;
};

// One bit a sense, hashed: no common bit, no common sense. Few lemmas have a sense in common, and many have many senses,
// so that a narrow signature asks first and a wide one asks again.
using WideSignature = std::array<std::uint64_t, 4>;

class Lemma {
   public:
    Lemma() = default;
    explicit Lemma(const LemmaSenses& given);

    const std::vector<std::uint32_t>& senses() const { return known_ ? known_->senses : kNone; }  // ascending
    std::uint64_t signature() const { return signature_; }  // the words of the wide one on top of each other
    bool shares_sense(const Lemma& other) const;
    void prefetch() const { prefetch_memory(known_.get()); }  // asks for the memory that `shares_sense` will need

   private:
    struct Known {
        WideSignature signature{};
        std::vector<std::uint32_t> senses;
    };
    static const std::vector<std::uint32_t> kNone;

    std::uint64_t signature_ = 0;
    std::unique_ptr<Known> known_;  // none for a lemma without senses, as most rare words are
};

// New words that several threads may meet at the same time. Each thread begins at another place and goes round in small steps,
// so that it can leave out at every step what others have done meanwhile.
class SharedRound {
   public:
    explicit SharedRound(std::atomic<std::uint32_t>& threads) : threads_(threads), others_(threads.fetch_add(1)) {}
    ~SharedRound() { threads_.fetch_sub(1); }
    SharedRound(const SharedRound&) = delete;

    template <class Step>
    void go(std::size_t size, Step&& step) const {  // step(from, to)
        const std::size_t steps = units_of(size, kStep);
        // Multiples of the golden section lie far from each other, however many they are.
        const std::size_t first = static_cast<std::uint64_t>(others_ * static_cast<std::uint32_t>(kGolden >> 32)) * steps >> 32;
        for (std::size_t k = 0; k < steps; ++k) {
            const std::size_t from = (first + k) % steps * kStep;
            step(from, std::min(from + kStep, size));
        }
    }

   private:
    static constexpr std::size_t kStep = 256;

    std::atomic<std::uint32_t>& threads_;
    const std::uint32_t others_;  // at work when this one began
};

class Lexicon {
   public:
    explicit Lexicon(const Tagger* tagger) : tagger_(tagger) {
        if (tagger) features_.emplace(*tagger);
    }

    // Batches, because each takes a lock once. Ids of the tokens' word types; a type not seen before is interned.
    std::vector<std::uint32_t> intern_words(const std::vector<std::string_view>& words);
    std::vector<std::uint32_t> find_words(const std::vector<HashedText>& words);  // Interner::kMissing: not seen
    std::vector<std::uint32_t> intern_lemmas(const std::vector<LemmaSenses>& lemmas);
    void define_words(std::vector<WordDefinition>&& definitions);

    WordType& word(std::uint32_t id) { return words_[id]; }
    const Lemma& lemma(std::uint32_t id) const { return lemmas_[id]; }
    const std::string& form(std::uint32_t id) const { return word_ids_.key(id); }
    const std::string& lemma_text(std::uint32_t id) const { return lemma_ids_.key(id); }
    std::uint64_t serial() const { return serial_; }  // no two lexicons of a process have the same
    std::size_t word_count() const { return words_.size(); }
    std::size_t lemma_count() const { return lemmas_.size(); }
    const Tagger* tagger() const { return tagger_; }
    bool has_compounds() const { return has_compounds_.load(std::memory_order_acquire); }
    bool is_defined(std::uint32_t id) const { return words_[id].lemma.load(std::memory_order_acquire) != WordType::kUndefined; }
    SharedRound begin_defining() { return SharedRound(defining_); }

   private:
    friend class WordReader;

    std::vector<std::uint32_t> intern_distinct(const std::vector<HashedText>& words);
    std::size_t enter(const std::vector<HashedText>& words, std::uint32_t* ids);  // how many had not been entered
    static std::uint64_t next_serial() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    const std::uint64_t serial_ = next_serial();
    const Tagger* tagger_;
    // Several locks, so that a thread that defines words never waits for one that tokenises.
    ForkSafe<std::shared_mutex> words_mutex_;
    ForkSafe<std::mutex> lemmas_mutex_, definitions_mutex_;
    std::atomic<std::uint32_t> entering_{0}, defining_{0};  // threads
    std::atomic<bool> has_compounds_{false};
    Interner word_ids_, lemma_ids_;
    std::optional<FeatureStore> features_;  // none without a tagger
    StableArray<WordType> words_;
    StableArray<Lemma> lemmas_;
};

// Recognises words that a batch has had lately, by their bytes alone. It forgets, and knows short words only.
class RecentWords {
   public:
    explicit RecentWords(std::size_t words) : slots_(slots_for(words)) {}

    // The number that was given with this word before, or else `number`, which it keeps.
    std::uint32_t number_of(std::string_view word, std::uint32_t number) {
        if (word.empty() || word.size() > kShortText) return number;
        const std::uint64_t bytes = short_text(word);
        Slot& slot = slots_[table_hash(bytes) & (slots_.size() - 1)];
        if (slot.word != bytes) slot = {bytes, number};
        return slot.number;
    }

   private:
    struct Slot {
        std::uint64_t word = 0;
        std::uint32_t number = 0;
    };
    static std::size_t slots_for(std::size_t words);
    static constexpr std::size_t kMostSlots = 2048;

    std::vector<Slot> slots_;
};

// Enters the words of a batch into a lexicon, some at a time: the memory for some stays in the cache.
class WordReader {
   public:
    // About so many words are to come.
    WordReader(Lexicon& lexicon, std::size_t words) : lexicon_(lexicon), recent_(words) {}

    // `ids` are those of the words.
    void read(const std::vector<std::string_view>& words, std::vector<std::uint32_t>& ids);
    // All ids so far, in order of appearance; an id may be there several times, but far less often than the word was read.
    const std::vector<std::uint32_t>& ids() const { return known_; }

   private:
    Lexicon& lexicon_;
    RecentWords recent_;
    std::vector<std::uint32_t> known_;  // ids of words by their numbers in `recent_`
    std::vector<HashedText> fresh_;     // of the words that are read, those that were not recognised
};

}  // namespace tesla
