#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/checks.h"
#include "base/interrupt.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "language/analysis/tokeniser.h"
#include "metrics/baselines/bleu.h"
#include "metrics/baselines/edit_rate.h"
#include "metrics/baselines/mteval_categories.h"
#include "metrics/baselines/porter_stemmer.h"
#include "metrics/baselines/rouge.h"
#include "metrics/baselines/sacrebleu_tokeniser.h"
#include "metrics/baselines/word_texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

template <class AddText>
WordTexts words_of(const nb::list& given, AddText&& add_text) {
    const HeldTexts texts(given, true);
    nb::gil_scoped_release release;
    Interrupt interrupt;
    std::size_t bytes = 0;
    for (std::string_view text : texts.views()) bytes += text.size();
    WordTexts words(bytes);
    for (std::string_view text : texts.views()) {
        add_text(text, words);
        interrupt.step(16 * text.size());
    }
    return words;
}

WordTexts sacrebleu_words(const nb::list& given, std::string_view tokeniser_name) {
    SacrebleuTokeniser tokeniser(tokeniser_name);
    return words_of(given, [&](std::string_view text, WordTexts& words) {
        for (std::string_view token : tokeniser.tokens(text)) words.add_word(token);
        words.end_text();
    });
}

WordTexts rouge_words(const nb::list& given, bool stem) {
    WordTexts words = words_of(given, [](std::string_view text, WordTexts& texts) { add_rouge_words(text, texts); });
    nb::gil_scoped_release release;
    if (stem) stem_rouge_words(words);
    return words;
}

WordTexts tokeniser_words(const nb::list& given, const Tokeniser& tokeniser) {
    return words_of(given, [&](std::string_view text, WordTexts& words) { add_tokenised_words(text, tokeniser, words); });
}

// One row per stream of references, one column per pair; -1 where a pair has no reference in the stream.
using References = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object count_bleu_rows(const WordTexts& texts, const Array<std::int64_t>& hypotheses, const References& references, int max_order) {
    const std::vector<std::int64_t> numbers = copied(references);
    const ReferenceIndex index{numbers.data(), references.shape(0), references.shape(1)};
    return to_numpy(without_gil([&] { return count_bleu(texts, copied(hypotheses), index, max_order); }),
                    bleu_columns(static_cast<std::size_t>(max_order)));
}

using Statistics = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object score_bleu_rows(const Statistics& rows, std::string_view smoothing, double smoothing_value, bool effective_order,
                           bool corrected_sum) {
    const BleuFormula formula{bleu_order(rows.shape(1)), bleu_smoothing(smoothing), smoothing_value, effective_order, corrected_sum};
    return to_numpy(without_gil([&] { return score_bleu(formula, {rows.data(), rows.size()}); }));
}

nb::object match_rouge_rows(const WordTexts& sentences, const Array<std::int64_t>& offsets, const Array<std::int64_t>& hypotheses,
                            const References& references, std::string_view kind, int measure) {
    const std::vector<std::int64_t> numbers = copied(references);
    const ReferenceIndex index{numbers.data(), references.shape(0), references.shape(1)};
    return to_numpy(without_gil([&] {
                        return match_rouge(sentences, copied(offsets), copied(hypotheses), index, rouge_kind(kind), measure);
                    }),
                    3);
}

void replace_words(WordTexts& words, const nb::list& forms) {
    const HeldTexts texts(forms, true);
    words.replace_words(texts.views());
}

nb::list list_words(const WordTexts& words) {
    nb::list listed;
    for (std::string_view word : words.words()) {
        nb::object text = nb::steal<nb::object>(PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "surrogatepass"));
        if (!text.is_valid()) throw nb::python_error();
        listed.append(text);
    }
    return listed;
}

}  // namespace

void bind_baselines(nb::module_& m) {
    m.attr("MTEVAL_UNICODE") = kMtevalUnicode;
    nb::class_<WordTexts>(m, "WordTexts", "Texts as numbers of words, for BLEU and ROUGE.")
        .def_static("by_sacrebleu", &sacrebleu_words, "texts"_a, "tokeniser"_a,
                    "Words as sacreBLEU's tokenisers 13a, intl, zh, char and none cut them.")
        .def_static("by_rouge_score", &rouge_words, "texts"_a, "stem"_a,
                    "Words as rouge-score cuts and stems them; the texts are in small letters.")
        .def_static("by_tokeniser", &tokeniser_words, "texts"_a, "tokeniser"_a, "Words as a tokeniser of ours cuts them.")
        .def("__len__", &WordTexts::size)
        .def("words", &list_words, "The different words, by number.")
        .def("replace_words", &replace_words, "forms"_a,
             "Gives every word another form: equal forms become one word, an empty form removes the word.");
    m.def("count_bleu", &count_bleu_rows, "texts"_a, "hypotheses"_a, "references"_a, "max_order"_a,
          "BLEU's statistics: one row per pair. `references` has one row per stream, -1 where there is none.");
    m.def("score_bleu", &score_bleu_rows, "rows"_a, "smoothing"_a, "smoothing_value"_a, "effective_order"_a, "corrected_sum"_a,
          "BLEU of every row of statistics, as sacreBLEU computes it.");
    m.def("match_rouge", &match_rouge_rows, "sentences"_a, "sentence_offsets"_a, "hypotheses"_a, "references"_a, "kind"_a,
          "measure"_a, "Precision, recall and F of every pair with the reference under which `measure` is highest.");
    m.def(
        "count_edits",
        [](const Array<std::uint32_t>& hypothesis, const Array<std::uint32_t>& reference) {
            return without_gil([&] { return EditCounter().count(view_of(hypothesis), view_of(reference)); });
        },
        "hypothesis"_a, "reference"_a, "The edits of TER between two sequences of words, which are numbers.");
    m.def(
        "porter_stem",
        [](std::string_view word, bool nltk) { return porter_stem(word, nltk ? PorterRules::Nltk : PorterRules::Paper); },
        "word"_a, "nltk"_a, "The stem of a word in small letters, by the rules of Porter's paper or of NLTK.");
}

}  // namespace tesla
