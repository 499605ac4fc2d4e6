// Words in scripts without spaces: a linear model over characters and a lexicon, decoded exactly (Viterbi).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fixed_table.h"
#include "language/analysis/segmenter_features.h"

namespace tesla {

// The arrays of a model file. Hashes are stored as differences between sorted neighbours.
struct SegmenterArrays {
    std::vector<std::uint32_t> feature_deltas;
    std::vector<std::uint8_t> feature_places;  // per feature: bit p is set if it has a weight for place p
    std::vector<std::int8_t> weights;          // per bit
    std::vector<std::int16_t> transitions;     // (places + 1) x places, the start last
    std::vector<std::uint32_t> word_deltas;    // the lexicon
    std::vector<std::uint32_t> variants;       // pairs: a character, and the one it is taken for
};

// Where words end; immutable, so that threads may share it.
class Segmenter {
   public:
    // Throws std::invalid_argument for arrays that do not fit together.
    explicit Segmenter(const SegmenterArrays& arrays);

    // Calls `word(first, last)` for every word of text[start, end), which is a run of segmented characters in a text of
    // `length`; what stands around the run is looked at too.
    template <class Word>
    void segment(const char32_t* text, std::size_t length, std::size_t start, std::size_t end, Word&& word) const {
        Place places[kLongestStretch];
        while (start < end) {
            std::size_t stop = std::min(end, start + kLongestStretch);
            find_places(text, length, start, stop, places);
            for (std::size_t first = start, i = start; i < stop; ++i) {
                if (places[i - start] != Place::End && places[i - start] != Place::Single) continue;
                word(first, i + 1);
                first = i + 1;
            }
            start = stop;
        }
    }

   private:
    static constexpr std::size_t kLongestStretch = 512;  // characters decoded at once: no text needs more memory

    void find_places(const char32_t* text, std::size_t length, std::size_t start, std::size_t end, Place* places) const;

    FixedTable features_;  // the four weights of a feature are the bytes of its value
    FixedTable words_;
    Transitions transitions_;
    FixedTable variants_;
};

// The best sequence of places for `length` characters: a word does not begin at a mark, but for the first character, and
// none goes on beyond the end. `trace` is room to work in, as long as the text. Shared by segmenting and training.
using PlaceTrace = std::array<std::uint8_t, kPlaces>;
void decode_places(const PlaceScores* scores, const char32_t* characters, std::size_t length,
                   const Transitions& transitions, PlaceTrace* trace, Place* places);

}  // namespace tesla
