// Pivot bags of a batch of texts (specification §6): weights are whole numbers, so that sums do not depend on their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "matching/measures.h"
#include "matching/pivot.h"

namespace tesla {

// The tokens of a batch, as far as networks need them.
struct PivotColumns {
    ArrayView<std::int64_t> offsets;
    ArrayView<std::uint32_t> lemma;
    ArrayView<std::uint8_t> universal, function;

    std::size_t size() const { return offsets.size - 1; }
    void check(const Lexicon& lexicon) const;
    // `lemmas` is what the table knows of every token.
    PivotTokens view(std::size_t i, const std::vector<PivotLemma>& lemmas) const {
        const auto from = static_cast<std::size_t>(offsets[i]), to = static_cast<std::size_t>(offsets[i + 1]);
        return {lemmas.data() + from, universal.data + from, function.data + from, to - from};
    }
};

// A pivot feature: `lem` or `pos`, and the lengths of the n-grams that share its bag.
struct PivotFeature {
    PivotFeature(const std::string& name, int shortest_ngram, int longest_ngram);

    Similarity similarity;
    int shortest, longest;

    bool operator==(const PivotFeature& o) const {
        return similarity == o.similarity && shortest == o.shortest && longest == o.longest;
    }
};

// A table and what is known of the lemmas that were looked up in it.
struct PivotSource {
    PhraseTable table;
    mutable PivotLemmaCache lemmas{};

    std::vector<PivotLemma> look_up(const Lexicon& lexicon, const ArrayView<std::uint32_t>& batch) const {
        return lemmas.look_up(table, lexicon, batch.data, batch.size);
    }
};

class PivotBags {
   public:
    // The lexicon and the source must outlive this.
    PivotBags(const Lexicon& lexicon, const PivotSource& source, const PivotColumns& batch, std::vector<PivotFeature> features,
              const Discount& discount, const PivotSettings& settings);
    std::size_t size() const { return texts_.size(); }

    // One row for each pair.
    static Measures match(const PivotBags& reference, const PivotBags& hypothesis, const TextPairs& pairs, double alpha,
                          bool both_ways);

   private:
    struct Text {
        std::vector<LemmaBag> lemmas;  // of the features with that similarity, in order
        std::vector<TagBag> tags;
    };

    template <class Key, class KeyOf>
    KeyBag<Key> bag(const std::vector<PivotNgram>* ngrams, const PivotFeature& feature,
                    std::vector<std::pair<Key, std::int64_t>>& weighted, KeyOf key_of);

    const Lexicon& lexicon_;
    const PivotSource& source_;
    const std::vector<PivotFeature> features_;
    const Discount discount_;
    std::vector<std::int64_t> weights_[kLongestPivotNgram];  // of the n-grams of the text at hand
    std::vector<std::pair<WideKey, std::int64_t>> wide_;
    std::vector<std::pair<std::uint64_t, std::int64_t>> narrow_;
    Arena memory_;  // before the bags that live in it
    std::vector<Text> texts_;
};

}  // namespace tesla
