// What the tagger looks at: one place that says which features a word has, used by training and tagging alike.
//
// A feature is a 32-bit hash. The features of a word type (its form, suffixes, shape, ...) are computed once per type;
// only those that join two words or a word and the tags before it are computed at every position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tesla {

// Names this set of features in model files; to be raised when anything below changes.
inline constexpr int kTaggerFeatures = 1;

// Roles of a word in the window around the position that is tagged, and how many features each role has.
inline constexpr std::size_t kOwnFeatures = 12;
inline constexpr std::size_t kPreviousFeatures = 3;
inline constexpr std::size_t kNextFeatures = 4;
inline constexpr std::size_t kFarFeatures = 1;

inline constexpr std::size_t kPreviousAt = kOwnFeatures;
inline constexpr std::size_t kNextAt = kPreviousAt + kPreviousFeatures;
inline constexpr std::size_t kSecondPreviousAt = kNextAt + kNextFeatures;
inline constexpr std::size_t kSecondNextAt = kSecondPreviousAt + kFarFeatures;
inline constexpr std::size_t kWordFeatures = kSecondNextAt + kFarFeatures;
inline constexpr std::size_t kContextFeatures = 9;

// Everything the tagger needs to know of a word type. `slots` holds feature hashes when fresh from `hash_word`; the
// tagger replaces them by the rows of its weights, the trainer by its feature numbers. Slot value 0: no such feature.
struct WordFeatures {
    std::array<std::uint32_t, kWordFeatures> slots;
    std::uint32_t form;    // lower-cased form
    std::uint32_t suffix;  // last three characters
    std::uint32_t shape;   // capitals, digits, hyphens
    std::uint32_t lexical_class;
};

// The features of a form; the empty form stands for what lies beyond either end of the text.
WordFeatures hash_word(const char32_t* form, std::size_t length, std::uint32_t lexical_class);

inline std::uint32_t mix(std::uint32_t kind, std::uint32_t a, std::uint32_t b = 0) {
    std::uint64_t x = (static_cast<std::uint64_t>(a) << 32 | b) + 0x9E3779B97F4A7C15ull * (kind + 1);
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ull;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ull;
    auto hash = static_cast<std::uint32_t>(x >> 32);
    return hash == 0 ? 1 : hash;
}

// A position: the word, two neighbours on either side, and the two labels before it (0 beyond the start, else 1 + label).
struct Position {
    const WordFeatures *second_previous, *previous, *word, *next, *second_next;
    std::uint32_t previous_label, second_previous_label;
};

inline std::array<std::uint32_t, kContextFeatures> context_features(const Position& at) {
    const std::uint32_t label = at.previous_label;
    const std::uint32_t labels = label << 16 | at.second_previous_label;
    return {mix(64, label),
            mix(65, labels),
            mix(66, label, at.word->form),
            mix(67, label, at.word->suffix),
            mix(68, label, at.word->shape),
            mix(69, label, at.next->form),
            mix(70, at.previous->form, at.word->form),
            mix(71, at.word->form, at.next->form),
            mix(72, labels, at.word->lexical_class)};
}

// Calls `visit` with the slot of every feature that the words of the window have by themselves.
template <class Visit>
inline void visit_word_features(const Position& at, Visit&& visit) {
    const auto run = [&](const WordFeatures& word, std::size_t first, std::size_t count) {
        for (std::size_t k = first; k < first + count; ++k) visit(word.slots[k]);
    };
    run(*at.word, 0, kOwnFeatures);
    run(*at.previous, kPreviousAt, kPreviousFeatures);
    run(*at.next, kNextAt, kNextFeatures);
    run(*at.second_previous, kSecondPreviousAt, kFarFeatures);
    run(*at.second_next, kSecondNextAt, kFarFeatures);
}

}  // namespace tesla
