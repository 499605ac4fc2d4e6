#include "language/analysis/vector_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace tesla {
namespace {

constexpr std::string_view kContinuation = "##";
constexpr std::size_t kLongestCovered = 100;  // characters; BERT's tokeniser gives up on longer words
constexpr double kLargest = 127;

}  // namespace

VectorTable::VectorTable(std::string text, std::vector<std::int8_t> vectors, std::size_t dimensions, bool pieces)
    : text_(std::move(text)), vectors_(std::move(vectors)), dimensions_(dimensions), pieces_(pieces), entries_(pieces ? kContinuation : "") {
    if (dimensions == 0 || dimensions > kMostDimensions || vectors_.size() % dimensions != 0)
        throw std::invalid_argument("the vectors have an invalid shape");
    const bool open_end = !text_.empty() && text_.back() != '\n';  // the last line
    if (static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + open_end != size())
        throw std::invalid_argument("entries and vectors differ in number");
    entries_.reserve(size());
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text_.size(); ++number) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        if (!entries_.add(std::string_view(text_).substr(begin, end - begin), number))
            throw std::invalid_argument("an entry occurs twice");
        begin = end + 1;
    }
    inverse_norms_.reserve(size());
    for (const std::int8_t* vector = vectors_.data(); vector < vectors_.data() + vectors_.size(); vector += dimensions) {
        std::int64_t squares = 0;
        for (std::size_t d = 0; d < dimensions; ++d) squares += vector[d] * vector[d];
        inverse_norms_.push_back(squares == 0 ? 0.0 : 1.0 / std::sqrt(static_cast<double>(squares)));
    }
}

void VectorTable::segment(std::string_view word, std::vector<std::uint32_t>& entries) const {
    entries.clear();
    if (!pieces_) {
        if (const std::uint32_t* found = entries_.find(word)) entries.push_back(*found);
        return;
    }
    while (!word.empty()) {
        const std::size_t end = std::min(word.find(' '), word.size());
        entries_.cut(word.substr(0, end), kLongestCovered, entries);  // a part that cannot be covered adds nothing
        word.remove_prefix(std::min(end + 1, word.size()));
    }
}

// The mean of the unit vectors of the entries, with the largest number at 127. Every step rounds as IEEE 754 says and
// in this order, so all machines agree.
void VectorTable::look_up(std::string_view word, std::int8_t* vector) const {
    thread_local std::vector<std::uint32_t> entries;
    segment(word, entries);
    if (entries.size() == 1) {
        std::copy_n(vectors_.data() + entries[0] * dimensions_, dimensions_, vector);
        return;
    }
    double sum[kMostDimensions];
    std::fill_n(sum, dimensions_, 0.0);
    for (std::uint32_t entry : entries) {
        const std::int8_t* values = vectors_.data() + entry * dimensions_;
        for (std::size_t d = 0; d < dimensions_; ++d) sum[d] += values[d] * inverse_norms_[entry];
    }
    double largest = 0;
    for (std::size_t d = 0; d < dimensions_; ++d) largest = std::max(largest, std::abs(sum[d]));
    if (largest == 0) largest = 1;
    for (std::size_t d = 0; d < dimensions_; ++d) {
        const double value = kLargest * sum[d] / largest + 0.5;
        const auto towards_0 = static_cast<std::int32_t>(value);
        vector[d] = static_cast<std::int8_t>(towards_0 - (towards_0 > value));  // rounded down, without a call per number
    }
}

}  // namespace tesla
