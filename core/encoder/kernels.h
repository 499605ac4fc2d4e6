// The arithmetic of the encoder, compiled for several kinds of CPU from one source (kernel.inc).
//
// All kernels give the same bits: products are sums of whole numbers, and floating-point sums are made in the same order
// with the same operations, none of them fused. This needs IEEE arithmetic (kernels.cpp refuses other modes of compilers)
// and -ffp-contract=off (CMakeLists.txt), which tests/matching/test_state_encoder.py checks by stored bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encoder/model.h"

namespace tesla {

// Some consecutive pieces of a text that are read together.
struct PieceWindow {
    const std::uint32_t* pieces;
    std::size_t size;

    std::size_t rows() const { return size + 2; }  // with the pieces for the beginning and the end
};

// What a kernel works on, for `rows` rows; the arrays live in somebody's arena.
struct EncoderBuffers {
    float* states;              // rows × width
    std::uint8_t* small_states;  // rows × the larger of width and heads_width, in 8 bits
    float* scales;              // of the rows in 8 bits
    float* attention;           // rows × 3 heads_width
    float* context;             // rows × heads_width
    float* inner;               // kInnerRows × inner_width
    std::uint8_t* small_inner;
    float* inner_scales;
    float* keys;    // head_width × the longest window
    float* shares;  // kShareRows × the longest window
};

inline constexpr std::size_t kInnerRows = 64;
inline constexpr std::size_t kQueryRows = 4, kShareRows = 32;

struct EncoderKernel {
    const char* name;
    // Leaves the states of the pieces of all windows, one after the other, in `states` of the buffers, and in 8-bit
    // numbers in `rounded_states` (pieces × dimensions).
    void (*encode)(const EncoderModel& model, const PieceWindow* windows, std::size_t count, const EncoderBuffers& buffers,
                   std::int8_t* rounded_states);
};

// The kernels that this CPU can run, the fastest first.
const std::vector<EncoderKernel>& supported_kernels();

// The kernel of that name; the fastest for an empty one. Throws std::invalid_argument for one that this CPU does not have.
const EncoderKernel& kernel_named(const std::string& name);

}  // namespace tesla
