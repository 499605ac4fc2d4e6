#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.h"
#include "base/recycled_memory.h"
#include "base/interrupt.h"
#include "matching/bags.h"
#include "bindings/bindings.h"
#include "matching/matching.h"
#include "matching/measures.h"
#include "pivot/phrase_table.h"
#include "pivot/pivot.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// Weights of pivot bags as whole numbers: sums do not depend on their order, and decimals are exact.
constexpr double kWeightUnit = 1e12;
// In one text: a token becomes at most four pivot words, a bag holds n-grams of at most four lengths, and the sum of all
// their weights must fit 64 bits.
constexpr std::size_t kMostTokens = std::size_t{1} << 19;
static_assert(kMostTokens * kLongestPhrase * kLongestPivotNgram * kWeightUnit < 9.2e18);

// The table with the arrays that it looks at.
struct OwnedTable {
    std::vector<Array<std::uint8_t>> bytes;
    std::vector<Array<std::uint32_t>> numbers;
    PhraseTable table;
    mutable PivotLemmaCache lemmas;

    std::vector<PivotLemma> look_up(const Lexicon& lexicon, const Array<std::uint32_t>& batch) const {
        return lemmas.look_up(table, lexicon, batch.data(), batch.size());
    }
};

void init_table(OwnedTable* self, Array<std::uint8_t> target_words, Array<std::uint32_t> target_ends,
                Array<std::uint8_t> pivot_words, Array<std::uint32_t> pivot_ends, Array<std::uint8_t> pivot_tags,
                Array<std::uint32_t> node_word, Array<std::uint32_t> node_child, Array<std::uint32_t> node_count,
                Array<std::uint32_t> node_option, Array<std::uint32_t> option_phrase, Array<std::uint32_t> option_count,
                Array<std::uint32_t> phrase_ends, Array<std::uint32_t> phrase_words, double total) {
    PhraseTable table{{view_of(target_words), view_of(target_ends)}, {view_of(pivot_words), view_of(pivot_ends)}, view_of(pivot_tags),
                      view_of(node_word), view_of(node_child), view_of(node_count), view_of(node_option), view_of(option_phrase),
                      view_of(option_count), view_of(phrase_ends), view_of(phrase_words), total};
    table.check();
    new (self) OwnedTable{{target_words, pivot_words, pivot_tags},
                          {target_ends, pivot_ends, node_word, node_child, node_count, node_option, option_phrase,
                           option_count, phrase_ends, phrase_words},
                          table,
                          {}};
}

// What the table says of a phrase: N(p), and the pivot phrases with N(p, f).
nb::tuple look_up(const OwnedTable& self, const std::vector<std::string>& phrase) {
    const PhraseTable& table = self.table;
    std::uint32_t node = PhraseTable::kNoNode;
    for (std::size_t i = 0; i < phrase.size(); ++i) {
        std::uint32_t word = table.target.find(phrase[i]);
        node = word == WordList::kMissing || (i > 0 && node == PhraseTable::kNoNode) ? PhraseTable::kNoNode
               : i == 0                                                            ? word
                                                                                   : table.child(node, word);
        if (node == PhraseTable::kNoNode) break;
    }
    nb::list options;
    if (node == PhraseTable::kNoNode) return nb::make_tuple(0, options);
    for (std::uint32_t k = table.node_option[node]; k < table.node_option[node + 1]; ++k) {
        nb::list words;
        std::uint32_t f = table.option_phrase[k];
        for (std::uint32_t w = table.phrase_ends[f]; w < table.phrase_ends[f + 1]; ++w) {
            std::string_view text = table.pivot.word(table.phrase_words[w]);
            words.append(nb::str(text.data(), text.size()));
        }
        options.append(nb::make_tuple(nb::tuple(words), table.option_count[k]));
    }
    return nb::make_tuple(table.node_count[node], options);
}

// The tokens of a batch, as far as networks need them.
struct PivotBatch {
    Array<std::int64_t> offsets;
    Array<std::uint32_t> lemma;
    Array<std::uint8_t> universal, function;

    std::size_t size() const { return offsets.size() - 1; }
    void check() const {
        check_csr(offsets, lemma.size());
        check_columns(lemma.size(), {universal.size(), function.size()});
        for (std::size_t i = 0; i < size(); ++i)
            if (static_cast<std::size_t>(offsets(i + 1) - offsets(i)) > kMostTokens)
                throw TextTooLong("a text has more than half a million words");
    }
    // `lemmas` is what the table knows of every token.
    PivotTokens view(std::size_t i, const std::vector<PivotLemma>& lemmas) const {
        auto from = static_cast<std::size_t>(offsets(i)), to = static_cast<std::size_t>(offsets(i + 1));
        return {lemmas.data() + from, universal.data() + from, function.data() + from, to - from};
    }
};

// A pivot feature: `lem` or `pos`, and the lengths of the n-grams that share its bag.
struct PivotFeature {
    Similarity similarity;
    int shortest, longest;

    bool operator==(const PivotFeature& o) const {
        return similarity == o.similarity && shortest == o.shortest && longest == o.longest;
    }
};
using NamedFeatures = std::vector<std::tuple<std::string, int, int>>;

std::vector<PivotFeature> parse_features(const NamedFeatures& named) {
    std::vector<PivotFeature> features;
    for (const auto& [name, shortest, longest] : named) {
        Similarity similarity = similarity_named(name);
        if (similarity == Similarity::MaxSim) throw nb::value_error("pivot n-grams are compared by `lem` or `pos`");
        if (shortest < 1 || shortest > longest || longest > kLongestPivotNgram)
            throw nb::value_error("pivot n-grams have 1 to 4 words");
        features.push_back({similarity, shortest, longest});
    }
    return features;
}

class PivotBags {
   public:
    PivotBags(const Lexicon& lexicon, const OwnedTable& owned, const PivotBatch& batch, const NamedFeatures& named,
              Discount discount, double min_probability, double min_ngram)
        : lexicon_(lexicon), table_(owned.table), features_(parse_features(named)) {
        batch.check();
        check_below(batch.lemma, lexicon.lemma_count(), "no such lemma");
        int longest = 1;
        for (const PivotFeature& f : features_) longest = std::max(longest, f.longest);
        nb::gil_scoped_release release;
        const std::vector<PivotLemma> lemmas = owned.look_up(lexicon, batch.lemma);
        PivotBuilder builder(table_, {min_probability, min_ngram}, longest);
        texts_.reserve(batch.size());
        double discounts[kLongestPivotNgram + 1][kLongestPivotNgram + 1] = {};
        for (int n = 1; n <= longest; ++n)
            for (int k = 0; k <= n; ++k)
                discounts[n][k] = static_cast<double>(discount.weight(n, k)) / static_cast<double>(discount.unit(n));
        Interrupt interrupt;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            interrupt.step();
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
    std::size_t size() const { return texts_.size(); }

    // One row of precision, recall and F for each pair; NaN where both bags are empty.
    static nb::tuple match(const PivotBags& reference, const PivotBags& hypothesis, const Array<std::int64_t>& reference_index,
                           const Array<std::int64_t>& hypothesis_index, double alpha, bool both_ways) {
        std::size_t pairs = reference_index.size(), columns = reference.features_.size();
        if (hypothesis_index.size() != pairs || !(hypothesis.features_ == reference.features_) ||
            &reference.lexicon_ != &hypothesis.lexicon_ || &reference.table_ != &hypothesis.table_)
            throw nb::value_error("the bags do not belong together");
        check_pairs(reference_index, reference.size(), hypothesis_index, hypothesis.size());
        Measures measures(pairs, columns, alpha, both_ways);
        {
            nb::gil_scoped_release release;
            Interrupt interrupt;
            for (std::size_t k = 0; k < pairs; ++k) {
                if (k % kPairsPerLook == 0) interrupt.look();
                const Text& x = reference.texts_[static_cast<std::size_t>(reference_index(k))];
                const Text& y = hypothesis.texts_[static_cast<std::size_t>(hypothesis_index(k))];
                std::size_t lemma_bag = 0, tag_bag = 0;
                for (std::size_t c = 0; c < columns; ++c) {
                    Match m;
                    if (reference.features_[c].similarity == Similarity::Lemma) {
                        m = match_keys(x.lemmas[lemma_bag], y.lemmas[lemma_bag]);
                        ++lemma_bag;
                    } else {
                        m = match_keys(x.tags[tag_bag], y.tags[tag_bag]);
                        ++tag_bag;
                    }
                    measures.set(k, c, m);
                }
            }
        }
        return std::move(measures).to_python();
    }

   private:
    struct Text {
        std::vector<LemmaBag> lemmas;  // of the features with that similarity, in order
        std::vector<TagBag> tags;
    };

    template <class Key, class KeyOf>
    KeyBag<Key> bag(const std::vector<PivotNgram>* ngrams, const PivotFeature& feature,
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

    const Lexicon& lexicon_;
    const PhraseTable& table_;
    std::vector<PivotFeature> features_;
    std::vector<std::int64_t> weights_[kLongestPivotNgram];  // of the n-grams of the text at hand
    std::vector<std::pair<WideKey, std::int64_t>> wide_;
    std::vector<std::pair<std::uint64_t, std::int64_t>> narrow_;
    Arena memory_;  // before the bags that live in it
    std::vector<Text> texts_;
};

// The network and the n-grams of the only text of a batch, in words: what `explain` and the tests look at.
nb::tuple explain_pivot(const Lexicon& lexicon, const OwnedTable& owned, const PivotBatch& batch, int longest,
                        double min_probability, double min_ngram) {
    batch.check();
    if (batch.size() != 1 || longest < 1 || longest > kLongestPivotNgram) throw nb::value_error("one text, 1 to 4 words");
    check_below(batch.lemma, lexicon.lemma_count(), "no such lemma");
    const PhraseTable& table = owned.table;
    const std::vector<PivotLemma> lemmas = owned.look_up(lexicon, batch.lemma);
    PivotBuilder builder(table, {min_probability, min_ngram}, longest);
    auto text_of = [&](std::uint32_t lemma) {
        auto known = static_cast<std::uint32_t>(table.pivot.size());
        return lemma < known ? std::string(table.pivot.word(lemma)) : lexicon.lemma_text(lemma - known);
    };
    const PivotNetwork& network = builder.network(batch.view(0, lemmas));
    nb::list segments;
    for (const PivotSegment& segment : network.segments) {
        nb::list options;
        for (std::uint32_t o = segment.first_option; o < segment.first_option + segment.options; ++o) {
            const PivotOption& option = network.options[o];
            nb::list words;
            for (std::uint32_t w = option.first; w < option.first + option.size; ++w) {
                const PivotWord& word = network.words[w];
                words.append(nb::make_tuple(text_of(word.lemma), word.tag, word.function));
            }
            options.append(nb::make_tuple(option.probability, words));
        }
        segments.append(nb::make_tuple(segment.start, segment.end, options));
    }
    const std::vector<PivotNgram>* ngrams = builder.ngrams();
    nb::list bags;
    for (int n = 1; n <= longest; ++n) {
        nb::list bag;
        for (const PivotNgram& ngram : ngrams[n - 1]) {
            nb::list words;
            for (int i = n - 1; i >= 0; --i) {
                std::uint64_t half = i >= 2 ? ngram.lemmas.high : ngram.lemmas.low;
                auto lemma = static_cast<std::uint32_t>(half >> (32 * (i % 2)));
                auto tag = static_cast<int>((ngram.tags >> (8 * i)) & 0xFF);
                words.append(nb::make_tuple(text_of(lemma - 1), tag - 1));
            }
            bag.append(nb::make_tuple(nb::tuple(words), ngram.functions, ngram.probability));
        }
        bags.append(bag);
    }
    return nb::make_tuple(segments, bags);
}

}  // namespace

void bind_pivot(nb::module_& m) {
    nb::class_<OwnedTable>(m, "PhraseTable", "A phrase table over the arrays of its file.")
        .def("__init__", &init_table, "target_words"_a, "target_ends"_a, "pivot_words"_a, "pivot_ends"_a, "pivot_tags"_a,
             "node_word"_a, "node_child"_a, "node_count"_a, "node_option"_a, "option_phrase"_a, "option_count"_a,
             "phrase_ends"_a, "phrase_words"_a, "total"_a)
        .def("look_up", &look_up, "phrase"_a, "N(p), and the pivot phrases with N(p, f), the most frequent first.");
    nb::class_<PivotBatch>(m, "PivotTokens", "The token arrays of a batch, as far as pivot bags need them.")
        .def(
            "__init__",
            [](PivotBatch* self, Array<std::int64_t> offsets, Array<std::uint32_t> lemma, Array<std::uint8_t> universal,
               Array<std::uint8_t> function) { new (self) PivotBatch{offsets, lemma, universal, function}; },
            "offsets"_a, "lemma"_a, "universal"_a, "function"_a);
    nb::class_<PivotBags>(m, "PivotBags", "The pivot bags of all texts of a batch.")
        .def(nb::init<const Lexicon&, const OwnedTable&, const PivotBatch&, const NamedFeatures&, Discount, double, double>(),
             "lexicon"_a, "table"_a, "tokens"_a, "features"_a, "discount"_a, "min_probability"_a, "min_ngram"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("__len__", &PivotBags::size);
    m.def(
        "match",
        [](const PivotBags& reference, const PivotBags& hypothesis, const Array<std::int64_t>& i,
           const Array<std::int64_t>& j, double alpha) { return PivotBags::match(reference, hypothesis, i, j, alpha, false); },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "alpha"_a);
    m.def(
        "match_both_ways",
        [](const PivotBags& texts, const Array<std::int64_t>& i, const Array<std::int64_t>& j, double alpha) {
            return PivotBags::match(texts, texts, i, j, alpha, true);
        },
        "texts"_a, "first"_a, "second"_a, "alpha"_a);
    m.def("explain_pivot", &explain_pivot, "lexicon"_a, "table"_a, "tokens"_a, "longest"_a, "min_probability"_a,
          "min_ngram"_a, "The network of one text, and its n-grams with their summed probabilities.");
}

}  // namespace tesla
