// From the tokens of many texts to their bags, and from bags to precision, recall and F (specification §2 to §5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "base/spare.h"
#include "language/analysis/lexicon.h"
#include "matching/bags.h"
#include "matching/matching.h"
#include "matching/measures.h"

namespace tesla {

// The tokens of a batch of texts, as far as bags need them.
struct TokenColumns {
    ArrayView<std::int64_t> offsets;
    ArrayView<std::uint32_t> lemma;
    ArrayView<std::uint16_t> tag;
    ArrayView<std::uint8_t> function;

    std::size_t size() const { return offsets.size - 1; }
    void check() const;
    TokenView operator[](std::size_t i) const {
        const auto from = static_cast<std::size_t>(offsets[i]), to = static_cast<std::size_t>(offsets[i + 1]);
        return {lemma.data + from, tag.data + from, function.data + from, to - from};
    }
};

// A feature by the name of its similarity and n, or by "skip" and the widest gap.
Feature feature_named(const std::string& similarity, int n);

// Which bags a metric needs; read once for all batches.
struct BagRecipe {
    std::vector<Feature> features;
    Discount discount;

    // The longest n-grams (without gaps) that are compared in this way; 0: none are.
    int highest_order(Similarity similarity) const;
    // Refuses tokens that are no tokens of the lexicon.
    void check(const TokenColumns& tokens, const Lexicon& lexicon) const;
    bool operator==(const BagRecipe& o) const { return features == o.features && discount == o.discount; }
};

// The bags of one text.
struct TextBags {
    SymbolBag symbols;  // of the features with similarity MaxSim, all orders in one
    LemmaBags lemmas;
    TagBags tags;
    std::vector<LemmaBag> skips;  // of the features with gaps, in order
};

// The bags of every text of a batch; made once, matched as often as one likes.
class BatchBags {
   public:
    // The lexicon must outlive this.
    BatchBags(const Lexicon& lexicon, const TokenColumns& tokens, BagRecipe recipe);
    std::size_t size() const { return texts_.size(); }

    // One row for each pair.
    static Measures match(const BatchBags& reference, const BatchBags& hypothesis, const TextPairs& pairs, double alpha,
                          bool both_ways);

   private:
    const Lexicon& lexicon_;
    const BagRecipe recipe_;
    Arena memory_;  // before the bags that live in it
    std::vector<TextBags> texts_;
};

// Texts that take part in a comparison: those of the numbers in `present`, ascending.
struct ReferenceStream {
    TokenColumns tokens;
    ArrayView<std::int64_t> present;
};

// Matches every text of a batch with the text of the same number in each stream of references, as far as it is present. Many
// threads may use it at the same time.
class SegmentMatcher {
   public:
    // Is told the matches of a text and its reference in a stream, one for each feature. The texts come in their order.
    using Take = std::function<void(std::size_t stream, std::size_t text, const Match* matches)>;

    // The lexicon must outlive this.
    SegmentMatcher(const Lexicon& lexicon, BagRecipe recipe);
    ~SegmentMatcher();

    void match(const std::vector<ReferenceStream>& references, const TokenColumns& hypothesis, const Take& take) const;

   private:
    struct Work;

    const Lexicon& lexicon_;
    const BagRecipe recipe_;
    mutable Spare<Work> spare_;
};

}  // namespace tesla
