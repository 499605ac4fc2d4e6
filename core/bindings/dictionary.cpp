#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "base/front_coded.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "language/analysis/plain_lemmas.h"
#include "language/analysis/sense_index.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::tuple lookup(const SenseIndex& index, const nb::sequence& lemmas) {
    const HeldTexts held(lemmas);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> ids;
    for (const SenseIndex::Senses& senses : index.find(held.views())) {
        ids.insert(ids.end(), senses.data, senses.data + senses.size);
        offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(ids)));
}

}  // namespace

void bind_dictionaries(nb::module_& m) {
    nb::exception<DamagedDictionary>(m, "DamagedDictionaryError", PyExc_ValueError);
    nb::class_<FrontCodedDictionary>(m, "FrontCodedDictionary", "A dictionary in simplemma's format, looked up in place.")
        .def(
            "__init__",
            [](FrontCodedDictionary* self, const nb::bytes& stream) {
                new (self) FrontCodedDictionary({stream.c_str(), stream.size()});
            },
            "stream"_a)
        .def(
            "get",
            [](const FrontCodedDictionary& dictionary, std::string_view key) {
                std::string value;
                return dictionary.find(key, value) ? std::optional(value) : std::nullopt;
            },
            "key"_a, "The value of a key, or None.")
        .def("__len__", &FrontCodedDictionary::size);

    nb::class_<SenseIndex>(m, "SenseIndex", "The synonym sets of lemmas.")
        .def(
            "__init__",
            [](SenseIndex* self, const Array<std::uint32_t>& keys, const Array<std::uint8_t>& text,
               const Array<std::int64_t>& text_ends, const Array<std::int64_t>& id_ends,
               const Array<std::uint32_t>& ids) {
                new (self) SenseIndex(view_of(keys), {text.data(), text.data() + text.size()}, view_of(text_ends),
                                      view_of(id_ends), copied(ids));
            },
            "keys"_a, "text"_a, "text_ends"_a, "id_ends"_a, "ids"_a)
        .def("lookup", &lookup, "lemmas"_a, "Offsets and ids: those of lemma i lie from offsets[i] to offsets[i + 1].");

    nb::class_<PlainLemmas>(m, "PlainLemmas", "The lemmas of plain words, found without Python.")
        .def(
            "__init__",
            [](PlainLemmas* self, const std::vector<std::string>& forms, const std::vector<std::string>& form_edits,
               const std::vector<std::string>& suffixes, const std::vector<std::string>& suffix_edits,
               const FrontCodedDictionary* dictionary, std::optional<std::vector<std::string>> open_ends,
               bool numbers_are_lemmas, bool english) {
                new (self) PlainLemmas(EditTable(forms, form_edits), EditTable(suffixes, suffix_edits), dictionary,
                                       std::move(open_ends), numbers_are_lemmas, english);
            },
            "forms"_a, "form_edits"_a, "suffixes"_a, "suffix_edits"_a, "dictionary"_a.none(), "open_ends"_a.none(),
            "numbers_are_lemmas"_a, "english"_a = false, nb::keep_alive<1, 6>())
        .def(
            "lookup",
            [](const PlainLemmas& lemmas, const nb::sequence& words) {
                const HeldTexts held(words);
                std::vector<std::optional<std::string>> known(held.views().size());
                std::string lemma;
                for (std::size_t i = 0; i < known.size(); ++i)
                    if (lemmas.find(held.views()[i], lemma)) known[i] = lemma;
                return known;
            },
            "words"_a, "The lemma of each word, None where only the lemmatiser can tell.");

    m.def(
        "define_plain",
        [](Lexicon& lexicon, const Array<std::uint32_t>& words, const PlainLemmas& lemmas, const SenseIndex* senses) {
            std::vector<std::uint32_t> asked = copied(words), rest;
            check_below(asked, lexicon.word_count(), "no such word");
            {
                nb::gil_scoped_release release;
                rest = define_plain(lexicon, asked, lemmas, senses);
            }
            return to_numpy(std::move(rest));
        },
        "lexicon"_a, "words"_a, "lemmas"_a, "senses"_a.none(),
        "Defines the words whose lemmas are known without Python; returns the others.");
}

}  // namespace tesla
