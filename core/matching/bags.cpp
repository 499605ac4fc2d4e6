#include "matching/bags.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tesla {

std::int64_t Discount::weight(int n, int k) const {
    std::int64_t w = 1;
    for (int i = 0; i < n; ++i) w *= i < k ? p : q;
    return w;
}

void check_room(const Discount& discount, int n, std::size_t ngrams) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (2 * n * discount.unit(n));
    if (ngrams > static_cast<std::size_t>(most))
        throw TextTooLong("a text is too long for this discount of function words: split it into segments");
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
    if (symbol_lemma_.size() >= kMostSymbols)
        throw TextTooLong("a text has more than a million different words: split it into segments");
}

void BagBuilder::number_symbols() {
    symbols_.reset(text_.size);
    for (std::size_t i = 0; i < text_.size; ++i) places_[i] = symbols_.number_of(appended(text_.lemma[i], text_.tag[i], kTagBits));
    symbol_lemma_.clear();
    symbol_tag_.clear();
    for (std::uint64_t symbol : symbols_.keys()) {
        symbol_lemma_.push_back(static_cast<std::uint32_t>(symbol >> kTagBits));
        symbol_tag_.push_back(static_cast<std::uint16_t>(symbol));
    }
}

void BagBuilder::number_lemmas() {
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

// Calls `visit` with the numbers and the weight of every distinct n-gram, in ascending order of its numbers.
template <class Visit>
void BagBuilder::visit_ngrams(int n, Visit visit) const {
    const int unused = code_order_ - n, shift = code_order_ + code_bits_ * unused;
    const std::uint64_t last = low_bits(code_bits_), flags = low_bits(code_order_);
    std::uint64_t before = 0;  // not the numbers of an n-gram
    std::int64_t weight = 0;
    for (std::uint64_t code : codes_) {
        const std::uint64_t numbers = code >> shift;
        if ((numbers & last) == 0) continue;
        if (numbers != before) {
            if (before != 0) visit(before, weight);
            before = numbers;
            weight = 0;
        }
        weight += weight_[n][(code & flags) >> unused];
    }
    if (before != 0) visit(before, weight);
}

std::size_t BagBuilder::count_ngrams(int n) const {
    const int shift = code_order_ + code_bits_ * (code_order_ - n);
    const std::uint64_t last = low_bits(code_bits_);
    std::size_t count = 0;
    std::uint64_t before = 0;
    for (std::uint64_t code : codes_) {
        const std::uint64_t numbers = code >> shift;
        count += ((numbers & last) != 0) & (numbers != before);
        before = numbers;
    }
    return count;
}

template <class Key, class KeyOf>
KeyBags<Key> BagBuilder::key_bags(int max_order, KeyOf key_of) {
    KeyBags<Key> bags(memory_);
    for (int n = 1; n <= max_order; ++n) {
        KeyBag<Key>& bag = bags.orders[n - 1];
        const std::size_t count = count_ngrams(n);
        bag.keys.reserve(count);
        bag.weights.reserve(count);
        visit_ngrams(n, [&](std::uint64_t numbers, std::int64_t weight) {
            bag.keys.push_back(key_of(numbers, n));
            bag.weights.push_back(weight);
            bag.total += weight;
        });
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
    sort_codes(max_order, bits_for(lemmas_.size() + 1), lemmas_.size(), [&](std::size_t i) { return lemma_ranks_[places_[i]] + 1; });
    return key_bags<WideKey>(max_order, [&](std::uint64_t numbers, int n) { return lemma_key_of(numbers, n); });
}

TagBags BagBuilder::tag_bags(int max_order) {
    if (max_order == 0) return TagBags(memory_);
    const std::uint64_t highest = text_.size == 0 ? 0 : *std::max_element(text_.tag, text_.tag + text_.size);
    sort_codes(max_order, kTagBits, highest, [&](std::size_t i) { return text_.tag[i]; });  // 0: untagged
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
    if (text_.size > kMostMatchedWords) throw TextTooLong("a text is too long: it has more than 50,000 words: split it into segments");
    const int bits = bits_for(bag.lemma.size() + 1);
    sort_codes(max_order, bits, bag.lemma.size(), [&](std::size_t i) { return places_[i] + 1; });
    for (int n = 1; n <= max_order; ++n) {
        SymbolBag::Order& order = bag.orders[n - 1];
        const std::size_t count = count_ngrams(n);
        order.rows.resize(count * static_cast<std::size_t>(n));
        order.weights.resize(count);
        order.first.assign(bag.lemma.size() + 1, 0);
        std::uint32_t* place = order.rows.data();
        std::int64_t* weight_of_row = order.weights.data();
        visit_ngrams(n, [&](std::uint64_t row, std::int64_t weight) {
            for (int k = n - 1; k >= 0; --k) *place++ = static_cast<std::uint32_t>(row >> (bits * k) & low_bits(bits)) - 1;
            *weight_of_row++ = weight;
            order.total += weight;
            ++order.first[row >> (bits * (n - 1))];
        });
        std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
    }
    return bag;
}

}  // namespace tesla
