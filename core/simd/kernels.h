// core/simd: loops that are compiled once for each kind of CPU, and the choice among them at run time.
//
// vector.inc defines vectors for one kind of CPU, and is the only file that knows its instructions. The loops
// (encoder/kernel.inc, matching/kernel.inc) are written once in terms of it. Each kind has a source file here: it names
// the target of the compiler and includes the loops (all.inc). targets.h says which kinds a compiler can make.
//
// A loop belongs here if it takes whole rows, so that a call through a pointer costs little. What works on a few numbers
// takes base/lanes.h: its vectors are inlined, and have the size that every CPU of the architecture can handle.
//
// All kinds give the same bits: products are sums of whole numbers, and floating-point sums are made in the same order
// with the same operations, none of them fused. This needs IEEE arithmetic (all.inc refuses other modes of compilers)
// and no contraction (CMakeLists.txt, all.inc). tests/core/encoder_test.cpp and tests/matching/test_state_encoder.py check it by
// stored bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rounding.h"

namespace tesla {

struct EncoderModel;
struct EncoderBuffers;
struct PieceWindow;

// The units of what kernels compute.
inline constexpr int kVectorSteps = 160;             // similarities of vectors are 160ths
inline constexpr std::int32_t kStateUnit = 1 << 16;  // similarities of states are 65,536ths

inline constexpr std::size_t kLogicalLanes = 16;  // sums of floats are made in so many lanes, whatever the machine's vectors
inline constexpr std::int32_t kZeroPoint = 128;   // of rows in 8 bits without a sign

inline constexpr std::size_t kRowsPerStep = 64;  // of a text, which are compared with another one at once

// The words of a text with their vectors. Words come in whole blocks, and all arrays but `vectors` have room for that.
inline constexpr std::size_t kRowBlock = 16;
inline constexpr std::size_t whole_blocks(std::size_t rows) { return rounded_up(rows, kRowBlock); }
struct VectorWords {
    const std::uint32_t *words, *lemmas;
    const std::int8_t* const* vectors;  // null: has none
    const std::int64_t* squares;        // of the lengths of the vectors
    const float* inverses;              // of the lengths, roughly; 0 where there is no vector
    std::size_t size;
};

// The vectors of two texts as a kind of CPU multiplies them: room for the words of each side, in whole blocks, times `width`
// 16-bit numbers. Kinds that multiply 8-bit numbers use less of it.
struct ArrangedVectors {
    std::int16_t *rows, *blocks;
    std::size_t width;  // a multiple of eight, at least the dimensions; 0: there are no vectors
};

struct Kernels {
    const char* name;

    // encoder/encoder.h: leaves the states of the pieces of all windows, one after the other, in `states` of the buffers,
    // and in 8-bit numbers in `rounded_states` (pieces × dimensions).
    void (*encode)(const EncoderModel& model, const PieceWindow* windows, std::size_t count, const EncoderBuffers& buffers,
                   std::int8_t* rounded_states);

    // matching/equal_words.h: for each number that is wanted the places where it stands among `size` words, a bit each. Words
    // are whole blocks, at most four.
    void (*find_places)(const std::uint32_t* words, std::size_t size, const std::uint32_t* wanted, std::size_t count,
                        std::uint64_t* places);
    // matching/states.h: the products of x with all rows of y.
    void (*multiply)(const std::int16_t* x, const std::int16_t* y, std::size_t rows, std::size_t width,
                     std::int32_t* products);
    // matching/vectors.h: arranges the vectors of two texts for `compare_words`.
    void (*arrange_vectors)(VectorWords x, VectorWords y, std::size_t dimensions, ArrangedVectors to);
    // Similarities of the words `from` .. `to` of x, at most kRowsPerStep, to all words of y: row by row, in whole blocks. They
    // are cosines in 160ths, rounded down, but 1 for the same word and at least .9 for the same lemma. Without a width there are
    // no vectors.
    void (*compare_words)(VectorWords x, std::size_t from, std::size_t to, VectorWords y, std::size_t dimensions,
                          ArrangedVectors vectors, std::uint8_t* cells);
    // matching/states.h: from products and squares of lengths to cosines in 65,536ths, rounded down. Raises `best` to them and
    // returns the highest.
    std::int32_t (*finish_cosines)(const std::int32_t* products, double square, const double* squares, std::size_t size,
                                   std::int32_t* similarities, std::int32_t* best);
    // The similarities of two neighbours with all pairs of neighbours of the other side. Raises `best` to them and returns the
    // highest.
    std::int32_t (*join_neighbours)(const std::int32_t* upper, const std::int32_t* lower, std::size_t pairs,
                                    std::int32_t* best);
};

// The kinds that this CPU can run, the fastest first; "portable" is the last.
const std::vector<Kernels>& supported_kernels();

// The kind of that name. Throws std::invalid_argument for one that this CPU does not have.
const Kernels& kernels_named(const std::string& name);

// The kind that the environment variable TESLA_EVAL_KERNEL names; the fastest if it is not set.
const Kernels& chosen_kernels();

}  // namespace tesla
