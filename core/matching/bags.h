// Weighted bags of n-grams (specification §2), as integers.
//
// The discount for a function word is a fraction p/q. The weight of an n-gram with k function words, p^k q^(n-k), is
// then a whole number: the true weight times q^n. Nothing is ever rounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/flat_table.h"
#include "base/small_sort.h"

namespace tesla {

// So that weights of trigrams, summed over a million words, stay whole 64-bit numbers; see `check_room`.
inline constexpr std::int64_t kLargestDenominator = 10'000;

struct Discount {
    std::int64_t p = 1, q = 10;
    // Weight of an n-gram with k function words, in units of unit(n).
    std::int64_t weight(int n, int k) const;
    std::int64_t unit(int n) const { return weight(n, 0); }
    bool operator==(const Discount& o) const { return p == o.p && q == o.q; }
};

// Throws TextTooLong where the weights of `ngrams` n-grams, each times the largest gain 2n, might not fit 64 bits.
void check_room(const Discount& discount, int n, std::size_t ngrams);

// The tokens of one text, as they lie in the arrays of the analysed batch.
struct TokenView {
    const std::uint32_t* lemma;
    const std::uint16_t* tag;
    const std::uint8_t* function;
    std::size_t size;
};

// The identity of an n-gram in one number that sorts fast, if it fits (tags), or in two (lemmas).
struct WideKey {
    std::uint64_t high = 0, low = 0;
    bool operator==(const WideKey& o) const { return high == o.high && low == o.low; }
    bool operator<(const WideKey& o) const { return high != o.high ? high < o.high : low < o.low; }
};
inline std::uint64_t appended(std::uint64_t key, std::uint64_t symbol, int bits) { return (key << bits) | symbol; }
inline WideKey appended(WideKey key, std::uint64_t symbol, int bits) {
    return {(key.high << bits) | (key.low >> (64 - bits)), (key.low << bits) | symbol};
}

// A bag whose similarity is identity: sorted keys with their weights; the overlap of two bags has a closed form.
template <class Key>
struct KeyBag {
    explicit KeyBag(std::pmr::memory_resource* memory) : keys(memory), weights(memory) {}

    std::pmr::vector<Key> keys;
    std::pmr::vector<std::int64_t> weights;
    std::int64_t total = 0;

    // Keys come in ascending order; equal ones are added up.
    void append(const Key& key, std::int64_t weight) {
        if (!keys.empty() && keys.back() == key) {
            weights.back() += weight;
        } else {
            keys.push_back(key);
            weights.push_back(weight);
        }
        total += weight;
    }
    std::int64_t overlap(const KeyBag& other) const;
};
using LemmaBag = KeyBag<WideKey>;
using TagBag = KeyBag<std::uint64_t>;

inline constexpr int kMaxOrder = 3;  // n-grams of up to three tokens (specification §5)
inline constexpr int kLemmaBits = 32, kTagBits = 16;

// The weights of all n-grams, n = 1 .. kMaxOrder, that begin at a token, by what is known of the tokens from there on.
class NgramWeights {
   public:
    explicit NgramWeights(const Discount& discount);

    // Of `length` tokens, of which each has a bit in `function`, the first one the highest.
    static std::uint8_t kind(int length, std::uint64_t function) { return static_cast<std::uint8_t>(length << kMaxOrder | function); }
    // By n - 1; 0 where the tokens are fewer than n.
    const std::int64_t* of(std::uint8_t kind) const { return weights_[kind]; }

   private:
    std::int64_t weights_[(kMaxOrder + 1) << kMaxOrder][kMaxOrder];
};

// The bags of a text for n = 1, 2, ..., whose similarity is identity. Only the n-grams of the highest order are here, one for
// every token; shorter ones are their beginnings, hence sorted as well. So one walk compares two texts for all orders.
template <class Key>
struct KeyBags {
    explicit KeyBags(std::pmr::memory_resource* memory) : keys(memory), kinds(memory) {}

    std::pmr::vector<Key> keys;             // ascending; the first token in the highest bits, 0 beyond the last one
    std::pmr::vector<std::uint8_t> kinds;   // NgramWeights::kind of every key
    std::int64_t totals[kMaxOrder] = {};    // by n - 1
};
using LemmaBags = KeyBags<WideKey>;
using TagBags = KeyBags<std::uint64_t>;

// By n - 1: the weight of the n-grams that both have, each as far as the text goes that has it less often.
using Overlaps = std::array<std::int64_t, kMaxOrder>;
template <class Key>
Overlaps overlaps(const KeyBags<Key>& x, const KeyBags<Key>& y, const NgramWeights& weights);

// Two ways to compare n-grams by identity: what must be equal, and which n-grams take part. An n-gram with an untagged
// word (tag 0) is like no other by its tags, not even like itself: it is no n-gram of tags at all.
struct ByLemma {
    using Key = WideKey;
    static Key key(const TokenView& text, std::size_t start, int n);
    static bool exists(const TokenView&, std::size_t, int) { return true; }
};
struct ByTag {
    using Key = std::uint64_t;
    static Key key(const TokenView& text, std::size_t start, int n);
    static bool exists(const TokenView& text, std::size_t start, int n) {
        bool tagged = true;
        for (int i = 0; i < n; ++i) tagged &= text.tag[start + i] != 0;
        return tagged;
    }
};
// Weight of the n-gram at `start`, in units of discount.unit(n).
std::int64_t ngram_weight(const TokenView& text, const Discount& discount, std::size_t start, int n);

// How many skip bigrams a text has, or a few more.
inline std::size_t most_skip_bigrams(std::size_t tokens, int gap) { return tokens * (static_cast<std::size_t>(gap) + 1); }
// Skip bigrams (specification §10): ordered pairs of tokens with at most `gap` tokens between them, in text order.
template <class Visit>
void for_each_skip_bigram(std::size_t tokens, int gap, Visit visit) {
    for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = i + 1; j < tokens && j - i - 1 <= static_cast<std::size_t>(gap); ++j) visit(i, j);
}
inline constexpr int kMaxGap = 1000;
WideKey skip_key(const TokenView& text, std::size_t i, std::size_t j);
// In units of discount.unit(2).
std::int64_t skip_weight(const TokenView& text, const Discount& discount, std::size_t i, std::size_t j);

inline constexpr std::size_t kMostSentenceTokens = 64;

// A bag of n-grams over (lemma, tag) symbols, for similarities that look inside. Rows name symbols by their place
// among the symbols of the text, and are sorted, so that rows with the same first symbol lie together.
//
// In a sentence every token is a symbol of its own, and rows are in order of the text: to put equal ones together would take
// longer, and changes no optimum. In longer texts symbols and rows are distinct.
struct SymbolBag {
    struct Order {
        explicit Order(std::pmr::memory_resource* memory) : rows(memory), weights(memory), first(memory) {}

        std::pmr::vector<std::uint32_t> rows;   // n places a row
        std::pmr::vector<std::int64_t> weights;
        std::pmr::vector<std::uint32_t> first;  // rows beginning with symbol s: first[s] .. first[s + 1]
        std::int64_t total = 0;
    };
    explicit SymbolBag(std::pmr::memory_resource* memory)
        : lemma(memory), tag(memory), orders{Order(memory), Order(memory), Order(memory)} {}

    bool is_sentence = false;
    std::pmr::vector<std::uint32_t> lemma;  // the symbols
    std::pmr::vector<std::uint16_t> tag;
    Order orders[kMaxOrder];                // orders[n - 1]
};
// In one text: three of their numbers, counted from 1, and a bit for each must fit 64 bits.
inline constexpr std::size_t kMostSymbols = (std::size_t{1} << 20) - 1;

// Builds the bags of one text after the other; one object serves one thread and keeps its working memory. The bags live
// in `memory`: bags of a batch come and go together, so an arena serves them best.
//
// One sort serves all orders: a code is the n-gram of the highest order that begins at a token, and shorter n-grams are
// beginnings of codes, hence sorted as well.
class BagBuilder {
   public:
    explicit BagBuilder(const Discount& discount,
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource());

    // The text that the bags below are made of.
    void begin(const TokenView& text);

    SymbolBag symbol_bag(int max_order);
    // As if the text were a sentence. That is what `explain` needs: flows that do not depend on how words were numbered.
    SymbolBag token_bag(int max_order) const;
    LemmaBags lemma_bags(int max_order);
    TagBags tag_bags(int max_order);
    LemmaBag skip_bag(int gap);

   private:
    void number_symbols();
    void number_lemmas();
    template <class NumberOf>
    void sort_codes(int max_order, int bits, std::uint64_t highest, NumberOf number_of);
    std::uint64_t numbers_of(std::uint64_t code) const { return code >> code_order_; }
    std::uint64_t function_of(std::uint64_t code) const { return code << (kMaxOrder - code_order_) & ((1U << kMaxOrder) - 1); }
    std::uint8_t kind_of(std::uint64_t code) const;
    template <class Key, class KeyOf>
    KeyBags<Key> key_bags(KeyOf key_of) const;
    template <int n>
    void add_rows(SymbolBag& bag) const;
    void add_token_rows(SymbolBag& bag, int n) const;

    std::pmr::memory_resource* memory_;
    Discount discount_;
    NgramWeights weights_;
    TokenView text_{};
    bool numbered_ = false;
    std::vector<std::uint32_t> order_;
    BucketSorter sorter_;
    FirstMet symbols_;
    std::vector<std::uint32_t> places_;          // of every token's symbol among the distinct symbols of the text
    std::vector<std::uint32_t> symbol_lemma_;    // the distinct symbols
    std::vector<std::uint16_t> symbol_tag_;
    std::vector<std::uint32_t> lemma_ranks_;     // of every symbol's lemma among the distinct lemmas of the text
    std::vector<std::uint32_t> lemmas_;          // the distinct lemmas
    std::vector<std::uint64_t> codes_;
    int code_order_ = 0, code_bits_ = 0;         // tokens of a code, bits of each
};

}  // namespace tesla
