#include "training/segmenter_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/checks.h"
#include "base/interrupt.h"
#include "base/random.h"

namespace tesla {
namespace {

constexpr std::size_t kStart = kPlaces;  // the row of transitions at the start of a run

Place place_of(std::size_t i, std::size_t first, std::size_t end) {
    if (end - first == 1) return Place::Single;
    return i == first ? Place::Begin : i + 1 == end ? Place::End : Place::Middle;
}

}  // namespace

void SegmenterTrainer::add_word(std::string_view word) {
    std::u32string characters;
    decode_utf8(word, characters);
    if (characters.size() < 2 || characters.size() > kLongestWord) return;
    Hasher hash;
    for (char32_t c : characters) hash.add(c);
    words_.insert(hash.value());
}

void SegmenterTrainer::add_text(std::string_view text, const std::vector<std::pair<std::size_t, std::size_t>>& words) {
    if (!rows_.empty()) throw std::logic_error("texts come before prepare()");
    std::u32string characters;
    decode_utf8(text, characters);
    const std::size_t length = characters.size();
    std::vector<bool> begins(length + 1);
    for (auto [first, end] : words) {
        require(first <= end && end <= length, "a word lies outside the text");
        begins[first] = begins[end] = true;
    }
    std::u32string window(kNeighbours, U'\0');
    for (char32_t c : characters) window.push_back(seen_character(c));
    window.append(kNeighbours, U'\0');
    const char32_t* seen = window.data() + kNeighbours;
    std::vector<WordsAt> lexicon(length);
    for (std::size_t start = 0, end; start < length; start = end) {
        end = start + 1;
        if (!is_segmented(characters[start])) continue;
        while (end < length && is_segmented(characters[end])) ++end;
        find_words(seen, start, end, [&](std::uint32_t hash) { return words_.count(hash) > 0; }, lexicon.data());
        const std::size_t offset = characters_.size();
        for (std::size_t first = start, stop; first < end; first = stop) {
            stop = first + 1;
            while (stop < end && (!begins[stop] || is_mark(characters[stop]))) ++stop;
            for (std::size_t i = first; i < stop; ++i) {
                characters_.push_back({characters[i], place_of(i, first, stop),
                                       character_features(seen + i, lexicon[i - start])});
            }
        }
        runs_.push_back({offset, characters_.size()});
    }
}

void SegmenterTrainer::prepare(int min_count) {
    std::unordered_map<std::uint32_t, int> counts;
    for (const Character& character : characters_) {
        for (std::uint32_t hash : character.features) ++counts[hash];
    }
    rows_.resize(1);
    for (Character& character : characters_) {
        for (std::uint32_t& feature : character.features) {
            if (counts[feature] < min_count) {
                feature = 0;
                continue;
            }
            auto [entry, is_new] = row_of_.try_emplace(feature, static_cast<std::uint32_t>(rows_.size()));
            if (is_new) rows_.emplace_back();
            feature = entry->second;
        }
    }
}

void SegmenterTrainer::change(Weight& weight, std::int32_t amount) {
    weight.value += amount;
    weight.total += amount * step_;
}

std::size_t SegmenterTrainer::run_epoch(std::uint64_t seed, int margin) {
    if (rows_.empty()) throw std::logic_error("prepare() comes before training");
    std::vector<std::size_t> order(runs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

    std::vector<PlaceScores> scores;
    std::vector<PlaceTrace> trace;
    std::vector<Place> places;
    std::u32string text;
    std::size_t errors = 0;
    Interrupt interrupt;
    for (std::size_t number : order) {
        interrupt.step();
        const Character* run = characters_.data() + runs_[number].begin;
        const std::size_t length = runs_[number].end - runs_[number].begin;
        ++step_;
        scores.assign(length, PlaceScores{});
        trace.resize(length);
        places.resize(length);
        text.clear();
        for (std::size_t i = 0; i < length; ++i) {
            text.push_back(run[i].character);
            for (std::size_t p = 0; p < kPlaces; ++p) {
                scores[i][p] = static_cast<std::size_t>(run[i].place) == p ? 0 : margin;
                for (std::uint32_t row : run[i].features) scores[i][p] += rows_[row][p].value;
            }
        }
        Transitions transitions;
        for (std::size_t q = 0; q <= kPlaces; ++q) {
            for (std::size_t p = 0; p < kPlaces; ++p) transitions[q][p] = transitions_[q][p].value;
        }
        decode_places(scores.data(), text.data(), length, transitions, trace.data(), places.data());
        bool wrong = false;
        for (std::size_t i = 0; i < length; ++i) {
            const auto right = static_cast<std::size_t>(run[i].place), guess = static_cast<std::size_t>(places[i]);
            const auto before_right = i == 0 ? kStart : static_cast<std::size_t>(run[i - 1].place);
            const auto before_guess = i == 0 ? kStart : static_cast<std::size_t>(places[i - 1]);
            if (right != guess || before_right != before_guess) {
                change(transitions_[before_right][right], 1);
                change(transitions_[before_guess][guess], -1);
            }
            if (right == guess) continue;
            wrong = true;
            for (std::uint32_t row : run[i].features) {
                if (row == 0) continue;
                change(rows_[row][right], 1);
                change(rows_[row][guess], -1);
            }
        }
        errors += wrong;
    }
    return errors;
}

double SegmenterTrainer::average(const Weight& weight) const {
    return weight.value - static_cast<double>(weight.total) / static_cast<double>(std::max<std::int64_t>(step_, 1));
}

SegmenterArrays SegmenterTrainer::quantised(double scale, int min_weight) const {
    SegmenterArrays arrays;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> features(row_of_.begin(), row_of_.end());
    std::sort(features.begin(), features.end());
    std::vector<std::uint32_t> hashes;
    for (const auto& [hash, number] : features) {
        std::uint8_t places = 0;
        for (std::size_t p = 0; p < kPlaces; ++p) {
            const double rounded = std::clamp(std::nearbyint(average(rows_[number][p]) * scale), -127.0, 127.0);
            if (rounded == 0 || std::abs(rounded) < min_weight) continue;
            places = static_cast<std::uint8_t>(places | 1u << p);
            arrays.weights.push_back(static_cast<std::int8_t>(rounded));
        }
        if (places == 0) continue;
        hashes.push_back(hash);
        arrays.feature_places.push_back(places);
    }
    arrays.feature_deltas = hash_differences(std::move(hashes));
    for (const Row& row : transitions_) {
        for (const Weight& weight : row) {
            arrays.transitions.push_back(static_cast<std::int16_t>(std::nearbyint(average(weight) * scale)));
        }
    }
    arrays.word_deltas = hash_differences({words_.begin(), words_.end()});
    return arrays;
}

}  // namespace tesla
