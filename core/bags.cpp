#include "bags.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

}  // namespace

Key ngram_key(const TokenView& text, KeyKind kind, std::size_t start, int n) {
    Key key;
    for (int i = 0; i < n; ++i) {
        if (kind == KeyKind::Lemma)
            key.append(text.lemma[start + i], kLemmaBits);
        else
            key.append(text.tag[start + i], kTagBits);
    }
    return key;
}

std::int64_t ngram_weight(const TokenView& text, const Discount& discount, std::size_t start, int n) {
    return discount.weight(n, function_words(text, start, n));
}

KeyBag build_key_bag(const TokenView& text, KeyKind kind, int n, const Discount& discount) {
    KeyBag bag;
    if (text.size < static_cast<std::size_t>(n)) return bag;
    std::size_t count = text.size - n + 1;
    std::vector<std::pair<Key, std::int64_t>> items(count);
    for (std::size_t i = 0; i < count; ++i)
        items[i] = {ngram_key(text, kind, i, n), ngram_weight(text, discount, i, n)};
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    bag.keys.reserve(count);
    bag.weights.reserve(count);
    for (const auto& [key, weight] : items) {
        if (!bag.keys.empty() && bag.keys.back() == key) {
            bag.weights.back() += weight;
        } else {
            bag.keys.push_back(key);
            bag.weights.push_back(weight);
        }
        bag.total += weight;
    }
    return bag;
}

std::int64_t KeyBag::overlap(const KeyBag& other) const {
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

namespace {

// The place of every token's symbol among the distinct symbols of the text.
std::vector<std::uint32_t> number_symbols(const TokenView& text, bool merge, SymbolBag& bag) {
    std::vector<std::uint32_t> places(text.size);
    if (!merge) {
        std::iota(places.begin(), places.end(), 0U);
        bag.lemma.assign(text.lemma, text.lemma + text.size);
        bag.tag.assign(text.tag, text.tag + text.size);
        return places;
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> symbols(text.size);  // symbol, position
    for (std::uint32_t i = 0; i < text.size; ++i)
        symbols[i] = {(static_cast<std::uint64_t>(text.lemma[i]) << kTagBits) | text.tag[i], i};
    std::sort(symbols.begin(), symbols.end());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (i == 0 || symbols[i].first != symbols[i - 1].first) {
            bag.lemma.push_back(static_cast<std::uint32_t>(symbols[i].first >> kTagBits));
            bag.tag.push_back(static_cast<std::uint16_t>(symbols[i].first));
        }
        places[symbols[i].second] = static_cast<std::uint32_t>(bag.lemma.size() - 1);
    }
    return places;
}

}  // namespace

SymbolBag build_symbol_bag(const TokenView& text, int max_order, const Discount& discount, bool merge) {
    SymbolBag bag;
    std::vector<std::uint32_t> places = number_symbols(text, merge, bag);
    std::size_t distinct = bag.lemma.size();
    std::vector<std::uint32_t> starts;
    for (int n = 1; n <= max_order; ++n) {
        SymbolBag::Order& order = bag.orders[n - 1];
        order.first.assign(distinct + 1, 0);
        if (text.size < static_cast<std::size_t>(n)) continue;
        starts.resize(text.size - n + 1);
        std::iota(starts.begin(), starts.end(), 0U);
        auto row = [&](std::uint32_t start) { return places.data() + start; };
        if (merge)
            std::sort(starts.begin(), starts.end(), [&](std::uint32_t a, std::uint32_t b) {
                return std::lexicographical_compare(row(a), row(a) + n, row(b), row(b) + n);
            });
        order.rows.reserve(starts.size() * n);
        order.weights.reserve(starts.size());
        for (std::size_t i = 0; i < starts.size(); ++i) {
            std::int64_t weight = ngram_weight(text, discount, starts[i], n);
            order.total += weight;
            if (i > 0 && std::equal(row(starts[i]), row(starts[i]) + n, row(starts[i - 1]))) {
                order.weights.back() += weight;
                continue;
            }
            order.rows.insert(order.rows.end(), row(starts[i]), row(starts[i]) + n);
            order.weights.push_back(weight);
            ++order.first[places[starts[i]] + 1];
        }
        std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
    }
    return bag;
}

}  // namespace tesla
