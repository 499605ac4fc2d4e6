#include "analysis/vector_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/hashing.h"

namespace tesla {
namespace {

constexpr std::string_view kContinuation = "##";
constexpr std::size_t kLongestPart = 100;  // characters; BERT's tokeniser gives up on longer words
constexpr double kLargest = 127;

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

VectorTable::VectorTable(std::string text, std::vector<std::int8_t> vectors, std::size_t dimensions, bool pieces)
    : text_(std::move(text)), vectors_(std::move(vectors)), dimensions_(dimensions), pieces_(pieces) {
    if (dimensions == 0 || dimensions > kMostDimensions || vectors_.size() % dimensions != 0)
        throw std::invalid_argument("the vectors have an invalid shape");
    const bool open_end = !text_.empty() && text_.back() != '\n';  // the last line
    if (static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + open_end != size())
        throw std::invalid_argument("entries and vectors differ in number");
    beginnings_.reserve(size());
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text_.size(); ++number) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        add(std::string_view(text_).substr(begin, end - begin), number);
        begin = end + 1;
    }
    inverse_norms_.reserve(size());
    for (const std::int8_t* vector = vectors_.data(); vector < vectors_.data() + vectors_.size(); vector += dimensions) {
        std::int64_t squares = 0;
        for (std::size_t d = 0; d < dimensions; ++d) squares += vector[d] * vector[d];
        inverse_norms_.push_back(squares == 0 ? 0.0 : 1.0 / std::sqrt(static_cast<double>(squares)));
    }
}

void VectorTable::add(std::string_view entry, std::uint32_t number) {
    const bool continues = pieces_ && entry.size() > kContinuation.size() && entry.substr(0, 2) == kContinuation;
    if (continues) entry.remove_prefix(kContinuation.size());
    if (!(continues ? continuations_ : beginnings_).add(entry, number)) throw std::invalid_argument("an entry occurs twice");
}

// By the first three bytes; shorter texts are in buckets of their own.
std::size_t VectorTable::Entries::bucket_of(std::string_view text) {
    std::uint64_t start = 0;
    for (char byte : text.substr(0, 3)) start = start << 8 | static_cast<unsigned char>(byte);
    return mixed(start) % kBuckets;
}

bool VectorTable::Entries::add(std::string_view entry, std::uint32_t number) {
    longest_ = std::max(longest_, entry.size());
    if (!entry.empty() && entry.size() <= kLongestNoted) lengths_[bucket_of(entry)] |= std::uint64_t{1} << (entry.size() - 1);
    return numbers_.add(entry, number).second;
}

std::size_t VectorTable::Entries::longest_beginning(std::string_view text, std::uint32_t& number) const {
    for (std::size_t length = std::min(longest_, text.size()); length > 0; --length) {
        const std::string_view beginning = text.substr(0, length);
        if (length <= kLongestNoted && (lengths_[bucket_of(beginning)] >> (length - 1) & 1) == 0) continue;
        if (const std::uint32_t* found = find(beginning)) {
            number = *found;
            return length;
        }
    }
    return 0;
}

void VectorTable::segment(std::string_view word, std::vector<std::uint32_t>& entries) const {
    entries.clear();
    if (!pieces_) {
        if (const std::uint32_t* found = beginnings_.find(word)) entries.push_back(*found);
        return;
    }
    while (!word.empty()) {
        const std::size_t end = std::min(word.find(' '), word.size());
        segment_part(word.substr(0, end), entries);
        word.remove_prefix(std::min(end + 1, word.size()));
    }
}

// Greedy longest match, as in BERT: a part that cannot be covered has no pieces at all.
void VectorTable::segment_part(std::string_view part, std::vector<std::uint32_t>& entries) const {
    const std::size_t before = entries.size();
    if (count_characters(part) > kLongestPart) return;
    for (std::size_t begin = 0; begin < part.size();) {
        std::uint32_t number = 0;
        const std::size_t length = (begin == 0 ? beginnings_ : continuations_).longest_beginning(part.substr(begin), number);
        if (length == 0) {
            entries.resize(before);
            return;
        }
        entries.push_back(number);
        begin += length;
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
    for (std::size_t d = 0; d < dimensions_; ++d)
        vector[d] = static_cast<std::int8_t>(largest == 0 ? 0 : std::floor(kLargest * sum[d] / largest + 0.5));
}

}  // namespace tesla
