// Texts as n-grams over one vocabulary; made once, scored against each other as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"
#include "matching/celab/celab.h"
#include "matching/celab/reasons.h"

namespace tesla::celab {

class Batch {
   public:
    static constexpr std::size_t kColumns = 4;  // covered and total weight of the reference's n-grams, and of the hypothesis's

    // The vocabulary must outlive this.
    Batch(Vocabulary& vocabulary, int order);
    // `weights` has one weight for every unit and length; without it each is 1.
    void add(const std::vector<std::string_view>& units, std::optional<std::vector<double>> weights);
    std::size_t size() const { return texts_.size(); }

    // The joined texts that no dictionary has been asked for yet; `define` answers in the same order.
    std::vector<std::string_view> unknown();
    void define(const ArrayView<std::int64_t>& offsets, const ArrayView<std::int32_t>& categories);

    // A row per pair; NaN where more than `limit` rows of a program hang together.
    std::vector<double> solve(const TextPairs& pairs, std::size_t limit);
    // One pair with the matches that reach the optimum.
    std::pair<Solution, Reasons> explain(std::int64_t reference, std::int64_t hypothesis, std::size_t limit);

    static void append(const Solution& solution, std::vector<double>& rows);

   private:
    void find_types();

    Vocabulary& vocabulary_;
    const int order_;
    std::vector<Text> texts_;
    std::vector<std::uint32_t> unknown_;
    std::unique_ptr<std::once_flag> types_found_ = std::make_unique<std::once_flag>();  // so that a batch can be moved
};

}  // namespace tesla::celab
