// core/encoder: an encoder of BERT's kind in 8-bit numbers (specification §8c): pieces of words to states in their context.
//
// A text has the same states, bit for bit, on every CPU and in every batch: its rows never meet those of another text, and
// every operation and its order are fixed (simd/kernels.h).
//
// Parameters are checked and texts are cut into windows here. model.h has the parameters as the kernels read them, and
// kernel.inc the loops, which core/simd compiles for each kind of CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"
#include "encoder/model.h"
#include "simd/kernels.h"

namespace tesla {

// A dense layer of all layers of an encoder: layers × inputs × outputs, and layers × outputs.
struct StackedDense {
    ArrayView<std::int8_t> weights;
    ArrayView<float> scale, bias;
};

// What an encoder is made of, row by row as in its file.
struct EncoderParameters {
    std::size_t layers, dimensions, heads, inner;
    double epsilon;
    std::uint32_t begin, end;      // the pieces before and behind a text
    ArrayView<std::int8_t> words;  // pieces × dimensions; must outlive the encoder
    ArrayView<float> word_scales;  // pieces
    ArrayView<float> places;       // positions × dimensions
    ArrayView<float> norms;        // the embeddings' and two of each layer: factors, then what is added
    StackedDense attention, output, inner_dense, outer;
};

struct EncodedTexts {
    std::vector<std::int8_t> states;   // pieces × dimensions
    std::vector<std::int16_t> means;  // texts × dimensions
};

class Encoder {
   public:
    // Throws std::invalid_argument where the parameters do not fit each other, or could lead to states that are not finite.
    // A row whose variance overflows in single precision becomes the beta of its normalisation.
    explicit Encoder(const EncoderParameters& parameters);

    std::size_t pieces() const { return model_.pieces(); }
    std::size_t dimensions() const { return model_.dimensions; }

    // Text i has the pieces[offsets[i]] .. pieces[offsets[i + 1]], all below pieces(). Threads may share an encoder.
    EncodedTexts encode(ArrayView<std::int64_t> offsets, ArrayView<std::uint32_t> pieces, const Kernels& kernels) const;

   private:
    EncoderModel model_;
};

}  // namespace tesla
