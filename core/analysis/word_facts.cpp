#include "analysis/word_facts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

WordFacts::Words WordFacts::learn_words(std::uint32_t first, std::uint32_t end) {
    Words words;
    const std::size_t count = end - first;
    words.folded.reserve(count);
    words.shape.reserve(count);
    words.weight.reserve(count);
    std::vector<std::uint32_t> with_capitals;
    std::vector<std::string> small_forms;  // of those
    std::string lowered;
    for (std::uint32_t word = first; word < end; ++word) {
        const std::string& form = lexicon_.form(word);
        const WordTraits traits = lowering_.apply(form, lowered);
        const bool is_lower = lowered == form;
        words.shape.push_back(shape_of(traits, is_lower));
        words.weight.push_back(weight_of(lowered));
        if (is_lower) continue;
        with_capitals.push_back(word);
        small_forms.push_back(lowered);
    }
    const std::vector<std::uint32_t> small = lexicon_.find_words({small_forms.begin(), small_forms.end()});
    std::size_t k = 0;
    for (std::uint32_t word = first; word < end; ++word) {
        if (k == with_capitals.size() || with_capitals[k] != word) {
            words.folded.push_back(first_with_capitals(lexicon_.form(word), word));
            continue;
        }
        // Where the word in small letters came later, or never, those that come after it must find this one.
        if (word < small[k]) remember(small_forms[k], word);
        words.folded.push_back(std::min(small[k], first_with_capitals(small_forms[k], word)));
        ++k;
    }
    return words;
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

std::vector<double> WordFacts::lemma_weights(std::uint32_t first, std::uint32_t end) const {
    std::vector<double> weights;
    weights.reserve(end - first);
    for (std::uint32_t lemma = first; lemma < end; ++lemma) weights.push_back(weight_of(lexicon_.lemma_text(lemma)));
    return weights;
}

}  // namespace tesla
