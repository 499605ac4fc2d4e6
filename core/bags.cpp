#include "bags.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tesla {

std::int64_t Discount::weight(int n, int k) const {
    std::int64_t w = 1;
    for (int i = 0; i < n; ++i) w *= i < k ? p : q;
    return w;
}

namespace {

int function_words(const TokenView& text, std::size_t start, int n) {
    int k = 0;
    for (int i = 0; i < n; ++i) k += text.function[start + i];
    return k;
}

std::size_t ngram_count(const TokenView& text, int n) {
    auto length = static_cast<std::size_t>(n);
    return text.size < length ? 0 : text.size - length + 1;
}

// Keys are sorted together with the number of function words, which fits the lowest two bits.
constexpr int kCountBits = 2;
static_assert(kMaxOrder < (1 << kCountBits));
std::uint64_t without_count(std::uint64_t key) { return key >> kCountBits; }
WideKey without_count(WideKey key) {
    return {key.high >> kCountBits, (key.low >> kCountBits) | (key.high << (64 - kCountBits))};
}
int count_in(std::uint64_t key) { return static_cast<int>(key & ((1 << kCountBits) - 1)); }
int count_in(WideKey key) { return count_in(key.low); }

}  // namespace

WideKey ByLemma::key(const TokenView& text, std::size_t start, int n) {
    WideKey key;
    for (int i = 0; i < n; ++i) key = appended(key, text.lemma[start + i], kLemmaBits);
    return key;
}

std::uint64_t ByTag::key(const TokenView& text, std::size_t start, int n) {
    std::uint64_t key = 0;
    for (int i = 0; i < n; ++i) key = appended(key, text.tag[start + i], kTagBits);
    return key;
}

WideKey skip_key(const TokenView& text, std::size_t i, std::size_t j) {
    return appended(appended(WideKey{}, text.lemma[i], kLemmaBits), text.lemma[j], kLemmaBits);
}

std::int64_t skip_weight(const TokenView& text, const Discount& discount, std::size_t i, std::size_t j) {
    return discount.weight(2, text.function[i] + text.function[j]);
}

std::int64_t ngram_weight(const TokenView& text, const Discount& discount, std::size_t start, int n) {
    return discount.weight(n, function_words(text, start, n));
}

BagBuilder::BagBuilder(const Discount& discount, std::pmr::memory_resource* memory) : memory_(memory) {
    for (int n = 0; n <= kMaxOrder; ++n)
        for (int k = 0; k <= kMaxOrder; ++k) weight_[n][k] = k <= n ? discount.weight(n, k) : 0;
}

template <class By>
KeyBag<typename By::Key> BagBuilder::key_bag(const TokenView& text, int n, std::vector<typename By::Key>& codes) {
    const std::size_t count = ngram_count(text, n);
    codes.resize(count);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        codes[kept] = appended(By::key(text, i, n), static_cast<std::uint64_t>(function_words(text, i, n)), kCountBits);
        kept += By::exists(text, i, n);
    }
    codes.resize(kept);
    return merged(codes, n);
}

// The bag of n-grams given as keys with their numbers of function words.
template <class Key>
KeyBag<Key> BagBuilder::merged(std::vector<Key>& codes, int n) {
    KeyBag<Key> bag(memory_);
    std::sort(codes.begin(), codes.end());
    bag.keys.reserve(codes.size());
    bag.weights.reserve(codes.size());
    for (const Key& code : codes) bag.append(without_count(code), weight_[n][count_in(code)]);
    return bag;
}

LemmaBag BagBuilder::skip_bag(const TokenView& text, int gap) {
    wide_codes_.clear();
    for_each_skip_bigram(text.size, gap, [&](std::size_t i, std::size_t j) {
        auto count = static_cast<std::uint64_t>(text.function[i] + text.function[j]);
        wide_codes_.push_back(appended(skip_key(text, i, j), count, kCountBits));
    });
    return merged(wide_codes_, 2);
}

LemmaBag BagBuilder::lemma_bag(const TokenView& text, int n) { return key_bag<ByLemma>(text, n, wide_codes_); }

TagBag BagBuilder::tag_bag(const TokenView& text, int n) { return key_bag<ByTag>(text, n, codes_); }

template <class Key>
std::int64_t KeyBag<Key>::overlap(const KeyBag& other) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0, j = 0; i < keys.size() && j < other.keys.size();) {
        if (keys[i] == other.keys[j])
            sum += std::min(weights[i++], other.weights[j++]);
        else if (keys[i] < other.keys[j])
            ++i;
        else
            ++j;
    }
    return sum;
}
template struct KeyBag<WideKey>;
template struct KeyBag<std::uint64_t>;

// Fills in `places_`: where every token's symbol lies among the distinct symbols of the text.
void BagBuilder::number_symbols(const TokenView& text, bool merge, SymbolBag& bag) {
    places_.resize(text.size);
    if (!merge) {
        std::iota(places_.begin(), places_.end(), 0U);
        bag.lemma.assign(text.lemma, text.lemma + text.size);
        bag.tag.assign(text.tag, text.tag + text.size);
        return;
    }
    auto symbol = [&](std::size_t i) { return appended(text.lemma[i], text.tag[i], kTagBits); };
    symbols_.resize(text.size);
    for (std::size_t i = 0; i < text.size; ++i) symbols_[i] = symbol(i);
    std::sort(symbols_.begin(), symbols_.end());
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
    for (std::size_t i = 0; i < text.size; ++i)
        places_[i] = static_cast<std::uint32_t>(
            std::lower_bound(symbols_.begin(), symbols_.end(), symbol(i)) - symbols_.begin());
    bag.lemma.reserve(symbols_.size());
    bag.tag.reserve(symbols_.size());
    for (std::uint64_t distinct : symbols_) {
        bag.lemma.push_back(static_cast<std::uint32_t>(distinct >> kTagBits));
        bag.tag.push_back(static_cast<std::uint16_t>(distinct));
    }
}

SymbolBag BagBuilder::symbol_bag(const TokenView& text, int max_order, bool merge) {
    SymbolBag bag(memory_);
    number_symbols(text, merge, bag);
    std::size_t distinct = bag.lemma.size();
    if (distinct > kMostSymbols) throw TextTooLong("a text has more than a million different words");
    int bits = 1;
    while ((std::size_t{1} << bits) < distinct) ++bits;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (int n = 1; n <= max_order; ++n) {
        SymbolBag::Order& order = bag.orders[n - 1];
        order.first.assign(distinct + 1, 0);
        codes_.resize(ngram_count(text, n));
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            std::uint64_t code = 0;
            for (int k = 0; k < n; ++k) code = appended(code, places_[i + k], bits);
            codes_[i] = appended(code, static_cast<std::uint64_t>(function_words(text, i, n)), kCountBits);
        }
        if (merge) std::sort(codes_.begin(), codes_.end());
        order.rows.reserve(codes_.size() * n);
        order.weights.reserve(codes_.size());
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            std::int64_t weight = weight_[n][count_in(codes_[i])];
            order.total += weight;
            std::uint64_t row = without_count(codes_[i]);
            if (i > 0 && row == without_count(codes_[i - 1])) {
                order.weights.back() += weight;
                continue;
            }
            for (int k = n - 1; k >= 0; --k) order.rows.push_back(static_cast<std::uint32_t>((row >> (bits * k)) & mask));
            order.weights.push_back(weight);
            ++order.first[(row >> (bits * (n - 1))) + 1];
        }
        std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
    }
    return bag;
}

}  // namespace tesla
