#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "base/arrays.h"
#include "bindings/bindings.h"
#include "analysis/lexicon.h"
#include "base/texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::object intern_lemmas(Lexicon& lexicon, const std::vector<std::string_view>& lemmas,
                         const Array<std::int64_t>& sense_offsets, const Array<std::uint32_t>& senses) {
    check_csr(sense_offsets, lemmas.size(), senses.size());
    std::vector<LemmaSenses> given;
    for (std::size_t i = 0; i < lemmas.size(); ++i)
        given.push_back({lemmas[i], senses.data() + sense_offsets(i),
                         static_cast<std::size_t>(sense_offsets(i + 1) - sense_offsets(i))});
    return to_numpy(lexicon.intern_lemmas(given));
}

using Part = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // word, start, end

void check_number(std::uint32_t number, std::size_t count) {
    if (number >= count) throw nb::index_error("no such word or lemma");
}

void define_words(Lexicon& lexicon, const Array<std::uint32_t>& words, const Array<std::uint32_t>& lemmas,
                  const std::vector<std::vector<Part>>& parts) {
    if (words.size() != lemmas.size() || (!parts.empty() && parts.size() != words.size()))
        throw nb::value_error("words, lemmas and parts differ in length");
    std::vector<WordDefinition> definitions;
    for (std::size_t i = 0; i < words.size(); ++i) {
        definitions.push_back({words(i), lemmas(i), {}});
        if (!parts.empty())
            for (auto [word, start, end] : parts[i]) definitions.back().parts.push_back({word, start, end});
    }
    lexicon.define_words(std::move(definitions));
}

nb::dict finish(const Draft& draft, const Array<std::uint16_t>& tags, const Array<std::uint8_t>& universal,
                const Array<std::uint8_t>& function, const Array<std::uint8_t>& noun, bool keep_punctuation) {
    check_columns(tags.size(), {universal.size(), function.size(), noun.size()});
    std::vector<LabelMeaning> labels;
    for (std::size_t i = 0; i < tags.size(); ++i)
        labels.push_back({tags(i), universal(i), function(i) != 0, noun(i) != 0});
    TokenArrays arrays;
    {
        nb::gil_scoped_release release;
        arrays = draft.finish(labels, keep_punctuation);
    }
    nb::dict result;
    result["offsets"] = to_numpy(std::move(arrays.offsets));
    result["word"] = to_numpy(std::move(arrays.word));
    result["lemma"] = to_numpy(std::move(arrays.lemma));
    result["tag"] = to_numpy(std::move(arrays.tag));
    result["universal"] = to_numpy(std::move(arrays.universal));
    result["function"] = to_numpy(std::move(arrays.function));
    result["start"] = to_numpy(std::move(arrays.start));
    result["end"] = to_numpy(std::move(arrays.end));
    return result;
}

}  // namespace

void bind_lexicon(nb::module_& m) {
    nb::class_<Lexicon>(m, "Lexicon", "The interned words and lemmas of one analysis.")
        .def(nb::init<const Tagger*>(), "tagger"_a.none(), nb::keep_alive<1, 2>())
        .def_prop_ro("word_count", &Lexicon::word_count)
        .def(
            "forms",
            [](const Lexicon& lexicon, const Array<std::uint32_t>& words) {
                std::vector<std::string_view> forms;
                for (std::size_t i = 0; i < words.size(); ++i) {
                    check_number(words(i), lexicon.word_count());
                    forms.push_back(lexicon.form(words(i)));
                }
                return forms;
            },
            "words"_a)
        .def(
            "lemma",
            [](const Lexicon& lexicon, std::uint32_t lemma) {
                check_number(lemma, lexicon.lemma_count());
                return lexicon.lemma_text(lemma);
            },
            "lemma"_a)
        .def(
            "lemmas",
            [](const Lexicon& lexicon, const Array<std::uint32_t>& lemmas) {
                std::vector<std::string> texts;
                for (std::size_t i = 0; i < lemmas.size(); ++i) {
                    check_number(lemmas(i), lexicon.lemma_count());
                    texts.push_back(lexicon.lemma_text(lemmas(i)));
                }
                return texts;
            },
            "lemmas"_a)
        .def(
            "senses",
            [](const Lexicon& lexicon, std::uint32_t lemma) {
                check_number(lemma, lexicon.lemma_count());
                return lexicon.lemma(lemma).senses;
            },
            "lemma"_a)
        .def(
            "intern_words",
            [](Lexicon& lexicon, const std::vector<std::string_view>& words) {
                return to_numpy(lexicon.intern_words(words));
            },
            "words"_a)
        .def("intern_lemmas", &intern_lemmas, "lemmas"_a, "sense_offsets"_a, "senses"_a)
        .def("define_words", &define_words, "words"_a, "lemmas"_a, "parts"_a)
        .def(
            "draft",
            [](Lexicon& lexicon, const Tokeniser& tokeniser, const nb::list& texts) {
                const HeldTexts held(texts);
                nb::gil_scoped_release release;
                return new Draft(lexicon, tokeniser, held.views());
            },
            "tokeniser"_a, "texts"_a, nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership,
            "Tokenises a batch of texts and interns its words.");

    nb::class_<Draft>(m, "Draft", "A batch between tokenising and tagging.")
        .def(
            "undefined_words",
            [](const Draft& draft) { return to_numpy(draft.undefined_words()); },
            "The word types that have no lemma yet.")
        .def("finish", &finish, "tags"_a, "universal"_a, "function"_a, "noun"_a, "keep_punctuation"_a);
}

}  // namespace tesla
