#include "matching/vectors.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checks.h"
#include "base/portable.h"
#include "matching/bags.h"

namespace tesla {
namespace {

constexpr int kSteps = kVectorSteps;
constexpr std::size_t kMostWordPairs = std::size_t{1} << 22;  // pairs of words; in longer texts only form and lemma count

// specification §8b: (s - t) / (1 - t) above the threshold t, rounded down to 16ths; s and t in 160ths.
constexpr std::int32_t rescaled(int similarity, int threshold) {
    return similarity <= threshold ? 0 : kGainUnit * (similarity - threshold) / (kSteps - threshold);
}
constexpr int kNoThreshold = 0, kFlowThreshold = 48, kHighThreshold = 80;  // 0, .3, .5
constexpr int kFirstFlowStep = 55;  // the least similarity that is worth something to a flow
static_assert(rescaled(kFirstFlowStep, kFlowThreshold) == 1 && rescaled(kFirstFlowStep - 1, kFlowThreshold) == 0);

// The rescaled similarities of a threshold, by similarity.
struct Gains {
    constexpr explicit Gains(int threshold) {
        for (int similarity = 0; similarity < 256; ++similarity)
            of[similarity] = static_cast<std::uint8_t>(rescaled(similarity, threshold));
    }
    constexpr std::int32_t operator()(std::int32_t similarity) const { return of[similarity & 255]; }

    std::uint8_t of[256] = {};
};
constexpr Gains gain_at_0(kNoThreshold), gain_at_3(kFlowThreshold), gain_at_5(kHighThreshold);

// The same as gain_at_3, for loops that compilers make vectors of.
constexpr std::uint8_t flow_gain(std::uint8_t similarity) {
    const int beyond = similarity > kFlowThreshold ? similarity - kFlowThreshold : 0;
    return static_cast<std::uint8_t>(static_cast<std::uint16_t>(beyond * 147) / 1024);  // a seventh, in 16 bits
}
constexpr bool flow_gains_are_right() {
    for (int similarity = 0; similarity < 256; ++similarity)
        if (flow_gain(static_cast<std::uint8_t>(similarity)) != gain_at_3(similarity)) return false;
    return true;
}
static_assert(flow_gains_are_right());

// Calls `use` with the number of every cell that is worth something to a flow; eight cells are looked at at once.
template <class Use>
void for_each_link(const std::uint8_t* cells, std::size_t size, Use&& use) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u, kTop = 0x80 * kOnes;
    static_assert(kSteps + 0x80 - kFirstFlowStep < 0x100, "a cell must not carry into the next one");
    for (std::size_t start = 0; start < size; start += 8) {
        const std::size_t count = std::min<std::size_t>(size - start, 8);
        const std::uint64_t eight = count == 8 ? eight_bytes(cells + start) : few_bytes(cells + start, count);
        std::uint64_t links = (eight + (0x80 - kFirstFlowStep) * kOnes) & kTop;
        for (; links != 0; links &= links - 1) use(start + static_cast<std::size_t>(lowest_bit(links)) / 8);
    }
}

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return static_cast<std::uint64_t>(a) << 32 | b; }

}  // namespace

VectorText::VectorText(const VectorTokens& tokens, VectorScratch& scratch, std::pmr::memory_resource* memory)
    : is_sentence(tokens.size() <= SmallTransport::kMost), word(memory), lemma(memory), vector(memory), square(memory),
      inverse(memory), weight(memory), bigrams_of(memory), second(memory), bigram_weight(memory) {
    if (is_sentence) {
        add_tokens(tokens);
    } else {
        add_words(tokens, scratch);
        add_bigrams(tokens, scratch);
    }
}

void VectorText::resize(std::size_t words) {
    if (words > kMostVectorWords) throw TextTooLong("a text has more than 65,536 different words: split it into segments");
    for (auto* column : {&word, &lemma}) column->resize(whole_blocks(words), kNoWord);
    vector.resize(words);
    square.resize(whole_blocks(words));
    inverse.resize(whole_blocks(words));
    weight.resize(words);
}

void VectorText::set_word(std::size_t a, const VectorToken& token) {
    const auto& [known, of_lemma] = token;
    word[a] = known.folded;
    lemma[a] = of_lemma;
    vector[a] = known.vector.values;
    prefetch_memory(vector[a]);
    square[a] = known.vector.square;
    inverse[a] = known.vector.inverse;
}

void VectorText::add_tokens(const VectorTokens& tokens) {
    resize(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        set_word(i, tokens[i]);
        weight[i] = tokens[i].word.weight;
        total += weight[i];
    }
    const std::size_t bigrams = tokens.size() - !tokens.empty();
    bigrams_of.resize(tokens.size() + 1);
    second.resize(bigrams);
    bigram_weight.resize(bigrams);
    std::iota(bigrams_of.begin(), bigrams_of.end(), 0U);
    bigrams_of.back() = static_cast<std::uint32_t>(bigrams);  // the last token begins none
    for (std::size_t i = 0; i < bigrams; ++i) {
        second[i] = static_cast<std::uint32_t>(i + 1);
        bigram_weight[i] = weight[i] + weight[i + 1];
        bigram_total += bigram_weight[i];
    }
}

void VectorText::add_words(const VectorTokens& tokens, VectorScratch& scratch) {
    scratch.numbers.reset(tokens.size());
    scratch.places.clear();
    std::vector<std::uint32_t>& first = scratch.next;  // the token at which each word is first met
    first.clear();
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const std::uint32_t place = scratch.numbers.number_of(pair_key(tokens[i].word.folded, tokens[i].lemma));
        if (place == first.size()) first.push_back(i);
        scratch.places.push_back(place);
    }
    resize(first.size());
    for (std::size_t a = 0; a < first.size(); ++a) set_word(a, tokens[first[a]]);
    scratch.counts.assign(first.size(), 0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        ++scratch.counts[scratch.places[i]];
        weight[scratch.places[i]] += tokens[i].word.weight;
        total += tokens[i].word.weight;
    }
}

// The weight of a bigram is the sum of its words' weights. Where one of them comes once, so does the bigram: few are looked up.
void VectorText::add_bigrams(const VectorTokens& tokens, VectorScratch& scratch) {
    bigrams_of.assign(size() + 1, 0);
    scratch.bigrams.clear();
    scratch.repeated.clear();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const std::uint32_t a = scratch.places[i], b = scratch.places[i + 1];
        const std::int64_t both = std::int64_t{tokens[i].word.weight} + tokens[i + 1].word.weight;
        bigram_total += both;
        if (scratch.counts[a] > 1 && scratch.counts[b] > 1) {
            if (scratch.repeated.empty()) scratch.numbers.reset(tokens.size());
            const std::uint32_t number = scratch.numbers.number_of(pair_key(a, b));
            if (number < scratch.repeated.size()) {
                scratch.bigrams[scratch.repeated[number]].weight += both;
                continue;
            }
            scratch.repeated.push_back(static_cast<std::uint32_t>(scratch.bigrams.size()));
        }
        scratch.bigrams.push_back({a, b, both});
        ++bigrams_of[a + 1];
    }
    for (std::size_t a = 0; a < size(); ++a) bigrams_of[a + 1] += bigrams_of[a];
    second.resize(scratch.bigrams.size());
    bigram_weight.resize(scratch.bigrams.size());
    scratch.next.assign(bigrams_of.begin(), bigrams_of.end());
    for (const VectorScratch::Bigram& bigram : scratch.bigrams) {
        const std::uint32_t at = scratch.next[bigram.first]++;
        second[at] = bigram.second;
        bigram_weight[at] = bigram.weight;
    }
}

VectorMatcher::VectorMatcher(std::size_t dimensions, bool best)
    : dimensions_(dimensions), width_(rounded_up(dimensions, 8)), best_(best), kernels_(chosen_kernels()) {}

void VectorMatcher::compare_words(const VectorText& x, const VectorText& y, bool links) {
    const std::size_t nx = x.size(), ny = y.size();
    const VectorWords words_x = x.words(), words_y = y.words();
    dense_ = nx * ny <= kMostWordPairs;
    stride_ = whole_blocks(ny);
    cells_.resize((dense_ ? whole_blocks(nx) : kRowsPerStep) * stride_);
    ArrangedVectors arranged{nullptr, nullptr, 0};
    if (dense_) {
        rows_.resize(whole_blocks(nx) * width_);
        blocks_.resize(stride_ * width_);
        arranged = {rows_.data(), blocks_.data(), width_};
        kernels_.arrange_vectors(words_x, words_y, dimensions_, arranged);
    }
    if (best_) {
        best_x_.assign(nx, 0);
        best_y_.assign(stride_, 0);
    }
    link_first_.assign(1, 0);
    links_.clear();
    for (std::size_t from = 0; from < nx; from += kRowsPerStep) {
        const std::size_t to = std::min(nx, from + kRowsPerStep);
        std::uint8_t* const cells = cells_.data() + (dense_ ? from * stride_ : 0);
        kernels_.compare_words(words_x, from, to, words_y, dimensions_, arranged, cells);
        for (std::size_t a = from; best_ && a < to; ++a) find_best(cells + (a - from) * stride_, best_x_[a]);
        for (std::size_t a = from; links && a < to; ++a) find_links(cells + (a - from) * stride_, ny);
        interrupt_.step(kRowsPerStep * (dense_ ? 8 * ny : ny));
    }
}

// Of a row of similarities: the best of the word, and for every word of y whether it is a better one.
void VectorMatcher::find_best(const std::uint8_t* cells, std::uint8_t& best) {
    std::uint8_t highest = 0;
    for (std::size_t b = 0; b < stride_; ++b) {
        highest = std::max(highest, cells[b]);
        best_y_[b] = std::max(best_y_[b], cells[b]);
    }
    best = highest;
}

void VectorMatcher::find_links(const std::uint8_t* cells, std::size_t size) {
    for_each_link(cells, size, [&](std::size_t b) { links_.push_back({static_cast<std::uint32_t>(b), cells[b]}); });
    link_first_.push_back(static_cast<std::uint32_t>(links_.size()));
}

std::uint8_t VectorMatcher::linked(std::uint32_t a, std::uint32_t b) const {
    if (dense_) return cells_[a * stride_ + b];
    const auto *first = links_.data() + link_first_[a], *last = links_.data() + link_first_[a + 1];
    const auto* link = std::lower_bound(first, last, b, [](const Link& before, std::uint32_t to) { return before.to < to; });
    return link != last && link->to == b ? link->similarity : 0;
}

std::int64_t VectorMatcher::flow_of_words(const VectorText& x, const VectorText& y) {
    transport_.reset(x.weight, y.weight);
    for (std::uint32_t a = 0; a < x.size(); ++a)
        for (std::uint32_t k = link_first_[a]; k < link_first_[a + 1]; ++k)
            transport_.add_arc(a, links_[k].to, gain_at_3(links_[k].similarity));
    return transport_.solve();
}

std::int64_t VectorMatcher::flow_of_bigrams(const VectorText& x, const VectorText& y) {
    transport_.reset(x.bigram_weight, y.bigram_weight);
    for (std::uint32_t a = 0; a < x.size(); ++a) {
        for (std::uint32_t i = x.bigrams_of[a]; i < x.bigrams_of[a + 1]; ++i) {
            interrupt_.step(8 * (link_first_[a + 1] - link_first_[a]));
            for (std::uint32_t k = link_first_[a]; k < link_first_[a + 1]; ++k) {
                const auto [b, similarity] = links_[k];
                for (std::uint32_t j = y.bigrams_of[b]; j < y.bigrams_of[b + 1]; ++j) {
                    const std::int32_t gain = gain_at_3(linked(x.second[i], y.second[j]));
                    if (gain > 0) transport_.add_arc(i, j, gain_at_3(similarity) + gain);
                }
            }
        }
    }
    return transport_.solve();
}

std::int64_t VectorMatcher::small_flow_of_words(const VectorText& x, const VectorText& y) {
    const std::size_t size = x.size() * stride_;
    gains_.resize(size + 1);  // bigrams look behind the last word
    const std::uint8_t* const cells = cells_.data();
    std::uint8_t* const __restrict gains = gains_.data();
    for (std::size_t k = 0; k < size; ++k) gains[k] = flow_gain(cells[k]);
    return small_transport_.solve(gains_.data(), x.weight.data(), x.size(), y.weight.data(), y.size());
}

// After the flow of the words.
std::int64_t VectorMatcher::small_flow_of_bigrams(const VectorText& x, const VectorText& y) {
    const std::size_t nx = x.bigram_weight.size(), ny = y.bigram_weight.size(), width = SmallTransport::row_width(ny);
    bigram_gains_.resize(nx * width);
    join_gains(gains_.data(), stride_, gains_.data(), nx, ny, bigram_gains_.data());
    return small_transport_.solve(bigram_gains_.data(), x.bigram_weight.data(), nx, y.bigram_weight.data(), ny);
}

void VectorMatcher::match_best(const VectorText& x, const VectorText& y, Problems& problems) const {
    for (auto [problem, gain] : {std::pair{kBest0, &gain_at_0}, std::pair{kBest5, &gain_at_5}}) {
        SharedMeaning& shared = problems[problem];
        shared = {0, 0, x.total, y.total, kGainUnit};
        for (std::size_t a = 0; a < x.size(); ++a) shared.reference_gain += x.weight[a] * (*gain)(best_x_[a]);
        for (std::size_t b = 0; b < y.size(); ++b) shared.hypothesis_gain += y.weight[b] * (*gain)(best_y_[b]);
    }
}

// The lighter text sells: fewer words are left over, and flows are found sooner. Similarities are the same both ways.
VectorMatcher::Problems VectorMatcher::match(const VectorText& x, const VectorText& y) {
    if (x.total <= y.total) return match_in_order(x, y);
    Problems problems = match_in_order(y, x);
    for (SharedMeaning& shared : problems) {
        std::swap(shared.reference_gain, shared.hypothesis_gain);
        std::swap(shared.reference, shared.hypothesis);
    }
    return problems;
}

VectorMatcher::Problems VectorMatcher::match_in_order(const VectorText& x, const VectorText& y) {
    const bool small = x.is_sentence && y.is_sentence;
    compare_words(x, y, !small);
    Problems problems;
    if (best_) match_best(x, y, problems);
    const std::int64_t words = small ? small_flow_of_words(x, y) : flow_of_words(x, y);
    const std::int64_t bigrams = small ? small_flow_of_bigrams(x, y) : flow_of_bigrams(x, y);
    problems[kFlow1] = {words, words, x.total, y.total, kGainUnit};
    problems[kFlow2] = {bigrams, bigrams, x.bigram_total, y.bigram_total, 2 * kGainUnit};
    return problems;
}

std::vector<VectorFlowEntry> VectorMatcher::flow(const VectorText& x, const VectorText& y) {
    compare_words(x, y, true);
    flow_of_words(x, y);
    std::vector<VectorFlowEntry> entries;
    for (std::size_t k = 0; k < transport_.arcs.size(); ++k) {
        const auto& arc = transport_.arcs[k];
        if (transport_.flow[k] > 0)
            entries.push_back({arc.x, arc.y, links_[k].similarity, arc.gain, transport_.flow[k]});
    }
    return entries;
}

}  // namespace tesla
