#include <nanobind/nanobind.h>


#include <string_view>
#include <vector>

#include "base/arrays.h"
#include "base/recycled_memory.h"
#include "bindings/bindings.h"
#include "matching/surface.h"
#include "base/texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// The surfaces of all texts of a batch; made once, compared as often as one likes.
class Surfaces {
   public:
    Surfaces(const nb::list& given, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& word,
             const Array<std::uint32_t>& lemma, const Array<std::uint8_t>& function, const Array<std::uint32_t>& folded,
             const Array<std::uint8_t>& shape, const Array<double>& word_weight, const Array<double>& lemma_weight,
             double unlisted) {
        const HeldTexts held(given);
        const std::vector<std::string_view>& texts = held.views();
        check_csr(offsets, texts.size(), word.size());
        check_columns(word.size(), {lemma.size(), function.size()});
        check_columns(folded.size(), {shape.size(), word_weight.size()});
        check_below(word, folded.size(), "no such word");
        check_below(lemma, lemma_weight.size(), "no such lemma");
        nb::gil_scoped_release release;
        texts_.reserve(texts.size());
        const SurfaceWords words{folded.data(), shape.data(), word_weight.data(), lemma_weight.data(), unlisted};
        SurfaceScratch scratch;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto from = static_cast<std::size_t>(offsets(i)), to = static_cast<std::size_t>(offsets(i + 1));
            texts_.emplace_back(
                SurfaceView{word.data() + from, lemma.data() + from, function.data() + from, to - from}, words, texts[i],
                scratch, &memory_);
        }
    }
    std::size_t size() const { return texts_.size(); }

    static nb::object compare(const Surfaces& reference, const Surfaces& hypothesis,
                              const Array<std::int64_t>& reference_index, const Array<std::int64_t>& hypothesis_index) {
        check_pairs(reference_index, reference.size(), hypothesis_index, hypothesis.size());
        const std::size_t pairs = reference_index.size();
        std::vector<double> rows(pairs * kSurfaceColumns);
        {
            nb::gil_scoped_release release;
            SurfaceMatcher matcher;
            for (std::size_t k = 0; k < pairs; ++k)
                matcher.compare(reference.texts_[static_cast<std::size_t>(reference_index(k))],
                                hypothesis.texts_[static_cast<std::size_t>(hypothesis_index(k))],
                                rows.data() + k * kSurfaceColumns);
        }
        return to_numpy(std::move(rows), kSurfaceColumns);
    }

   private:
    Arena memory_;  // before the texts that live in it
    std::vector<SurfaceText> texts_;
};

}  // namespace

void bind_surface(nb::module_& m) {
    nb::list names;
    for (const char* name : kSurfaceFeatures) names.append(name);
    m.attr("SURFACE_FEATURES") = nb::tuple(names);
    nb::class_<Surfaces>(m, "Surfaces", "What can be seen of all texts of a batch without matching n-grams.")
        .def(nb::init<const nb::list&, const Array<std::int64_t>&, const Array<std::uint32_t>&,
                      const Array<std::uint32_t>&, const Array<std::uint8_t>&, const Array<std::uint32_t>&,
                      const Array<std::uint8_t>&, const Array<double>&, const Array<double>&, double>(),
             "texts"_a, "offsets"_a, "word"_a, "lemma"_a, "function"_a, "folded"_a, "shape"_a, "word_weight"_a,
             "lemma_weight"_a, "unlisted"_a,
             "The tokens, then what is known of words and lemmas by number; `unlisted` is the weight of unknown words.")
        .def("__len__", &Surfaces::size);
    m.def("compare_surfaces", &Surfaces::compare, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "A row a pair, the columns are SURFACE_FEATURES.");
}

}  // namespace tesla
