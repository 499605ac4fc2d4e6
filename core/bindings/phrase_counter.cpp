#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "training/phrase_counter.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

void add_sentences(PhraseCounter& counter, const nb::sequence& target_lines, const nb::sequence& pivot_lines,
                   const nb::sequence& forward_lines, const nb::sequence& reverse_lines) {
    const HeldTexts held[] = {HeldTexts(target_lines), HeldTexts(pivot_lines), HeldTexts(forward_lines),
                              HeldTexts(reverse_lines)};
    nb::gil_scoped_release release;
    counter.add_sentences(held[0].views(), held[1].views(), held[2].views(), held[3].views());
}

void add_pairs(PhraseCounter& counter, const nb::sequence& target_lines, const nb::sequence& pivot_lines,
               const Array<std::uint32_t>& counts) {
    const HeldTexts held[] = {HeldTexts(target_lines), HeldTexts(pivot_lines)};
    nb::gil_scoped_release release;
    counter.add_pairs(held[0].views(), held[1].views(), view_of(counts));
}

nb::dict merge(const PhraseCounter& counter, const std::vector<std::string>& paths, std::uint32_t min_count,
               double min_probability) {
    TableArrays table = without_gil([&] { return counter.merge(paths, min_count, min_probability); });
    nb::dict result;
    result["target_words"] = table.target_words;
    result["pivot_words"] = table.pivot_words;
    result["node_word"] = to_numpy(std::move(table.node_word));
    result["node_child"] = to_numpy(std::move(table.node_child));
    result["node_count"] = to_numpy(std::move(table.node_count));
    result["node_option"] = to_numpy(std::move(table.node_option));
    result["option_phrase"] = to_numpy(std::move(table.option_phrase));
    result["option_count"] = to_numpy(std::move(table.option_count));
    result["phrase_ends"] = to_numpy(std::move(table.phrase_ends));
    result["phrase_words"] = to_numpy(std::move(table.phrase_words));
    result["total"] = table.total;
    result["phrases"] = table.phrases;
    result["pairs"] = table.pairs;
    return result;
}

using Pairs = std::vector<std::pair<int, int>>;

Pairs symmetrise(const std::string& forward, const std::string& reverse, std::size_t target_size, std::size_t pivot_size) {
    Pairs links;
    for (const auto& [i, j] : symmetrised(parse_links(forward, target_size, pivot_size),
                                          parse_links(reverse, target_size, pivot_size), target_size, pivot_size))
        links.emplace_back(i, j);
    return links;
}

nb::list extract(const std::string& links, std::size_t target_size, std::size_t pivot_size) {
    nb::list pairs;
    for (const PhrasePair& p : consistent_pairs(parse_links(links, target_size, pivot_size), target_size, pivot_size))
        pairs.append(nb::make_tuple(p.target_start, p.target_start + p.target_size, p.pivot_start, p.pivot_start + p.pivot_size));
    return pairs;
}

}  // namespace

void bind_phrase_counter(nb::module_& m) {
    nb::class_<PhraseCounter>(m, "PhraseCounter", "Counts phrase pairs of aligned sentences, in sorted runs on disk.")
        .def(nb::init<>())
        .def("add_sentences", &add_sentences, "target"_a, "pivot"_a, "forward"_a, "reverse"_a,
             "Sentences as words separated by spaces; links in both directions, or twice the same list.")
        .def("add_pairs", &add_pairs, "target"_a, "pivot"_a, "counts"_a)
        .def_prop_ro("pending", &PhraseCounter::pending)
        .def("write_run", &PhraseCounter::write_run, "path"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("merge", &merge, "paths"_a, "min_count"_a, "min_probability"_a, "The arrays of the table.");
    m.def("symmetrise", &symmetrise, "forward"_a, "reverse"_a, "target_size"_a, "pivot_size"_a,
          "Grow-diag-final-and of two alignments in Pharaoh format.");
    m.def("extract_phrases", &extract, "links"_a, "target_size"_a, "pivot_size"_a,
          "Spans (target from, to, pivot from, to) of the phrase pairs that are consistent with the links.");
}

}  // namespace tesla
