#include "language/analysis/word_facts.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"

namespace tesla {
namespace {

std::uint8_t shape_of(const WordTraits& traits, bool is_lower) {
    if (is_lower && (traits.all & kLetterTrait)) return 0;  // also where a letter counts as a capital without a small form
    return static_cast<std::uint8_t>((traits.any & kHasDigit) | (traits.first & kCapitalised));
}

}  // namespace

WordWeights::WordWeights(std::string text, const std::vector<double>& weights, double unlisted)
    : text_(std::move(text)), unlisted_(unlisted) {
    require(static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1 == weights.size(),
            "words and weights differ in number");
    weights_.reserve(weights.size());
    std::size_t begin = 0;
    for (double weight : weights) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        *weights_.add(std::string_view(text_).substr(begin, end - begin), weight).first = weight;
        begin = end + 1;
    }
}

void WordFacts::learn(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas) {
    const std::uint64_t words_end = end_of(words), lemmas_end = end_of(lemmas);
    require_in_range(words_end <= lexicon_.word_count(), "no such word");
    require_in_range(lemmas_end <= lexicon_.lemma_count(), "no such lemma");
    words_.learn(
        words_end, [this](std::uint32_t from, std::uint32_t to) { return look_at(from, to); },
        [this](std::uint32_t word, const Look& look) { return conclude(word, look); });
    lemma_weights_.learn(lemmas_end, [this](std::uint32_t from, std::uint32_t to) {
        std::vector<double> weights(to - from, 1);
        if (!weights_) return weights;
        std::vector<std::string_view> lemmas;
        for (std::uint32_t lemma = from; lemma < to; ++lemma) lemmas.emplace_back(lexicon_.lemma_text(lemma));
        weights_->of_all(lemmas, [&](std::size_t k, double weight) { weights[k] = weight; });
        return weights;
    });
}

std::vector<WordFacts::Look> WordFacts::look_at(std::uint32_t from, std::uint32_t to) {
    std::vector<Look> looks(to - from);
    std::vector<std::string_view> small_forms;
    std::vector<HashedText> with_capitals;  // in small letters
    for (std::uint32_t word = from; word < to; ++word) {
        auto& [small_form, small_word, shape, weight] = looks[word - from];
        const WordTraits traits = lowering_.apply(lexicon_.form(word), small_form);
        const bool is_small = small_form == lexicon_.form(word);
        small_forms.emplace_back(small_form);
        if (!is_small) with_capitals.emplace_back(small_form);
        small_word = is_small ? word : Interner::kMissing;
        shape = shape_of(traits, is_small);
    }
    if (weights_) weights_->of_all(small_forms, [&](std::size_t k, double weight) { looks[k].weight = weight; });
    const std::vector<std::uint32_t> small_words = lexicon_.find_words(with_capitals);
    auto next = small_words.begin();
    for (std::uint32_t word = from; word < to; ++word)
        if (looks[word - from].small_word != word) looks[word - from].small_word = *next++;
    return looks;
}

WordFact WordFacts::conclude(std::uint32_t word, const Look& look) {
    // Where the word in small letters came later, or never, those that come after it must find this one.
    if (word < look.small_word) remember(look.small_form, word);
    return {std::min(look.small_word, first_with_capitals(look.small_form, word)), look.shape, look.weight};
}

std::uint32_t WordFacts::first_with_capitals(std::string_view small_form, std::uint32_t otherwise) const {
    if (!noted_.may_have(small_form)) return otherwise;
    const std::uint32_t known = small_forms_.find(small_form);
    return known == Interner::kMissing ? otherwise : first_with_capitals_[known];
}

void WordFacts::remember(std::string_view small_form, std::uint32_t word) {
    noted_.add(small_form);
    first_with_capitals_.resize(small_forms_.size());  // nothing is left over where the next lines fail
    first_with_capitals_.push_back(word);
    if (small_forms_.intern(small_form) + 1 < first_with_capitals_.size()) first_with_capitals_.pop_back();  // known
}

}  // namespace tesla
