// Weighted bags of n-grams (SPEC §2), as integers.
//
// The discount for a function word is a fraction p/q. The weight of an n-gram with k function words, p^k q^(n-k), is
// then a whole number: the true weight times q^n. Nothing is ever rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <stdexcept>
#include <vector>

namespace tesla {

// A text with more words than there is room for.
struct TextTooLong : std::length_error {
    using std::length_error::length_error;
};

struct Discount {
    std::int64_t p = 1, q = 10;
    // Weight of an n-gram with k function words, in units of unit(n).
    std::int64_t weight(int n, int k) const;
    std::int64_t unit(int n) const { return weight(n, 0); }
};

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

inline constexpr int kMaxOrder = 3;  // n-grams of up to three tokens (SPEC §5)
inline constexpr int kLemmaBits = 32, kTagBits = 16;

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

// Skip bigrams (SPEC §10): ordered pairs of tokens with at most `gap` tokens between them, in order of the text.
template <class Visit>
void for_each_skip_bigram(std::size_t tokens, int gap, Visit visit) {
    for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = i + 1; j < tokens && j - i - 1 <= static_cast<std::size_t>(gap); ++j) visit(i, j);
}
inline constexpr int kMaxGap = 1000;
WideKey skip_key(const TokenView& text, std::size_t i, std::size_t j);
// In units of discount.unit(2).
std::int64_t skip_weight(const TokenView& text, const Discount& discount, std::size_t i, std::size_t j);

// A bag of n-grams over (lemma, tag) symbols, for similarities that look inside. Rows name symbols by their place
// among the distinct symbols of the text, and are sorted, so that rows with the same first symbol lie together.
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

    std::pmr::vector<std::uint32_t> lemma;  // the distinct symbols, ascending
    std::pmr::vector<std::uint16_t> tag;
    Order orders[kMaxOrder];                // orders[n - 1]
};
inline constexpr std::size_t kMostSymbols = std::size_t{1} << 20;  // in one text: a row must fit 64 bits

// Builds bags; one object serves one thread and keeps its working memory between texts. The bags live in `memory`:
// bags of a batch come and go together, so an arena serves them best.
class BagBuilder {
   public:
    explicit BagBuilder(const Discount& discount,
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource());

    LemmaBag lemma_bag(const TokenView& text, int n);
    TagBag tag_bag(const TokenView& text, int n);
    LemmaBag skip_bag(const TokenView& text, int gap);
    // With `merge` equal n-grams are one row; without it every occurrence is a row of its own, in order of the text,
    // and so is every token a symbol of its own (what `explain` needs: flows that do not depend on how words were
    // numbered).
    SymbolBag symbol_bag(const TokenView& text, int max_order, bool merge = true);

   private:
    template <class By>
    KeyBag<typename By::Key> key_bag(const TokenView& text, int n, std::vector<typename By::Key>& codes);
    template <class Key>
    KeyBag<Key> merged(std::vector<Key>& codes, int n);
    void number_symbols(const TokenView& text, bool merge, SymbolBag& bag);

    std::pmr::memory_resource* memory_;
    std::int64_t weight_[kMaxOrder + 1][kMaxOrder + 1];  // of an n-gram with k function words
    std::vector<std::uint64_t> codes_, symbols_;
    std::vector<WideKey> wide_codes_;
    std::vector<std::uint32_t> places_;
};

}  // namespace tesla
