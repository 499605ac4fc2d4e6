#include "language/analysis/word_vectors.h"

#include <algorithm>
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
    const auto looks_up = [this](auto text_of) {
        return [this, text_of](std::uint32_t from, std::uint32_t to) {
            std::vector<std::string_view> texts;
            for (std::uint32_t number = from; number < to; ++number) texts.push_back(text_of(number));
            return look_up(texts);
        };
    };
    const Lexicon& lexicon = facts_.lexicon();
    // Capitals change no vector: each form in small letters is looked up once.
    words_.learn(
        end_of(words),
        looks_up([&](std::uint32_t word) { return facts_[word].folded < word ? std::string_view() : lexicon.form(word); }),
        [this](std::uint32_t word, const WordVector& vector) {
            const std::uint32_t folded = facts_[word].folded;
            return WeightedVector{folded < word ? words_[folded].vector : vector, weight_of(word)};
        });
    if (!table_.has_pieces())
        lemmas_.learn(end_of(lemmas), looks_up([&](std::uint32_t lemma) -> std::string_view { return lexicon.lemma_text(lemma); }));
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

std::vector<WordVector> WordVectors::look_up(const std::vector<std::string_view>& texts) {
    const std::size_t size = table_.dimensions();
    std::vector<std::int8_t> found(texts.size() * size);
    std::vector<WordVector> vectors(texts.size());
    std::string entry;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty()) continue;
        const std::int8_t* vector = vectors[i].values = found.data() + i * size;
        as_entries_.apply(texts[i], entry);
        table_.look_up(entry, found.data() + i * size);
        std::uint32_t square = 0;
        for (std::size_t d = 0; d < size; ++d) square += static_cast<std::uint32_t>(vector[d] * vector[d]);
        vectors[i].square = square;
    }
    std::lock_guard lock(memory_mutex_);
    for (auto& [values, square] : vectors) {
        auto* kept = square ? static_cast<std::int8_t*>(memory_.allocate(size, 1)) : nullptr;
        if (kept) std::copy_n(values, size, kept);
        values = kept;
    }
    return vectors;
}

std::uint32_t WordVectors::weight_of(std::uint32_t word) const {
    if (!facts_.weighted()) return static_cast<std::uint32_t>(kWeightUnit);
    const double weight = std::nearbyint(kWeightUnit / kFrequencyStep * facts_[word].weight);
    return static_cast<std::uint32_t>(std::min(std::max(1.0, weight), kLargestWeight));
}

}  // namespace tesla
