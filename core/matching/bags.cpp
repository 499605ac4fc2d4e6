#include "matching/bags.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checks.h"
#include "base/portable.h"

namespace tesla {

std::int64_t Discount::weight(int n, int k) const {
    std::int64_t w = 1;
    for (int i = 0; i < n; ++i) w *= i < k ? p : q;
    return w;
}

void check_room(const Discount& discount, int n, std::size_t ngrams) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (2 * n * discount.unit(n));
    if (ngrams > static_cast<std::uint64_t>(most))
        throw TextTooLong("a text is too long for this discount of function words: split it into segments");
}

namespace {

int function_words(const TokenView& text, std::size_t start, int n) {
    int k = 0;
    for (int i = 0; i < n; ++i) k += text.function[start + i] != 0;
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
    return discount.weight(2, (text.function[i] != 0) + (text.function[j] != 0));
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

NgramWeights::NgramWeights(const Discount& discount) {
    for (int length = 0; length <= kMaxOrder; ++length)
        for (std::uint64_t function = 0; function <= low_bits(kMaxOrder); ++function) {
            int count = 0;  // of the function words so far
            for (int n = 1; n <= kMaxOrder; ++n) {
                count += function >> (kMaxOrder - n) & 1;
                weights_[kind(length, function)][n - 1] = n <= length ? discount.weight(n, count) : 0;
            }
        }
}

namespace {

// How many tokens two keys have in common at their beginnings; those beyond the last one count, too.
int common_tokens(std::uint64_t a, std::uint64_t b) { return leading_zeros((a ^ b) | 1) / kTagBits; }
int common_tokens(const WideKey& a, const WideKey& b) {
    if (const std::uint64_t high = a.high ^ b.high) return leading_zeros(high) / kLemmaBits;
    return (64 + leading_zeros((a.low ^ b.low) | 1)) / kLemmaBits;
}

}  // namespace

// Walks through the n-grams of both texts in one sorted order. For every n there is a group of those that begin alike; where
// the next one has fewer tokens than n in common with the last one, the group of n ends and is counted. No branch depends on
// what the texts are like.
template <class Key>
Overlaps overlaps(const KeyBags<Key>& x, const KeyBags<Key>& y, const NgramWeights& weights) {
    Overlaps common{};
    std::int64_t of_x[kMaxOrder] = {}, of_y[kMaxOrder] = {};  // the groups
    Key last{};
    const auto take = [&](const Key& key, std::uint8_t kind, bool from_y) {
        const int kept = common_tokens(last, key);
        const std::int64_t* const weight = weights.of(kind);
        const std::int64_t is_y = -std::int64_t{from_y};  // all bits or none
        for (int n = 0; n < kMaxOrder; ++n) {
            const std::int64_t stays = -std::int64_t{n < kept};
            common[n] += std::min(of_x[n], of_y[n]) & ~stays;
            of_x[n] = (of_x[n] & stays) + (weight[n] & ~is_y);
            of_y[n] = (of_y[n] & stays) + (weight[n] & is_y);
        }
        last = key;
    };
    std::size_t i = 0, j = 0;
    while (i < x.keys.size() && j < y.keys.size()) {
        const bool from_y = y.keys[j] < x.keys[i];
        take(from_y ? y.keys[j] : x.keys[i], from_y ? y.kinds[j] : x.kinds[i], from_y);
        i += !from_y;
        j += from_y;
    }
    for (; i < x.keys.size(); ++i) take(x.keys[i], x.kinds[i], false);
    for (; j < y.keys.size(); ++j) take(y.keys[j], y.kinds[j], true);
    for (int n = 0; n < kMaxOrder; ++n) common[n] += std::min(of_x[n], of_y[n]);
    return common;
}
template Overlaps overlaps(const LemmaBags&, const LemmaBags&, const NgramWeights&);
template Overlaps overlaps(const TagBags&, const TagBags&, const NgramWeights&);

BagBuilder::BagBuilder(const Discount& discount, std::pmr::memory_resource* memory)
    : memory_(memory), discount_(discount), weights_(discount) {}

void BagBuilder::begin(const TokenView& text) {
    text_ = text;
    numbered_ = false;
}

void BagBuilder::number_symbols() {
    if (numbered_) return;
    places_.resize(text_.size);
    symbols_.reset(text_.size);
    for (std::size_t i = 0; i < text_.size; ++i) places_[i] = symbols_.number_of(appended(text_.lemma[i], text_.tag[i], kTagBits));
    symbol_lemma_.clear();
    symbol_tag_.clear();
    for (std::uint64_t symbol : symbols_.keys()) {
        symbol_lemma_.push_back(static_cast<std::uint32_t>(symbol >> kTagBits));
        symbol_tag_.push_back(static_cast<std::uint16_t>(symbol));
    }
    if (symbol_lemma_.size() >= kMostSymbols)
        throw TextTooLong("a text has more than a million different words: split it into segments");
    numbered_ = true;
}

void BagBuilder::number_lemmas() {
    number_symbols();
    order_.resize(symbol_lemma_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return symbol_lemma_[a] < symbol_lemma_[b]; });
    lemmas_.clear();
    lemma_ranks_.resize(symbol_lemma_.size());
    for (std::uint32_t symbol : order_) {
        if (lemmas_.empty() || lemmas_.back() != symbol_lemma_[symbol]) lemmas_.push_back(symbol_lemma_[symbol]);
        lemma_ranks_[symbol] = static_cast<std::uint32_t>(lemmas_.size() - 1);
    }
}

// Codes hold the numbers of tokens, counted from 1, and below them a bit for each that is a function word. Beyond the end
// of the text there are zeros, and so there are from a token with the number 0 on: no n-gram goes over it.
template <class NumberOf>
void BagBuilder::sort_codes(int max_order, int bits, std::uint64_t highest, NumberOf number_of) {
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
    sorter_.sort(codes_, max_order + bits * (max_order - 1), highest + 1);
}

// Of the tokens from where a code begins; those of no higher order than the code's.
std::uint8_t BagBuilder::kind_of(std::uint64_t code) const {
    int length = code_order_;
    for (std::uint64_t numbers = numbers_of(code); length > 0 && (numbers & low_bits(code_bits_)) == 0; numbers >>= code_bits_) --length;
    return NgramWeights::kind(length, function_of(code));
}

template <class Key, class KeyOf>
KeyBags<Key> BagBuilder::key_bags(KeyOf key_of) const {
    KeyBags<Key> bags(memory_);
    bags.keys.resize(codes_.size());
    bags.kinds.resize(codes_.size());
    for (std::size_t i = 0; i < codes_.size(); ++i) {
        bags.keys[i] = key_of(numbers_of(codes_[i]));
        const std::uint8_t kind = bags.kinds[i] = kind_of(codes_[i]);
        for (int n = 0; n < kMaxOrder; ++n) bags.totals[n] += weights_.of(kind)[n];
    }
    return bags;
}

LemmaBags BagBuilder::lemma_bags(int max_order) {
    if (max_order == 0) return LemmaBags(memory_);
    number_lemmas();
    sort_codes(max_order, bits_for(lemmas_.size() + 1), lemmas_.size(), [&](std::size_t i) { return lemma_ranks_[places_[i]] + 1; });
    return key_bags<WideKey>([&](std::uint64_t numbers) {
        constexpr int kPlaces = 128 / kLemmaBits;
        WideKey key;
        for (int k = code_order_ - 1; k >= code_order_ - kPlaces; --k) {
            const std::uint64_t rank = k < 0 ? 0 : numbers >> (code_bits_ * k) & low_bits(code_bits_);
            key = appended(key, rank == 0 ? 0 : std::uint64_t{lemmas_[rank - 1]} + 1, kLemmaBits);
        }
        return key;
    });
}

TagBags BagBuilder::tag_bags(int max_order) {
    if (max_order == 0) return TagBags(memory_);
    const std::uint64_t highest = text_.size == 0 ? 0 : *std::max_element(text_.tag, text_.tag + text_.size);
    sort_codes(max_order, kTagBits, highest, [&](std::size_t i) { return text_.tag[i]; });  // 0: untagged
    return key_bags<std::uint64_t>([&](std::uint64_t numbers) { return numbers << (64 - kTagBits * code_order_); });
}

LemmaBag BagBuilder::skip_bag(int gap) {
    check_room(discount_, 2, most_skip_bigrams(text_.size, gap));
    number_lemmas();
    const int bits = bits_for(lemmas_.size() + 1);
    codes_.clear();
    for_each_skip_bigram(text_.size, gap, [&](std::size_t i, std::size_t j) {
        const std::uint64_t first = lemma_ranks_[places_[i]], second = lemma_ranks_[places_[j]];
        const std::uint64_t flags = std::uint64_t{text_.function[i] != 0} << 1 | std::uint64_t{text_.function[j] != 0};
        codes_.push_back((first << bits | second) << 2 | flags);
    });
    std::sort(codes_.begin(), codes_.end());
    LemmaBag bag(memory_);
    bag.keys.reserve(codes_.size());
    bag.weights.reserve(codes_.size());
    for (std::uint64_t code : codes_) {
        const std::uint32_t first = lemmas_[code >> (bits + 2)], second = lemmas_[code >> 2 & low_bits(bits)];
        bag.append(appended(appended(WideKey{}, first, kLemmaBits), second, kLemmaBits),
                   weights_.of(NgramWeights::kind(2, (code & 3) << (kMaxOrder - 2)))[1]);
    }
    return bag;
}

SymbolBag BagBuilder::symbol_bag(int max_order) {
    if (max_order == 0) return SymbolBag(memory_);
    if (text_.size <= kMostSentenceTokens) return token_bag(max_order);
    check_word_count(text_.size);
    SymbolBag bag(memory_);
    number_symbols();
    bag.lemma.assign(symbol_lemma_.begin(), symbol_lemma_.end());
    bag.tag.assign(symbol_tag_.begin(), symbol_tag_.end());
    const int bits = bits_for(bag.lemma.size() + 1);
    sort_codes(max_order, bits, bag.lemma.size(), [&](std::size_t i) { return places_[i] + 1; });
    static_assert(kMaxOrder == 3);
    add_rows<1>(bag);
    if (max_order > 1) add_rows<2>(bag);
    if (max_order > 2) add_rows<3>(bag);
    return bag;
}

SymbolBag BagBuilder::token_bag(int max_order) const {
    check_word_count(text_.size);
    check_room(discount_, max_order, text_.size);
    SymbolBag bag(memory_);
    bag.is_sentence = text_.size <= kMostSentenceTokens;
    bag.lemma.assign(text_.lemma, text_.lemma + text_.size);
    bag.tag.assign(text_.tag, text_.tag + text_.size);
    for (int n = 1; n <= max_order; ++n) add_token_rows(bag, n);
    return bag;
}

void BagBuilder::add_token_rows(SymbolBag& bag, int n) const {
    const auto length = static_cast<std::size_t>(n), count = text_.size - std::min(text_.size, length - 1);
    SymbolBag::Order& order = bag.orders[n - 1];
    order.rows.resize(count * length);
    order.weights.resize(count);
    order.first.resize(text_.size + 1);
    std::uint64_t function = 0;  // a bit for each token of the n-gram
    for (std::size_t i = 0; i < text_.size; ++i) {
        function = (function << 1 | std::uint64_t{text_.function[i] != 0}) & low_bits(n);
        order.first[i + 1] = static_cast<std::uint32_t>(std::min(i + 1, count));
        if (i + 1 < length) continue;
        const std::size_t start = i + 1 - length;
        for (std::size_t k = 0; k < length; ++k) order.rows[start * length + k] = static_cast<std::uint32_t>(start + k);
        order.weights[start] = weights_.of(NgramWeights::kind(n, function << (kMaxOrder - n)))[n - 1];
        order.total += order.weights[start];
    }
}

// The distinct n-grams of the codes.
template <int n>
void BagBuilder::add_rows(SymbolBag& bag) const {
    const int bits = code_bits_, unused = code_order_ - n, shift = code_order_ + bits * unused;
    const std::uint64_t last = low_bits(bits);
    SymbolBag::Order& order = bag.orders[n - 1];
    order.rows.resize(codes_.size() * n);
    order.weights.resize(codes_.size());
    order.first.assign(bag.lemma.size() + 1, 0);
    std::uint32_t *const rows = order.rows.data(), *const first = order.first.data();
    std::int64_t* const weights = order.weights.data();
    std::size_t count = 0;
    std::uint64_t before = 0;  // not the numbers of an n-gram
    for (std::uint64_t code : codes_) {
        const std::uint64_t numbers = code >> shift;
        if ((numbers & last) == 0) continue;  // the text ends
        const bool is_new = numbers != before;
        before = numbers;
        count += is_new;
        std::uint32_t* const row = rows + (count - 1) * n;
        for (int k = 0; k < n; ++k) row[k] = static_cast<std::uint32_t>(numbers >> (bits * (n - 1 - k)) & last) - 1;
        const std::int64_t weight = weights_.of(NgramWeights::kind(n, function_of(code)))[n - 1];
        weights[count - 1] += weight;
        order.total += weight;
        first[row[0] + 1] += is_new;
    }
    order.rows.resize(count * n);
    order.weights.resize(count);
    std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
}

}  // namespace tesla
