// core/matching: two bags and a similarity in, the exact optimum out (specification §2 to §5).
//
// - bags.h makes the weighted n-grams of one text, text_bags.h those of a batch, and matches pairs of them. A similarity that is
//   identity has a closed form (KeyBag::overlap); the others are a transport problem, set up here and solved by
//   small_transport.h, settled_transport.h and transport.h; checked_transport.h solves problems of callers that are not trusted;
// - explanation.h gives the flow of one pair, measures.h holds precision, recall and F;
// - pivot.h makes networks of pivot phrases and their n-grams, pivot_bags.h the bags of a batch (§6);
// - characters.h, surface.h, guards.h and vectors.h with vector_texts.h see what TESLA-X adds (§8b), states.h with state_texts.h what
//   TESLA-N does (§8c), ngram_overlap.h counts shared n-grams (§13); equal_words.h finds the equal words of two sentences;
// - celab/ matches words without a tokeniser (§9).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/share.h"
#include "language/analysis/lexicon.h"
#include "matching/bags.h"
#include "matching/settled_transport.h"
#include "matching/small_transport.h"
#include "matching/transport.h"

namespace tesla {

enum class Similarity { MaxSim, Lemma, Tag };  // specification §3: ms, lem, pos
Similarity similarity_named(std::string_view name);

struct Feature {
    Similarity similarity;
    int n;
    int gap = 0;  // bigrams of lemmas: as many tokens may stand between the two

    bool operator==(const Feature& o) const { return similarity == o.similarity && n == o.n && gap == o.gap; }
};

// What specification §4 derives from an optimum. The objective and the totals are whole numbers in units of
// 1 / (2n * unit(n)), so that the ratios below are the only roundings.
struct Match {
    std::int64_t objective = 0, reference = 0, hypothesis = 0;

    double precision() const { return share_of(objective, hypothesis); }
    double recall() const { return share_of(objective, reference); }
    // P R / (alpha P + (1 - alpha) R), with P and R written out.
    double f(double alpha) const {
        auto r = static_cast<double>(reference), h = static_cast<double>(hypothesis);
        double denominator = h + alpha * (r - h);
        return objective == 0 ? 0.0 : static_cast<double>(objective) / denominator;
    }
};

struct FlowEntry {
    std::uint32_t reference, hypothesis;  // rows of the two bags
    std::int32_t gain;                    // similarity in units of 1 / (2n)
    std::int64_t amount;                  // in units of the bag's weights
};

// Matches bags of (lemma, tag) symbols under MaxSim's similarity. One object serves one thread; it keeps its memory.
class MaxSimMatcher {
   public:
    // Pairs of texts with more pairs of distinct symbols than this go through hubs: linear instead of quadratic size.
    static constexpr std::size_t kDenseCells = std::size_t{1} << 20;
    // So do orders with more pairs of similar n-grams than this: long texts of few words. Pairs that only a sense links go
    // through no hub: a pair of texts with more than this of them is refused (TextTooLong).
    static constexpr std::size_t kMostArcs = std::size_t{1} << 21;

    explicit MaxSimMatcher(const Lexicon& lexicon, std::size_t dense_cells = kDenseCells)
        : lexicon_(lexicon), dense_cells_(dense_cells) {}

    void begin_pair(const SymbolBag& reference, const SymbolBag& hypothesis);
    std::int64_t optimum(int n);  // the objective, in units of 1 / (2n * unit(n))
    std::int64_t optimum_with_flow(int n);  // the same, and `flow` can be asked for
    std::vector<FlowEntry> flow() const;    // ascending

   private:
    // Similarity of two symbols in halves: 0, 1 or 2.
    std::uint8_t symbol_similarity(std::uint32_t x, std::uint32_t y) const;
    // A symbol of y that is similar to one of x.
    struct Link {
        std::uint32_t to;
        std::uint8_t similarity;
    };
    // A symbol of y whose lemma has senses.
    struct Sensed {
        std::uint32_t symbol;
        std::uint64_t signature;
    };
    static constexpr std::uint32_t kAtOnce = 8;  // symbols of y
    void fill_matrix();
    void fill_row(std::uint32_t symbol_x, std::uint8_t* row);
    void link_symbols();
    void add_links(const std::uint8_t* row);
    std::int64_t optimum_of_sentences(int n);
    // Calls `visit` with the pairs of rows that are similar at every position, and what they gain. False, and not all are
    // visited, where they are more than kMostArcs.
    template <class Visit>
    bool visit_similar_rows(int n, Visit visit);
    template <int n, class Visit>
    bool visit_similar(Visit visit);
    void begin_transport(int n);
    std::int64_t optimum_through_hubs(int n);
    void add_hub_arcs(int n);
    void add_sense_arcs(int n);
    std::int32_t row_gain(int n, std::uint32_t row_x, std::uint32_t row_y) const;

    const Lexicon& lexicon_;
    std::size_t dense_cells_;
    const SymbolBag* x_ = nullptr;
    const SymbolBag* y_ = nullptr;
    bool dense_ = true;
    std::vector<const Lemma*> lemma_x_, lemma_y_;
    std::vector<Sensed> sensed_y_;
    std::vector<std::uint32_t> alike_y_;     // symbols of y that may share a sense with one of x
    std::vector<std::uint8_t> matrix_;       // dense: similarity of symbol pairs
    std::size_t stride_ = 0;                 // between its rows, as SmallTransport has them; zeros fill them up
    std::vector<std::uint32_t> lemmas_y_;    // the symbols of y, as many as a row has places
    std::vector<std::uint16_t> tags_y_;
    std::vector<std::uint32_t> link_first_;  // dense: for every symbol of x its links; made when they are needed
    std::vector<Link> links_;
    std::array<std::vector<std::uint8_t>, kMaxOrder - 1> longer_gains_;  // of sentences: for n = 2, 3
    int gains_order_ = 0;                                                // the highest of which there are gains
    SmallTransport small_;                   // for the optimum of sentences
    SettledTransport settled_;               // for that of longer texts
    Transport<std::int64_t> transport_;
    Interrupt interrupt_;
};

}  // namespace tesla
