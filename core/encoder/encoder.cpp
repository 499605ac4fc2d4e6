#include "encoder/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/checks.h"
#include "base/interrupt.h"
#include "base/recycled_memory.h"
#include "base/rounding.h"

namespace tesla {
namespace {

constexpr std::size_t kGroupRows = 64;         // about so many rows go through the layers together
constexpr std::size_t kMostInner = 1 << 14, kMostLayers = 64, kMostPositions = 1 << 13;
constexpr std::size_t kMostHeads = 64;  // each is padded to whole lanes: this bounds the memory for many small heads
constexpr std::size_t kMostVocabulary = 1 << 21;
// So that dense results, scores and sums stay finite, and no state is NaN. Only the squares of a normalisation may
// overflow: an infinite variance gives the factor 0, which leaves beta.
constexpr float kLargestParameter = 1e4f;

void require_count(std::size_t count, std::size_t least, std::size_t most, const char* what) {
    require(count >= least && count <= most, "it has " + std::to_string(count) + " " + what + "; supported are " +
                                                 std::to_string(least) + " to " + std::to_string(most));
}
void require_moderate(ArrayView<float> values) {
    for (float value : values)
        require(std::fabs(value) <= kLargestParameter, "a parameter is not finite, or larger than 10,000");
}
void require_dense(const StackedDense& dense, std::size_t layers, std::size_t inputs, std::size_t outputs) {
    require(dense.weights.size == layers * inputs * outputs && dense.scale.size == layers * outputs &&
                dense.bias.size == layers * outputs,
            "a dense layer has another shape");
    for (std::int8_t weight : dense.weights) require(std::abs(weight) <= kLargestWeight, "a weight is not between -63 and 63");
    require_moderate(dense.scale);
    require_moderate(dense.bias);
}

// Where the columns (or rows) of a dense layer are among the padded ones.
struct PaddedColumns {
    std::size_t width;
    std::vector<std::size_t> index;
};

// All padding is at the end.
PaddedColumns plain_columns(std::size_t size, std::size_t width) {
    PaddedColumns columns{width, std::vector<std::size_t>(size)};
    for (std::size_t i = 0; i < size; ++i) columns.index[i] = i;
    return columns;
}

// The dimensions of `parts` times all heads, each head padded.
PaddedColumns head_columns(const EncoderModel& model, std::size_t parts) {
    PaddedColumns columns{parts * model.heads_width, {}};
    for (std::size_t part = 0; part < parts; ++part)
        for (std::size_t head = 0; head < model.heads; ++head)
            for (std::size_t d = 0; d < model.head_size; ++d)
                columns.index.push_back(part * model.heads_width + head * model.head_width + d);
    return columns;
}

DenseLayer packed(const StackedDense& dense, std::size_t number, const PaddedColumns& inputs,
                  const PaddedColumns& outputs) {
    DenseLayer layer;
    layer.inputs = inputs.width;
    layer.outputs = outputs.width;
    layer.weights.resize(layer.inputs * layer.outputs / sizeof(WeightLine));
    layer.start.resize(layer.outputs);
    layer.scale.resize(layer.outputs);
    layer.bias.resize(layer.outputs);
    std::int8_t* target = layer.weights.data()->values;
    const std::size_t columns = outputs.index.size();
    const std::int8_t* weight = dense.weights.data + number * inputs.index.size() * columns;
    for (std::size_t row : inputs.index) {
        for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t column = outputs.index[c], block = column / kColumns;
            target[block * kColumns * layer.inputs + row / 4 * 4 * kColumns + column % kColumns * 4 + row % 4] = *weight;
            layer.start[column] -= kZeroPoint * *weight++;
        }
    }
    for (std::size_t c = 0; c < columns; ++c) {
        layer.scale[outputs.index[c]] = dense.scale[number * columns + c];
        layer.bias[outputs.index[c]] = dense.bias[number * columns + c];
    }
    return layer;
}

RowNorm norm_of(ArrayView<float> norms, std::size_t number, std::size_t dimensions, std::size_t width) {
    RowNorm norm{std::vector<float>(width), std::vector<float>(width)};
    const float* from = norms.data + number * 2 * dimensions;
    std::copy_n(from, dimensions, norm.gamma.begin());
    std::copy_n(from + dimensions, dimensions, norm.beta.begin());
    return norm;
}

// Cuts arrays off a block, each of which begins with a line of cache.
class Cutter {
   public:
    explicit Cutter(std::byte* block) : at_(reinterpret_cast<std::uintptr_t>(block)) {}
    template <class T>
    void cut(T*& array, std::size_t count) {
        at_ = rounded_up(at_, sizeof(WeightLine));
        array = reinterpret_cast<T*>(at_);
        at_ += count * sizeof(T);
    }
    std::uintptr_t end() const { return at_; }

   private:
    std::uintptr_t at_;
};

// The arrays for so many rows, in windows of at most `longest`; returns where they end.
std::uintptr_t cut_buffers(const EncoderModel& model, std::size_t rows, std::size_t longest, std::byte* block,
                           EncoderBuffers& buffers) {
    const std::size_t width = rounded_up(longest, kLogicalLanes), inner_rows = std::min(rows, kInnerRows);
    Cutter cutter(block);
    cutter.cut(buffers.states, rows * model.width);
    cutter.cut(buffers.small_states, rows * std::max(model.width, model.heads_width));
    cutter.cut(buffers.scales, rows);
    cutter.cut(buffers.attention, rows * 3 * model.heads_width);
    cutter.cut(buffers.context, rows * model.heads_width);
    cutter.cut(buffers.inner, inner_rows * model.inner_width);
    cutter.cut(buffers.small_inner, inner_rows * model.inner_width);
    cutter.cut(buffers.inner_scales, inner_rows);
    cutter.cut(buffers.keys, model.head_width * width);
    cutter.cut(buffers.shares, kShareRows * width);
    cutter.cut(buffers.columns, kLogicalLanes * std::max({model.width, model.heads_width, model.inner_width}));
    return cutter.end();
}

EncoderBuffers buffers_for(const EncoderModel& model, std::size_t rows, std::size_t longest, Arena& arena) {
    EncoderBuffers buffers;
    // Asking for a stricter alignment than usual would get memory that is not recycled.
    const std::size_t size = cut_buffers(model, rows, longest, nullptr, buffers) + sizeof(WeightLine);
    cut_buffers(model, rows, longest, static_cast<std::byte*>(arena.allocate(size)), buffers);
    return buffers;
}

// The mean of the states in whole numbers, of which only the direction counts.
void round_mean(const std::vector<double>& sums, std::size_t count, std::int16_t* mean) {
    double largest = 1e-30;
    for (double sum : sums) largest = std::max(largest, std::fabs(sum / static_cast<double>(count)));
    const double factor = kLargestMean / largest;
    for (std::size_t d = 0; d < sums.size(); ++d)
        mean[d] = static_cast<std::int16_t>(std::nearbyint(sums[d] / static_cast<double>(count) * factor));
}

}  // namespace

Encoder::Encoder(const EncoderParameters& given) {
    EncoderModel& model = model_;
    require_count(given.layers, 1, kMostLayers, "layers");
    require_count(given.dimensions, 1, kMostStateDimensions, "dimensions");
    require_count(given.inner, 1, kMostInner, "inner dimensions");
    require_count(given.heads, 1, kMostHeads, "heads");
    require(given.dimensions % given.heads == 0, "the dimensions do not fit the heads");
    require(given.epsilon >= 1e-20 && given.epsilon <= 1.0, "epsilon is not between 1e-20 and 1");
    const std::size_t dimensions = given.dimensions;
    require(given.places.size % dimensions == 0, "the positions have another shape");
    require_count(given.places.size / dimensions, 3, kMostPositions, "positions");
    require_count(given.word_scales.size, 1, kMostVocabulary, "pieces");
    require(given.words.size == given.word_scales.size * dimensions, "the embeddings have another shape");
    require(given.begin < given.word_scales.size && given.end < given.word_scales.size,
            "the piece for the beginning or the end does not exist");
    require(given.norms.size == (1 + 2 * given.layers) * 2 * dimensions, "the normalisations have another shape");
    require_dense(given.attention, given.layers, dimensions, 3 * dimensions);
    require_dense(given.output, given.layers, dimensions, dimensions);
    require_dense(given.inner_dense, given.layers, dimensions, given.inner);
    require_dense(given.outer, given.layers, given.inner, dimensions);
    for (const ArrayView<float>& values : {given.word_scales, given.places, given.norms}) require_moderate(values);

    model.dimensions = dimensions;
    model.width = rounded_up(dimensions, kColumns);
    model.heads = given.heads;
    model.head_size = dimensions / given.heads;
    model.head_width = rounded_up(model.head_size, kLogicalLanes);
    model.heads_width = rounded_up(model.heads * model.head_width, kColumns);
    model.inner_width = rounded_up(given.inner, kColumns);
    model.epsilon = static_cast<float>(given.epsilon);
    model.begin = given.begin;
    model.end = given.end;
    model.words = given.words;
    model.word_scales.assign(given.word_scales.begin(), given.word_scales.end());
    model.places.assign(given.places.begin(), given.places.end());
    model.is_real.assign(model.width, 0.0f);
    std::fill_n(model.is_real.begin(), dimensions, 1.0f);
    model.embedding_norm = norm_of(given.norms, 0, dimensions, model.width);
    const PaddedColumns states = plain_columns(dimensions, model.width);
    const PaddedColumns inner = plain_columns(given.inner, model.inner_width);
    const PaddedColumns three_heads = head_columns(model, 3), heads = head_columns(model, 1);
    for (std::size_t k = 0; k < given.layers; ++k)
        model.layers.push_back({packed(given.attention, k, states, three_heads), packed(given.output, k, heads, states),
                                packed(given.inner_dense, k, states, inner), packed(given.outer, k, inner, states),
                                norm_of(given.norms, 1 + 2 * k, dimensions, model.width),
                                norm_of(given.norms, 2 + 2 * k, dimensions, model.width)});
}

EncodedTexts Encoder::encode(ArrayView<std::int64_t> offsets, ArrayView<std::uint32_t> pieces,
                             const Kernels& kernels) const {
    const std::size_t texts = offsets.size - 1, room = model_.positions() - 2, dimensions = model_.dimensions;
    EncodedTexts encoded{std::vector<std::int8_t>(pieces.size * dimensions), std::vector<std::int16_t>(texts * dimensions)};
    // A text that is too long is read in windows of about equal size, the longer ones first.
    std::vector<PieceWindow> windows;
    std::vector<std::size_t> text_of;
    std::size_t longest = 0;
    for (std::size_t t = 0; t < texts; ++t) {
        const auto first = static_cast<std::size_t>(offsets[t]), size = static_cast<std::size_t>(offsets[t + 1]) - first;
        const std::size_t parts = units_of(size, room);
        for (std::size_t part = 0, from = first; part < parts; ++part) {
            const std::size_t length = size / parts + (part < size % parts ? 1 : 0);
            windows.push_back({pieces.data + from, length});
            text_of.push_back(t);
            longest = std::max(longest, length + 2);
            from += length;
        }
    }
    if (windows.empty()) return encoded;
    Arena arena;
    const EncoderBuffers buffers = buffers_for(model_, std::max(longest, kGroupRows), longest, arena);
    std::vector<double> sums(dimensions, 0.0);
    std::size_t text_pieces = 0;  // of the text whose sums these are
    Interrupt interrupt;
    for (std::size_t first = 0, last = 0; first < windows.size(); first = last) {
        std::size_t rows = 0;
        while (last < windows.size() && (rows == 0 || rows + windows[last].rows() <= kGroupRows))
            rows += windows[last++].rows();
        const auto done = static_cast<std::size_t>(windows[first].pieces - pieces.data);
        kernels.encode(model_, windows.data() + first, last - first, buffers, encoded.states.data() + done * dimensions);
        const float* row = buffers.states;
        for (std::size_t w = first; w < last; ++w) {
            for (std::size_t i = 0; i < windows[w].size; ++i, row += model_.width)
                for (std::size_t d = 0; d < dimensions; ++d) sums[d] += static_cast<double>(row[d]);
            text_pieces += windows[w].size;
            if (w + 1 < windows.size() && text_of[w + 1] == text_of[w]) continue;
            round_mean(sums, text_pieces, encoded.means.data() + text_of[w] * dimensions);
            std::fill(sums.begin(), sums.end(), 0.0);
            text_pieces = 0;
        }
        interrupt.look();
    }
    return encoded;
}

}  // namespace tesla
