#include "matching/explanation.h"

#include <algorithm>
#include <map>

#include "base/checks.h"

namespace tesla {
namespace {

// One n-gram of a text: its row in the flow, what it must equal to be matched, and its weight.
template <class Key>
struct Occurrence {
    std::uint32_t row;
    Key key;
    std::int64_t weight;
};

// The n-grams of a text; a row is the first token.
template <class By>
std::vector<Occurrence<typename By::Key>> ngram_occurrences(const TokenView& text, int n, const Discount& discount) {
    std::vector<Occurrence<typename By::Key>> ngrams;
    for (std::size_t i = 0; i + static_cast<std::size_t>(n) <= text.size; ++i)
        if (By::exists(text, i, n))
            ngrams.push_back({static_cast<std::uint32_t>(i), By::key(text, i, n), ngram_weight(text, discount, i, n)});
    return ngrams;
}

// The skip bigrams of a text; the row of tokens i and j is i * (gap + 1) + (tokens between them).
std::vector<Occurrence<WideKey>> skip_occurrences(const TokenView& text, int gap, const Discount& discount) {
    std::vector<Occurrence<WideKey>> bigrams;
    for_each_skip_bigram(text.size, gap, [&](std::size_t i, std::size_t j) {
        auto row = static_cast<std::uint32_t>(i * static_cast<std::size_t>(gap + 1) + (j - i - 1));
        bigrams.push_back({row, skip_key(text, i, j), skip_weight(text, discount, i, j)});
    });
    return bigrams;
}

// The flow of a closed form: occurrences of the same class meet in order of the text.
template <class Key>
std::vector<FlowEntry> identity_flow(const std::vector<Occurrence<Key>>& x, const std::vector<Occurrence<Key>>& y, int n) {
    struct Open {
        std::uint32_t row;
        std::int64_t amount;
    };
    struct Offers {
        std::vector<Open> open;
        std::size_t next = 0;
    };
    std::map<Key, Offers> by_key;
    for (const Occurrence<Key>& ngram : y) by_key[ngram.key].open.push_back({ngram.row, ngram.weight});
    std::vector<FlowEntry> flow;
    for (const Occurrence<Key>& ngram : x) {
        const auto offers = by_key.find(ngram.key);
        if (offers == by_key.end()) continue;
        auto& [open, next] = offers->second;
        for (std::int64_t left = ngram.weight; next < open.size() && left > 0;) {
            std::int64_t amount = std::min(left, open[next].amount);
            flow.push_back({ngram.row, open[next].row, 2 * n, amount});
            left -= amount;
            if ((open[next].amount -= amount) == 0) ++next;
        }
    }
    return flow;
}

template <class Key>
Explanation explain_identity(const std::vector<Occurrence<Key>>& x, const std::vector<Occurrence<Key>>& y, int n) {
    Explanation explanation{0, 0, 0, identity_flow(x, y, n)};
    for (const auto& ngram : x) explanation.reference += ngram.weight;
    for (const auto& ngram : y) explanation.hypothesis += ngram.weight;
    for (const FlowEntry& entry : explanation.flow) explanation.objective += 2 * n * entry.amount;
    return explanation;
}

template <class By>
Explanation explain_ngrams(const TokenView& x, const TokenView& y, int n, const Discount& discount) {
    return explain_identity(ngram_occurrences<By>(x, n, discount), ngram_occurrences<By>(y, n, discount), n);
}

Explanation explain_skips(const TokenView& x, const TokenView& y, int gap, const Discount& discount) {
    return explain_identity(skip_occurrences(x, gap, discount), skip_occurrences(y, gap, discount), 2);
}

Explanation explain_max_sim(const Lexicon& lexicon, const TokenView& x, const TokenView& y, int n, const Discount& discount,
                            std::size_t dense_cells) {
    BagBuilder builder(discount);
    auto bag_of = [&](const TokenView& text) {
        builder.begin(text);
        return builder.token_bag(n);
    };
    SymbolBag a = bag_of(x), b = bag_of(y);
    MaxSimMatcher matcher(lexicon, dense_cells);
    matcher.begin_pair(a, b);
    std::int64_t objective = matcher.optimum_with_flow(n);
    return {objective, a.orders[n - 1].total, b.orders[n - 1].total, matcher.flow()};
}

}  // namespace

Explanation explain_match(const Lexicon& lexicon, const TokenColumns& reference, const TokenColumns& hypothesis,
                          const Feature& feature, const Discount& discount, std::size_t dense_cells) {
    const BagRecipe recipe{{feature}, discount};
    for (const TokenColumns* tokens : {&reference, &hypothesis}) {
        recipe.check(*tokens, lexicon);
        require(tokens->size() == 1, "one text on either side");
        const std::size_t words = tokens->lemma.size;
        check_room(discount, feature.n, feature.gap > 0 ? most_skip_bigrams(words, feature.gap) : words);
    }
    const TokenView x = reference[0], y = hypothesis[0];
    if (feature.gap > 0) return explain_skips(x, y, feature.gap, discount);
    switch (feature.similarity) {
        case Similarity::MaxSim: return explain_max_sim(lexicon, x, y, feature.n, discount, dense_cells);
        case Similarity::Lemma: return explain_ngrams<ByLemma>(x, y, feature.n, discount);
        case Similarity::Tag: break;
    }
    return explain_ngrams<ByTag>(x, y, feature.n, discount);
}

}  // namespace tesla
