#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.h"
#include "base/recycled_memory.h"
#include "base/interrupt.h"
#include "matching/bags.h"
#include "bindings/bindings.h"
#include "bindings/token_batch.h"
#include "matching/matching.h"
#include "matching/measures.h"
#include "matching/transport.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using Named = std::vector<std::pair<std::string, int>>;  // (similarity, n), or ("skip", gap)
constexpr const char* kSkip = "skip";

// The tokens of an analysed batch, as far as bags need them.
class Tokens {
   public:
    Tokens(Array<std::int64_t> offsets, Array<std::uint32_t> lemma, Array<std::uint16_t> tag, Array<std::uint8_t> function)
        : offsets_(view_of(offsets)), lemma_(view_of(lemma)), tag_(view_of(tag)), function_(view_of(function)),
          kept_{std::move(offsets), std::move(lemma), std::move(tag), std::move(function)} {}
    explicit Tokens(const TokenBatch& batch)  // which must outlive this
        : offsets_(batch.arrays().offsets), lemma_(batch.arrays().lemma), tag_(batch.arrays().tag),
          function_(batch.arrays().function) {}

    std::size_t size() const { return offsets_.size - 1; }
    const ArrayView<std::uint32_t>& lemma() const { return lemma_; }
    void check() const {
        if (offsets_.size == 0) throw nb::value_error("offsets do not fit the arrays");
        check_csr(offsets_, size(), lemma_.size);
        check_columns(lemma_.size, {tag_.size, function_.size});
    }
    TokenView view(std::size_t i) const {
        auto from = static_cast<std::size_t>(offsets_[i]), to = static_cast<std::size_t>(offsets_[i + 1]);
        return {lemma_.data + from, tag_.data + from, function_.data + from, to - from};
    }

   private:
    ArrayView<std::int64_t> offsets_;
    ArrayView<std::uint32_t> lemma_;
    ArrayView<std::uint16_t> tag_;
    ArrayView<std::uint8_t> function_;
    std::tuple<Array<std::int64_t>, Array<std::uint32_t>, Array<std::uint16_t>, Array<std::uint8_t>> kept_;
};

std::vector<Feature> parse_features(const Named& named) {
    std::vector<Feature> features;
    for (const auto& [similarity, n] : named) {
        if (similarity == kSkip) {
            if (n < 0 || n > kMaxGap) throw nb::value_error("skip bigrams have 0 to 1000 tokens between them");
            features.push_back({Similarity::Lemma, 2, n});
            continue;
        }
        if (n < 1 || n > kMaxOrder) throw nb::value_error("n-grams have 1 to 3 tokens");
        features.push_back({similarity_named(similarity), n});
    }
    return features;
}

// Which bags a metric needs; read once for all batches.
struct BagRecipe {
    std::vector<Feature> features;
    Discount discount;

    // The longest n-grams (without gaps) that are compared in this way; 0: none are.
    int highest_order(Similarity similarity) const {
        int highest = 0;
        for (const Feature& f : features)
            if (f.similarity == similarity && f.gap == 0) highest = std::max(highest, f.n);
        return highest;
    }
};

// The bags of one text.
struct TextBags {
    SymbolBag symbols;  // of the features with similarity MaxSim, all orders in one
    LemmaBags lemmas;
    TagBags tags;
    std::vector<LemmaBag> skips;  // of the features with gaps, in order
};

// Makes the bags of one text after the other; they live in `memory`.
class TextBagBuilder {
   public:
    TextBagBuilder(const BagRecipe& recipe, std::pmr::memory_resource* memory)
        : features_(recipe.features),
          max_order_(recipe.highest_order(Similarity::MaxSim)),
          lemma_order_(recipe.highest_order(Similarity::Lemma)),
          tag_order_(recipe.highest_order(Similarity::Tag)),
          builder_(recipe.discount, memory) {}

    TextBags build(const TokenView& tokens) {
        builder_.begin(tokens);
        TextBags text{builder_.symbol_bag(max_order_), builder_.lemma_bags(lemma_order_), builder_.tag_bags(tag_order_), {}};
        for (const Feature& f : features_)
            if (f.gap > 0) text.skips.push_back(builder_.skip_bag(f.gap));
        return text;
    }

   private:
    const std::vector<Feature>& features_;
    const int max_order_, lemma_order_, tag_order_;
    BagBuilder builder_;
};

// Matches one pair of texts after the other; their bags were made for the same recipe.
class PairMatcher {
   public:
    PairMatcher(const Lexicon& lexicon, const BagRecipe& recipe)
        : features_(recipe.features), any_symbols_(recipe.highest_order(Similarity::MaxSim) > 0), matcher_(lexicon) {}

    void match(const TextBags& x, const TextBags& y, std::size_t pair, Measures& measures) {
        if (pair % kPairsPerLook == 0) interrupt_.look();
        if (any_symbols_) matcher_.begin_pair(x.symbols, y.symbols);
        std::size_t skip = 0;
        for (std::size_t c = 0; c < features_.size(); ++c) {
            const Feature& feature = features_[c];
            const auto n = static_cast<std::size_t>(feature.n);
            Match m;
            if (feature.gap > 0) {
                m = match_keys(x.skips[skip], y.skips[skip]);
                ++skip;
            } else {
                switch (feature.similarity) {
                    case Similarity::MaxSim: m = match_symbols(x.symbols, y.symbols, feature.n); break;
                    case Similarity::Lemma: m = match_keys(x.lemmas.orders[n - 1], y.lemmas.orders[n - 1]); break;
                    case Similarity::Tag: m = match_keys(x.tags.orders[n - 1], y.tags.orders[n - 1]); break;
                }
            }
            measures.set(pair, c, m);
        }
    }

   private:
    Match match_symbols(const SymbolBag& x, const SymbolBag& y, int n) {
        std::int64_t scale = 2 * n;
        return {matcher_.optimum(n), scale * x.orders[n - 1].total, scale * y.orders[n - 1].total};
    }

    const std::vector<Feature>& features_;
    const bool any_symbols_;
    MaxSimMatcher matcher_;
    Interrupt interrupt_;
};

void check_tokens(const Tokens& tokens, const Lexicon& lexicon, const BagRecipe& recipe) {
    tokens.check();
    // Only this similarity asks the lexicon; for the others a number need not be that of a lemma.
    if (recipe.highest_order(Similarity::MaxSim) > 0) check_below(tokens.lemma(), lexicon.lemma_count(), "no such lemma");
}

// The bags of every text of a batch, for a list of features; made once, matched as often as one likes.
class Bags {
   public:
    Bags(const Lexicon& lexicon, const Tokens& tokens, const BagRecipe& recipe) : lexicon_(lexicon), recipe_(recipe) {
        check_tokens(tokens, lexicon, recipe);
        nb::gil_scoped_release release;
        TextBagBuilder builder(recipe_, &memory_);
        texts_.reserve(tokens.size());
        for (std::size_t i = 0; i < tokens.size(); ++i) texts_.push_back(builder.build(tokens.view(i)));
    }
    std::size_t size() const { return texts_.size(); }

    // One row of precision, recall and F for each pair; NaN where a feature does not exist (specification §5).
    static nb::tuple match(const Bags& reference, const Bags& hypothesis, const Array<std::int64_t>& reference_index,
                           const Array<std::int64_t>& hypothesis_index, double alpha, bool both_ways) {
        const std::size_t pairs = reference_index.size();
        if (hypothesis_index.size() != pairs || !(hypothesis.recipe_.features == reference.recipe_.features) ||
            &reference.lexicon_ != &hypothesis.lexicon_)
            throw nb::value_error("the bags do not belong together");
        check_pairs(reference_index, reference.size(), hypothesis_index, hypothesis.size());
        Measures measures(pairs, reference.recipe_.features.size(), alpha, both_ways);
        {
            nb::gil_scoped_release release;
            PairMatcher matcher(reference.lexicon_, reference.recipe_);
            for (std::size_t k = 0; k < pairs; ++k)
                matcher.match(reference.texts_[static_cast<std::size_t>(reference_index(k))],
                              hypothesis.texts_[static_cast<std::size_t>(hypothesis_index(k))], k, measures);
        }
        return std::move(measures).to_python();
    }

   private:
    const Lexicon& lexicon_;
    const BagRecipe recipe_;
    Arena memory_;  // before the bags that live in it
    std::vector<TextBags> texts_;
};

// Every text of a batch against the text of the same number in each stream of references, as far as `present` (ascending)
// names it: one row per number. Bags live no longer than their segment, so that the same memory, which the cache holds, serves
// all segments.
nb::list match_segments(const Lexicon& lexicon, const nb::list& streams, const Tokens& hypothesis, const BagRecipe& recipe,
                        const std::vector<Array<std::int64_t>>& present, double alpha) {
    const nb::tuple held(streams);  // other threads may change the list while the GIL is released
    if (held.size() != present.size()) throw nb::value_error("streams and their indices differ in number");
    check_tokens(hypothesis, lexicon, recipe);
    const std::size_t segments = hypothesis.size();
    std::vector<const Tokens*> references;
    std::vector<Measures> measures;
    for (std::size_t s = 0; s < present.size(); ++s) {
        references.push_back(&nb::cast<const Tokens&>(held[s]));
        check_tokens(*references[s], lexicon, recipe);
        if (references[s]->size() != segments) throw nb::value_error("a stream has another number of texts");
        check_ascending(present[s], segments);
        measures.emplace_back(present[s].size(), recipe.features.size(), alpha);
    }
    {
        nb::gil_scoped_release release;
        ReusedArena arena;
        TextBagBuilder builder(recipe, arena.memory());
        PairMatcher matcher(lexicon, recipe);
        std::vector<std::size_t> next(references.size());  // row of each stream
        for (std::size_t i = 0; i < segments; ++i) {
            std::optional<TextBags> y;
            for (std::size_t s = 0; s < references.size(); ++s) {
                if (next[s] == present[s].size() || static_cast<std::size_t>(present[s](next[s])) != i) continue;
                if (!y) y = builder.build(hypothesis.view(i));
                matcher.match(builder.build(references[s]->view(i)), *y, next[s]++, measures[s]);
            }
            y.reset();
            arena.empty();
        }
    }
    nb::list matches;
    for (Measures& stream : measures) matches.append(std::move(stream).to_python());
    return matches;
}

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
    std::vector<Occurrence<typename By::Key>> found;
    for (std::size_t i = 0; i + static_cast<std::size_t>(n) <= text.size; ++i)
        if (By::exists(text, i, n))
            found.push_back({static_cast<std::uint32_t>(i), By::key(text, i, n), ngram_weight(text, discount, i, n)});
    return found;
}

// The skip bigrams of a text; the row of tokens i and j is i * (gap + 1) + (tokens between them).
std::vector<Occurrence<WideKey>> skip_occurrences(const TokenView& text, int gap, const Discount& discount) {
    std::vector<Occurrence<WideKey>> found;
    for_each_skip_bigram(text.size, gap, [&](std::size_t i, std::size_t j) {
        auto row = static_cast<std::uint32_t>(i * static_cast<std::size_t>(gap + 1) + (j - i - 1));
        found.push_back({row, skip_key(text, i, j), skip_weight(text, discount, i, j)});
    });
    return found;
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
        auto found = by_key.find(ngram.key);
        if (found == by_key.end()) continue;
        auto& [open, next] = found->second;
        for (std::int64_t left = ngram.weight; next < open.size() && left > 0;) {
            std::int64_t amount = std::min(left, open[next].amount);
            flow.push_back({ngram.row, open[next].row, 2 * n, amount});
            left -= amount;
            if ((open[next].amount -= amount) == 0) ++next;
        }
    }
    return flow;
}

struct Explained {
    std::int64_t objective, reference, hypothesis;
    std::vector<FlowEntry> flow;
};

template <class Key>
Explained explain_identity(const std::vector<Occurrence<Key>>& x, const std::vector<Occurrence<Key>>& y, int n) {
    Explained found{0, 0, 0, identity_flow(x, y, n)};
    for (const auto& ngram : x) found.reference += ngram.weight;
    for (const auto& ngram : y) found.hypothesis += ngram.weight;
    for (const FlowEntry& entry : found.flow) found.objective += 2 * n * entry.amount;
    return found;
}

template <class By>
Explained explain_ngrams(const TokenView& x, const TokenView& y, int n, const Discount& discount) {
    return explain_identity(ngram_occurrences<By>(x, n, discount), ngram_occurrences<By>(y, n, discount), n);
}

Explained explain_skips(const TokenView& x, const TokenView& y, int gap, const Discount& discount) {
    return explain_identity(skip_occurrences(x, gap, discount), skip_occurrences(y, gap, discount), 2);
}

Explained explain_max_sim(const Lexicon& lexicon, const TokenView& x, const TokenView& y, int n, const Discount& discount,
                          std::size_t dense_cells) {
    BagBuilder builder(discount);
    auto bag_of = [&](const TokenView& text) {
        builder.begin(text, false);
        return builder.symbol_bag(n);
    };
    SymbolBag a = bag_of(x), b = bag_of(y);
    MaxSimMatcher matcher(lexicon, dense_cells);
    matcher.begin_pair(a, b);
    std::int64_t objective = matcher.optimum_with_flow(n);
    return {objective, a.orders[n - 1].total, b.orders[n - 1].total, matcher.flow()};
}

nb::tuple measures_of(const Match& match, double alpha) {
    if (match.reference > 0 || match.hypothesis > 0) return nb::make_tuple(match.precision(), match.recall(), match.f(alpha));
    const double missing = std::numeric_limits<double>::quiet_NaN();
    return nb::make_tuple(missing, missing, missing);
}

// One pair of texts (both batches hold one), one feature: the optimum and who sends how much to whom.
nb::dict explain(const Lexicon& lexicon, const Tokens& reference, const Tokens& hypothesis, const std::string& similarity,
                 int n, Discount discount, double alpha, std::size_t dense_cells) {
    reference.check();
    hypothesis.check();
    if (reference.size() != 1 || hypothesis.size() != 1) throw nb::value_error("one text on either side");
    Feature feature = parse_features({{similarity, n}})[0];
    for (const Tokens* tokens : {&reference, &hypothesis})
        check_room(discount, feature.n,
                   feature.gap > 0 ? most_skip_bigrams(tokens->lemma().size, feature.gap) : tokens->lemma().size);
    if (feature.similarity == Similarity::MaxSim)
        for (const Tokens* tokens : {&reference, &hypothesis})
            check_below(tokens->lemma(), lexicon.lemma_count(), "no such lemma");
    TokenView x = reference.view(0), y = hypothesis.view(0);
    Explained found;
    {
        nb::gil_scoped_release release;
        switch (feature.similarity) {
            case Similarity::MaxSim: found = explain_max_sim(lexicon, x, y, feature.n, discount, dense_cells); break;
            case Similarity::Lemma:
                found = feature.gap > 0 ? explain_skips(x, y, feature.gap, discount)
                                        : explain_ngrams<ByLemma>(x, y, feature.n, discount);
                break;
            case Similarity::Tag: found = explain_ngrams<ByTag>(x, y, feature.n, discount); break;
        }
    }
    const std::int64_t gain_unit = 2 * feature.n;
    // The same whole numbers as in Bags::match, so that scores and explanations agree to the last bit.
    const Match match = feature.similarity == Similarity::MaxSim
                            ? Match{found.objective, gain_unit * found.reference, gain_unit * found.hypothesis}
                            : Match{found.objective / gain_unit, found.reference, found.hypothesis};
    std::vector<std::int64_t> entries;
    for (const FlowEntry& e : found.flow) entries.insert(entries.end(), {e.reference, e.hypothesis, e.gain, e.amount});
    nb::dict result;
    result["objective"] = found.objective;         // in units of 1 / (gain_unit * weight_unit)
    result["reference_weight"] = found.reference;  // in units of 1 / weight_unit
    result["hypothesis_weight"] = found.hypothesis;
    result["measures"] = measures_of(match, alpha);  // precision, recall, F; NaN where the feature does not exist
    result["gain_unit"] = gain_unit;
    result["weight_unit"] = discount.unit(feature.n);
    result["flow"] = to_numpy(std::move(entries), 4);  // reference row, hypothesis row, gain, amount
    return result;
}

// What can be sold in all, times the largest gain, must be a number of its kind, and so must every sum on the way.
template <class Capacity>
void check_capacities(const Array<Capacity>& capacities, Capacity most) {
    Capacity left = most;
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        if (!(capacities(i) >= 0 && capacities(i) <= left)) throw nb::value_error("the weights are negative or too large");
        left -= capacities(i);
    }
}

template <class Capacity>
nb::tuple solve_transport(const Array<Capacity>& supply, const Array<Capacity>& demand, const Array<std::int64_t>& rows,
                          const Array<std::int64_t>& columns, const Array<std::int64_t>& gains) {
    if (rows.size() != columns.size() || rows.size() != gains.size())
        throw nb::value_error("rows, columns and gains differ in length");
    std::int64_t largest_gain = 1;
    for (std::size_t k = 0; k < gains.size(); ++k) largest_gain = std::max(largest_gain, gains(k));
    if (largest_gain > kLargestGain) throw nb::value_error("a gain is negative or too large");
    const Capacity most = std::numeric_limits<Capacity>::max() / static_cast<Capacity>(largest_gain);
    check_capacities(supply, most);
    check_capacities(demand, most);
    Transport<Capacity> transport;
    transport.reset(supply.size(), demand.size());
    std::copy(supply.data(), supply.data() + supply.size(), transport.supply.begin());
    std::copy(demand.data(), demand.data() + demand.size(), transport.demand.begin());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (static_cast<std::size_t>(rows(k)) >= supply.size() || static_cast<std::size_t>(columns(k)) >= demand.size())
            throw nb::index_error("an arc leads nowhere");
        if (gains(k) < 0 || gains(k) > kLargestGain) throw nb::value_error("a gain is negative or too large");
        transport.add_arc(static_cast<std::uint32_t>(rows(k)), transport.consumer(static_cast<std::size_t>(columns(k))),
                          static_cast<std::int32_t>(gains(k)));
    }
    Capacity objective;
    {
        nb::gil_scoped_release release;
        objective = transport.solve();
    }
    return nb::make_tuple(objective, to_numpy(std::move(transport.flow)));
}

}  // namespace

void bind_matching(nb::module_& m) {
    nb::exception<TextTooLong>(m, "TextTooLongError", PyExc_ValueError);
    nb::class_<Tokens>(m, "Tokens", "The token arrays of a batch, as far as bags need them.")
        .def(nb::init<const TokenBatch&>(), "batch"_a, nb::keep_alive<1, 2>())
        .def(nb::init<Array<std::int64_t>, Array<std::uint32_t>, Array<std::uint16_t>, Array<std::uint8_t>>(), "offsets"_a,
             "lemma"_a, "tag"_a, "function"_a);
    nb::class_<Discount>(m, "Discount", "What a function word is worth: the fraction p / q.")
        .def(
            "__init__",
            [](Discount* self, std::int64_t p, std::int64_t q) {
                if (p < 1 || p > q || q > kLargestDenominator) throw nb::value_error("a discount is above 0 and at most 1");
                new (self) Discount{p, q};
            },
            "p"_a, "q"_a);
    nb::class_<BagRecipe>(m, "BagRecipe", "Which bags a metric needs: their features and the discount of function words.")
        .def(
            "__init__",
            [](BagRecipe* self, const Named& features, Discount discount) {
                new (self) BagRecipe{parse_features(features), discount};
            },
            "features"_a, "discount"_a);
    nb::class_<Bags>(m, "Bags", "The bags of all texts of a batch.")
        .def(nb::init<const Lexicon&, const Tokens&, const BagRecipe&>(), "lexicon"_a, "tokens"_a, "recipe"_a,
             nb::keep_alive<1, 2>())
        .def("__len__", &Bags::size);
    m.def(
        "match",
        [](const Bags& reference, const Bags& hypothesis, const Array<std::int64_t>& i, const Array<std::int64_t>& j,
           double alpha) { return Bags::match(reference, hypothesis, i, j, alpha, false); },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "alpha"_a,
        "Precision, recall and F: one row per pair, one column per feature.");
    m.def(
        "match_both_ways",
        [](const Bags& texts, const Array<std::int64_t>& i, const Array<std::int64_t>& j, double alpha) {
            return Bags::match(texts, texts, i, j, alpha, true);
        },
        "texts"_a, "first"_a, "second"_a, "alpha"_a,
        "Precision, recall and F with the first text as reference, and F with the second as reference.");
    m.def("match_segments", &match_segments, "lexicon"_a, "references"_a, "hypothesis"_a, "recipe"_a, "present"_a, "alpha"_a,
          "Precision, recall and F of each stream of references: one row per segment that is present, one column per feature.");
    m.def("explain", &explain, "lexicon"_a, "reference"_a, "hypothesis"_a, "similarity"_a, "n"_a, "discount"_a,
          "alpha"_a, "dense_cells"_a = MaxSimMatcher::kDenseCells, "One feature of one pair, with its flow.");
    m.def("solve_transport", &solve_transport<std::int64_t>, "supply"_a, "demand"_a, "rows"_a, "columns"_a, "gains"_a,
          "The transport problem itself: arcs ascend by row; returns the objective and the flow of every arc.");
    m.def("solve_transport", &solve_transport<double>, "supply"_a, "demand"_a, "rows"_a, "columns"_a, "gains"_a);
}

}  // namespace tesla
