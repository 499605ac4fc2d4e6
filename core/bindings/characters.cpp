#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "base/arrays.h"
#include "base/recycled_memory.h"
#include "bindings/bindings.h"
#include "matching/characters.h"
#include "matching/measures.h"
#include "base/texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// The character bags of every text of a batch; made once, matched as often as one likes.
class CharacterBags {
   public:
    explicit CharacterBags(const nb::list& given) {
        const HeldTexts held(given);
        nb::gil_scoped_release release;
        texts_.reserve(held.views().size());
        CharacterScratch scratch;
        for (std::string_view text : held.views()) texts_.emplace_back(text, scratch, &memory_);
    }
    std::size_t size() const { return texts_.size(); }

    // One row of precision, recall and F per pair, one column per order; NaN where no n-gram exists (specification §5).
    static nb::tuple match(const CharacterBags& reference, const CharacterBags& hypothesis,
                           const Array<std::int64_t>& reference_index, const Array<std::int64_t>& hypothesis_index,
                           int max_order, double alpha, bool both_ways) {
        check_order(max_order);
        check_pairs(reference_index, reference.size(), hypothesis_index, hypothesis.size());
        const std::size_t pairs = reference_index.size(), columns = static_cast<std::size_t>(max_order);
        Measures measures(pairs, columns, alpha, both_ways);
        {
            nb::gil_scoped_release release;
            std::int64_t matches[kMaxCharacterOrder];
            for (std::size_t k = 0; k < pairs; ++k) {
                const CharacterBag& x = reference.texts_[static_cast<std::size_t>(reference_index(k))];
                const CharacterBag& y = hypothesis.texts_[static_cast<std::size_t>(hypothesis_index(k))];
                CharacterBag::overlap(x, y, max_order, matches);
                for (int n = 1; n <= max_order; ++n)
                    measures.set(k, static_cast<std::size_t>(n - 1), {matches[n - 1], x.total(n), y.total(n)});
            }
        }
        return std::move(measures).to_python();
    }

    // Of every pair and order: n-grams of the hypothesis, of the reference, and those that both have.
    static nb::object count(const CharacterBags& reference, const CharacterBags& hypothesis,
                            const Array<std::int64_t>& reference_index, const Array<std::int64_t>& hypothesis_index,
                            int max_order) {
        check_order(max_order);
        check_pairs(reference_index, reference.size(), hypothesis_index, hypothesis.size());
        const std::size_t pairs = reference_index.size(), columns = 3 * static_cast<std::size_t>(max_order);
        std::vector<std::int64_t> counts(pairs * columns);
        {
            nb::gil_scoped_release release;
            std::int64_t matches[kMaxCharacterOrder];
            for (std::size_t k = 0; k < pairs; ++k) {
                const CharacterBag& x = reference.texts_[static_cast<std::size_t>(reference_index(k))];
                const CharacterBag& y = hypothesis.texts_[static_cast<std::size_t>(hypothesis_index(k))];
                CharacterBag::overlap(x, y, max_order, matches);
                std::int64_t* row = counts.data() + k * columns;
                for (int n = 1; n <= max_order; ++n) {
                    *row++ = y.total(n);
                    *row++ = x.total(n);
                    *row++ = matches[n - 1];
                }
            }
        }
        return to_numpy(std::move(counts), columns);
    }

   private:
    static void check_order(int max_order) {
        if (max_order < 1 || max_order > kMaxCharacterOrder) throw nb::value_error("n-grams have 1 to 6 characters");
    }

    Arena memory_;  // before the bags that live in it
    std::vector<CharacterBag> texts_;
};

}  // namespace

void bind_characters(nb::module_& m) {
    nb::class_<CharacterBags>(m, "CharacterBags", "The character n-grams of all texts of a batch.")
        .def(nb::init<const nb::list&>(), "texts"_a)
        .def("__len__", &CharacterBags::size);
    m.def(
        "match_characters",
        [](const CharacterBags& reference, const CharacterBags& hypothesis, const Array<std::int64_t>& i,
           const Array<std::int64_t>& j, int max_order, double alpha) {
            return CharacterBags::match(reference, hypothesis, i, j, max_order, alpha, false);
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "max_order"_a, "alpha"_a,
        "Precision, recall and F: one row per pair, one column per order.");
    m.def("count_characters", &CharacterBags::count, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "max_order"_a,
          "One row per pair; for each order the n-grams of the hypothesis, of the reference, and those of both.");
    m.def(
        "match_characters_both_ways",
        [](const CharacterBags& texts, const Array<std::int64_t>& i, const Array<std::int64_t>& j, int max_order,
           double alpha) { return CharacterBags::match(texts, texts, i, j, max_order, alpha, true); },
        "texts"_a, "first"_a, "second"_a, "max_order"_a, "alpha"_a,
        "Precision, recall and F with the first text as reference, and F with the second as reference.");
}

}  // namespace tesla
