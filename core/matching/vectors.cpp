#include "matching/vectors.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "matching/bags.h"

namespace tesla {
namespace {

constexpr int kSteps = 160;              // similarities are 160ths
constexpr int kSameLemma = 144;          // .9
constexpr std::int32_t kGainUnit = 16;   // rescaled similarities are 16ths
constexpr std::size_t kDenseCells = std::size_t{1} << 22;

// SPEC §8b: (s - t) / (1 - t) above the threshold t, rounded down to 16ths; s and t in 160ths.
constexpr std::int32_t rescaled(int similarity, int threshold) {
    return similarity <= threshold ? 0 : kGainUnit * (similarity - threshold) / (kSteps - threshold);
}
constexpr int kNoThreshold = 0, kFlowThreshold = 48, kHighThreshold = 80;  // 0, .3, .5
constexpr int kFirstFlowStep = 55;  // the least similarity that is worth something to a flow
static_assert(rescaled(kFirstFlowStep, kFlowThreshold) == 1 && rescaled(kFirstFlowStep - 1, kFlowThreshold) == 0);

std::int32_t flow_gain(std::uint8_t similarity) { return rescaled(similarity, kFlowThreshold); }

// The cosine in 160ths, rounded down: the largest m with m² |x|² |y|² <= (160 xy)². All numbers stay below 2^59.
std::uint8_t exact_steps(std::int64_t product, std::int64_t square_x, std::int64_t square_y, std::int64_t above) {
    const std::int64_t scaled = kSteps * product;
    while (above > 0 && above * above * square_x * square_y > scaled * scaled) --above;
    return static_cast<std::uint8_t>(std::min<std::int64_t>(above, kSteps));
}

template <std::size_t width>
void multiply(const std::int16_t* x, const std::int16_t* y, std::size_t rows, std::int32_t* products) {
    for (std::size_t b = 0; b < rows; ++b, y += width) {
        std::int32_t sum = 0;
        for (std::size_t d = 0; d < width; ++d) sum += x[d] * y[d];
        products[b] = sum;
    }
}
void multiply(const std::int16_t* x, const std::int16_t* y, std::size_t rows, std::size_t width, std::int32_t* products) {
    if (width == 64) return multiply<64>(x, y, rows, products);  // as all tables of the package
    for (std::size_t b = 0; b < rows; ++b, y += width) {
        std::int32_t sum = 0;
        for (std::size_t d = 0; d < width; ++d) sum += x[d] * y[d];
        products[b] = sum;
    }
}

// Numbers for keys in the order in which they are first met.
class FirstMet {
   public:
    explicit FirstMet(std::size_t most) {
        std::size_t capacity = 4;
        while (capacity < 2 * most) capacity *= 2;
        slots_.assign(capacity, Slot{0, kFree});
        mask_ = capacity - 1;
    }
    std::uint32_t number_of(std::uint64_t key) {
        std::size_t slot = (key * 0x9E3779B97F4A7C15ull >> 20) & mask_;
        for (; slots_[slot].number != kFree; slot = (slot + 1) & mask_)
            if (slots_[slot].key == key) return slots_[slot].number;
        slots_[slot] = {key, count_};
        return count_++;
    }

   private:
    static constexpr std::uint32_t kFree = 0xFFFFFFFF;
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
    };
    std::vector<Slot> slots_;
    std::size_t mask_;
    std::uint32_t count_ = 0;
};

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return static_cast<std::uint64_t>(a) << 32 | b; }

}  // namespace

VectorText::VectorText(const VectorView& tokens, const VectorMatrix& matrix, bool merged,
                       std::pmr::memory_resource* memory)
    : word(memory), lemma(memory), vector(memory), square(memory), inverse(memory), weight(memory), bigrams_of(memory),
      second(memory), bigram_weight(memory) {
    add_bigrams(tokens, add_words(tokens, matrix, merged));
}

VectorText::Places VectorText::add_words(const VectorView& tokens, const VectorMatrix& matrix, bool merged) {
    FirstMet numbers(tokens.size);
    Places places;
    places.reserve(tokens.size);
    for (auto* column : {&word, &lemma}) column->reserve(tokens.size);
    vector.reserve(tokens.size);
    square.reserve(tokens.size);
    inverse.reserve(tokens.size);
    weight.reserve(tokens.size);
    for (std::size_t i = 0; i < tokens.size; ++i) {
        const std::uint32_t place = merged ? numbers.number_of(pair_key(tokens.word[i], tokens.lemma[i]))
                                           : static_cast<std::uint32_t>(i);
        places.push_back(place);
        total += tokens.weight[i];
        if (place < word.size()) {
            weight[place] += tokens.weight[i];
            continue;
        }
        if (word.size() >= kMostVectorWords) throw TextTooLong("a text has more than 65,536 different words");
        word.push_back(tokens.word[i]);
        lemma.push_back(tokens.lemma[i]);
        weight.push_back(tokens.weight[i]);
        std::int64_t squares = 0;
        const std::int8_t* values = nullptr;
        if (tokens.row[i] != kNoVector) {
            values = matrix.values + tokens.row[i] * matrix.dimensions;
            for (std::size_t d = 0; d < matrix.dimensions; ++d) squares += values[d] * values[d];
        }
        vector.push_back(values);
        square.push_back(squares);
        inverse.push_back(squares == 0 ? 0.0F : static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares))));
    }
    return places;
}

// The weight of a bigram is the sum of its words' weights.
void VectorText::add_bigrams(const VectorView& tokens, const Places& places) {
    bigrams_of.assign(size() + 1, 0);
    if (tokens.size < 2) return;
    struct Bigram {
        std::uint32_t first, second;
        std::int64_t weight;
    };
    std::vector<Bigram> bigrams;
    FirstMet numbers(tokens.size);
    for (std::size_t i = 0; i + 1 < tokens.size; ++i) {
        const std::uint32_t a = places[i], b = places[i + 1];
        const std::int64_t both = std::int64_t{tokens.weight[i]} + tokens.weight[i + 1];
        const std::uint32_t number = numbers.number_of(pair_key(a, b));
        bigram_total += both;
        if (number < bigrams.size()) {
            bigrams[number].weight += both;
        } else {
            bigrams.push_back({a, b, both});
            ++bigrams_of[a + 1];
        }
    }
    for (std::size_t a = 0; a < size(); ++a) bigrams_of[a + 1] += bigrams_of[a];
    second.resize(bigrams.size());
    bigram_weight.resize(bigrams.size());
    std::vector<std::uint32_t> next(bigrams_of.begin(), bigrams_of.end());
    for (const Bigram& bigram : bigrams) {
        const std::uint32_t at = next[bigram.first]++;
        second[at] = bigram.second;
        bigram_weight[at] = bigram.weight;
    }
}

VectorMatcher::VectorMatcher(std::size_t dimensions) : dimensions_(dimensions), width_((dimensions + 7) / 8 * 8) {
    left_.assign(width_, 0);
}

void VectorMatcher::compare_words(const VectorText& x, const VectorText& y) {
    const std::size_t nx = x.size(), ny = y.size();
    dense_ = nx * ny <= kDenseCells;
    cells_.resize(dense_ ? nx * ny : ny);
    products_.resize(ny);
    best_x_.assign(nx, 0);
    best_y_.assign(ny, 0);
    right_.assign(ny * width_, 0);
    for (std::size_t b = 0; b < ny; ++b)
        if (y.vector[b]) std::copy_n(y.vector[b], dimensions_, right_.begin() + static_cast<std::ptrdiff_t>(b * width_));
    link_first_.assign(1, 0);
    links_.clear();
    for (std::size_t a = 0; a < nx; ++a) {
        std::uint8_t* cells = cells_.data() + (dense_ ? a * ny : 0);
        compare_word(x, a, y, cells);
        std::uint8_t best = 0;
        for (std::size_t b = 0; b < ny; ++b) {
            best = std::max(best, cells[b]);
            best_y_[b] = std::max(best_y_[b], cells[b]);
        }
        best_x_[a] = best;
        if (best >= kFirstFlowStep)
            for (std::uint32_t b = 0; b < ny; ++b)
                if (cells[b] >= kFirstFlowStep) links_.push_back({b, cells[b]});
        link_first_.push_back(static_cast<std::uint32_t>(links_.size()));
    }
}

// The similarities of word a of x to all words of y.
void VectorMatcher::compare_word(const VectorText& x, std::size_t a, const VectorText& y, std::uint8_t* cells) {
    const std::size_t ny = y.size();
    if (x.vector[a] == nullptr) {
        std::fill_n(cells, ny, std::uint8_t{0});
    } else {
        std::copy_n(x.vector[a], dimensions_, left_.begin());
        multiply(left_.data(), right_.data(), ny, width_, products_.data());
        const float scale = kSteps * x.inverse[a];
        for (std::size_t b = 0; b < ny; ++b) {
            // The estimate is right to 1e-4; near a whole number, whole numbers decide.
            const float estimate = std::max(0.0F, static_cast<float>(products_[b]) * (scale * y.inverse[b]));
            const int nearest = static_cast<int>(estimate + 0.5F);
            const float off = estimate - static_cast<float>(nearest);
            if (nearest > 0 && std::abs(off) < 1e-3F)
                cells[b] = exact_steps(products_[b], x.square[a], y.square[b], nearest);
            else
                cells[b] = static_cast<std::uint8_t>(static_cast<int>(estimate));
        }
    }
    const std::uint32_t word = x.word[a], lemma = x.lemma[a];
    for (std::size_t b = 0; b < ny; ++b) {
        const int least = y.word[b] == word ? kSteps : y.lemma[b] == lemma ? kSameLemma : 0;
        cells[b] = std::max(cells[b], static_cast<std::uint8_t>(least));
    }
}

std::uint8_t VectorMatcher::linked(std::uint32_t a, std::uint32_t b) const {
    if (dense_) return cells_[a * best_y_.size() + b];
    const auto *first = links_.data() + link_first_[a], *last = links_.data() + link_first_[a + 1];
    const auto* found = std::lower_bound(first, last, b, [](const Link& link, std::uint32_t to) { return link.to < to; });
    return found != last && found->to == b ? found->similarity : 0;
}

std::int64_t VectorMatcher::solve() { return transport_.arcs.empty() ? 0 : transport_.solve(); }

std::int64_t VectorMatcher::flow_of_words(const VectorText& x, const VectorText& y) {
    transport_.reset(x.size(), y.size());
    std::copy(x.weight.begin(), x.weight.end(), transport_.supply.begin());
    std::copy(y.weight.begin(), y.weight.end(), transport_.demand.begin());
    for (std::uint32_t a = 0; a < x.size(); ++a)
        for (std::uint32_t k = link_first_[a]; k < link_first_[a + 1]; ++k)
            transport_.add_arc(a, transport_.consumer(links_[k].to), flow_gain(links_[k].similarity));
    return solve();
}

std::int64_t VectorMatcher::flow_of_bigrams(const VectorText& x, const VectorText& y) {
    transport_.reset(x.second.size(), y.second.size());
    std::copy(x.bigram_weight.begin(), x.bigram_weight.end(), transport_.supply.begin());
    std::copy(y.bigram_weight.begin(), y.bigram_weight.end(), transport_.demand.begin());
    for (std::uint32_t a = 0; a < x.size(); ++a) {
        for (std::uint32_t i = x.bigrams_of[a]; i < x.bigrams_of[a + 1]; ++i) {
            for (std::uint32_t k = link_first_[a]; k < link_first_[a + 1]; ++k) {
                const auto [b, similarity] = links_[k];
                for (std::uint32_t j = y.bigrams_of[b]; j < y.bigrams_of[b + 1]; ++j) {
                    const std::int32_t gain = flow_gain(linked(x.second[i], y.second[j]));
                    if (gain > 0) transport_.add_arc(i, transport_.consumer(j), flow_gain(similarity) + gain);
                }
            }
        }
    }
    return solve();
}

VectorMatcher::Problems VectorMatcher::match(const VectorText& x, const VectorText& y) {
    compare_words(x, y);
    Problems problems;
    for (auto [problem, threshold] : {std::pair{kBest0, kNoThreshold}, std::pair{kBest5, kHighThreshold}}) {
        SharedMeaning& shared = problems[problem];
        shared = {0, 0, x.total, y.total, kGainUnit};
        for (std::size_t a = 0; a < x.size(); ++a) shared.reference_gain += x.weight[a] * rescaled(best_x_[a], threshold);
        for (std::size_t b = 0; b < y.size(); ++b) shared.hypothesis_gain += y.weight[b] * rescaled(best_y_[b], threshold);
    }
    const std::int64_t words = flow_of_words(x, y), bigrams = flow_of_bigrams(x, y);
    problems[kFlow1] = {words, words, x.total, y.total, kGainUnit};
    problems[kFlow2] = {bigrams, bigrams, x.bigram_total, y.bigram_total, 2 * kGainUnit};
    return problems;
}

std::vector<VectorFlowEntry> VectorMatcher::flow(const VectorText& x, const VectorText& y) {
    compare_words(x, y);
    flow_of_words(x, y);
    std::vector<VectorFlowEntry> entries;
    for (std::size_t k = 0; k < transport_.arcs.size(); ++k) {
        const Arc& arc = transport_.arcs[k];
        if (transport_.flow[k] > 0)
            entries.push_back({arc.tail, links_[k].to, links_[k].similarity, arc.gain, transport_.flow[k]});
    }
    return entries;
}

}  // namespace tesla
