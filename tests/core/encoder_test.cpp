// What every kernel makes of a random encoder: the stored bits, whatever the compiler has.
#include "encoder/encoder.h"

#include "stored_bits.h"

namespace {

Drawn draw;
std::vector<std::int8_t> whole(std::size_t count, int largest) {
    std::vector<std::int8_t> values(count);
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(draw.around_0(largest));
    return values;
}
std::vector<float> parts(std::size_t count, float unit) {
    std::vector<float> values(count);
    for (float& value : values) value = unit * static_cast<float>(draw.around_0(127));
    return values;
}
struct Dense {
    std::vector<std::int8_t> weights;
    std::vector<float> scale, bias;

    Dense(std::size_t layers, std::size_t inputs, std::size_t outputs)
        : weights(whole(layers * inputs * outputs, 63)), scale(parts(layers * outputs, 0.0001f)), bias(parts(layers * outputs, 0.002f)) {}
    tesla::StackedDense stacked() const { return {weights, scale, bias}; }
};

}  // namespace

int main() {
    const std::size_t layers = 2, dimensions = 60, heads = 3, inner = 100, pieces = 50;
    const std::vector<std::int8_t> words = whole(pieces * dimensions, 127);
    const std::vector<float> word_scales = parts(pieces, 0.001f), places = parts(40 * dimensions, 0.001f),
                             norms = parts((1 + 2 * layers) * 2 * dimensions, 0.01f);
    const Dense attention(layers, dimensions, 3 * dimensions), output(layers, dimensions, dimensions),
        inner_dense(layers, dimensions, inner), outer(layers, inner, dimensions);
    const tesla::Encoder encoder({layers, dimensions, heads, inner, 1e-12, 1, 2, words, word_scales, places, norms,
                                  attention.stacked(), output.stacked(), inner_dense.stacked(), outer.stacked()});
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::uint32_t> text;
    for (std::size_t size : {0, 1, 7, 30, 38, 39, 100, 3}) {
        for (std::size_t i = 0; i < size; ++i) text.push_back(draw.below(pieces));
        offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
    bool same = true;
    for (const tesla::Kernels& kernels : tesla::supported_kernels()) {
        const tesla::EncodedTexts encoded = encoder.encode(offsets, text, kernels);
        Hash hash;
        for (std::int8_t value : encoded.states) hash.add(static_cast<std::uint8_t>(value));
        for (std::int16_t value : encoded.means) hash.add(static_cast<std::uint16_t>(value));
        same &= hash.is(kernels.name, kEncoderBits);
    }
    return same ? 0 : 1;
}
