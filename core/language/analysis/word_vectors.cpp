#include "language/analysis/word_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tesla {
namespace {

constexpr double kWeightUnit = 64;    // specification §8b: weights of words are 64ths
constexpr double kFrequencyStep = 50;  // lists of frequencies count 50 for a factor of ten
constexpr double kLargestWeight = 1 << 16;

}  // namespace

VectorColumns WordVectors::of(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas) {
    facts_.learn(words, lemmas);
    learn_words(words.size ? *std::max_element(words.begin(), words.end()) + std::size_t{1} : 0);
    if (!table_.has_pieces()) learn_lemmas(lemmas.size ? *std::max_element(lemmas.begin(), lemmas.end()) + std::size_t{1} : 0);
    VectorColumns columns;
    columns.word.reserve(words.size);
    columns.weight.reserve(words.size);
    columns.vector.reserve(words.size);
    for (std::size_t i = 0; i < words.size; ++i) {
        const auto& [vector, weight] = words_[words[i]];
        columns.word.push_back(facts_[words[i]].folded);
        columns.weight.push_back(weight);
        columns.vector.push_back(vector.values || table_.has_pieces() ? vector : lemmas_[lemmas[i]]);
    }
    return columns;
}

template <class TextOf>
std::vector<std::string> WordVectors::entries(std::size_t first, std::size_t end, TextOf&& text_of) {
    std::vector<std::string> entries(end - first);
    for (std::size_t k = first; k < end; ++k) as_entries_.apply(text_of(static_cast<std::uint32_t>(k)), entries[k - first]);
    return entries;
}

// Capitals change no vector: each form in small letters is looked up once.
void WordVectors::learn_words(std::size_t end) {
    const std::size_t first = words_.size();
    if (first >= end) return;
    const auto forms = entries(first, end, [&](std::uint32_t word) -> std::string_view { return facts_.lexicon().form(word); });
    std::lock_guard lock(learning_);
    for (std::size_t word = words_.size(); word < end; ++word) {
        words_.prepare();
        const auto number = static_cast<std::uint32_t>(word);
        const std::uint32_t folded = facts_[number].folded;
        const WordVector vector = folded < word ? words_[folded].vector : look_up(forms[word - first]);
        const WeightedVector weighted{vector, weight_of(number)};
        words_.append([&](WeightedVector& place) noexcept { place = weighted; });
    }
}

void WordVectors::learn_lemmas(std::size_t end) {
    const std::size_t first = lemmas_.size();
    if (first >= end) return;
    const auto texts =
        entries(first, end, [&](std::uint32_t lemma) -> std::string_view { return facts_.lexicon().lemma_text(lemma); });
    std::lock_guard lock(learning_);
    for (std::size_t lemma = lemmas_.size(); lemma < end; ++lemma) {
        lemmas_.prepare();
        const WordVector vector = look_up(texts[lemma - first]);
        lemmas_.append([&](WordVector& place) noexcept { place = vector; });
    }
}

WordVector WordVectors::look_up(std::string_view entry) {
    std::array<std::int8_t, kMostDimensions> vector;
    const std::size_t size = table_.dimensions();
    table_.look_up(entry, vector.data());
    std::uint32_t square = 0;
    for (std::size_t d = 0; d < size; ++d) square += static_cast<std::uint32_t>(vector[d] * vector[d]);
    if (square == 0) return {};
    auto* values = static_cast<std::int8_t*>(memory_.allocate(size, 1));
    std::copy_n(vector.data(), size, values);
    return {values, square};
}

std::uint32_t WordVectors::weight_of(std::uint32_t word) const {
    if (!facts_.weighted()) return static_cast<std::uint32_t>(kWeightUnit);
    const double weight = std::nearbyint(kWeightUnit / kFrequencyStep * facts_[word].weight);
    return static_cast<std::uint32_t>(std::min(std::max(1.0, weight), kLargestWeight));
}

}  // namespace tesla
