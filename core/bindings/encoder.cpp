#include "encoder/encoder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "language/analysis/word_piece_cutter.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using DenseArrays = std::tuple<Array<std::int8_t>, Array<float>, Array<float>>;

StackedDense stacked(const DenseArrays& arrays) {
    return {view_of(std::get<0>(arrays)), view_of(std::get<1>(arrays)), view_of(std::get<2>(arrays))};
}

class StateEncoder {
   public:
    StateEncoder(std::size_t layers, std::size_t dimensions, std::size_t heads, std::size_t inner, double epsilon,
                 std::uint32_t begin, std::uint32_t end, Array<std::int8_t> words, const Array<float>& word_scales,
                 const Array<float>& places, const Array<float>& norms, const DenseArrays& attention,
                 const DenseArrays& output, const DenseArrays& inner_dense, const DenseArrays& outer)
        : words_(std::move(words)),
          encoder_({layers, dimensions, heads, inner, epsilon, begin, end, view_of(words_),
                    view_of(word_scales), view_of(places), view_of(norms), stacked(attention),
                    stacked(output), stacked(inner_dense), stacked(outer)}) {}

    nb::tuple encode(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& pieces, const std::string& kernel) const {
        const std::vector<std::int64_t> held_offsets = copied(offsets);
        const std::vector<std::uint32_t> held_pieces = copied(pieces);
        check_csr(held_offsets, held_pieces.size());
        check_below(held_pieces, encoder_.pieces(), "no such piece");
        const Kernels& chosen = kernel.empty() ? chosen_kernels() : kernels_named(kernel);
        EncodedTexts encoded;
        {
            nb::gil_scoped_release release;
            encoded = encoder_.encode(held_offsets, held_pieces, chosen);
        }
        return nb::make_tuple(to_numpy(std::move(encoded.states), encoder_.dimensions()),
                              to_numpy(std::move(encoded.means), encoder_.dimensions()));
    }

   private:
    Array<std::int8_t> words_;  // keeps the embeddings alive, which may lie in a mapped file
    Encoder encoder_;
};

nb::tuple cut(const WordPieceCutter& cutter, nb::handle texts) {
    const HeldTexts held(texts);
    CutTexts cut = without_gil([&] { return cutter.cut(held.views()); });
    return nb::make_tuple(to_numpy(std::move(cut.offsets)), to_numpy(std::move(cut.pieces)), to_numpy(std::move(cut.words)));
}

}  // namespace

void bind_encoder(nb::module_& m) {
    chosen_kernels();  // when the module is imported: a wrong TESLA_EVAL_KERNEL is an error at once
    nb::list names;
    for (const Kernels& kernels : supported_kernels()) names.append(kernels.name);
    m.attr("KERNELS") = nb::tuple(names);
    nb::class_<WordPieceCutter>(m, "WordPieceCutter", "Texts to the pieces that an encoder of BERT's kind reads.")
        .def(nb::init<std::string, std::uint32_t, std::string_view, std::size_t, CharacterMap&>(), "vocabulary"_a,
             "unknown"_a, "prefix"_a, "longest_word"_a, "characters"_a, nb::keep_alive<1, 6>())
        .def("cut", &cut, "texts"_a,
             "Where each text's pieces begin, the pieces, and for each piece the number of its word in the text.");
    nb::class_<StateEncoder>(m, "StateEncoder", "Pieces of words to their states in context.")
        .def(nb::init<std::size_t, std::size_t, std::size_t, std::size_t, double, std::uint32_t, std::uint32_t,
                      Array<std::int8_t>, const Array<float>&, const Array<float>&, const Array<float>&,
                      const DenseArrays&, const DenseArrays&, const DenseArrays&, const DenseArrays&>(),
             "layers"_a, "dimensions"_a, "heads"_a, "inner"_a, "epsilon"_a, "begin"_a, "end"_a, "words"_a,
             "word_scales"_a, "places"_a, "norms"_a, "attention"_a, "output"_a, "inner_dense"_a, "outer"_a)
        .def("encode", &StateEncoder::encode, "offsets"_a, "pieces"_a, "kernel"_a = "",
             "The states of all pieces in 8-bit numbers, and the mean of each text's states; every kernel gives the same.");
}

}  // namespace tesla
