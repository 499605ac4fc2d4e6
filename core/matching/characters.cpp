#include "matching/characters.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "base/checks.h"
#include "base/interrupt.h"
#include "base/lanes.h"
#include "base/portable.h"
#include "base/small_sort.h"
#include "base/unicode.h"

namespace tesla {
namespace {

bool is_left_out(char32_t c) { return c == 0 || is_space(c); }

const std::array<bool, 128> kAsciiLeftOut = [] {
    std::array<bool, 128> left_out{};
    for (char32_t c = 0; c < left_out.size(); ++c) left_out[c] = is_left_out(c);
    return left_out;
}();

// How the characters of a suffix are packed: the first in the highest bits that are used.
constexpr int kNarrowBits = 8, kNarrowUnused = 64 - kNarrowBits * kMaxCharacterOrder;
constexpr int kWideBits = 21, kWideUnused = 128 - kWideBits * kMaxCharacterOrder;  // a code point has 21 bits

constexpr int wide_shift(int n) { return kWideBits * (kMaxCharacterOrder - 1 - n); }  // of the n-th character

std::uint64_t character(const WideKey& key, int n) {
    const int shift = wide_shift(n);
    const std::uint64_t value = shift >= 64  ? key.high >> (shift - 64)
                                : shift == 0 ? key.low
                                             : (key.low >> shift) | (key.high << (64 - shift));
    return value & ((std::uint64_t{1} << kWideBits) - 1);
}
std::uint64_t character(NarrowKey key, int n) {
    return key >> kNarrowBits * (kMaxCharacterOrder - 1 - n) & ((1U << kNarrowBits) - 1);
}

// The suffix that begins one character before another one.
void prepend(char32_t c, WideKey& key) {
    key = {key.high >> kWideBits, (key.low >> kWideBits) | (key.high << (64 - kWideBits))};
    key.high |= static_cast<std::uint64_t>(c) << (wide_shift(0) - 64);
}
void prepend(char32_t c, NarrowKey& key) {
    key = key >> kNarrowBits | static_cast<std::uint64_t>(c) << kNarrowBits * (kMaxCharacterOrder - 1);
}

WideKey widened(NarrowKey key) {
    WideKey wide;
    for (int n = kMaxCharacterOrder - 1; n >= 0; --n) prepend(static_cast<char32_t>(character(key, n)), wide);
    return wide;
}

// Without the zeros that fill up suffixes at the end of a text.
template <class Key>
int length_of(const Key& suffix) {
    int length = kMaxCharacterOrder;
    while (length > 0 && character(suffix, length - 1) == 0) --length;
    return length;
}

// How many characters two suffixes have in common at their beginnings; the padding of short ones does not count.
int common_prefix(const WideKey& a, const WideKey& b) {
    const std::uint64_t high = a.high ^ b.high, low = a.low ^ b.low;
    if (high != 0) return (leading_zeros(high) - kWideUnused) / kWideBits;
    if (low != 0) return (leading_zeros(low) + 64 - kWideUnused) / kWideBits;
    return length_of(a);
}
int common_prefix(NarrowKey a, NarrowKey b) {
    return a != b ? (leading_zeros(a ^ b) - kNarrowUnused) / kNarrowBits : length_of(a);
}

// Counts of n-grams stand in 16-bit lanes, one for each order.
constexpr std::size_t kMostInLanes = 0x7FFF;

struct OrderLanes {
    OrderLanes() {
        for (std::size_t count = 0; count <= kMaxCharacterOrder; ++count) {
            below[count] = first_lanes(count, -1);
            once[count] = first_lanes(count, 1);
        }
    }
    Lanes below[kMaxCharacterOrder + 1];  // all bits of the orders up to this one
    Lanes once[kMaxCharacterOrder + 1];   // one more of each of them
};

constexpr std::size_t kBuckets = 128;  // one for each character of ASCII; the last also for all beyond

template <class Key>
std::size_t bucket_of(const Key& key, int n) {
    return std::min<std::size_t>(character(key, n), kBuckets - 1);
}

using Counts = std::array<std::uint32_t, kBuckets>;

// Moves suffixes into the order of their n-th characters and leaves them as they are where these are equal.
template <class Key>
void order_by(int n, const Counts& counts, const Key* from, std::size_t size, Key* to) {
    Counts starts;
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::uint32_t{0});
    for (std::size_t k = 0; k < size; ++k) to[starts[bucket_of(from[k], n)]++] = from[k];
}

// By the third, the second, then the first characters: after that little is left to sort. If most characters of a text are
// beyond ASCII, they fall into one bucket, and the suffixes are sorted as they are.
template <class Key, class Text>
void sort_suffixes(const Text& text, std::size_t size, CharacterScratch::Keys<Key>& scratch, std::pmr::vector<Key>& sorted) {
    scratch.suffixes.resize(size);
    sorted.resize(size);
    Counts counts{};
    Key key{};
    for (std::size_t i = size; i-- > 0;) {
        prepend(text[i], key);
        scratch.suffixes[i] = key;
        ++counts[bucket_of(key, 0)];
    }
    if (2 * counts.back() > size) {
        std::copy(scratch.suffixes.begin(), scratch.suffixes.end(), sorted.begin());
        return std::sort(sorted.begin(), sorted.end());
    }
    scratch.ordered.resize(size);
    // The second characters are the same but for the first, in whose place one has the end; and so on.
    Counts second = counts, third;
    const auto shift = [&](Counts& shifted, std::size_t i) {
        if (i >= size) return;
        --shifted[bucket_of(scratch.suffixes[i], 0)];
        ++shifted[0];
    };
    shift(second, 0);
    third = second;
    shift(third, 1);
    order_by(2, third, scratch.suffixes.data(), size, sorted.data());
    order_by(1, second, sorted.data(), size, scratch.ordered.data());
    order_by(0, counts, scratch.ordered.data(), size, sorted.data());
    sort_nearly_sorted(sorted.data(), sorted.data() + size);
}

// The sorted suffixes of a text.
template <class Key>
struct Suffixes {
    const Key* data;
    std::size_t size;
};

// Walks through the suffixes of both texts in one sorted order. For every order there is a group of suffixes that begin
// alike; where the common prefix with the next suffix is shorter than n, the group of order n ends and is counted.
template <class Key>
void overlap_of_long_texts(Suffixes<Key> a, Suffixes<Key> b, int max_order, std::int64_t* matches) {
    std::fill(matches, matches + max_order, 0);
    std::int64_t in_a[kMaxCharacterOrder] = {}, in_b[kMaxCharacterOrder] = {};
    const std::size_t total = a.size + b.size;
    std::size_t i = 0, j = 0;
    const Key* last = nullptr;
    for (std::size_t k = 0; k <= total; ++k) {
        const bool end = k == total;
        const bool from_a = !end && (j == b.size || (i < a.size && !(b.data[j] < a.data[i])));
        const Key* next = end ? nullptr : from_a ? &a.data[i] : &b.data[j];
        const int kept = last && next ? std::min(common_prefix(*last, *next), max_order) : 0;
        for (int n = kept; n < max_order; ++n) {
            matches[n] += std::min(in_a[n], in_b[n]);
            in_a[n] = in_b[n] = 0;
        }
        if (end) break;
        const int length = std::min(length_of(*next), max_order);
        for (int n = 0; n < length; ++n) ++(from_a ? in_a[n] : in_b[n]);
        ++(from_a ? i : j);
        last = next;
    }
}

// The same, all orders at once: a lane for each. No branch depends on what the texts are like but the choice of the next
// suffix.
template <class Key>
void overlap_of(Suffixes<Key> a, Suffixes<Key> b, int max_order, std::int64_t* matches) {
    if (a.size + b.size > kMostInLanes) return overlap_of_long_texts(a, b, max_order, matches);
    static const OrderLanes lanes;
    Lanes in_a{}, in_b{}, sum{};
    Key last{};  // has nothing in common with any suffix
    const auto take = [&](const Key& next, bool from_a) {
        const Lanes& kept = lanes.below[common_prefix(last, next)];
        sum += lower(in_a, in_b) & ~kept;
        const Lanes& added = lanes.once[length_of(next)];
        const Lanes& chosen = lanes.below[from_a ? kMaxCharacterOrder : 0];
        in_a = in_a & kept;
        in_b = in_b & kept;
        in_a += added & chosen;
        in_b += added & ~chosen;
        last = next;
    };
    const Key *i = a.data, *const i_end = i + a.size, *j = b.data, *const j_end = j + b.size;
    while (i != i_end && j != j_end) {
        const bool from_a = !(*j < *i);
        take(from_a ? *i : *j, from_a);
        i += from_a;
        j += !from_a;
    }
    for (; i != i_end; ++i) take(*i, true);
    for (; j != j_end; ++j) take(*j, false);
    sum += lower(in_a, in_b);
    for (int n = 0; n < max_order; ++n) matches[n] = sum[static_cast<std::size_t>(n)];
}

// Counts the n-grams that two texts have in common, of which the first has at most kShort characters. One object serves one
// thread and keeps its memory.
class NgramTable {
   public:
    static constexpr std::size_t kShort = 255;  // so that numbers and counts have eight bits

    template <class X, class Y>
    void overlap(const X& x, const Y& y, int max_order, std::int64_t* matches) {
        number_characters(x, y);
        switch (max_order) {
            case 1: return count_orders<1>(matches);
            case 2: return count_orders<2>(matches);
            case 3: return count_orders<3>(matches);
            case 4: return count_orders<4>(matches);
            case 5: return count_orders<5>(matches);
            default: return count_orders<kMaxCharacterOrder>(matches);
        }
    }

   private:
    // The numbers of characters of ASCII are themselves.
    void number_characters(const std::pmr::string& x, const std::pmr::string& y) {
        characters_end_ = kAsciiLeftOut.size();
        x_.assign(x.begin(), x.end());
        y_.assign(y.begin(), y.end());
    }
    template <class X, class Y>
    void number_characters(const X& x, const Y& y) {
        characters_.clear();
        characters_.reserve(kShort);
        x_.resize(x.size());
        y_.resize(y.size());
        // From here on there is enough memory: of_character_ is all 0 again at the end.
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto c = static_cast<char32_t>(x[i]);
            std::uint8_t number = number_of(c);
            if (number == 0) {
                characters_.push_back(c);
                number = static_cast<std::uint8_t>(characters_.size());
                if (c < kBasicPlane) of_character_[c] = number;
            }
            x_[i] = number;
        }
        characters_end_ = characters_.size() + 1;
        std::transform(y.begin(), y.end(), y_.begin(), [this](auto c) { return number_of(static_cast<char32_t>(c)); });
        for (char32_t c : characters_)
            if (c < kBasicPlane) of_character_[c] = 0;
    }
    // Of a character that x has, else 0. Those beyond the basic plane are few.
    std::uint8_t number_of(char32_t c) const {
        if (c < kBasicPlane) return of_character_[c];
        const auto place = std::find(characters_.begin(), characters_.end(), c);
        return place == characters_.end() ? 0 : static_cast<std::uint8_t>(place - characters_.begin() + 1);
    }

    // All orders in one walk along each text. An n-gram is the pair of the (n - 1)-grams that end at its last two characters; those
    // that x has are numbered in a table by the numbers of such pairs. 0 stands for all others. No branch depends on the texts.
    template <std::size_t kOrders>
    void count_orders(std::int64_t* matches) {
        const std::size_t size_x = x_.size(), size_y = y_.size();
        const std::uint8_t *const x = x_.data(), *const y = y_.data();
        std::uint8_t* tables[kOrders];
        std::size_t rows[kOrders];
        for (std::size_t n = 1; n < kOrders; ++n) {
            rows[n] = n == 1 ? characters_end_ : size_x + 1;
            if (tables_[n].size() < rows[n] * rows[n]) tables_[n].resize(rows[n] * rows[n]);
            tables[n] = tables_[n].data();
        }
        std::uint8_t left[kOrders][kShort + 1] = {};  // of each n-gram of x those without a partner; none of 0
        std::uint16_t places[kOrders][kShort];        // of n-grams of x in the table
        std::uint8_t last[kOrders] = {}, ending[kOrders] = {};  // numbers: the highest, and of the n-grams at the character before
        walk<kOrders>(x, size_x, ending, [&](std::size_t n, std::size_t i, std::uint8_t first, std::uint8_t second) {
            const std::size_t place = first * rows[n] + second;
            const std::uint8_t known = tables[n][place], is_new = known == 0;
            last[n] = static_cast<std::uint8_t>(last[n] + is_new);
            const auto number = static_cast<std::uint8_t>(known + last[n] * is_new);
            tables[n][place] = number;
            places[n][i] = static_cast<std::uint16_t>(place);
            return number;
        }, [&](std::size_t n, std::uint8_t number) { ++left[n][number]; });
        std::int64_t common[kOrders] = {};
        walk<kOrders>(y, size_y, ending, [&](std::size_t n, std::size_t, std::uint8_t first, std::uint8_t second) {
            return tables[n][first * rows[n] + second];
        }, [&](std::size_t n, std::uint8_t number) {
            const bool has_partner = left[n][number] != 0;
            left[n][number] = static_cast<std::uint8_t>(left[n][number] - has_partner);
            common[n] += has_partner;
        });
        for (std::size_t n = 1; n < kOrders; ++n)
            for (std::size_t i = n; i < size_x; ++i) tables[n][places[n][i]] = 0;
        std::copy_n(common, kOrders, matches);
    }

    // number_of(n, i, first, second) numbers the (n + 1)-gram that ends at character i by its two parts; count(n, number) counts it.
    template <std::size_t kOrders, class NumberOf, class Count>
    static void walk(const std::uint8_t* characters, std::size_t size, std::uint8_t* ending, NumberOf&& number_of, Count&& count) {
        const auto step = [&](std::size_t i, std::size_t orders) {
            std::uint8_t number = characters[i];
            count(0, number);
            for (std::size_t n = 1; n < orders; ++n) {
                const std::uint8_t longer = number_of(n, i, ending[n - 1], number);
                ending[n - 1] = number;
                count(n, number = longer);
            }
            ending[orders - 1] = number;
        };
        const std::size_t first = std::min(size, kOrders - 1);  // from here on n-grams of all orders end
        for (std::size_t i = 0; i < first; ++i) step(i, i + 1);
        for (std::size_t i = first; i < size; ++i) step(i, kOrders);
    }

    std::vector<std::uint8_t> x_, y_;  // the numbers of characters
    std::size_t characters_end_ = 0;   // they are below this
    std::vector<std::uint8_t> tables_[kMaxCharacterOrder];  // by order: as large as the texts need, and all 0 between two of them
    // The characters of x in the order in which they are met, and their numbers, which begin at 1.
    static constexpr char32_t kBasicPlane = 0x10000;
    std::vector<char32_t> characters_;
    std::vector<std::uint8_t> of_character_ = std::vector<std::uint8_t>(kBasicPlane);
};

template <class X, class Y>
void overlap_of_short_text(const X& x, const Y& y, int max_order, std::int64_t* matches) {
    // Clearing a new one takes longer than a pair. By a pointer: compilers ask in every loop where a thread has its objects.
    thread_local const std::unique_ptr<NgramTable> table = std::make_unique<NgramTable>();
    table->overlap(x, y, max_order, matches);
}

}  // namespace

void check_character_order(int max_order) {
    require(max_order >= 1 && max_order <= kMaxCharacterOrder, "n-grams have 1 to 6 characters");
}

CharacterBag::CharacterBag(std::string_view utf8, CharacterScratch& scratch, std::pmr::memory_resource* memory)
    : ascii_(memory), text_(memory), narrow_(memory), wide_(memory) {
    if (is_ascii(utf8)) {
        ascii_.resize(utf8.size());
        std::size_t size = 0;
        for (char c : utf8) {  // without a branch
            ascii_[size] = c;
            size += !kAsciiLeftOut[static_cast<unsigned char>(c)];
        }
        ascii_.resize(size);
        if (!is_short()) sort_suffixes(ascii_, size, scratch.narrow, narrow_);
    } else {
        decode_utf8(utf8, scratch.decoded);
        text_.resize(scratch.decoded.size());
        const auto end = std::remove_copy_if(scratch.decoded.begin(), scratch.decoded.end(), text_.begin(), is_left_out);
        text_.resize(static_cast<std::size_t>(end - text_.begin()));
        if (!is_short()) sort_suffixes(text_, text_.size(), scratch.wide, wide_);
    }
}

bool CharacterBag::is_short() const { return length() <= NgramTable::kShort; }

std::int64_t CharacterBag::total(int n) const {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(length()) - n + 1);
}

void CharacterBag::overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches) {
    if (a.length() > b.length()) return overlap(b, a, max_order, matches);
    if (a.is_short()) {
        if (a.text_.empty() && b.text_.empty()) return overlap_of_short_text(a.ascii_, b.ascii_, max_order, matches);
        if (a.text_.empty()) return overlap_of_short_text(a.ascii_, b.text_, max_order, matches);
        if (b.text_.empty()) return overlap_of_short_text(a.text_, b.ascii_, max_order, matches);
        return overlap_of_short_text(a.text_, b.text_, max_order, matches);
    }
    if (a.wide_.empty() && b.wide_.empty())
        return overlap_of<NarrowKey>({a.narrow_.data(), a.narrow_.size()}, {b.narrow_.data(), b.narrow_.size()}, max_order,
                                     matches);
    std::vector<WideKey> widened_text;  // of at most one
    const auto wide_suffixes = [&](const CharacterBag& text) -> Suffixes<WideKey> {
        if (text.narrow_.empty()) return {text.wide_.data(), text.wide_.size()};
        widened_text.resize(text.narrow_.size());
        std::transform(text.narrow_.begin(), text.narrow_.end(), widened_text.begin(), widened);
        return {widened_text.data(), widened_text.size()};
    };
    overlap_of(wide_suffixes(a), wide_suffixes(b), max_order, matches);
}

CharacterBags::CharacterBags(const std::vector<std::string_view>& texts) {
    texts_.reserve(texts.size());
    CharacterScratch scratch;
    Interrupt interrupt;
    for (std::string_view text : texts) {
        texts_.emplace_back(text, scratch, &memory_);
        interrupt.step(16 * text.size());
    }
}

Measures CharacterBags::match(const CharacterBags& reference, const CharacterBags& hypothesis, const TextPairs& pairs,
                              int max_order, double alpha, bool both_ways) {
    check_character_order(max_order);
    Measures measures(pairs.size(), static_cast<std::size_t>(max_order), alpha, both_ways);
    std::int64_t matches[kMaxCharacterOrder];
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const CharacterBag& x, const CharacterBag& y) {
        CharacterBag::overlap(x, y, max_order, matches);
        for (int n = 1; n <= max_order; ++n)
            measures.set(k, static_cast<std::size_t>(n - 1), {matches[n - 1], x.total(n), y.total(n)});
    });
    return measures;
}

std::vector<std::int64_t> CharacterBags::count(const CharacterBags& reference, const CharacterBags& hypothesis,
                                               const TextPairs& pairs, int max_order) {
    check_character_order(max_order);
    std::vector<std::int64_t> counts;
    counts.reserve(3 * pairs.size() * static_cast<std::size_t>(max_order));
    std::int64_t matches[kMaxCharacterOrder];
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t, const CharacterBag& x, const CharacterBag& y) {
        CharacterBag::overlap(x, y, max_order, matches);
        for (int n = 1; n <= max_order; ++n) counts.insert(counts.end(), {y.total(n), x.total(n), matches[n - 1]});
    });
    return counts;
}

}  // namespace tesla
