#include "matching/pivot_bags.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checks.h"
#include "base/interrupt.h"

namespace tesla {
namespace {

constexpr double kWeightUnit = 1e12;  // decimals are exact
// In one text: a token becomes at most four pivot words, a bag holds n-grams of at most four lengths, and the sum of all
// their weights must fit 64 bits.
constexpr std::size_t kMostTokens = std::size_t{1} << 19;
static_assert(kMostTokens * kLongestPhrase * kLongestPivotNgram * kWeightUnit < 9.2e18);

}  // namespace

void PivotColumns::check(const Lexicon& lexicon) const {
    check_csr(offsets, lemma.size);
    check_columns(lemma.size, {universal.size, function.size});
    for (std::size_t i = 0; i < size(); ++i)
        if (static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]) > kMostTokens)
            throw TextTooLong("a text has more than half a million words: split it into segments");
    check_below(lemma, lexicon.lemma_count(), "no such lemma");
}

PivotFeature::PivotFeature(const std::string& name, int shortest_ngram, int longest_ngram)
    : similarity(similarity_named(name)), shortest(shortest_ngram), longest(longest_ngram) {
    require(similarity != Similarity::MaxSim, "pivot n-grams are compared by `lem` or `pos`");
    require(shortest >= 1 && shortest <= longest && longest <= kLongestPivotNgram, "pivot n-grams have 1 to 4 words");
}

PivotBags::PivotBags(const Lexicon& lexicon, const PivotSource& source, const PivotColumns& batch,
                     std::vector<PivotFeature> features, const Discount& discount, const PivotSettings& settings)
    : lexicon_(lexicon), source_(source), features_(std::move(features)), discount_(discount) {
    batch.check(lexicon);
    int longest = 1;
    for (const PivotFeature& f : features_) longest = std::max(longest, f.longest);
    double discounts[kLongestPivotNgram + 1][kLongestPivotNgram + 1] = {};
    for (int n = 1; n <= longest; ++n)
        for (int k = 0; k <= n; ++k)
            discounts[n][k] = static_cast<double>(discount.weight(n, k)) / static_cast<double>(discount.unit(n));
    const std::vector<PivotLemma> lemmas = source.look_up(lexicon, batch.lemma);
    PivotBuilder builder(source.table, settings, longest);
    texts_.reserve(batch.size());
    Interrupt interrupt;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        interrupt.step(1000 * static_cast<std::size_t>(batch.offsets[i + 1] - batch.offsets[i]));
        builder.network(batch.view(i, lemmas));
        const std::vector<PivotNgram>* ngrams = builder.ngrams();
        for (int n = 1; n <= longest; ++n) {
            weights_[n - 1].clear();
            for (const PivotNgram& g : ngrams[n - 1])
                weights_[n - 1].push_back(std::llround(g.probability * discounts[n][g.functions] * kWeightUnit));
        }
        Text& text = texts_.emplace_back();
        for (const PivotFeature& f : features_) {
            if (f.similarity == Similarity::Lemma)
                text.lemmas.push_back(bag<WideKey>(ngrams, f, wide_, [](const PivotNgram& g) { return g.lemmas; }));
            else
                text.tags.push_back(bag<std::uint64_t>(ngrams, f, narrow_, [](const PivotNgram& g) { return g.tags; }));
        }
    }
}

template <class Key, class KeyOf>
KeyBag<Key> PivotBags::bag(const std::vector<PivotNgram>* ngrams, const PivotFeature& feature,
                           std::vector<std::pair<Key, std::int64_t>>& weighted, KeyOf key_of) {
    weighted.clear();
    for (int n = feature.shortest; n <= feature.longest; ++n)
        for (std::size_t i = 0; i < ngrams[n - 1].size(); ++i)
            weighted.emplace_back(key_of(ngrams[n - 1][i]), weights_[n - 1][i]);
    std::sort(weighted.begin(), weighted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    KeyBag<Key> bag(&memory_);
    bag.keys.reserve(weighted.size());
    bag.weights.reserve(weighted.size());
    for (const auto& [key, weight] : weighted) bag.append(key, weight);
    return bag;
}

Measures PivotBags::match(const PivotBags& reference, const PivotBags& hypothesis, const TextPairs& pairs, double alpha,
                          bool both_ways) {
    const std::vector<PivotFeature>& features = reference.features_;
    require(features == hypothesis.features_ && reference.discount_ == hypothesis.discount_ &&
                &reference.lexicon_ == &hypothesis.lexicon_ && &reference.source_ == &hypothesis.source_,
            "the bags do not belong together");
    Measures measures(pairs.size(), features.size(), alpha, both_ways);
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const Text& x, const Text& y) {
        std::size_t lemma_bag = 0, tag_bag = 0;
        for (std::size_t c = 0; c < features.size(); ++c) {
            Match m;
            if (features[c].similarity == Similarity::Lemma) {
                m = match_keys(x.lemmas[lemma_bag], y.lemmas[lemma_bag]);
                ++lemma_bag;
            } else {
                m = match_keys(x.tags[tag_bag], y.tags[tag_bag]);
                ++tag_bag;
            }
            measures.set(k, c, m);
        }
    });
    return measures;
}

}  // namespace tesla
