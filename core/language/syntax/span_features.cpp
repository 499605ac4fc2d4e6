#include "language/syntax/span_features.h"

#include <algorithm>

#include "base/hashing.h"
#include "base/unicode.h"

namespace tesla {
namespace {

// All numbers here are frozen: models hold the hashes that they lead to.

constexpr std::uint32_t kOutside = 0xB0DE4u;  // the word and the suffix beyond either end
constexpr std::uint8_t kOutsideTag = 255;
constexpr std::size_t kWholeTagSequence = 6, kWholeShape = 10;  // words of a span whose tags or shapes are one feature
constexpr std::uint32_t kSequenceStart = 7;
constexpr char32_t kOfWord = 0, kOfSuffix = 1;  // what the hash of characters begins with
constexpr std::size_t kSuffixLength = 3;

// The numbers of features: of a rare word, and the first of each group.
constexpr std::uint32_t kRareWord = 0, kFirstOfSpan = 1, kFirstOfSplit = 101, kFirstOfSplitLeft = 121, kFirstOfSplitRight = 141;

enum SpanShape : std::uint8_t { kUpperCase = 1, kLowerCase = 2, kDigits = 3, kOtherShape = 4 };

// Of the bits of a kind those that are counted in a way of their own.
constexpr std::size_t kFiniteVerbBit = 0, kConjunctionBit = 2, kCommaBit = 3, kPairedSignBit = 7;

std::uint8_t shape_of(char32_t first) {
    return is_upper(first) ? kUpperCase : is_letter(first) ? kLowerCase : is_number(first) ? kDigits : kOtherShape;
}

std::uint32_t length_class(std::size_t length) {
    if (length <= 5) return static_cast<std::uint32_t>(length);
    if (length <= 7) return 6;
    if (length <= 10) return 7;
    if (length <= 15) return 8;
    if (length <= 20) return 9;
    return length <= 30 ? 10 : 11;
}

std::uint32_t hash_characters(const char32_t* begin, const char32_t* end, char32_t salt) {
    Hasher hasher;
    hasher.add(salt);
    for (; begin != end; ++begin) hasher.add(*begin);
    return hasher.value();
}

}  // namespace

std::uint32_t SpanVocabulary::key(const std::string& form) {
    std::u32string characters;
    decode_utf8(form, characters);
    for (char32_t& c : characters) c = is_number(c) ? U'0' : to_lower(c);
    return hash_characters(characters.data(), characters.data() + characters.size(), kOfWord);
}

void SpanVocabulary::build(const std::vector<std::uint32_t>& hashes) {
    known_.build(hashes, std::vector<std::uint32_t>(hashes.size(), 1));
}

SpanWord SpanVocabulary::word(const std::string& form, std::uint8_t tag, std::uint8_t kind) const {
    std::u32string characters;
    decode_utf8(form, characters);
    SpanWord result;
    const char32_t first = characters.empty() ? U' ' : characters[0];
    result.shape = shape_of(first);
    for (char32_t& c : characters) c = is_number(c) ? U'0' : to_lower(c);
    const char32_t* end = characters.data() + characters.size();
    result.suffix = hash_characters(end - std::min(kSuffixLength, characters.size()), end, kOfSuffix);
    const std::uint32_t whole = hash_characters(characters.data(), end, kOfWord);
    result.word = known_.find(whole) ? whole : parser_feature(kRareWord, result.suffix, result.shape);
    result.tag = tag;
    result.kind = kind;
    return result;
}

SpanSentence::SpanSentence(std::vector<SpanWord> words) : size_(words.size()) {
    SpanWord outside;
    outside.word = outside.suffix = kOutside;
    outside.tag = kOutsideTag;
    words_.assign(kPad, outside);
    words_.insert(words_.end(), words.begin(), words.end());
    words_.insert(words_.end(), kPad, outside);
    counts_.resize(size_ + 1);
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t bit = 0; bit < kKindBits; ++bit)
            counts_[i + 1][bit] = static_cast<std::uint16_t>(counts_[i][bit] + (words[i].kind >> bit & 1));
}

std::uint32_t SpanSentence::kinds_between(std::size_t i, std::size_t j) const {
    std::uint32_t kinds = 0;
    for (std::size_t bit = 0; bit < kKindBits; ++bit) {
        const unsigned count = counts_[j][bit] - counts_[i][bit];
        // Quotes and brackets: odd or even; finite verbs, commas and conjunctions: none, one, more; others: any.
        const bool to_two = bit == kFiniteVerbBit || bit == kConjunctionBit || bit == kCommaBit;
        const unsigned value = bit == kPairedSignBit ? count % 2 : to_two ? std::min(count, 2u) : count > 0;
        kinds = kinds * 3 + value;
    }
    return kinds;
}

void SpanSentence::span(std::size_t i, std::size_t j, std::uint32_t* out) const {
    const SpanWord &first = at(i, 0), &last = at(j, -1), &before = at(i, -1), &after = at(j, 0);
    const SpanWord &second = at(i, 1), &second_last = at(j, -2), &before2 = at(i, -2), &after2 = at(j, 1);
    const std::size_t n = j - i;
    const std::uint32_t length = length_class(n);
    const std::uint32_t kinds = kinds_between(i, j);
    const std::uint32_t edge = (i == 0 ? 1u : 0u) | (j == size_ ? 2u : 0u);
    std::uint32_t number = kFirstOfSpan;
    const auto add = [&](auto... parts) { *out++ = parser_feature(number++, parts...); };
    add(length, edge);
    add(first.word);
    add(first.tag, length);
    add(last.word);
    add(last.tag, length);
    add(before.word);
    add(before.tag, length);
    add(after.word);
    add(after.tag, length);
    add(first.word, length);
    add(last.word, length);
    add(before.word, length);
    add(after.word, length);
    add(first.suffix, first.tag);
    add(last.suffix, last.tag);
    add(first.tag, last.tag);
    add(first.word, last.tag);
    add(first.tag, last.word);
    add(first.word, last.word);
    add(before.tag, first.tag);
    add(before.word, first.tag);
    add(before.tag, first.word);
    add(before.word, first.word);
    add(last.tag, after.tag);
    add(last.word, after.tag);
    add(last.tag, after.word);
    add(last.word, after.word);
    add(before.tag, after.tag);
    add(before.word, after.tag);
    add(before.tag, after.word);
    add(before.word, after.word);
    add(before.tag, first.tag, last.tag, after.tag);
    add(before.tag, first.tag, after.tag, kinds & 0xFF);
    add(first.tag, last.tag, after.tag);
    add(before.tag, first.tag, last.tag);
    add(first.tag, second.tag);
    add(first.word, second.tag);
    add(first.tag, second.tag, after.tag);
    add(second_last.tag, last.tag);
    add(second_last.tag, last.tag, after.tag);
    add(before2.tag, before.tag, first.tag);
    add(last.tag, after.tag, after2.tag);
    add(after.word, after2.tag);
    add(kinds);
    add(kinds, first.tag);
    add(kinds, after.tag);
    add(kinds, before.tag);
    add(kinds, edge);
    add(first.word, edge, last.tag);
    add(first.word, after.word);
    add(first.word, after.tag, before.tag);
    // The whole sequence of tags of a short span, and the shape of a longer one.
    std::uint32_t sequence = 0, shape = 0;
    if (n <= kWholeTagSequence) {
        sequence = kSequenceStart;
        for (std::size_t k = i; k < j; ++k) sequence = parser_feature(sequence, at(k, 0).tag);
    }
    add(sequence, n <= kWholeTagSequence);
    if (n <= kWholeShape) {
        shape = kSequenceStart;
        for (std::size_t k = i; k < j; ++k) {
            const SpanWord& word = at(k, 0);
            shape = parser_feature(shape, word.shape == kOtherShape ? word.word : word.shape);
        }
    }
    add(shape, before.shape, after.shape);
    add(first.shape, last.shape, before.shape, after.shape, length);
}

void SpanSentence::split(std::size_t k, std::uint32_t* out) const {
    const SpanWord &left = at(k, -1), &right = at(k, 0);
    std::uint32_t number = kFirstOfSplit;
    const auto add = [&](auto... parts) { *out++ = parser_feature(number++, parts...); };
    add(left.word);
    add(right.word);
    add(left.tag);
    add(right.tag);
    add(left.word, right.word);
    add(left.word, right.tag);
    add(left.tag, right.word);
    add(left.tag, right.tag);
    add(at(k, -2).tag, left.tag, right.tag);
    add(left.tag, right.tag, at(k, 1).tag);
}

void SpanSentence::split_left(std::size_t i, std::size_t k, std::uint32_t* out) const {
    const SpanWord &first = at(i, 0), &left = at(k, -1), &right = at(k, 0);
    const std::uint32_t length = length_class(k - i);
    std::uint32_t number = kFirstOfSplitLeft;
    const auto add = [&](auto... parts) { *out++ = parser_feature(number++, parts...); };
    add(first.word, right.word);
    add(first.tag, right.word);
    add(first.word, right.tag);
    add(first.tag, left.tag, right.tag);
    add(length, left.tag);
    add(length, right.word);
    add(first.tag, left.word, right.word);
    add(kinds_between(i, k), right.tag);
}

void SpanSentence::split_right(std::size_t k, std::size_t j, std::uint32_t* out) const {
    const SpanWord &left = at(k, -1), &right = at(k, 0), &last = at(j, -1), &after = at(j, 0);
    const std::uint32_t length = length_class(j - k);
    std::uint32_t number = kFirstOfSplitRight;
    const auto add = [&](auto... parts) { *out++ = parser_feature(number++, parts...); };
    add(right.word, last.word);
    add(left.word, last.word);
    add(left.tag, right.word, last.word);
    add(left.tag, right.tag, last.tag);
    add(left.tag, right.word, after.tag);
    add(left.word, right.tag, after.tag);
    add(length, right.word);
    add(length, left.tag, right.tag);
    add(kinds_between(k, j), left.tag);
}

}  // namespace tesla
