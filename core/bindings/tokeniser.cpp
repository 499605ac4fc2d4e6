#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "base/unicode.h"
#include "bindings/bindings.h"
#include "language/analysis/segmenter.h"
#include "language/analysis/tokeniser.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

std::vector<Span> tokenise_utf8(const Tokeniser& tokeniser, std::string_view text) {
    std::u32string characters;
    decode_utf8(text, characters);
    std::vector<Span> spans;
    spans.reserve(characters.size() / 4);
    tokeniser.tokenise(characters.data(), characters.size(), spans);
    return spans;
}

}  // namespace

void bind_tokeniser(nb::module_& m) {
    nb::class_<Tokeniser>(m, "Tokeniser", "Cuts a text in NFC into tokens, by the rules of a language.")
        .def(nb::init<std::string_view, const Segmenter*>(), "language"_a, "segmenter"_a = nb::none(), nb::keep_alive<1, 3>())
        .def_static("from_table", &Tokeniser::from_table, "table"_a,
                    "A tokeniser by rules of one's own: lines of a key and words, as in core/language/analysis/tokeniser_languages.h.")
        .def(
            "spans",
            [](const Tokeniser& self, std::string_view text) {
                nb::list result;
                for (Span span : tokenise_utf8(self, text)) result.append(nb::make_tuple(span.start, span.end));
                return result;
            },
            "text"_a, "The tokens as (start, end) in code points, end exclusive.")
        .def(
            "count", [](const Tokeniser& self, std::string_view text) { return tokenise_utf8(self, text).size(); },
            "text"_a, "The number of tokens.")
        .def_static(
            "languages",
            [] {
                nb::list names;
                for (std::string_view name : Tokeniser::languages()) names.append(name);
                return names;
            },
            "The languages that have rules of their own, and `und`.");
}

}  // namespace tesla
