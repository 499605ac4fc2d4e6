#include "encoder/encoder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "language/analysis/character_map.h"
#include "language/analysis/word_pieces.h"
#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"

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
        check_csr(view_of(offsets), pieces.size());
        check_below(view_of(pieces), encoder_.pieces(), "no such piece");
        const Kernels& chosen = kernel.empty() ? chosen_kernels() : kernels_named(kernel);
        EncodedTexts encoded;
        {
            nb::gil_scoped_release release;
            encoded = encoder_.encode(view_of(offsets), view_of(pieces), chosen);
        }
        return nb::make_tuple(to_numpy(std::move(encoded.states), encoder_.dimensions()),
                              to_numpy(std::move(encoded.means), encoder_.dimensions()));
    }

   private:
    Array<std::int8_t> words_;  // keeps the embeddings alive, which may lie in a mapped file
    Encoder encoder_;
};

// BERT's tokeniser: characters as Python reads them, words between spaces, their pieces.
class WordPieceCutter {
   public:
    WordPieceCutter(std::string vocabulary, std::uint32_t unknown, std::string_view prefix, std::size_t longest_word,
                    CharacterMap& characters)
        : vocabulary_(std::move(vocabulary)), pieces_(prefix), unknown_(unknown), longest_word_(longest_word), characters_(characters) {
        std::vector<std::string_view> lines;
        for (std::size_t begin = 0; begin <= vocabulary_.size(); begin += lines.back().size() + 1)
            lines.push_back(std::string_view(vocabulary_).substr(begin, vocabulary_.find('\n', begin) - begin));
        pieces_.reserve(lines.size());
        for (std::size_t i = lines.size(); i-- > 0;)  // of equal pieces the last one counts, as in BERT
            pieces_.add(lines[i], static_cast<std::uint32_t>(i));
    }
    WordPieceCutter(const WordPieceCutter&) = delete;  // the keys point into vocabulary_
    WordPieceCutter& operator=(const WordPieceCutter&) = delete;

    nb::tuple cut(nb::handle texts) const {
        const HeldTexts held(texts);
        std::vector<std::int64_t> offsets{0};
        std::vector<std::uint32_t> pieces, words;
        without_gil([&] {
            std::string read;
            for (std::string_view text : held.views()) {
                characters_.apply(text, read);
                cut_words(read, pieces, words);
                offsets.push_back(static_cast<std::int64_t>(pieces.size()));
            }
        });
        return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(pieces)), to_numpy(std::move(words)));
    }

   private:
    void cut_words(std::string_view text, std::vector<std::uint32_t>& pieces, std::vector<std::uint32_t>& words) const {
        std::uint32_t word = 0;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find(' '), text.size());
            if (end > 0) {
                if (!pieces_.cut(text.substr(0, end), longest_word_, pieces)) pieces.push_back(unknown_);
                words.resize(pieces.size(), word++);
            }
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    std::string vocabulary_;
    WordPieces pieces_;
    std::uint32_t unknown_;
    std::size_t longest_word_;
    CharacterMap& characters_;
};

}  // namespace

void bind_encoder(nb::module_& m) {
    nb::list names;
    for (const Kernels& kernels : supported_kernels()) names.append(kernels.name);
    m.attr("KERNELS") = nb::tuple(names);
    m.attr("KERNEL") = chosen_kernels().name;
    nb::class_<WordPieceCutter>(m, "WordPieceCutter", "Texts to the pieces that an encoder of BERT's kind reads.")
        .def(nb::init<std::string, std::uint32_t, std::string_view, std::size_t, CharacterMap&>(), "vocabulary"_a,
             "unknown"_a, "prefix"_a, "longest_word"_a, "characters"_a, nb::keep_alive<1, 6>())
        .def("cut", &WordPieceCutter::cut, "texts"_a,
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
