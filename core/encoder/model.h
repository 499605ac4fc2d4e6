// The parameters of an encoder of BERT's kind (specification §8c), packed for the kernels.
//
// Every width is padded to whole blocks of columns. Padded weights, scales and biases are 0. A padded column
// is 0, or nearly 0 behind GELU; the weights that it is multiplied by are 0, so it adds nothing to a state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"
#include "base/rounding.h"

namespace tesla {

inline constexpr std::size_t kColumns = 64;  // of a block; what a kernel multiplies at once
inline constexpr int kLargestWeight = 63;    // two products with an 8-bit number fit 16 bits

// Of the states that an encoder gives, and that matching/states.h compares.
inline constexpr std::size_t kMostStateDimensions = 1024;
inline constexpr std::int32_t kLargestMean = 1023;  // of the numbers of a mean state

// A line of cache: blocks of weights begin with one.
struct alignas(64) WeightLine {
    std::int8_t values[64];
};

// A dense layer, y = x W + b. Blocks of kColumns columns; in a block four rows of W at a time, column by column.
struct DenseLayer {
    std::size_t inputs = 0, outputs = 0;  // padded
    std::vector<WeightLine> weights;
    std::vector<std::int32_t> start;   // minus what the zero point of the rows adds to each column
    std::vector<float> scale, bias;    // of each column

    const std::int8_t* block(std::size_t number) const { return weights.data()->values + number * kColumns * inputs; }
};

// The layer normalisation of a row.
struct RowNorm {
    std::vector<float> gamma, beta;
};

struct EncoderLayer {
    DenseLayer attention;  // queries, keys and values of all heads side by side, each head padded to whole lanes
    DenseLayer output, inner, outer;
    RowNorm output_norm, outer_norm;
};

struct EncoderModel {
    std::size_t dimensions = 0, width = 0;       // of a state, and padded
    std::size_t heads = 0, head_size = 0;        // a head's dimensions
    std::size_t head_width = 0, heads_width = 0;  // a head, and all heads, padded
    std::size_t inner_width = 0;
    float epsilon = 0;
    ArrayView<std::int8_t> words;  // kept by someone else
    std::vector<float> word_scales, places;
    RowNorm embedding_norm;
    std::vector<float> is_real;  // 1 for the dimensions of a state, 0 for padding
    std::vector<EncoderLayer> layers;
    std::uint32_t begin = 0, end = 0;

    std::size_t pieces() const { return word_scales.size(); }
    std::size_t positions() const { return places.size() / dimensions; }
};

// Some consecutive pieces of a text that are read together.
struct PieceWindow {
    const std::uint32_t* pieces;
    std::size_t size;

    std::size_t rows() const { return size + 2; }  // with the pieces for the beginning and the end
};

inline constexpr std::size_t kInnerRows = 64, kShareRows = 32;

// What a kernel works on, for `rows` rows; the arrays live in somebody's arena. Each kernel has its own type for numbers in
// 8 bits, of at most 16 bits.
struct EncoderBuffers {
    float* states;               // rows × width
    std::int16_t* small_states;  // rows × the larger of width and heads_width, in 8 bits
    float* scales;               // of the rows in 8 bits
    float* attention;            // rows × 3 heads_width
    float* context;              // rows × heads_width
    float* inner;                // kInnerRows × inner_width
    std::int16_t* small_inner;
    float* inner_scales;
    float* keys;            // head_width × the longest window
    float* shares;          // kShareRows × the longest window
    std::int16_t* columns;  // kLogicalLanes × the most inputs of a dense layer
};

}  // namespace tesla
