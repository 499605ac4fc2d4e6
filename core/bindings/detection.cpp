#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/analysis/detection.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

Script script_named(std::string_view name) {
    const auto* entry = std::find(std::begin(kScriptNames), std::end(kScriptNames), name);
    require(entry != std::end(kScriptNames), "no such script");
    return static_cast<Script>(entry - std::begin(kScriptNames));
}

nb::dict letters_by_script(const SpelledTexts& texts) {
    nb::dict counts;
    const std::vector<std::size_t> numbers = texts.letters_by_script();
    for (std::size_t script = 0; script < kScripts; ++script)
        if (numbers[script]) counts[kScriptNames[script]] = numbers[script];
    return counts;
}

nb::tuple letters(const SpelledTexts& texts) {
    std::vector<std::uint32_t> codes;
    std::vector<std::int64_t> counts;
    for (const auto& [letter, count] : texts.letters()) {
        codes.push_back(letter);
        counts.push_back(count);
    }
    return nb::make_tuple(to_numpy(std::move(codes)), to_numpy(std::move(counts)));
}

nb::tuple ngram_buckets(const SpelledTexts& texts, int bits) {
    std::vector<std::int64_t> buckets, numbers;
    for (const SpelledTexts::Bucket& ngram : texts.ngram_buckets(bits)) {
        buckets.push_back(ngram.bucket);
        numbers.push_back(ngram.text);
    }
    return nb::make_tuple(to_numpy(std::move(buckets)), to_numpy(std::move(numbers)));
}

}  // namespace

void bind_detection(nb::module_& m) {
    m.def(
        "script_of", [](std::uint32_t letter) { return kScriptNames[static_cast<std::size_t>(script_of(letter))]; }, "letter"_a,
        "The script of a letter given as a code point: empty for what is no letter, `other` for unsupported scripts.");
    nb::class_<SpelledTexts>(m, "SpelledTexts", "The words of some texts, as far as language detection looks at them.")
        .def(
            "__init__",
            [](SpelledTexts* self, const nb::bytes& texts) { new (self) SpelledTexts({texts.c_str(), texts.size()}); },
            "texts"_a, "Texts in small letters as UTF-8, one line each.")
        .def(
            "of_script", [](const SpelledTexts& self, std::string_view script) { return self.of_script(script_named(script)); },
            "script"_a, "The same with the letters of one script alone; all others separate words.")
        .def("letters_by_script", &letters_by_script)
        .def("letters", &letters, "The letters, ascending, and the number of each.")
        .def("word_hashes", [](const SpelledTexts& self) { return to_numpy(self.word_hashes()); })
        .def("ngram_buckets", &ngram_buckets, "bits"_a, "The bucket of every n-gram, and the text that it is in.")
        .def(
            "weigh",
            [](const SpelledTexts& self, const nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& weights) {
                const std::size_t languages = weights.shape(1);
                SpelledTexts::WeightedTexts weighted = self.weigh({weights.data(), weights.size()}, languages);
                return nb::make_tuple(to_numpy(std::move(weighted.sums), languages), to_numpy(std::move(weighted.sizes)));
            },
            "weights"_a,
            "By text the sums of the weights of its n-grams, one column per language, and how many n-grams it has. Texts without "
            "any are left out.");
}

}  // namespace tesla
