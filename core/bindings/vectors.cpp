#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/character_map.h"
#include "analysis/vector_table.h"
#include "analysis/word_vectors.h"
#include "base/checks.h"
#include "base/pairs.h"
#include "bindings/arrays.h"
#include "base/recycled_memory.h"
#include "bindings/texts.h"
#include "bindings/bindings.h"
#include "bindings/token_batch.h"
#include "matching/vectors.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::object look_up(const VectorTable& table, const nb::list& words) {
    const HeldTexts held(words);
    const std::vector<std::string_view>& asked = held.views();
    std::vector<std::int8_t> vectors(asked.size() * table.dimensions());
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < asked.size(); ++i) table.look_up(asked[i], vectors.data() + i * table.dimensions());
    }
    return to_numpy(std::move(vectors), table.dimensions());
}

// The texts of a batch with the vectors of their words; made once, compared as often as one likes.
class VectorTexts {
   public:
    // The vectors, which learn the words of the batch, must outlive this.
    VectorTexts(const TokenBatch& batch, WordVectors& vectors, bool merged) : dimensions_(vectors.dimensions()) {
        const TokenArrays& tokens = batch.arrays();
        const nb::gil_scoped_release release;
        const VectorColumns columns = vectors.of(tokens.word, tokens.lemma);
        VectorScratch scratch;
        texts_.reserve(tokens.offsets.size() - 1);
        for (std::size_t i = 0; i + 1 < tokens.offsets.size(); ++i) {
            const auto from = static_cast<std::size_t>(tokens.offsets[i]), to = static_cast<std::size_t>(tokens.offsets[i + 1]);
            texts_.emplace_back(VectorView{columns.word.data() + from, tokens.lemma.data() + from, columns.vector.data() + from,
                                           columns.weight.data() + from, to - from},
                                merged, scratch, &memory_);
        }
    }
    std::size_t size() const { return texts_.size(); }
    // Of all words, in 64ths.
    std::int64_t total_weight() const {
        std::int64_t total = 0;
        for (const VectorText& text : texts_) total += text.total;
        return total;
    }

    // One row of precision, recall and F for each pair; NaN where a problem does not exist (specification §5).
    static nb::tuple match(const VectorTexts& reference, const VectorTexts& hypothesis,
                           const Array<std::int64_t>& reference_index, const Array<std::int64_t>& hypothesis_index,
                           double alpha) {
        check_together(reference, hypothesis);
        const TextPairs pairs{view_of(reference_index), view_of(hypothesis_index)};
        std::vector<double> precision(pairs.size() * kVectorProblems), recall(precision), f(precision);
        {
            nb::gil_scoped_release release;
            VectorMatcher matcher(reference.dimensions_);
            std::size_t at = 0;
            for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t, const VectorText& x, const VectorText& y) {
                for (const SharedMeaning& shared : matcher.match(x, y)) {
                    const double missing = std::numeric_limits<double>::quiet_NaN();
                    precision[at] = shared.exists() ? shared.precision() : missing;
                    recall[at] = shared.exists() ? shared.recall() : missing;
                    f[at] = shared.exists() ? shared.f(alpha) : missing;
                    ++at;
                }
            });
        }
        return nb::make_tuple(to_numpy(std::move(precision), kVectorProblems),
                              to_numpy(std::move(recall), kVectorProblems), to_numpy(std::move(f), kVectorProblems));
    }

    // One pair of texts (both batches hold one): who sends how much to whom.
    static nb::object explain(const VectorTexts& reference, const VectorTexts& hypothesis) {
        check_together(reference, hypothesis);
        require(reference.size() == 1 && hypothesis.size() == 1, "one text on either side");
        std::vector<std::int64_t> entries;
        {
            nb::gil_scoped_release release;
            VectorMatcher matcher(reference.dimensions_);
            for (const VectorFlowEntry& e : matcher.flow(reference.texts_[0], hypothesis.texts_[0]))
                entries.insert(entries.end(), {e.reference, e.hypothesis, e.similarity, e.gain, e.amount});
        }
        return to_numpy(std::move(entries), 5);
    }

   private:
    static void check_together(const VectorTexts& reference, const VectorTexts& hypothesis) {
        require(reference.dimensions_ == hypothesis.dimensions_, "the vectors do not belong together");
    }

    std::size_t dimensions_;
    Arena memory_;  // before the texts that live in it
    std::vector<VectorText> texts_;
};

}  // namespace

void bind_vectors(nb::module_& m) {
    nb::class_<VectorTable>(m, "VectorTable", "Words or WordPieces with their vectors.")
        .def(
            "__init__",
            [](VectorTable* self, const Array<std::uint8_t>& entries, const Array<std::int8_t>& vectors,
               std::size_t dimensions, bool pieces) {
                new (self) VectorTable(std::string(entries.data(), entries.data() + entries.size()), copied(vectors),
                                       dimensions, pieces);
            },
            "entries"_a, "vectors"_a, "dimensions"_a, "pieces"_a)
        .def("__len__", &VectorTable::size)
        .def("look_up", &look_up, "words"_a, "One row per word; zeros for a word that has no vector.")
        .def(
            "segment",
            [](const VectorTable& table, const std::string& word) {
                std::vector<std::uint32_t> entries;
                table.segment(word, entries);
                return entries;
            },
            "word"_a, "The numbers of the entries that a word is made of.");
    nb::list names;
    for (const char* name : kVectorProblemNames) names.append(name);
    m.attr("VECTOR_PROBLEMS") = nb::tuple(names);
    nb::class_<WordVectors>(m, "WordVectors", "The vectors and weights of the words of a lexicon.")
        .def(nb::init<const VectorTable&, CharacterMap&, WordFacts&>(), "table"_a, "as_entries"_a, "facts"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def(
            "of",
            [](WordVectors& vectors, const TokenBatch& batch) {
                VectorColumns columns = without_gil([&] { return vectors.of(batch.arrays().word, batch.arrays().lemma); });
                std::vector<std::int8_t> values(columns.vector.size() * vectors.dimensions());
                for (std::size_t i = 0; i < columns.vector.size(); ++i)
                    if (const std::int8_t* vector = columns.vector[i].values)
                        std::copy_n(vector, vectors.dimensions(), values.data() + i * vectors.dimensions());
                return nb::make_tuple(to_numpy(std::move(columns.word)), to_numpy(std::move(columns.weight)),
                                      to_numpy(std::move(values), vectors.dimensions()));
            },
            "batch"_a,
            "For each token the number of its form in small letters, its weight in 64ths, and its vector; zeros if it has none.");
    nb::class_<VectorTexts>(m, "VectorTexts", "The texts of a batch with the vectors of their words.")
        .def(nb::init<const TokenBatch&, WordVectors&, bool>(), "batch"_a, "vectors"_a, "merged"_a = true,
             nb::keep_alive<1, 3>())
        .def_prop_ro("total_weight", &VectorTexts::total_weight, "Of all words, in 64ths.")
        .def("__len__", &VectorTexts::size);
    m.def("match_vectors", &VectorTexts::match, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "alpha"_a, "Precision, recall and F: one row per pair, the columns are VECTOR_PROBLEMS.");
    m.def("explain_vectors", &VectorTexts::explain, "reference"_a, "hypothesis"_a,
          "The flow between words: reference, hypothesis, similarity in 160ths, gain in 16ths, weight in 64ths.");
}

}  // namespace tesla
