#include "language/analysis/word_vectors.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tesla {
namespace {

constexpr double kWeightUnit = 64;    // specification §8b: weights of words are 64ths
constexpr double kFrequencyStep = 50;  // lists of frequencies count 50 for a factor of ten
constexpr double kLargestWeight = 1 << 16;

}  // namespace

void WordVectors::learn(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas) {
    facts_.learn(words, lemmas);
    const auto looks_up = [this](auto text_of) {
        return [this, text_of](std::uint32_t from, std::uint32_t to) {
            std::vector<std::string> entries(to - from);
            for (std::uint32_t number = from; number < to; ++number) as_entries_.apply(text_of(number), entries[number - from]);
            return look_up({entries.begin(), entries.end()});
        };
    };
    const Lexicon& lexicon = facts_.lexicon();
    // Capitals change no vector: each form in small letters is looked up once.
    words_.learn(
        end_of(words),
        looks_up([&](std::uint32_t word) { return facts_[word].folded < word ? std::string_view() : lexicon.form(word); }),
        [this](std::uint32_t word, const WordVector& vector) {
            const std::uint32_t folded = facts_[word].folded;
            return WeightedWord{folded < word ? words_[folded].vector : vector, folded, weight_of(word)};
        });
    if (!table_.has_pieces())
        lemmas_.learn(end_of(lemmas), looks_up([&](std::uint32_t lemma) -> std::string_view { return lexicon.lemma_text(lemma); }));
}

std::vector<WordVector> WordVectors::look_up(const std::vector<std::string_view>& entries) {
    const std::size_t size = table_.dimensions();
    std::vector<WordVector> vectors(entries.size());
    std::int8_t mean[kMostDimensions];
    std::vector<std::int8_t> means;    // vectors that are not in the table
    std::vector<std::size_t> has_mean;  // the entries that they belong to
    table_.find_all(entries, mean, [&](std::size_t i, const WordVector& vector) {
        vectors[i] = vector;
        if (vector.values != mean) return;
        means.insert(means.end(), mean, mean + size);
        has_mean.push_back(i);
    });
    if (has_mean.empty()) return vectors;
    std::lock_guard lock(memory_mutex_);
    auto* kept = static_cast<std::int8_t*>(memory_.allocate(means.size(), kCacheLine));
    std::copy(means.begin(), means.end(), kept);
    for (std::size_t i : has_mean) vectors[i].values = std::exchange(kept, kept + size);
    return vectors;
}

std::uint32_t WordVectors::weight_of(std::uint32_t word) const {
    if (!facts_.weighted()) return static_cast<std::uint32_t>(kWeightUnit);
    const double weight = std::nearbyint(kWeightUnit / kFrequencyStep * facts_[word].weight);
    return static_cast<std::uint32_t>(std::min(std::max(1.0, weight), kLargestWeight));
}

}  // namespace tesla
