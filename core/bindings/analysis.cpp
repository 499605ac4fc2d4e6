#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/analyser.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "bindings/token_batch.h"
#include "language/analysis/character_map.h"
#include "language/analysis/lexicon.h"
#include "language/analysis/word_facts.h"
#include "language/analysis/word_marks.h"
#include "simd/kernels.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::object intern_lemmas(Lexicon& lexicon, const nb::sequence& texts, const Array<std::int64_t>& sense_offsets,
                         const Array<std::uint32_t>& senses) {
    const HeldTexts held(texts);
    const std::vector<std::string_view>& lemmas = held.views();
    const std::vector<std::int64_t> offsets = copied(sense_offsets);
    check_csr(offsets, lemmas.size(), senses.size());
    std::vector<LemmaSenses> given;
    for (std::size_t i = 0; i < lemmas.size(); ++i)
        given.push_back({lemmas[i], senses.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])});
    return to_numpy(lexicon.intern_lemmas(given));
}

using Part = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // word, start, end

void check_number(std::uint32_t number, std::size_t count) {
    require_in_range(number < count, "no such word or lemma");
}

void define_words(Lexicon& lexicon, const Array<std::uint32_t>& words, const Array<std::uint32_t>& lemmas,
                  const std::vector<std::vector<Part>>& parts) {
    require(words.size() == lemmas.size() && (parts.empty() || parts.size() == words.size()),
            "words, lemmas and parts differ in length");
    std::vector<WordDefinition> definitions;
    for (std::size_t i = 0; i < words.size(); ++i) {
        definitions.push_back({words(i), lemmas(i), {}});
        if (!parts.empty())
            for (auto [word, start, end] : parts[i]) definitions.back().parts.push_back({word, start, end});
    }
    lexicon.define_words(std::move(definitions));
}

std::vector<LabelMeaning> read_labels(const Array<std::uint16_t>& tags, const Array<std::uint8_t>& universal,
                                      const Array<std::uint8_t>& function, const Array<std::uint8_t>& noun) {
    check_columns(tags.size(), {universal.size(), function.size(), noun.size()});
    std::vector<LabelMeaning> labels;
    for (std::size_t i = 0; i < tags.size(); ++i)
        labels.push_back({tags(i), universal(i), function(i) != 0, noun(i) != 0});
    return labels;
}

struct Labels {
    std::vector<LabelMeaning> meanings;
};

template <class T>
auto column(BatchArray<T> TokenArrays::* of) {
    return [of](nb::handle self) { return TokenBatch::view(self, of); };
}

CharacterMap::OfCharacter asks_of_character(nb::callable python) {
    return [python = std::move(python)](char32_t c) {
        nb::gil_scoped_acquire acquire;
        const nb::str character = nb::steal<nb::str>(PyUnicode_FromOrdinal(static_cast<int>(c)));
        const auto [text, traits] = nb::cast<std::pair<nb::object, std::uint8_t>>(python(character));
        return text.is_none() ? CharacterChange{{}, traits, false} : CharacterChange{std::string(utf8_of(text)), traits, true};
    };
}

CharacterMap::OfWord asks_of_word(nb::callable python) {
    return [python = std::move(python)](std::string_view word) {
        nb::gil_scoped_acquire acquire;
        return std::string(utf8_of(python(nb::str(word.data(), word.size()))));
    };
}

nb::tuple facts_of(WordFacts& facts, const TokenBatch& batch) {
    const TokenArrays& tokens = batch.arrays();
    without_gil([&] { facts.learn(tokens.word, tokens.lemma); });
    std::vector<std::uint32_t> folded;
    std::vector<std::uint8_t> shape;
    std::vector<double> word_weight, lemma_weight;
    for (std::uint32_t word : tokens.word) {
        folded.push_back(facts[word].folded);
        shape.push_back(facts[word].shape);
        word_weight.push_back(facts[word].weight);
    }
    for (std::uint32_t lemma : tokens.lemma) lemma_weight.push_back(facts.lemma_weight(lemma));
    return nb::make_tuple(to_numpy(std::move(folded)), to_numpy(std::move(shape)), to_numpy(std::move(word_weight)),
                          to_numpy(std::move(lemma_weight)));
}

// One batch for each group of texts.
nb::list analyse(const Analyser& analyser, const nb::list& groups, bool keep_punctuation) {
    std::vector<HeldTexts> held;
    std::vector<const TextAnalyser::Texts*> texts;
    const nb::tuple given(groups);
    held.reserve(given.size());  // views point into what is held
    for (nb::handle group : given) texts.push_back(&held.emplace_back(composed(group, analyser.compose)).views());
    std::vector<TokenArrays> arrays =
        without_gil([&] { return analyser.core.analyse(texts, keep_punctuation); });
    nb::list batches;
    for (std::size_t i = 0; i < arrays.size(); ++i) batches.append(TokenBatch(std::move(arrays[i]), std::move(held[i])));
    return batches;
}

TextAnalyser::Define asks_for_lemmas(nb::callable python) {
    return [python = std::move(python)](const std::vector<std::uint32_t>& words) {
        nb::gil_scoped_acquire acquire;
        python(to_numpy(std::vector<std::uint32_t>(words)));
    };
}

WordMarks::Ask asks_for_marks(nb::callable python) {
    return [python = std::move(python)](const std::vector<std::string_view>& forms) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<std::vector<std::uint32_t>>(python(forms));
    };
}

// The marks of all texts of a batch, appended one text at a time.
template <class Mark>
auto marks_by(void (CriticalWords::*append)(const TokenArrays&, std::size_t, std::vector<Mark>&) const) {
    return [append](CriticalWords& words, const TokenBatch& batch) {
        std::vector<Mark> marks;
        without_gil([&] {
            const TokenArrays& tokens = batch.arrays();
            words.learn(tokens);
            for (std::size_t text = 0; text + 1 < tokens.offsets.size(); ++text) (words.*append)(tokens, text, marks);
        });
        return to_numpy(std::move(marks));
    };
}

// What somebody else analysed. The copies are checked: without the GIL another thread may write to the arrays meanwhile.
TokenArrays token_arrays(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& word,
                         const Array<std::uint32_t>& lemma, const Array<std::uint16_t>& tag,
                         const Array<std::uint8_t>& universal, const Array<std::uint8_t>& function,
                         const Array<std::uint32_t>& start, const Array<std::uint32_t>& end) {
    const auto copied = [](const auto& array) {
        return BatchArray<std::decay_t<decltype(*array.data())>>(array.data(), array.data() + array.size());
    };
    TokenArrays arrays{copied(offsets), copied(word), copied(lemma), copied(start), copied(end),
                       copied(tag), copied(universal), copied(function)};
    check_csr(arrays.offsets, word.size());
    check_columns(word.size(), {lemma.size(), tag.size(), universal.size(), function.size(), start.size(), end.size()});
    require(std::find(arrays.lemma.begin(), arrays.lemma.end(), kNoWord) == arrays.lemma.end(), "no lemma has this number");
    return arrays;
}

}  // namespace

void bind_lexicon(nb::module_& m) {
    m.def("types_in", &types_in, "objects"_a, "The types of what a list holds, as set(map(type, objects)) says, but faster.");
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
                return lexicon.lemma(lemma).senses();
            },
            "lemma"_a)
        .def(
            "intern_words",
            [](Lexicon& lexicon, const nb::sequence& words) {
                const HeldTexts held(words);
                return to_numpy(lexicon.intern_words(held.views()));
            },
            "words"_a)
        .def("intern_lemmas", &intern_lemmas, "lemmas"_a, "sense_offsets"_a, "senses"_a)
        .def("define_words", &define_words, "words"_a, "lemmas"_a, "parts"_a);
}

void bind_words(nb::module_& m) {
    nb::class_<CharacterMap>(m, "CharacterMap", "What becomes of words, character by character.")
        .def(
            "__init__",
            [](CharacterMap* self, nb::callable of_character, nb::callable of_word) {
                new (self) CharacterMap(asks_of_character(std::move(of_character)), asks_of_word(std::move(of_word)));
            },
            "of_character"_a, "of_word"_a,
            "`of_character` gives the text and the traits of a character, None as the text where it depends on its "
            "neighbours; `of_word` is asked for words with such a character.");

    nb::class_<WordWeights>(m, "WordWeights", "A list of words with their weights.")
        .def(
            "__init__",
            [](WordWeights* self, std::string words, const Array<double>& weights, double unlisted) {
                new (self) WordWeights(std::move(words), copied(weights), unlisted);
            },
            "words"_a, "weights"_a, "unlisted"_a)
        .def(
            "of",
            [](const WordWeights& self, const nb::sequence& words) {
                const HeldTexts held(words);
                std::vector<double> weights;
                weights.reserve(held.views().size());
                for (std::string_view word : held.views()) weights.push_back(self.of(word));
                return to_numpy(std::move(weights));
            },
            "words"_a);

    nb::class_<WordFacts>(m, "WordFacts", "What is known of the words of a lexicon without their context.")
        .def(nb::init<Lexicon&, CharacterMap&, const WordWeights*>(), "lexicon"_a, "lowering"_a, "weights"_a.none(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def("of", &facts_of, "batch"_a,
             "For each token the first word that is the same but for capitals, the shape, the weights of word and lemma.");

    nb::class_<WordMarks>(m, "WordMarks", "Numbers that stand for words.")
        .def(
            "__init__",
            [](WordMarks* self, const std::unordered_map<std::string, std::uint32_t>& listed, std::uint8_t asked_traits,
               std::string asked_beginning, nb::callable ask) {
                new (self) WordMarks(listed, {asked_traits, std::move(asked_beginning)},
                                     asks_for_marks(std::move(ask)));
            },
            "listed"_a, "asked_traits"_a, "asked_beginning"_a, "ask"_a,
            "`ask` tells the numbers of words that are not listed, but have a character of these traits or this beginning.");
    m.attr("PARTICLE") = static_cast<int>(kParticle);
    m.attr("NEGATIVE_WORD") = static_cast<int>(kNegativeWord);
    m.attr("NEGATED_VERB") = static_cast<int>(kNegatedVerb);
    m.attr("TAKES_BACK") = static_cast<int>(kTakesBack);
    m.attr("MARKUP") = kMarkup;
    nb::class_<CriticalWords>(m, "CriticalWords", "Numbers and negations among the words of texts.")
        .def(nb::init<const Lexicon&, CharacterMap&, const WordMarks&, const WordMarks&, bool, std::vector<std::uint8_t>>(),
             "lexicon"_a, "lowering"_a, "numbers"_a, "negations"_a, "knows_negations"_a, "verb_tags"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
        .def("numbers", marks_by(&CriticalWords::append_numbers), "batch"_a,
             "For every token the id of the number that it is, MARKUP, or 0.")
        .def("negations", marks_by(&CriticalWords::append_negations), "batch"_a,
             "For every token PARTICLE, NEGATIVE_WORD or 0.");
}

void bind_analyser(nb::module_& m) {
    nb::class_<Labels>(m, "Labels", "What the labels of a tagger mean.")
        .def(
            "__init__",
            [](Labels* self, const Array<std::uint16_t>& tags, const Array<std::uint8_t>& universal,
               const Array<std::uint8_t>& function, const Array<std::uint8_t>& noun) {
                new (self) Labels{read_labels(tags, universal, function, noun)};
            },
            "tags"_a, "universal"_a, "function"_a, "noun"_a);

    nb::class_<Analyser>(m, "Analyser", "One way from texts to tokens: all that one language needs.")
        .def(
            "__init__",
            [](Analyser* self, Lexicon& lexicon, const Tokeniser& tokeniser, const PlainLemmas* lemmas, const SenseIndex* senses,
               nb::callable define, const Labels& labels, bool keep_punctuation, nb::callable compose) {
                new (self) Analyser{
                    {lexicon, tokeniser, lemmas, senses, asks_for_lemmas(std::move(define)), labels.meanings, keep_punctuation},
                    std::move(compose)};
            },
            "lexicon"_a, "tokeniser"_a, "lemmas"_a.none(), "senses"_a.none(), "define"_a, "labels"_a, "keep_punctuation"_a,
            "compose"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            "With `lemmas` it defines plain words itself; `define` gives lemmas to other new word types, and `compose` brings a "
            "text to NFC.")
        .def("analyse", &analyse, "groups"_a, "keep_punctuation"_a, "One batch for each group of texts.")
        .def("forget_recent", [](Analyser& analyser) { analyser.core.forget_recent(); },
             "Analyses again what was analysed alone, text by text.");

    nb::class_<TokenBatch>(m, "TokenBatch", "The arrays of an analysed batch; NumPy sees one when it is asked for.")
        .def(
            "__init__",
            [](TokenBatch* self, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& word,
               const Array<std::uint32_t>& lemma, const Array<std::uint16_t>& tag, const Array<std::uint8_t>& universal,
               const Array<std::uint8_t>& function, const Array<std::uint32_t>& start, const Array<std::uint32_t>& end,
               nb::handle texts) {
                new (self) TokenBatch(token_arrays(offsets, word, lemma, tag, universal, function, start, end), HeldTexts(texts));
            },
            "offsets"_a, "word"_a, "lemma"_a, "tag"_a, "universal"_a, "function"_a, "start"_a, "end"_a, "texts"_a,
            "What somebody else analysed; the texts are in NFC.")
        .def_prop_ro("texts", [](const TokenBatch& batch) { return batch.texts().objects(); })
        .def_prop_ro("has_empty_text", &TokenBatch::has_empty_text)
        .def_prop_ro("offsets", column(&TokenArrays::offsets))
        .def_prop_ro("word", column(&TokenArrays::word))
        .def_prop_ro("lemma", column(&TokenArrays::lemma))
        .def_prop_ro("tag", column(&TokenArrays::tag))
        .def_prop_ro("universal", column(&TokenArrays::universal))
        .def_prop_ro("function", column(&TokenArrays::function))
        .def_prop_ro("start", column(&TokenArrays::start))
        .def_prop_ro("end", column(&TokenArrays::end));
}

}  // namespace tesla
