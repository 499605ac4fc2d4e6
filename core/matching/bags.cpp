#include "matching/bags.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace tesla {

std::int64_t Discount::weight(int n, int k) const {
    std::int64_t w = 1;
    for (int i = 0; i < n; ++i) w *= i < k ? p : q;
    return w;
}

void check_room(const Discount& discount, int n, std::size_t ngrams) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (2 * n * discount.unit(n));
    if (ngrams > static_cast<std::size_t>(most)) throw TextTooLong("a text is too long for this discount of function words");
}

namespace {

int function_words(const TokenView& text, std::size_t start, int n) {
    int k = 0;
    for (int i = 0; i < n; ++i) k += text.function[start + i];
    return k;
}

int bits_for(std::size_t numbers) {
    int bits = 1;
    while ((std::size_t{1} << bits) < numbers) ++bits;
    return bits;
}

std::uint64_t low_bits(int bits) { return (std::uint64_t{1} << bits) - 1; }

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

BagBuilder::BagBuilder(const Discount& discount, std::pmr::memory_resource* memory)
    : memory_(memory), discount_(discount) {
    for (int n = 0; n <= kMaxOrder; ++n)
        for (int flags = 0; flags < (1 << kMaxOrder); ++flags) {
            int count = 0;
            for (int i = 0; i < n; ++i) count += (flags >> i) & 1;
            weight_[n][flags] = discount.weight(n, count);
        }
}

void BagBuilder::begin(const TokenView& text, bool merge) {
    text_ = text;
    places_.resize(text.size);
    if (merge) {
        number_symbols();
    } else {
        std::iota(places_.begin(), places_.end(), 0U);
        symbol_lemma_.assign(text.lemma, text.lemma + text.size);
        symbol_tag_.assign(text.tag, text.tag + text.size);
    }
    if (symbol_lemma_.size() >= kMostSymbols) throw TextTooLong("a text has more than a million different words");
}

void BagBuilder::number_symbols() {
    placed_.resize(text_.size);
    for (std::size_t i = 0; i < text_.size; ++i) placed_[i] = {appended(text_.lemma[i], text_.tag[i], kTagBits), i};
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) { return a.symbol < b.symbol; });
    symbol_lemma_.clear();
    symbol_tag_.clear();
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        if (i == 0 || placed_[i].symbol != placed_[i - 1].symbol) {
            symbol_lemma_.push_back(static_cast<std::uint32_t>(placed_[i].symbol >> kTagBits));
            symbol_tag_.push_back(static_cast<std::uint16_t>(placed_[i].symbol));
        }
        places_[placed_[i].token] = static_cast<std::uint32_t>(symbol_lemma_.size() - 1);
    }
}

// Symbols ascend by their lemmas, so that equal lemmas lie together.
void BagBuilder::number_lemmas() {
    lemmas_.clear();
    lemma_ranks_.clear();
    for (std::uint32_t lemma : symbol_lemma_) {
        if (lemmas_.empty() || lemmas_.back() != lemma) lemmas_.push_back(lemma);
        lemma_ranks_.push_back(static_cast<std::uint32_t>(lemmas_.size() - 1));
    }
}

// Codes hold the numbers of tokens, counted from 1, and below them a bit for each that is a function word. Beyond the end
// of the text there are zeros, and so there are from a token with the number 0 on: no n-gram goes over it.
template <class NumberOf>
void BagBuilder::sort_codes(int max_order, int bits, NumberOf number_of) {
    check_room(discount_, max_order, text_.size);
    code_order_ = max_order;
    code_bits_ = bits;
    codes_.resize(text_.size);
    std::uint64_t numbers = 0, flags = 0;
    for (std::size_t i = text_.size; i-- > 0;) {
        const std::uint64_t number = number_of(i);
        numbers = number == 0 ? 0 : numbers >> bits | number << (bits * (max_order - 1));
        flags = flags >> 1 | std::uint64_t{text_.function[i] != 0} << (max_order - 1);
        codes_[i] = numbers << max_order | flags;
    }
    std::sort(codes_.begin(), codes_.end());
}

// Calls `visit` with the numbers and the weight of every n-gram, in ascending order of its numbers.
template <class Visit>
void BagBuilder::visit_ngrams(int n, Visit visit) const {
    const int unused = code_order_ - n, shift = code_order_ + code_bits_ * unused;
    const std::uint64_t last = low_bits(code_bits_), flags = low_bits(code_order_);
    for (std::uint64_t code : codes_) {
        const std::uint64_t numbers = code >> shift;
        if ((numbers & last) != 0) visit(numbers, weight_[n][(code & flags) >> unused]);
    }
}

template <class Key, class KeyOf>
KeyBags<Key> BagBuilder::key_bags(int max_order, KeyOf key_of) {
    KeyBags<Key> bags(memory_);
    for (int n = 1; n <= max_order; ++n) {
        KeyBag<Key>& bag = bags.orders[n - 1];
        bag.keys.reserve(codes_.size());
        bag.weights.reserve(codes_.size());
        visit_ngrams(n, [&](std::uint64_t numbers, std::int64_t weight) { bag.append(key_of(numbers, n), weight); });
    }
    return bags;
}

WideKey BagBuilder::lemma_key_of(std::uint64_t numbers, int n) const {
    WideKey key;
    for (int k = n - 1; k >= 0; --k)
        key = appended(key, lemmas_[(numbers >> (code_bits_ * k) & low_bits(code_bits_)) - 1], kLemmaBits);
    return key;
}

LemmaBags BagBuilder::lemma_bags(int max_order) {
    if (max_order == 0) return LemmaBags(memory_);
    number_lemmas();
    sort_codes(max_order, bits_for(lemmas_.size() + 1), [&](std::size_t i) { return lemma_ranks_[places_[i]] + 1; });
    return key_bags<WideKey>(max_order, [&](std::uint64_t numbers, int n) { return lemma_key_of(numbers, n); });
}

TagBags BagBuilder::tag_bags(int max_order) {
    if (max_order == 0) return TagBags(memory_);
    sort_codes(max_order, kTagBits, [&](std::size_t i) { return text_.tag[i]; });  // 0: untagged
    return key_bags<std::uint64_t>(max_order, [](std::uint64_t numbers, int) { return numbers; });
}

LemmaBag BagBuilder::skip_bag(int gap) {
    check_room(discount_, 2, most_skip_bigrams(text_.size, gap));
    number_lemmas();
    code_bits_ = bits_for(lemmas_.size() + 1);
    codes_.clear();
    for_each_skip_bigram(text_.size, gap, [&](std::size_t i, std::size_t j) {
        const std::uint64_t first = lemma_ranks_[places_[i]] + 1, second = lemma_ranks_[places_[j]] + 1;
        const std::uint64_t flags = std::uint64_t{text_.function[i] != 0} << 1 | std::uint64_t{text_.function[j] != 0};
        codes_.push_back((first << code_bits_ | second) << 2 | flags);
    });
    std::sort(codes_.begin(), codes_.end());
    LemmaBag bag(memory_);
    bag.keys.reserve(codes_.size());
    bag.weights.reserve(codes_.size());
    for (std::uint64_t code : codes_) bag.append(lemma_key_of(code >> 2, 2), weight_[2][code & 3]);
    return bag;
}

SymbolBag BagBuilder::symbol_bag(int max_order) {
    SymbolBag bag(memory_);
    bag.lemma.assign(symbol_lemma_.begin(), symbol_lemma_.end());
    bag.tag.assign(symbol_tag_.begin(), symbol_tag_.end());
    if (max_order == 0) return bag;
    const int bits = bits_for(bag.lemma.size() + 1);
    sort_codes(max_order, bits, [&](std::size_t i) { return places_[i] + 1; });
    for (int n = 1; n <= max_order; ++n) {
        SymbolBag::Order& order = bag.orders[n - 1];
        order.rows.reserve(codes_.size() * static_cast<std::size_t>(n));
        order.weights.reserve(codes_.size());
        order.first.assign(bag.lemma.size() + 1, 0);
        std::uint64_t row_before = 0;
        visit_ngrams(n, [&](std::uint64_t row, std::int64_t weight) {
            order.total += weight;
            if (row == row_before) {
                order.weights.back() += weight;
                return;
            }
            row_before = row;
            for (int k = n - 1; k >= 0; --k)
                order.rows.push_back(static_cast<std::uint32_t>(row >> (bits * k) & low_bits(bits)) - 1);
            order.weights.push_back(weight);
            ++order.first[row >> (bits * (n - 1))];
        });
        std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
    }
    return bag;
}

}  // namespace tesla
