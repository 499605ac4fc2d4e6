#include "language/analysis/vector_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checks.h"

namespace tesla {
namespace {

constexpr std::string_view kContinuation = "##";
constexpr std::size_t kLongestCovered = 100;  // characters; BERT's tokeniser gives up on longer words
constexpr double kLargest = 127;

std::uint32_t square_of(const std::int8_t* vector, std::size_t dimensions) {
    std::uint32_t square = 0;
    for (std::size_t d = 0; d < dimensions; ++d) square += static_cast<std::uint32_t>(vector[d] * vector[d]);
    return square;
}

}  // namespace

VectorTable::VectorTable(std::string text, const ArrayView<std::int8_t>& vectors, std::size_t dimensions, bool pieces)
    : text_(std::move(text)), vectors_(vectors.begin(), vectors.end()), dimensions_(dimensions), pieces_(pieces),
      entries_(pieces ? kContinuation : "") {
    require(dimensions > 0 && dimensions <= kMostDimensions && vectors_.size() % dimensions == 0,
            "the vectors have an invalid shape");
    const bool open_end = !text_.empty() && text_.back() != '\n';  // the last line
    require(static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + open_end == size(),
            "entries and vectors differ in number");
    entries_.reserve(size());
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text_.size(); ++number) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        require(entries_.add(std::string_view(text_).substr(begin, end - begin), number), "an entry occurs twice");
        begin = end + 1;
    }
    squares_.reserve(size());
    inverse_norms_.reserve(size());
    for (const std::int8_t* vector = vectors_.data(); vector < vectors_.data() + vectors_.size(); vector += dimensions) {
        squares_.push_back(square_of(vector, dimensions));
        inverse_norms_.push_back(squares_.back() == 0 ? 0.0 : 1.0 / std::sqrt(static_cast<double>(squares_.back())));
    }
}

std::vector<std::uint32_t> VectorTable::segment(std::string_view word) const {
    std::vector<std::uint32_t> entries;
    if (pieces_) {
        append_pieces(word, entries);
    } else if (const std::uint32_t* entry = entries_.find(word)) {
        entries.push_back(*entry);
    }
    return entries;
}

void VectorTable::append_pieces(std::string_view word, std::vector<std::uint32_t>& entries) const {
    while (!word.empty()) {
        const std::size_t end = std::min(word.find(' '), word.size());
        entries_.cut(word.substr(0, end), kLongestCovered, entries);  // a part that cannot be covered adds nothing
        word.remove_prefix(std::min(end + 1, word.size()));
    }
}

// The mean of the unit vectors of the entries, with the largest number at 127. Every step rounds as IEEE 754 says and
// in this order, so all machines agree.
WordVector VectorTable::vector_of(const std::uint32_t* entries, std::size_t count, std::int8_t* mean) const {
    const auto unless_zero = [](const std::int8_t* values, std::uint32_t square) {
        return square == 0 ? WordVector{} : WordVector{values, square};
    };
    if (count == 0) return {};
    if (count == 1) return unless_zero(vectors_.data() + entries[0] * dimensions_, squares_[entries[0]]);
    double sum[kMostDimensions];
    std::fill_n(sum, dimensions_, 0.0);
    for (std::size_t k = 0; k < count; ++k) {
        const std::int8_t* const values = vectors_.data() + entries[k] * dimensions_;
        const double inverse_norm = inverse_norms_[entries[k]];
        for (std::size_t d = 0; d < dimensions_; ++d) sum[d] += values[d] * inverse_norm;
    }
    double largest = 0;
    for (std::size_t d = 0; d < dimensions_; ++d) largest = std::max(largest, std::abs(sum[d]));
    if (largest == 0) largest = 1;
    for (std::size_t d = 0; d < dimensions_; ++d) sum[d] = kLargest * sum[d] / largest + 0.5;
    for (std::size_t d = 0; d < dimensions_; ++d) {
        const auto towards_0 = static_cast<std::int32_t>(sum[d]);
        mean[d] = static_cast<std::int8_t>(towards_0 - (towards_0 > sum[d]));  // rounded down, without a call per number
    }
    return unless_zero(mean, square_of(mean, dimensions_));
}

}  // namespace tesla
