#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/analysis/tokeniser.h"
#include "bindings/arrays.h"
#include "base/checks.h"
#include "base/interrupt.h"
#include "base/pairs.h"
#include "metrics/baselines/bleu.h"
#include "metrics/baselines/edit_rate.h"
#include "metrics/baselines/mteval_categories.h"
#include "metrics/baselines/porter_stemmer.h"
#include "metrics/baselines/rouge.h"
#include "metrics/baselines/sacrebleu_tokeniser.h"
#include "metrics/baselines/word_texts.h"
#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

constexpr int kHighestOrder = 32;

// The UTF-8 of the strings of a list, lone surrogates included. Made and destroyed under the GIL.
class AnyTexts {
   public:
    explicit AnyTexts(const nb::list& texts) : held_(nb::steal<nb::tuple>(PyList_AsTuple(texts.ptr()))) {
        if (!held_.is_valid()) throw nb::python_error();
        views_.reserve(nb::len(held_));
        for (nb::handle text : held_) {
            Py_ssize_t size = 0;
            const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
            if (!data) {
                if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
                PyErr_Clear();
                encoded_.push_back(nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass")));
                if (!encoded_.back().is_valid()) throw nb::python_error();
                data = encoded_.back().c_str();
                size = static_cast<Py_ssize_t>(encoded_.back().size());
            }
            views_.emplace_back(data, static_cast<std::size_t>(size));
            bytes_ += static_cast<std::size_t>(size);
        }
    }
    const std::vector<std::string_view>& views() const { return views_; }
    std::size_t bytes() const { return bytes_; }

   private:
    nb::tuple held_;
    std::vector<nb::bytes> encoded_;  // of texts that are not UTF-8
    std::vector<std::string_view> views_;
    std::size_t bytes_ = 0;
};

template <class AddText>
WordTexts words_of(const nb::list& given, AddText&& add_text) {
    const AnyTexts texts(given);
    nb::gil_scoped_release release;
    Interrupt interrupt;
    WordTexts words(texts.bytes());
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
using ReferenceIndex = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The references that a pair has.
template <class Visit>
void for_references(const ReferenceIndex& index, std::size_t pair, Visit&& visit) {
    for (std::size_t stream = 0; stream < index.shape(0); ++stream)
        if (index(stream, pair) >= 0) visit(static_cast<std::size_t>(index(stream, pair)));
}

// Refuses indices that point past the texts, and pairs without any reference.
void check_index(const Array<std::int64_t>& hypotheses, const ReferenceIndex& references, std::size_t texts) {
    const std::size_t pairs = hypotheses.size();
    if (references.shape(1) != pairs) throw nb::value_error("the indices do not belong together");
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        bool valid = static_cast<std::size_t>(hypotheses(pair)) < texts, any = false;
        for_references(references, pair, [&](std::size_t text) {
            valid = valid && text < texts;
            any = true;
        });
        if (!valid) throw nb::index_error("no such text");
        if (!any) throw nb::value_error("a pair has no reference");
    }
}

void check_order(int max_order) {
    if (max_order < 1 || max_order > kHighestOrder) throw nb::value_error("n-grams have 1 to 32 words");
}

nb::object count_bleu(const WordTexts& texts, const Array<std::int64_t>& hypotheses, const ReferenceIndex& references,
                      int max_order) {
    check_order(max_order);
    check_index(hypotheses, references, texts.size());
    const std::size_t orders = static_cast<std::size_t>(max_order), columns = bleu_columns(orders);
    std::vector<double> rows(hypotheses.size() * columns);
    {
        nb::gil_scoped_release release;
        Interrupt interrupt;
        BleuCounter counter(orders);
        std::vector<WordSequence> given;
        for (std::size_t pair = 0; pair < hypotheses.size(); ++pair) {
            given.clear();
            for_references(references, pair, [&](std::size_t text) { given.push_back(texts[text]); });
            const WordSequence hypothesis = texts[static_cast<std::size_t>(hypotheses(pair))];
            counter.count(hypothesis, given, rows.data() + pair * columns);
            interrupt.step(100 * hypothesis.size * (given.size() + 1));
        }
    }
    return to_numpy(std::move(rows), columns);
}

using Statistics = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object score_bleu(const Statistics& rows, std::string_view smoothing, double smoothing_value, bool effective_order,
                      bool corrected_sum) {
    const std::size_t columns = rows.shape(1);
    if (columns < bleu_columns(1) || columns % 2 != 0) throw nb::value_error("BLEU's statistics have another shape");
    const BleuFormula formula{(columns - 2) / 2, bleu_smoothing(smoothing), smoothing_value, effective_order, corrected_sum};
    std::vector<double> scores(rows.shape(0));
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = formula.score(rows.data() + i * columns);
    return to_numpy(std::move(scores));
}

// Text i is the sentences from sentence_offsets[i] to sentence_offsets[i + 1].
nb::object match_rouge(const WordTexts& sentences, const Array<std::int64_t>& sentence_offsets,
                       const Array<std::int64_t>& hypotheses, const ReferenceIndex& references, std::string_view kind,
                       int measure) {
    check_csr(view_of(sentence_offsets), sentences.size());
    check_index(hypotheses, references, sentence_offsets.size() - 1);
    using Row = std::array<double, 3>;
    if (measure < 0 || measure >= static_cast<int>(Row{}.size())) throw nb::value_error("the measures are 0, 1 and 2");
    const auto chosen = static_cast<std::size_t>(measure);
    RougeMatcher matcher(rouge_kind(kind), sentences.words().size());
    std::vector<double> rows;
    rows.reserve(hypotheses.size() * Row{}.size());
    {
        nb::gil_scoped_release release;
        Interrupt interrupt;
        RougeMatcher::Sentences reference, hypothesis;
        const auto list = [&](std::size_t text, RougeMatcher::Sentences& listed) {
            listed.clear();
            for (std::int64_t s = sentence_offsets(text); s < sentence_offsets(text + 1); ++s)
                listed.push_back(sentences[static_cast<std::size_t>(s)]);
        };
        for (std::size_t pair = 0; pair < hypotheses.size(); ++pair) {
            list(static_cast<std::size_t>(hypotheses(pair)), hypothesis);
            Row best{};
            for_references(references, pair, [&](std::size_t text) {
                list(text, reference);
                interrupt.step(kLeastPerPair);
                const RougeMeasures measures = matcher.match(reference, hypothesis);
                const Row row{measures.precision, measures.recall, measures.f};
                if (row[chosen] > best[chosen] || (row[chosen] == best[chosen] && row > best)) best = row;
            });
            rows.insert(rows.end(), best.begin(), best.end());
        }
    }
    return to_numpy(std::move(rows), Row{}.size());
}

void replace_words(WordTexts& words, const nb::list& forms) {
    const AnyTexts texts(forms);
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
    m.def("count_bleu", &count_bleu, "texts"_a, "hypotheses"_a, "references"_a, "max_order"_a,
          "BLEU's statistics: one row per pair. `references` has one row per stream, -1 where there is none.");
    m.def("score_bleu", &score_bleu, "rows"_a, "smoothing"_a, "smoothing_value"_a, "effective_order"_a, "corrected_sum"_a,
          "BLEU of every row of statistics, as sacreBLEU computes it.");
    m.def("match_rouge", &match_rouge, "sentences"_a, "sentence_offsets"_a, "hypotheses"_a, "references"_a, "kind"_a,
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
