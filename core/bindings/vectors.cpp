#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/measures.h"
#include "bindings/texts.h"
#include "bindings/token_batch.h"
#include "language/analysis/character_map.h"
#include "language/analysis/vector_table.h"
#include "language/analysis/word_vectors.h"
#include "matching/vector_texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// Into a row of zeros.
void copy_vector(const WordVector& vector, std::size_t dimensions, std::size_t row, std::vector<std::int8_t>& rows) {
    if (vector.values) std::copy_n(vector.values, dimensions, rows.data() + row * dimensions);
}

nb::object look_up_vectors(const VectorTable& table, const nb::list& words) {
    const HeldTexts held(words);
    const std::vector<std::string_view>& asked = held.views();
    std::vector<std::int8_t> vectors(asked.size() * table.dimensions());
    {
        nb::gil_scoped_release release;
        std::int8_t mean[kMostDimensions];
        table.find_all(asked, mean, [&](std::size_t i, const WordVector& vector) {
            copy_vector(vector, table.dimensions(), i, vectors);
        });
    }
    return to_numpy(std::move(vectors), table.dimensions());
}

nb::tuple vectors_of(WordVectors& vectors, const TokenBatch& batch) {
    const TokenArrays& tokens = batch.arrays();
    without_gil([&] { vectors.learn(tokens.word, tokens.lemma); });
    std::vector<std::uint32_t> folded, weights;
    std::vector<std::int8_t> values(tokens.word.size() * vectors.dimensions());
    for (std::size_t i = 0; i < tokens.word.size(); ++i) {
        WeightedWord word;
        vectors.read(tokens.word[i], tokens.lemma[i], word);
        folded.push_back(word.folded);
        weights.push_back(word.weight);
        copy_vector(word.vector, vectors.dimensions(), i, values);
    }
    return nb::make_tuple(to_numpy(std::move(folded)), to_numpy(std::move(weights)),
                          to_numpy(std::move(values), vectors.dimensions()));
}

// Who sends how much to whom.
nb::object explain_vectors(const TokenBatch& reference, const TokenBatch& hypothesis, WordVectors& vectors) {
    std::vector<std::int64_t> entries;
    for (const VectorFlowEntry& e : without_gil([&] { return flow_of_tokens(reference.arrays(), hypothesis.arrays(), vectors); }))
        entries.insert(entries.end(), {e.reference, e.hypothesis, e.similarity, e.gain, e.amount});
    return to_numpy(std::move(entries), 5);
}

}  // namespace

void bind_vectors(nb::module_& m) {
    nb::class_<VectorTable>(m, "VectorTable", "Words or WordPieces with their vectors.")
        .def(
            "__init__",
            [](VectorTable* self, const Array<std::uint8_t>& entries, const Array<std::int8_t>& vectors,
               std::size_t dimensions, bool pieces) {
                new (self) VectorTable(std::string(entries.data(), entries.data() + entries.size()), view_of(vectors),
                                       dimensions, pieces);
            },
            "entries"_a, "vectors"_a, "dimensions"_a, "pieces"_a)
        .def("__len__", &VectorTable::size)
        .def("look_up", &look_up_vectors, "words"_a, "One row per word; zeros for a word that has no vector.")
        .def(
            "segment",
            [](const VectorTable& table, const std::string& word) { return table.segment(word); },
            "word"_a, "The numbers of the entries that a word is made of.");
    m.attr("VECTOR_PROBLEMS") = to_tuple(kVectorProblemNames);
    nb::class_<WordVectors>(m, "WordVectors", "The vectors and weights of the words of a lexicon.")
        .def(nb::init<const VectorTable&, CharacterMap&, WordFacts&>(), "table"_a, "as_entries"_a, "facts"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def(
            "of", &vectors_of, "batch"_a,
            "For each token the number of its form in small letters, its weight in 64ths, and its vector; zeros if it has none.");
    nb::class_<VectorTexts>(m, "VectorTexts", "The texts of a batch with the vectors of their words.")
        .def(
            "__init__",
            [](VectorTexts* self, const TokenBatch& batch, WordVectors& vectors) {
                without_gil([&] { new (self) VectorTexts(batch.arrays(), vectors); });
            },
            "batch"_a, "vectors"_a, nb::keep_alive<1, 3>())
        .def_prop_ro("total_weight", &VectorTexts::total_weight, "Of all words, in 64ths.")
        .def("__len__", &VectorTexts::size);
    m.def(
        "match_vectors",
        [](const VectorTexts& reference, const VectorTexts& hypothesis, const Array<std::int64_t>& i,
           const Array<std::int64_t>& j, double alpha) {
            return to_python(
                without_gil([&] { return VectorTexts::match(reference, hypothesis, {copied(i), copied(j)}, alpha); }));
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "alpha"_a,
        "Precision, recall and F: one row per pair, the columns are VECTOR_PROBLEMS.");
    m.def("explain_vectors", &explain_vectors, "reference"_a, "hypothesis"_a, "vectors"_a,
          "The flow between the tokens of two single texts: reference, hypothesis, similarity in 160ths, gain in 16ths, weight in 64ths.");
}

}  // namespace tesla
