#include "language/analysis/tagger_features.h"

#include <algorithm>

#include "base/hashing.h"
#include "base/unicode.h"

namespace tesla {
namespace {

// Any digit is the digit 0: years and prices are alike to a tagger.
char32_t fold(char32_t c) { return is_number(c) ? U'0' : to_lower(c); }

enum Shape : std::uint32_t {
    kFirstUpper = 1,
    kLaterUpper = 2,
    kAnyLower = 4,
    kDigit = WordParts::kDigit,
    kHyphen = 16,
    kOtherSign = 32,
    kSingle = 64,
    kBeyondShapes = 128
};
static_assert(kBeyondShapes == kShapes);

std::uint32_t shape_of(const char32_t* form, std::size_t length) {
    std::uint32_t shape = 0;
    if (length == 1) shape |= kSingle;
    for (std::size_t i = 0; i < length; ++i) {
        const char32_t c = form[i];
        if (is_upper(c)) shape |= i == 0 ? kFirstUpper : kLaterUpper;
        else if (is_letter(c)) shape |= kAnyLower;
        else if (is_number(c)) shape |= kDigit;
        else if (c == U'-') shape |= kHyphen;
        else if (!is_mark(c)) shape |= kOtherSign;
    }
    return shape;
}

}  // namespace

WordHashes hash_word(const char32_t* form, std::size_t length, std::uint32_t lexical_class) {
    constexpr std::size_t kLongestAffix = 5;
    std::array<std::uint32_t, kLongestAffix + 1> suffix{}, prefix{};  // 0: the word is shorter
    Hasher whole, exact, from_end;
    for (std::size_t i = 0; i < length; ++i) {
        exact.add(form[i]);
        whole.add(fold(form[i]));
        if (i < kLongestAffix) prefix[i + 1] = whole.value();
    }
    for (std::size_t i = 0; i < std::min(length, kLongestAffix); ++i) {
        from_end.add(fold(form[length - 1 - i]));
        suffix[i + 1] = from_end.value();
    }
    WordHashes word{};
    const WordParts& parts = word.parts =
        {whole.value(), suffix[std::min<std::size_t>(length, 3)], shape_of(form, length), lexical_class};

    std::uint32_t kind = 0;
    std::uint32_t* slot = word.own.data();
    const auto put = [&](bool exists, std::uint32_t a, std::uint32_t b = 0) {
        *slot++ = exists ? tagger_feature(kind, a, b) : 0;
        ++kind;
    };
    put(length > 0, parts.form);
    put(length > 0, exact.value());
    put(length > 1, suffix[1]);
    put(length > 2, suffix[2]);
    put(length > 3, suffix[3]);
    put(length > 4, suffix[4]);
    put(length > 5, suffix[5]);
    put(length > 1, prefix[1]);
    put(length > 2, prefix[2]);
    put(length > 3, prefix[3]);
    put(length > 0, parts.shape, parts.suffix);
    put(lexical_class != 0, lexical_class, parts.shape);

    slot = word.neighbour.data();
    put(true, parts.form);  // before the word that is tagged
    put(true, parts.suffix);
    put(lexical_class != 0, lexical_class);
    put(true, parts.form);  // after it
    put(true, parts.suffix);
    put(true, parts.shape);
    put(lexical_class != 0, lexical_class);
    put(true, parts.form);  // two before it
    put(true, parts.form);  // two after it
    return word;
}

}  // namespace tesla
