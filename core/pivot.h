// From the words of a text to its pivot n-grams (SPEC §6): segmentation, confusion network, bags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "bags.h"
#include "lexicon.h"
#include "phrase_table.h"

namespace tesla {

inline constexpr int kLongestPivotNgram = 4;  // what PEM needs (SPEC §13); TESLA-B takes three

struct PivotSettings {
    double min_probability = 0.1;  // options with this probability or less are dropped, save the best one
    double min_ngram = 0.01;       // n-grams with this summed probability or less are dropped
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
};

// The tokens of one text.
struct PivotTokens {
    const std::uint32_t* lemma;
    const std::uint8_t* universal;
    const std::uint8_t* function;
    std::size_t size;
};

// What the table knows of the lemmas of a batch.
class PivotLookup {
   public:
    PivotLookup(const PhraseTable& table, const Lexicon& lexicon, const std::uint32_t* lemmas, std::size_t count);

    std::uint32_t target(std::uint32_t lemma) const { return entries_[place(lemma)].target; }  // or WordList::kMissing
    std::uint32_t pivot(std::uint32_t lemma) const { return entries_[place(lemma)].pivot; }

   private:
    struct Entry {
        std::uint32_t lemma, target, pivot;
    };
    std::size_t place(std::uint32_t lemma) const { return places_[lemma]; }

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> places_;  // by lemma
};

// Builds networks and bags; one object serves one thread and keeps its working memory between texts.
class PivotBuilder {
   public:
    PivotBuilder(const PhraseTable& table, const PivotLookup& lookup, const PivotSettings& settings, int longest)
        : table_(table), lookup_(lookup), settings_(settings), longest_(longest) {}

    const PivotNetwork& network(const PivotTokens& text);
    // The n-grams of the last network, those of n words in [n - 1], each once, pruned.
    const std::vector<PivotNgram>* ngrams();

   private:
    // A run of words that ends where a segment ends, with the summed probability of the options it runs through.
    struct Run {
        PivotNgram ngram;
        std::uint32_t order;  // when it was first met: sums run in this order, whatever the words' numbers
    };
    void segment(const PivotTokens& text);
    void add_segment(const PivotSegment& segment);
    static void merge(std::vector<Run>& runs);
    void emit(int n, const PivotNgram& ngram) {
        found_[n - 1].push_back({ngram, static_cast<std::uint32_t>(found_[n - 1].size())});
    }

    const PhraseTable& table_;
    const PivotLookup& lookup_;
    PivotSettings settings_;
    int longest_;
    PivotNetwork network_;
    struct Step {
        double score;
        std::uint32_t phrases, length, node;
    };
    std::vector<Step> steps_;
    std::vector<Run> runs_[kLongestPivotNgram], next_[kLongestPivotNgram], found_[kLongestPivotNgram];
    std::vector<PivotNgram> ngrams_[kLongestPivotNgram];
};

}  // namespace tesla
