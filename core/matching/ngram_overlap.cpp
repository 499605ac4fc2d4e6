#include "matching/ngram_overlap.h"

#include <algorithm>

#include "base/checks.h"
#include "base/common_items.h"
#include "base/interrupt.h"
#include "matching/bags.h"

namespace tesla {
namespace {

constexpr int kLongest = 4;  // four words of 32 bits fit a wide key

// The n-grams of each text, sorted; a shorter one is told from a longer by its list.
class SortedNgrams {
   public:
    SortedNgrams(const WordColumns& texts, int longest) : longest_(longest) {
        const auto& [offsets, words] = texts;
        for (std::size_t text = 0; text < texts.size(); ++text) {
            const std::uint32_t* first = words.data + offsets[text];
            const auto length = static_cast<std::size_t>(offsets[text + 1] - offsets[text]);
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

}  // namespace

std::vector<std::int64_t> ngram_overlaps(const WordColumns& x, const WordColumns& y, const TextPairs& pairs, int longest) {
    for (const WordColumns* texts : {&x, &y}) check_csr(texts->offsets, texts->words.size);
    pairs.check(x.size(), y.size());
    require(longest >= 1 && longest <= kLongest, "n-grams have one to four words");
    const SortedNgrams x_ngrams(x, longest), y_ngrams(y, longest);
    std::vector<std::int64_t> overlaps;
    Interrupt interrupt;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto i = static_cast<std::size_t>(pairs.reference[k]), j = static_cast<std::size_t>(pairs.hypothesis[k]);
        std::size_t count = 0;
        for (int n = 1; n <= longest; ++n) count += count_common(x_ngrams.keys(i, n), y_ngrams.keys(j, n));
        overlaps.push_back(static_cast<std::int64_t>(count));
        interrupt.step(x_ngrams.keys(i, 1).size() + y_ngrams.keys(j, 1).size());
    }
    return overlaps;
}

}  // namespace tesla
