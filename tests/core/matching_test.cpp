// What every kernel makes of random states and vectors, row by row, and what the matchers make of them with the kernel that
// TESLA_EVAL_KERNEL names: the stored bits.
#include <algorithm>
#include <cstring>
#include <memory_resource>

#include "matching/states.h"
#include "matching/vectors.h"
#include "simd/kernels.h"
#include "stored_bits.h"

namespace {

using namespace tesla;

constexpr std::size_t kWords = 37, kKinds = 3;

// Words of a text, some of them twice, with vectors and states.
struct Text {
    Text(Drawn& draw, std::size_t dimensions) : values(kWords * dimensions), squares(kWords) {
        for (std::size_t i = 0; i < kWords; ++i) {
            const int largest = draw.below(4) == 0 ? 1 : 127;  // short vectors have cosines at the limits of the steps
            const bool is_lowest = draw.below(8) == 0;         // all numbers are the lowest one
            for (std::size_t d = 0; d < dimensions; ++d) {
                const int drawn = draw.around_0(largest);
                const auto value = static_cast<std::int8_t>(is_lowest ? -128 : drawn);
                values[i * dimensions + d] = value;
                squares[i] += static_cast<std::uint32_t>(value * value);
            }
            const std::uint32_t word = draw.below(40);
            const bool has_vector = draw.below(9) != 0 && squares[i] > 0;
            const WordVector vector = has_vector ? WordVector{&values[i * dimensions], squares[i]} : WordVector{};
            tokens.push_back({{vector, word, 1 + draw.below(64)}, word / 2});
            kinds.push_back(static_cast<std::uint8_t>(draw.below(kKinds)));
        }
    }
    VectorText vectors(VectorScratch& scratch) const {
        return {tokens, scratch, std::pmr::new_delete_resource()};
    }

    std::vector<std::int8_t> values;
    std::vector<std::uint32_t> squares;
    VectorTokens tokens;
    std::vector<std::uint8_t> kinds;
};

void add(Hash& hash, double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash.add(value == value ? bits : 1);  // NaN has many bits
}

bool same_places = true;  // whether `find_places` finds just the places where words are equal

// The loops, on their own.
void add_rows(Hash& hash, const Kernels& kernels, std::size_t dimensions) {
    Drawn draw;
    const Text x(draw, dimensions), y(draw, dimensions);
    VectorScratch scratch;
    const VectorText left = x.vectors(scratch), right = y.vectors(scratch);
    const std::vector<std::int16_t> wide_x(x.values.begin(), x.values.end()), wide_y(y.values.begin(), y.values.end());
    std::vector<double> squares(y.squares.begin(), y.squares.end());
    constexpr std::size_t kRoom = whole_blocks(kWords);
    std::vector<std::int32_t> products(kWords), cosines(kWords), upper(kWords), best(kWords), best_pair(kWords);
    const std::size_t width = (dimensions + 7) / 8 * 8;
    std::vector<std::int16_t> arranged_x(kRoom * width), arranged_y(arranged_x);
    const ArrangedVectors arranged{arranged_x.data(), arranged_y.data(), width};
    kernels.arrange_vectors(left.words(), right.words(), dimensions, arranged);
    std::vector<std::uint8_t> all_cells(kRoom * kRoom), best_cells(kRoom);
    kernels.compare_words(left.words(), 0, 30, right.words(), dimensions, arranged, all_cells.data());
    kernels.compare_words(left.words(), 30, kWords, right.words(), dimensions, arranged, all_cells.data() + 30 * kRoom);
    for (std::size_t a = 0; a < kWords; ++a) {
        const std::uint8_t* const cells = all_cells.data() + a * kRoom;
        kernels.multiply(wide_x.data() + a * dimensions, wide_y.data(), kWords, dimensions, products.data());
        hash.add(*std::max_element(cells, cells + kWords));
        for (std::size_t b = 0; b < kWords; ++b) best_cells[b] = std::max(best_cells[b], cells[b]);
        hash.add(static_cast<std::uint32_t>(kernels.finish_cosines(products.data(), x.squares[a], squares.data(), kWords,
                                                                   cosines.data(), best.data())));
        hash.add(static_cast<std::uint32_t>(
            kernels.join_neighbours(upper.data(), cosines.data(), kWords - 1, best_pair.data())));
        for (std::size_t b = 0; b < kWords; ++b)
            for (std::int32_t value : {products[b], std::int32_t{cells[b]}, cosines[b]})
                hash.add(static_cast<std::uint32_t>(value));
        upper.swap(cosines);
    }
    for (std::size_t b = 0; b < kWords; ++b)
        for (std::int32_t value : {std::int32_t{best_cells[b]}, best[b], best_pair[b]})
            hash.add(static_cast<std::uint32_t>(value));
    std::uint64_t places[kWords];
    kernels.find_places(left.words().words, whole_blocks(kWords), right.words().words, kWords, places);
    for (std::uint64_t found : places) hash.add(found);
    for (std::size_t b = 0; b < kWords; ++b)
        for (std::size_t a = 0; a < kWords; ++a) same_places &= (places[b] >> a & 1) == (left.word[a] == right.word[b]);
}

// The matchers, with the kernel that is chosen.
void add_matches(Hash& hash, std::size_t dimensions) {
    Drawn draw;
    const Text x(draw, dimensions), y(draw, dimensions);
    VectorScratch scratch;
    for (const SharedMeaning& shared :
         VectorMatcher(dimensions).match(x.vectors(scratch), y.vectors(scratch)))
        for (double value : {shared.precision(), shared.recall()}) add(hash, value);
    const StateRows rows_x(x.values.data(), kWords, dimensions), rows_y(y.values.data(), kWords, dimensions);
    StateMatcher matcher({3, 1, 7}, 20000);
    for (const SharedStates& shared :
         matcher.match({&rows_x, x.kinds.data(), 0, kWords}, {&rows_y, y.kinds.data(), 0, kWords}))
        for (double value : {shared.precision, shared.recall}) add(hash, value);
}

}  // namespace

int main() {
    bool same = true;
    for (const Kernels& kernels : supported_kernels()) {
        Hash hash;
        for (std::size_t dimensions : {5, 16, 64, 100, 384}) {
            add_rows(hash, kernels, dimensions);
            add_matches(hash, dimensions);
        }
        same &= hash.is(kernels.name, kMatchingBits);
    }
    if (!same_places) std::printf("find_places finds others than equal words\n");
    return same && same_places ? 0 : 1;
}
