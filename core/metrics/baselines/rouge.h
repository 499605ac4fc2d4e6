// ROUGE (Lin 2004) as rouge-score computes it, and ROUGE-SU4, which rouge-score does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "language/analysis/tokeniser.h"
#include "metrics/baselines/bag_overlap.h"
#include "metrics/baselines/references.h"
#include "metrics/baselines/subsequence.h"
#include "metrics/baselines/word_texts.h"

namespace tesla {

// Adds the words of a text as rouge-score cuts it: runs of a to z and 0 to 9. The text is in small letters already.
void add_rouge_words(std::string_view text, WordTexts& texts);
// Adds the words of a text in NFC as a tokeniser of ours cuts it.
void add_tokenised_words(std::string_view text, const Tokeniser& tokeniser, WordTexts& texts);
// Puts the stem of NLTK's Porter stemmer in the place of every word.
void stem_rouge_words(WordTexts& texts);

enum class RougeKind {
    Unigrams,      // ROUGE-1
    Bigrams,       // ROUGE-2
    Subsequence,   // ROUGE-L
    Subsequences,  // ROUGE-Lsum: sentence by sentence
    SkipBigrams,   // ROUGE-SU4: unigrams and pairs of words with up to four words between them
};
// By its name in ROUGE: 1, 2, L, Lsum, SU4. Throws std::invalid_argument for another one.
RougeKind rouge_kind(std::string_view name);

struct RougeMeasures {
    double precision = 0.0, recall = 0.0, f = 0.0;
};

// A text is a list of sentences, of which only ROUGE-Lsum has more than one. One object serves one thread.
class RougeMatcher {
   public:
    using Sentences = std::vector<WordSequence>;

    // Words have numbers below `vocabulary`.
    RougeMatcher(RougeKind kind, std::size_t vocabulary) : kind_(kind), left_(kind == RougeKind::Subsequences ? vocabulary : 0) {}

    RougeMeasures match(const Sentences& reference, const Sentences& hypothesis);

   private:
    struct LeftWords {
        std::int64_t in_reference = 0, in_hypothesis = 0;
    };
    // The items that are counted in a text: words, pairs of words, or both.
    void list_items(const WordSequence& text, std::vector<std::uint64_t>& items) const;
    RougeMeasures match_items(const WordSequence& reference, const WordSequence& hypothesis);
    RougeMeasures match_summaries(const Sentences& reference, const Sentences& hypothesis);

    RougeKind kind_;
    BagOverlap overlap_;
    CommonSubsequence subsequence_;
    std::vector<std::uint64_t> reference_items_, hypothesis_items_;
    std::vector<LeftWords> left_;  // words that no match has used, by number; all 0 between calls
    std::vector<char> marked_;
};

// Of every pair precision, recall and F with the reference under which measure 0, 1 or 2 of these is highest. Text i is the sentences
// from offsets[i] to offsets[i + 1].
std::vector<double> match_rouge(const WordTexts& sentences, const ArrayView<std::int64_t>& offsets,
                                const ArrayView<std::int64_t>& hypotheses, const ReferenceIndex& references, RougeKind kind,
                                int measure);

}  // namespace tesla
