// The interned words of one analysis: every word type is looked at once, every later token is an integer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/analysis/tagger.h"
#include "language/analysis/tokeniser.h"
#include "base/flat_table.h"
#include "base/fork_safe.h"
#include "base/keyed_hash.h"
#include "base/large_pages.h"
#include "base/portable.h"

namespace tesla {

// An array that grows without moving its elements, so that readers need no lock: what size() counts is filled.
template <class T>
class StableArray {
   public:
    std::size_t size() const { return size_.load(std::memory_order_acquire); }
    T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
    const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
    // Room for one more element: where this returns, `append` cannot fail. Callers of both hold the writer's lock.
    void prepare() {
        std::size_t chunk = size() / kChunk;
        if (chunk >= chunks_.size()) throw std::length_error("the vocabulary is full");
        if (chunks_[chunk]) return;
        T* const memory = LargePages<T>().allocate(kChunk);
        std::uninitialized_default_construct_n(memory, kChunk);  // plain data is not cleared: it is filled later
        chunks_[chunk].reset(memory);
    }
    template <class Fill>
    void append(Fill&& fill) {
        std::size_t i = size();
        static_assert(noexcept(fill(std::declval<T&>())), "filling an element must not throw: the array would be left half grown");
        fill((*this)[i]);
        size_.store(i + 1, std::memory_order_release);
    }

   private:
    static constexpr std::size_t kChunk = 4096;
    struct Release {
        void operator()(T* chunk) const {
            std::destroy_n(chunk, kChunk);
            LargePages<T>().deallocate(chunk, kChunk);
        }
    };
    std::array<std::unique_ptr<T[], Release>, 8192> chunks_;
    std::atomic<std::size_t> size_{0};
};

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

    const WordFeatures* features = nullptr;  // for the tagger
    std::vector<CompoundPart> parts;         // empty: not a compound; written before `lemma` is
    std::atomic<std::uint32_t> lemma{kUndefined};
    bool alphanumeric = false;  // has a letter or a digit: takes part in matching
};

// Keeps equal features once: numbers with as many digits look the same to a tagger, and so do many rare words.
class FeatureStore {
   public:
    const WordFeatures* keep(const WordFeatures& features);

   private:
    // Of different features with one hash, no more are found again: nobody can make it search for long.
    static constexpr std::size_t kMostAlike = 8;

    StableArray<WordFeatures> kept_;
    FlatTable<> numbers_{128};
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
        const std::size_t steps = (size + kStep - 1) / kStep;
        // Multiples of the golden section lie far from each other, however many they are.
        const std::size_t first = static_cast<std::uint64_t>(others_ * 0x9E3779B9U) * steps >> 32;
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
    explicit Lexicon(const Tagger* tagger) : tagger_(tagger) {}

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
    ForkSafe<std::mutex> features_mutex_, lemmas_mutex_, definitions_mutex_;
    std::atomic<std::uint32_t> entering_{0}, defining_{0};  // threads
    Interner word_ids_, lemma_ids_;
    FeatureStore features_;
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

   private:
    Lexicon& lexicon_;
    RecentWords recent_;
    std::vector<std::uint32_t> known_;  // ids of words by their numbers in `recent_`
    std::vector<HashedText> fresh_;     // of the words that are read, those that were not recognised
};

}  // namespace tesla
