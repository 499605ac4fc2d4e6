#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/measures.h"
#include "language/pivot/phrase_table.h"
#include "matching/pivot_bags.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using NamedFeatures = std::vector<std::tuple<std::string, int, int>>;

// The table with the arrays that it looks at: too large to copy, and read-only where they lie in a mapped file.
struct OwnedTable {
    std::vector<Array<std::uint8_t>> bytes;
    std::vector<Array<std::uint32_t>> numbers;
    PivotSource source;
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
                          {table}};
}

// What the table says of a phrase: N(p), and the pivot phrases with N(p, f).
nb::tuple look_up(const OwnedTable& self, const std::vector<std::string>& phrase) {
    const PhraseEntry entry = self.source.table.look_up(phrase);
    nb::list options;
    for (const PhraseEntry::Option& option : entry.options) {
        nb::list words;
        for (std::string_view word : option.words) words.append(nb::str(word.data(), word.size()));
        options.append(nb::make_tuple(nb::tuple(words), option.count));
    }
    return nb::make_tuple(entry.count, options);
}

// The tokens of a batch, as far as networks need them.
struct PivotBatch {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> lemma;
    std::vector<std::uint8_t> universal, function;

    PivotColumns columns() const { return {offsets, lemma, universal, function}; }
};

void init_bags(PivotBags* self, const Lexicon& lexicon, const OwnedTable& owned, const PivotBatch& batch,
               const NamedFeatures& named, Discount discount, double min_probability, double min_ngram) {
    std::vector<PivotFeature> features;
    for (const auto& [name, shortest, longest] : named) features.emplace_back(name, shortest, longest);
    without_gil([&] {
        new (self) PivotBags(lexicon, owned.source, batch.columns(), std::move(features), discount, {min_probability, min_ngram});
    });
}

// The network and the n-grams of the only text of a batch, in words: what `explain` and the tests look at.
nb::tuple explain_pivot(const Lexicon& lexicon, const OwnedTable& owned, const PivotBatch& batch, int longest,
                        double min_probability, double min_ngram) {
    const PivotColumns columns = batch.columns();
    columns.check(lexicon);
    require(columns.size() == 1 && longest >= 1 && longest <= kLongestPivotNgram, "one text, 1 to 4 words");
    const PhraseTable& table = owned.source.table;
    const std::vector<PivotLemma> lemmas = owned.source.look_up(lexicon, columns.lemma);
    PivotBuilder builder(table, {min_probability, min_ngram}, longest);
    auto text_of = [&](std::uint32_t lemma) {
        auto known = static_cast<std::uint32_t>(table.pivot.size());
        return lemma < known ? std::string(table.pivot.word(lemma)) : lexicon.lemma_text(lemma - known);
    };
    const PivotNetwork& network = builder.network(columns.view(0, lemmas));
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
            for (int i = n - 1; i >= 0; --i) words.append(nb::make_tuple(text_of(ngram.lemma(i)), static_cast<int>(ngram.tag(i))));
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
            [](PivotBatch* self, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& lemma,
               const Array<std::uint8_t>& universal, const Array<std::uint8_t>& function) {
                new (self) PivotBatch{copied(offsets), copied(lemma), copied(universal), copied(function)};
            },
            "offsets"_a, "lemma"_a, "universal"_a, "function"_a);
    nb::class_<PivotBags>(m, "PivotBags", "The pivot bags of all texts of a batch.")
        .def("__init__", &init_bags, "lexicon"_a, "table"_a, "tokens"_a, "features"_a, "discount"_a, "min_probability"_a,
             "min_ngram"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("__len__", &PivotBags::size);
    bind_match<PivotBags>(m, "The same for pivot bags.");
    m.def("explain_pivot", &explain_pivot, "lexicon"_a, "table"_a, "tokens"_a, "longest"_a, "min_probability"_a,
          "min_ngram"_a, "The network of one text, and its n-grams with their summed probabilities.");
}

}  // namespace tesla
