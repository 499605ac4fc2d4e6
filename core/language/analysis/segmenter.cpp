#include "language/analysis/segmenter.h"

#include <limits>

#include "base/checks.h"
#include "base/hashing.h"

namespace tesla {
namespace {

constexpr bool begins(std::size_t place) {
    return place == static_cast<std::size_t>(Place::Begin) || place == static_cast<std::size_t>(Place::Single);
}
constexpr bool ends(std::size_t place) {
    return place == static_cast<std::size_t>(Place::End) || place == static_cast<std::size_t>(Place::Single);
}

}  // namespace

void decode_places(const PlaceScores* scores, const char32_t* characters, std::size_t length,
                   const Transitions& transitions, PlaceTrace* trace, Place* places) {
    constexpr std::int32_t kImpossible = std::numeric_limits<std::int32_t>::min() / 2;
    PlaceScores totals{}, next{};
    for (std::size_t p = 0; p < kPlaces; ++p) {
        totals[p] = begins(p) ? scores[0][p] + transitions[kPlaces][p] : kImpossible;
    }
    for (std::size_t i = 1; i < length; ++i) {
        bool on_mark = is_mark(characters[i]);
        for (std::size_t p = 0; p < kPlaces; ++p) {
            next[p] = kImpossible;
            trace[i][p] = 0;
            if (on_mark && begins(p)) continue;
            for (std::size_t q = 0; q < kPlaces; ++q) {
                if (ends(q) != begins(p)) continue;
                std::int32_t total = totals[q] + transitions[q][p];
                if (total <= next[p]) continue;
                next[p] = total;
                trace[i][p] = static_cast<std::uint8_t>(q);
            }
            if (next[p] > kImpossible) next[p] += scores[i][p];
        }
        totals = next;
    }
    constexpr auto kEnd = static_cast<std::size_t>(Place::End), kSingle = static_cast<std::size_t>(Place::Single);
    std::size_t place = totals[kEnd] >= totals[kSingle] ? kEnd : kSingle;
    for (std::size_t i = length - 1; i > 0; place = trace[i--][place]) places[i] = static_cast<Place>(place);
    places[0] = static_cast<Place>(place);
}

Segmenter::Segmenter(const SegmenterArrays& arrays) {
    require(arrays.feature_deltas.size() == arrays.feature_places.size(), "the segmenter's features lack places");
    require(arrays.transitions.size() == (kPlaces + 1) * kPlaces, "the segmenter's transitions are incomplete");
    require(arrays.variants.size() % 2 == 0, "the segmenter's variants do not come in pairs");
    std::vector<std::uint32_t> rows;
    std::size_t next = 0;
    for (std::uint8_t places : arrays.feature_places) {
        require(places < 1u << kPlaces, "the segmenter has a weight for a place that does not exist");
        std::uint32_t row = 0;
        for (unsigned p = 0; p < kPlaces; ++p) {
            if ((places >> p & 1) == 0) continue;
            require(next < arrays.weights.size(), "the segmenter lacks weights");
            row |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(arrays.weights[next++])) << 8 * p;
        }
        rows.push_back(row);
    }
    require(next == arrays.weights.size(), "the segmenter has weights without a feature");
    features_.build(hashes_of_differences(arrays.feature_deltas), rows);
    words_.build(hashes_of_differences(arrays.word_deltas), std::vector<std::uint32_t>(arrays.word_deltas.size(), 1));
    for (std::size_t i = 0; i < arrays.transitions.size(); ++i) {
        transitions_[i / kPlaces][i % kPlaces] = arrays.transitions[i];
    }
    std::vector<std::uint32_t> variants, standards;
    for (std::size_t i = 0; i < arrays.variants.size(); i += 2) {
        require(arrays.variants[i] != 0, "the segmenter has a variant of nothing");
        variants.push_back(arrays.variants[i]);
        standards.push_back(arrays.variants[i + 1]);
    }
    variants_.build(variants, standards);
}

void Segmenter::find_places(const char32_t* text, std::size_t length, std::size_t start, std::size_t end,
                            Place* places) const {
    char32_t window[kLongestStretch + 2 * kNeighbours];
    for (std::size_t i = 0; i < end - start + 2 * kNeighbours; ++i) {
        std::size_t at = start + i - kNeighbours;  // wraps round before the text, to more than its length
        window[i] = at < length ? seen_character(text[at]) : U'\0';
        if (std::uint32_t standard = variants_.find(window[i])) window[i] = standard;
    }
    const char32_t* characters = window + kNeighbours;
    WordsAt words[kLongestStretch];
    find_words(characters, 0, end - start, [&](std::uint32_t hash) { return words_.find(hash) != 0; }, words);
    PlaceScores scores[kLongestStretch];
    auto next = character_features(characters, words[0]);
    for (std::size_t i = 0; i < end - start; ++i) {
        const auto features = next;
        if (i + 1 < end - start) {  // memory is slow: the rows of the next character come while this one is scored
            next = character_features(characters + i + 1, words[i + 1]);
            for (std::uint32_t feature : next) features_.prefetch(feature);
        }
        scores[i] = {};
        for (std::uint32_t feature : features) {
            std::uint32_t row = features_.find(feature);
            for (unsigned p = 0; p < kPlaces; ++p) scores[i][p] += static_cast<std::int8_t>(row >> 8 * p & 0xFF);
        }
    }
    PlaceTrace trace[kLongestStretch];
    decode_places(scores, characters, end - start, transitions_, trace, places);
}

}  // namespace tesla
