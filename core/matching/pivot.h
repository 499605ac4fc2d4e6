// Phrases of a text by what they translate to (specification §6): the words are segmented into phrases of a table
// (language/pivot/phrase_table.h), their options form a confusion network, and its n-grams are the bags of pivot_bags.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/flat_table.h"
#include "base/fork_safe.h"
#include "language/analysis/lexicon.h"
#include "language/pivot/phrase_table.h"
#include "matching/bags.h"

namespace tesla {

inline constexpr int kLongestPivotNgram = 4;  // what PEM needs (specification §13); TESLA-B takes three

struct PivotSettings {
    double min_probability;  // options with this probability or less are dropped, save the best one
    double min_ngram;        // n-grams with this summed probability or less are dropped
};

// A word of the pivot language, or a word of the text that the table does not know. Numbers from `pivot.size()` on
// stand for lemmas of the lexicon that are no pivot words.
struct PivotWord {
    std::uint32_t lemma;
    std::uint8_t tag;
    bool function;
};

struct PivotOption {
    double probability;
    std::uint32_t first, size;  // in Network::words
};
struct PivotSegment {
    std::uint32_t start, end;           // tokens of the text
    std::uint32_t first_option, options;  // in Network::options
};
struct PivotNetwork {
    std::vector<PivotSegment> segments;
    std::vector<PivotOption> options;
    std::vector<PivotWord> words;
};

// An n-gram of the network: its words, its summed probability before any discount.
struct PivotNgram {
    WideKey lemmas;       // one more than each number, so that shorter n-grams differ from longer ones
    std::uint64_t tags;   // likewise
    int functions;        // how many function words
    double probability;

    std::uint32_t lemma(int from_end) const;  // of the last word (0), the one before it (1), ...
    std::uint8_t tag(int from_end) const;
};

// What a table knows of a lemma: its number among the target words, or WordList::kMissing, and among the pivot words.
struct PivotLemma {
    std::uint32_t target, pivot;
};

// The tokens of one text.
struct PivotTokens {
    const PivotLemma* lemma;
    const std::uint8_t* universal;
    const std::uint8_t* function;
    std::size_t size;
};

// Lemmas of one lexicon that were looked up in one table: most batches hold hardly a new one. Serves many threads.
class PivotLemmaCache {
   public:
    // Of every token of a batch.
    std::vector<PivotLemma> look_up(const PhraseTable& table, const Lexicon& lexicon, const std::uint32_t* lemmas,
                                    std::size_t count);

   private:
    static constexpr PivotLemma kUnknown{0, WordList::kMissing};  // no lemma has that pivot

    ForkSafe<std::mutex> mutex_;
    std::uint64_t lexicon_ = 0;  // the serial number of the lexicon that the lemmas belong to
    std::vector<PivotLemma> known_;
};

// Equal n-grams to one, which stands where the first of them stood: sums run in the order in which n-grams were met,
// whatever the numbers of their words.
class NgramMerger {
   public:
    void merge(std::vector<PivotNgram>& ngrams);

   private:
    FlatTable<> places_;
};

// Builds networks and bags; one object serves one thread and keeps its working memory between texts.
class PivotBuilder {
   public:
    PivotBuilder(const PhraseTable& table, const PivotSettings& settings, int longest)
        : table_(table), settings_(settings), longest_(longest) {}

    const PivotNetwork& network(const PivotTokens& text);
    // The n-grams of the last network, those of n words in [n - 1], each once, pruned.
    const std::vector<PivotNgram>* ngrams();

   private:
    void segment(const PivotTokens& text);
    void add_segment(const PivotSegment& segment);

    const PhraseTable& table_;
    PivotSettings settings_;
    int longest_;
    PivotNetwork network_;
    struct Step {
        double score;
        std::uint32_t phrases, length, node;
    };
    std::vector<Step> steps_;
    NgramMerger merger_;
    // Runs of words that end where a segment ends, by their length; and all n-grams.
    std::vector<PivotNgram> runs_[kLongestPivotNgram], next_[kLongestPivotNgram], ngrams_[kLongestPivotNgram];
};

}  // namespace tesla
