// How many n-grams of all lengths up to four two texts have in common (specification §13, dissimilarity).
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/arrays.h"
#include "matching/bags.h"
#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

constexpr int kLongest = 4;  // four words of 32 bits fit a wide key

// The n-grams of each text, sorted; a shorter one is told from a longer by its list.
class SortedNgrams {
   public:
    SortedNgrams(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& words, int longest)
        : longest_(longest) {
        for (std::size_t text = 0; text + 1 < offsets.size(); ++text) {
            const std::uint32_t* first = words.data() + offsets(text);
            const auto length = static_cast<std::size_t>(offsets(text + 1) - offsets(text));
            for (int n = 1; n <= longest; ++n) {
                std::vector<WideKey>& keys = keys_.emplace_back();
                for (std::size_t i = 0; i + static_cast<std::size_t>(n) <= length; ++i) {
                    WideKey key;
                    for (int k = 0; k < n; ++k) key = appended(key, first[i + static_cast<std::size_t>(k)], kLemmaBits);
                    keys.push_back(key);
                }
                std::sort(keys.begin(), keys.end());
            }
        }
    }
    const std::vector<WideKey>& keys(std::size_t text, int n) const {
        return keys_[text * static_cast<std::size_t>(longest_) + static_cast<std::size_t>(n - 1)];
    }

   private:
    int longest_;
    std::vector<std::vector<WideKey>> keys_;
};

std::int64_t common(const std::vector<WideKey>& a, const std::vector<WideKey>& b) {
    std::int64_t count = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        if (*i < *j) {
            ++i;
        } else if (*j < *i) {
            ++j;
        } else {
            ++count, ++i, ++j;
        }
    }
    return count;
}

std::vector<std::int64_t> overlaps(const Array<std::int64_t>& x_offsets, const Array<std::uint32_t>& x_words,
                                   const Array<std::int64_t>& y_offsets, const Array<std::uint32_t>& y_words,
                                   const Array<std::int64_t>& x_index, const Array<std::int64_t>& y_index,
                                   int longest) {
    check_csr(x_offsets, x_words.size());
    check_csr(y_offsets, y_words.size());
    check_pairs(x_index, x_offsets.size() - 1, y_index, y_offsets.size() - 1);
    if (longest < 1 || longest > kLongest) throw nb::value_error("n-grams have one to four words");
    nb::gil_scoped_release release;
    const SortedNgrams x(x_offsets, x_words, longest), y(y_offsets, y_words, longest);
    std::vector<std::int64_t> result;
    for (std::size_t k = 0; k < x_index.size(); ++k) {
        std::int64_t count = 0;
        for (int n = 1; n <= longest; ++n)
            count += common(x.keys(static_cast<std::size_t>(x_index(k)), n), y.keys(static_cast<std::size_t>(y_index(k)), n));
        result.push_back(count);
    }
    return result;
}

}  // namespace

void bind_ngram_overlap(nb::module_& m) {
    m.def(
        "ngram_overlap",
        [](const Array<std::int64_t>& x_offsets, const Array<std::uint32_t>& x_words,
           const Array<std::int64_t>& y_offsets, const Array<std::uint32_t>& y_words,
           const Array<std::int64_t>& x_index, const Array<std::int64_t>& y_index, int longest) {
            return to_numpy(overlaps(x_offsets, x_words, y_offsets, y_words, x_index, y_index, longest));
        },
        "x_offsets"_a, "x_words"_a, "y_offsets"_a, "y_words"_a, "x_index"_a, "y_index"_a, "longest"_a,
        "The number of n-grams, n = 1 .. longest, that text x_index[k] and text y_index[k] share, for every k.");
}

}  // namespace tesla
