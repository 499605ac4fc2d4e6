// Training of the segmenter: a structured averaged perceptron in whole numbers, the same to the bit everywhere.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "language/analysis/segmenter.h"

namespace tesla {

class SegmenterTrainer {
   public:
    // A word of the lexicon; to be called before the texts.
    void add_word(std::string_view word);

    // A text and its words as pairs of first and last + 1 character.
    void add_text(std::string_view text, const std::vector<std::pair<std::size_t, std::size_t>>& words);

    // Fixes the features: those seen fewer than `min_count` times are left out.
    void prepare(int min_count);

    // One pass over the texts in an order drawn from `seed`; the right places must win by `margin` for each that is
    // wrong. Returns the number of runs that were cut wrongly.
    std::size_t run_epoch(std::uint64_t seed, int margin);

    // The averaged weights, rounded to 8 bits at `scale` units per 1.0; weights below `min_weight` units are dropped.
    SegmenterArrays quantised(double scale, int min_weight) const;

   private:
    struct Weight {
        std::int32_t value = 0;
        std::int64_t total = 0;  // sum of changes, each times the step of its making
    };
    using Row = std::array<Weight, kPlaces>;
    struct Character {
        char32_t character;
        Place place;
        std::array<std::uint32_t, kFeatures> features;  // hashes, after `prepare` numbers of rows, 0 for none
    };
    struct Run {
        std::size_t begin, end;
    };

    void change(Weight& weight, std::int32_t amount);
    double average(const Weight& weight) const;

    std::unordered_set<std::uint32_t> words_;
    std::vector<Character> characters_;
    std::vector<Run> runs_;
    std::unordered_map<std::uint32_t, std::uint32_t> row_of_;
    std::vector<Row> rows_;
    std::array<Row, kPlaces + 1> transitions_{};
    std::int64_t step_ = 0;
};

}  // namespace tesla
