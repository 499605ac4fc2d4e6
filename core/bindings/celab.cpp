#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/arrays.h"
#include "base/interrupt.h"
#include "bindings/bindings.h"
#include "celab/celab.h"
#include "celab/paths.h"
#include "base/unicode.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using celab::Text;
using celab::Vocabulary;

// Texts as n-grams over one vocabulary; made once, scored against each other as often as one likes.
class CelabBatch {
   public:
    CelabBatch(Vocabulary& vocabulary, const nb::list& texts, int order, const std::optional<nb::list>& weights)
        : vocabulary_(vocabulary) {
        if (order < 1 || order > celab::kMaxOrder) throw nb::value_error("n-grams have 1 to 8 units");
        if (weights && weights->size() != texts.size()) throw nb::value_error("as many weights as texts");
        std::vector<std::string_view> units;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::vector<double> by_span;
            if (weights) {  // before the views: to read an array may run code of Python's, which may change the lists
                auto given = nb::cast<Array<double>>((*weights)[i]);
                by_span.assign(given.data(), given.data() + given.size());
            }
            const auto list = nb::cast<nb::list>(texts[i]);
            units.clear();
            for (nb::handle unit : list) units.push_back(nb::cast<std::string_view>(unit));
            if (weights) {
                if (by_span.size() != units.size() * static_cast<std::size_t>(order))
                    throw nb::value_error("one weight for every unit and length");
            }
            texts_.emplace_back(vocabulary, units, order, std::move(by_span));
        }
    }
    std::size_t size() const { return texts_.size(); }

    // The joined texts that no dictionary has been asked for yet; `define` answers in the same order.
    nb::list unknown() {
        unknown_.clear();
        std::vector<bool> seen(vocabulary_.size());
        for (const Text& text : texts_)
            for (int start = 0; start < text.units(); ++start)
                for (int length = 1; length <= text.longest(start); ++length) {
                    std::uint32_t id = text.joined()[text.span(start, length)];
                    if (seen[id] || vocabulary_.defined(id)) continue;
                    seen[id] = true;
                    unknown_.push_back(id);
                }
        nb::list result;
        for (std::uint32_t id : unknown_) result.append(std::string_view(vocabulary_.text(id)));
        return result;
    }
    void define(const Array<std::int64_t>& offsets, const Array<std::int32_t>& categories) {
        check_csr(offsets, unknown_.size(), categories.size());
        const auto* ids = reinterpret_cast<const std::uint32_t*>(categories.data());
        for (std::size_t i = 0; i < unknown_.size(); ++i)
            vocabulary_.define(unknown_[i], ids + offsets(i), static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
    }

    // A row a pair: covered and total weight of the reference's n-grams, and of the hypothesis's; NaN where more than
    // `limit` rows of a program hang together.
    nb::object solve(const Array<std::int64_t>& reference, const Array<std::int64_t>& hypothesis, std::size_t limit) {
        if (reference.size() != hypothesis.size()) throw nb::value_error("as many references as hypotheses");
        for (std::size_t k = 0; k < reference.size(); ++k) {
            text(reference(k));
            text(hypothesis(k));
        }
        std::vector<double> rows;
        {
            nb::gil_scoped_release release;
            find_types();
            celab::Solver solver(limit);
            Interrupt interrupt;
            for (std::size_t k = 0; k < reference.size(); ++k) {
                interrupt.look();
                try {
                    append(solver.solve(text(reference(k)), text(hypothesis(k))), rows);
                } catch (const celab::TooLarge&) {
                    rows.insert(rows.end(), 4, std::numeric_limits<double>::quiet_NaN());
                }
            }
        }
        return to_numpy(std::move(rows), 4);
    }

    // One pair with the matches that reach the optimum: spans of both sides as (start, length), and the weights.
    nb::tuple explain(std::int64_t reference, std::int64_t hypothesis, std::size_t limit) {
        const Text &x = text(reference), &y = text(hypothesis);
        celab::Solution s;
        {
            nb::gil_scoped_release release;
            find_types();
            s = celab::Solver(limit).solve(x, y, true);
        }
        std::vector<std::int32_t> spans;
        std::vector<double> weights;
        for (const celab::MatchedPair& m : s.matches) {
            spans.insert(spans.end(), {m.reference_start, m.reference_length, m.hypothesis_start, m.hypothesis_length});
            weights.push_back(m.weight);
        }
        std::vector<double> totals;
        append(s, totals);
        return nb::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(spans), 4), to_numpy(std::move(weights)));
    }

   private:
    const Text& text(std::int64_t i) const {
        if (i < 0 || static_cast<std::size_t>(i) >= texts_.size()) throw nb::index_error("no such text");
        return texts_[static_cast<std::size_t>(i)];
    }
    static void append(const celab::Solution& s, std::vector<double>& row) {
        row.insert(row.end(), {s.reference.covered, s.reference.total, s.hypothesis.covered, s.hypothesis.total});
    }
    void find_types() {
        std::call_once(types_found_, [this] {
            for (Text& text : texts_) text.find_types(vocabulary_);
        });
    }

    Vocabulary& vocabulary_;
    std::vector<Text> texts_;
    std::vector<std::uint32_t> unknown_;
    std::once_flag types_found_;
};

std::vector<std::pair<std::int32_t, std::int32_t>> split(std::string_view text) {
    std::u32string characters;
    decode_utf8(text, characters);
    return celab::split_units(characters);
}

}  // namespace

void bind_celab(nb::module_& m) {
    m.def(
        "unit_spans",
        [](std::string_view text) {
            nb::list result;
            for (const auto& [start, end] : split(text)) result.append(nb::make_tuple(start, end));
            return result;
        },
        "text"_a, "The units of a text (specification §9) as (start, end) in code points, end exclusive.");
    m.def(
        "unit_surfaces",
        [](const nb::str& text) {
            nb::list result;
            for (const auto& [start, end] : split(nb::cast<std::string_view>(text)))
                result.append(nb::steal(PyUnicode_Substring(text.ptr(), start, end)));
            return result;
        },
        "text"_a, "The units of a text as they stand there.");
    nb::class_<Vocabulary>(m, "NgramVocabulary", "Joined texts of n-grams with their synonym categories.")
        .def(nb::init<>())
        .def("__len__", &Vocabulary::size);
    nb::class_<CelabBatch>(m, "CelabBatch", "Texts as n-grams of units, ready to be matched with each other.")
        .def(nb::init<Vocabulary&, const nb::list&, int, const std::optional<nb::list>&>(), "vocabulary"_a, "texts"_a,
             "order"_a, "weights"_a = nb::none(), nb::keep_alive<1, 2>())
        .def("__len__", &CelabBatch::size)
        .def("unknown", &CelabBatch::unknown, "The joined texts whose categories are not known yet.")
        .def("define", &CelabBatch::define, "offsets"_a, "categories"_a,
             "The categories of the texts that `unknown` gave.")
        .def("solve", &CelabBatch::solve, "reference"_a, "hypothesis"_a, "limit"_a,
             "A row a pair: covered and total weight of the reference, and of the hypothesis.")
        .def("explain", &CelabBatch::explain, "reference"_a, "hypothesis"_a, "limit"_a,
             "One pair: that row, the matched spans as (start, length) of both sides, their weights.");
}

}  // namespace tesla
