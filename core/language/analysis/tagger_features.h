// What the tagger looks at: one place that says which features a word has, used by training and tagging alike.
//
// A feature is a 32-bit hash. The features of a word type (its form, suffixes, shape, ...) are computed once per type;
// only those that join two words or a word and the tags before it are computed at every position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/hashing.h"

namespace tesla {

// Names this set of features in model files; to be raised when anything below changes.
inline constexpr int kTaggerFeatures = 1;

// How many features a word has for its own tag, and for the tags of its neighbours: as the word before, after, two
// before and two after the one that is tagged.
inline constexpr std::size_t kOwnFeatures = 12;
inline constexpr std::size_t kPreviousFeatures = 3;
inline constexpr std::size_t kNextFeatures = 4;
inline constexpr std::size_t kNextAt = kPreviousFeatures;
inline constexpr std::size_t kSecondPreviousAt = kNextAt + kNextFeatures;
inline constexpr std::size_t kSecondNextAt = kSecondPreviousAt + 1;
inline constexpr std::size_t kNeighbourFeatures = kSecondNextAt + 1;
inline constexpr std::size_t kContextFeatures = 9;

// What the features that join words and tags are made of.
struct WordParts {
    std::uint32_t form;    // in lower case
    std::uint32_t suffix;  // last three characters
    std::uint32_t shape;   // capitals, digits, hyphens
    std::uint32_t lexical_class;

    static constexpr std::uint32_t kDigit = 8;  // bit of the shape
    bool has_digit() const { return (shape & kDigit) != 0; }

    bool operator==(const WordParts& o) const {
        return form == o.form && suffix == o.suffix && shape == o.shape && lexical_class == o.lexical_class;
    }
};

// The features of a word type, 0 where there is none.
struct WordHashes {
    std::array<std::uint32_t, kOwnFeatures> own;
    std::array<std::uint32_t, kNeighbourFeatures> neighbour;
    WordParts parts;
};

// The features of a form; the empty form stands for what lies beyond either end of the text.
WordHashes hash_word(const char32_t* form, std::size_t length, std::uint32_t lexical_class);

// The kinds of the features that are computed at every position; those of a word type have the numbers below 64.
enum ContextFeature : std::uint32_t {
    kLabelBefore = 64,
    kTwoLabels = 65,
    kLabelAndForm = 66,
    kLabelAndSuffix = 67,
    kLabelAndShape = 68,
    kLabelAndNextForm = 69,
    kPreviousFormAndForm = 70,
    kFormAndNextForm = 71,
    kTwoLabelsAndClass = 72
};

// A position: the word, two neighbours on either side, and the two labels before it (0 beyond the start, else 1 + label).
template <class Word>
struct Position {
    const Word *second_previous, *previous, *word, *next, *second_next;
    std::uint32_t previous_label, second_previous_label;
};

// The features of the labels before the word alone.
inline std::array<std::uint32_t, 2> label_features(std::uint32_t label, std::uint32_t second_label) {
    return {tagger_feature(kLabelBefore, label), tagger_feature(kTwoLabels, label << 16 | second_label)};
}

// The features that join the word with a neighbour.
using PairHashes = std::array<std::uint32_t, 2>;
template <class Word>
inline PairHashes pair_features(const Position<Word>& at) {
    const std::uint32_t form = at.word->parts.form;
    return {tagger_feature(kPreviousFormAndForm, at.previous->parts.form, form),
            tagger_feature(kFormAndNextForm, form, at.next->parts.form)};
}

// The feature that joins the shape of the word with the label before; shapes are below kShapes.
inline constexpr std::uint32_t kShapes = 128;
inline std::uint32_t shape_feature(std::uint32_t label, std::uint32_t shape) {
    return tagger_feature(kLabelAndShape, label, shape);
}

// The features that join other parts of words with the labels before.
using LabelHashes = std::array<std::uint32_t, 4>;
template <class Word>
inline LabelHashes word_and_label_features(const Position<Word>& at) {
    const WordParts& word = at.word->parts;
    const std::uint32_t label = at.previous_label;
    return {tagger_feature(kLabelAndForm, label, word.form), tagger_feature(kLabelAndSuffix, label, word.suffix),
            tagger_feature(kLabelAndNextForm, label, at.next->parts.form),
            tagger_feature(kTwoLabelsAndClass, label << 16 | at.second_previous_label, word.lexical_class)};
}

// All features that are computed at every position.
template <class Word>
inline std::array<std::uint32_t, kContextFeatures> context_features(const Position<Word>& at) {
    const auto labels = label_features(at.previous_label, at.second_previous_label);
    const auto pair = pair_features(at);
    const auto joined = word_and_label_features(at);
    const std::uint32_t shape = shape_feature(at.previous_label, at.word->parts.shape);
    return {labels[0], labels[1], joined[0], joined[1], shape, joined[2], pair[0], pair[1], joined[3]};
}

// Calls `visit` with the features that the neighbours have for the word between them.
template <class Word, class Visit>
inline void visit_neighbours(const Position<Word>& at, Visit&& visit) {
    for (std::size_t k = 0; k < kPreviousFeatures; ++k) visit(at.previous->neighbour[k]);
    for (std::size_t k = 0; k < kNextFeatures; ++k) visit(at.next->neighbour[kNextAt + k]);
    visit(at.second_previous->neighbour[kSecondPreviousAt]);
    visit(at.second_next->neighbour[kSecondNextAt]);
}

}  // namespace tesla
