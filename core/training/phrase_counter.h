// core/training: the makers of what other rooms read.
//
// - tagger_trainer.h, segmenter_trainer.h and span_trainer.h (the parser) learn weights from annotated text;
// - ngram_estimator.h estimates language models; ngram_sorter.h sorts more n-grams than fit into memory;
// - word_aligner.h aligns the words of translations (alignment_chain.h has its model);
// - phrase_counter.h makes phrase tables:
//
// Aligned sentences to phrase pairs (specification §6): alignment and extraction (phrase_alignment.cpp), counts in
// runs on disk (phrase_runs.h), and their merge into the arrays of a phrase table (phrase_merge.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "training/phrase_runs.h"

namespace tesla {

using Link = std::pair<std::uint16_t, std::uint16_t>;  // target word, pivot word
using Links = std::vector<Link>;

inline constexpr std::size_t kLongestSentence = 255;
// "0-0 1-2 …" (Pharaoh); throws std::invalid_argument for anything else, for words that are not there, and for longer sentences.
Links parse_links(std::string_view line, std::size_t target_size, std::size_t pivot_size);
// Grow-diag-final-and of the two directions (Koehn et al. 2003); ascending.
Links symmetrised(const Links& forward, const Links& reverse, std::size_t target_size, std::size_t pivot_size);

struct PhrasePair {
    std::uint8_t target_start, target_size, pivot_start, pivot_size;
};
// All phrase pairs that are consistent with the links, unaligned words at their edges included.
std::vector<PhrasePair> consistent_pairs(const Links& links, std::size_t target_size, std::size_t pivot_size);

// The arrays of a phrase table, see phrase_table.h.
struct TableArrays {
    std::vector<std::string> target_words, pivot_words;
    std::vector<std::uint32_t> node_word, node_child, node_count, node_option, option_phrase, option_count, phrase_ends,
        phrase_words;
    std::uint64_t total = 0, phrases = 0, pairs = 0;  // before pruning
};

class PhraseCounter {
   public:
    // Sentence pairs as words separated by spaces, with their links in both directions, or twice the same views of links.
    void add_sentences(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot,
                       const std::vector<std::string_view>& forward, const std::vector<std::string_view>& reverse);
    // Phrase pairs with their counts.
    void add_pairs(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot,
                   const ArrayView<std::uint32_t>& counts);
    std::size_t pending() const { return pending_.size(); }
    void write_run(const std::string& path);
    // Counts of all runs; phrases below `min_count` and options with `min_probability` or less (save the best) go.
    TableArrays merge(const std::vector<std::string>& paths, std::uint32_t min_count, double min_probability) const;

   private:
    class Vocabulary {
       public:
        std::uint32_t number(std::string_view word);
        const std::vector<std::string>& words() const { return words_; }
        std::vector<std::uint32_t> ranks() const;  // the place of every word in ascending order

       private:
        std::unordered_map<std::string, std::uint32_t> numbers_;
        std::vector<std::string> words_;
    };
    void add_sentence(std::string_view target, std::string_view pivot, const Links& links);
    void add_pair(std::string_view target, std::string_view pivot, std::uint32_t count);
    static void numbers_of(std::string_view line, Vocabulary& vocabulary, std::vector<std::uint32_t>& numbers);

    static std::uint64_t next_id();

    const std::uint64_t id_ = next_id();  // of the runs that this counter writes
    Vocabulary target_, pivot_;
    std::vector<PhraseCount> pending_;
    std::vector<std::uint32_t> target_line_, pivot_line_;
};

}  // namespace tesla
