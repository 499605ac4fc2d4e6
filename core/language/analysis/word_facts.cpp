#include "language/analysis/word_facts.h"

#include <algorithm>
#include <stdexcept>
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
    if (static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1 != weights.size())
        throw std::invalid_argument("words and weights differ in number");
    weights_.reserve(weights.size());
    std::size_t begin = 0;
    for (double weight : weights) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        *weights_.add(std::string_view(text_).substr(begin, end - begin), weight).first = weight;
        begin = end + 1;
    }
}

void WordFacts::learn(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas) {
    check_below(words, lexicon_.word_count(), "no such word");
    check_below(lemmas, lexicon_.lemma_count(), "no such lemma");
    if (words.size) learn_words(*std::max_element(words.begin(), words.end()) + 1);
    const std::uint32_t end = lemmas.size ? *std::max_element(lemmas.begin(), lemmas.end()) + 1 : 0;
    if (lemma_weights_.size() >= end) return;
    std::lock_guard lock(learning_);
    while (lemma_weights_.size() < end) {
        lemma_weights_.prepare();
        const double weight = weight_of(lexicon_.lemma_text(static_cast<std::uint32_t>(lemma_weights_.size())));
        lemma_weights_.append([&](double& place) noexcept { place = weight; });
    }
}

void WordFacts::learn_words(std::uint32_t end) {
    const auto first = static_cast<std::uint32_t>(words_.size());
    if (first >= end) return;
    std::vector<std::string> lowered(end - first);
    std::vector<std::uint8_t> shapes;
    std::vector<HashedText> with_capitals;  // in small letters
    for (std::uint32_t word = first; word < end; ++word) {
        std::string& small = lowered[word - first];
        const WordTraits traits = lowering_.apply(lexicon_.form(word), small);
        const bool is_lower = small == lexicon_.form(word);
        shapes.push_back(shape_of(traits, is_lower));
        if (!is_lower) with_capitals.emplace_back(small);
    }
    std::lock_guard lock(learning_);
    const std::vector<std::uint32_t> small_words = lexicon_.find_words(with_capitals);
    std::size_t k = 0;
    for (std::uint32_t word = first; word < end; ++word) {
        const std::string& small = lowered[word - first];
        const std::uint32_t same = small == lexicon_.form(word) ? word : small_words[k++];
        if (word < words_.size()) continue;  // another thread was first
        words_.prepare();
        // Where the word in small letters came later, or never, those that come after it must find this one.
        if (word < same) remember(small, word);
        const WordFact fact{std::min(same, first_with_capitals(small, word)), shapes[word - first], weight_of(small)};
        words_.append([&](WordFact& place) noexcept { place = fact; });
    }
}

std::uint32_t WordFacts::first_with_capitals(std::string_view small_form, std::uint32_t otherwise) const {
    const std::uint32_t known = small_forms_.find(small_form);
    return known == Interner::kMissing ? otherwise : first_with_capitals_[known];
}

void WordFacts::remember(std::string_view small_form, std::uint32_t word) {
    first_with_capitals_.resize(small_forms_.size());  // nothing is left over where the next lines fail
    first_with_capitals_.push_back(word);
    if (small_forms_.intern(small_form) + 1 < first_with_capitals_.size()) first_with_capitals_.pop_back();  // known
}

}  // namespace tesla
