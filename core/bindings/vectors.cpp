#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/character_map.h"
#include "analysis/lexicon.h"
#include "analysis/vector_table.h"
#include "base/checks.h"
#include "base/pairs.h"
#include "bindings/arrays.h"
#include "base/recycled_memory.h"
#include "bindings/texts.h"
#include "bindings/bindings.h"
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

// The vectors of the words that have one, where each word's lies (counted from `first`), and the squares of their lengths.
// `text_of` gives the words of a lexicon by their numbers, `characters` turns them into what the table has.
template <class TextOf>
nb::tuple look_up_rows(const VectorTable& table, CharacterMap& characters, const Array<std::uint32_t>& words, TextOf&& text_of,
                       std::uint32_t first) {
    std::vector<std::int8_t> vectors;
    std::vector<std::uint32_t> rows(words.size(), kNoVector), squares;
    {
        nb::gil_scoped_release release;
        std::vector<std::int8_t> vector(table.dimensions());
        vectors.reserve(words.size() * vector.size());
        std::string word;
        for (std::size_t i = 0; i < words.size(); ++i) {
            characters.apply(text_of(words(i)), word);
            table.look_up(word, vector.data());
            std::uint32_t square = 0;
            for (std::int8_t value : vector) square += static_cast<std::uint32_t>(value * value);
            if (square == 0) continue;
            rows[i] = first + static_cast<std::uint32_t>(squares.size());
            squares.push_back(square);
            vectors.insert(vectors.end(), vector.begin(), vector.end());
        }
    }
    return nb::make_tuple(to_numpy(std::move(vectors)), to_numpy(std::move(rows)), to_numpy(std::move(squares)));
}

// The texts of a batch with the vectors of their words; made once, compared as often as one likes.
class VectorTexts {
   public:
    VectorTexts(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& word, const Array<std::uint32_t>& lemma,
                const Array<std::uint32_t>& row, const Array<std::uint32_t>& weight, Array<std::int8_t> matrix,
                const Array<std::uint32_t>& squares, std::size_t dimensions, bool merged)
        : matrix_(std::move(matrix)), dimensions_(dimensions) {
        check_csr(view_of(offsets), word.size());
        check_columns(word.size(), {lemma.size(), row.size(), weight.size()});
        require(dimensions != 0 && dimensions <= kMostDimensions && matrix_.size() % dimensions == 0,
                "the vectors have an invalid shape");
        const std::size_t rows = matrix_.size() / dimensions;
        check_columns(rows, {squares.size()});
        for (std::size_t i = 0; i < row.size(); ++i) {
            require_in_range(row(i) == kNoVector || row(i) < rows, "no such vector");
            require(weight(i) != 0 && weight(i) <= kLargestWordWeight, "a weight is 0 or too large");
        }
        nb::gil_scoped_release release;
        VectorScratch scratch;
        texts_.reserve(offsets.size() - 1);
        for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
            const auto from = static_cast<std::size_t>(offsets(i)), to = static_cast<std::size_t>(offsets(i + 1));
            texts_.emplace_back(
                VectorView{word.data() + from, lemma.data() + from, row.data() + from, weight.data() + from, to - from},
                VectorMatrix{matrix_.data(), squares.data(), dimensions}, merged, scratch, &memory_);
        }
    }
    std::size_t size() const { return texts_.size(); }

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

    Array<std::int8_t> matrix_;  // keeps the vectors alive that the texts point to
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
            "word_rows",
            [](const VectorTable& table, CharacterMap& characters, const Lexicon& lexicon,
               const Array<std::uint32_t>& words, std::uint32_t first) {
                check_below(view_of(words), lexicon.word_count(), "no such word");
                const auto text_of = [&](std::uint32_t word) -> std::string_view { return lexicon.form(word); };
                return look_up_rows(table, characters, words, text_of, first);
            },
            "characters"_a, "lexicon"_a, "words"_a, "first"_a,
            "The vectors of the words that have one, the row of every word counted from `first`, the squares of the lengths.")
        .def(
            "lemma_rows",
            [](const VectorTable& table, CharacterMap& characters, const Lexicon& lexicon,
               const Array<std::uint32_t>& lemmas, std::uint32_t first) {
                check_below(view_of(lemmas), lexicon.lemma_count(), "no such lemma");
                const auto text_of = [&](std::uint32_t lemma) -> std::string_view { return lexicon.lemma_text(lemma); };
                return look_up_rows(table, characters, lemmas, text_of, first);
            },
            "characters"_a, "lexicon"_a, "lemmas"_a, "first"_a, "The same for lemmas.")
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
    m.attr("NO_VECTOR") = kNoVector;
    nb::class_<VectorTexts>(m, "VectorTexts", "The texts of a batch with the vectors of their words.")
        .def(nb::init<const Array<std::int64_t>&, const Array<std::uint32_t>&, const Array<std::uint32_t>&,
                      const Array<std::uint32_t>&, const Array<std::uint32_t>&, Array<std::int8_t>,
                      const Array<std::uint32_t>&, std::size_t, bool>(),
             "offsets"_a, "word"_a, "lemma"_a, "row"_a, "weight"_a, "matrix"_a, "squares"_a, "dimensions"_a,
             "merged"_a = true)
        .def("__len__", &VectorTexts::size);
    m.def("match_vectors", &VectorTexts::match, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "alpha"_a, "Precision, recall and F: one row per pair, the columns are VECTOR_PROBLEMS.");
    m.def("explain_vectors", &VectorTexts::explain, "reference"_a, "hypothesis"_a,
          "The flow between words: reference, hypothesis, similarity in 160ths, gain in 16ths, weight in 64ths.");
}

}  // namespace tesla
