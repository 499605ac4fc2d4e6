#include "metrics/baselines/bag_overlap.h"

#include <algorithm>

namespace tesla {

std::int64_t BagOverlap::common(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second) {
    numbers_.reset(first.size() + second.size());
    left_.clear();
    for (std::uint64_t key : first) {
        const std::uint32_t number = numbers_.number_of(key);
        if (number == left_.size()) left_.push_back(0);
        ++left_[number];
    }
    std::int64_t common = 0;
    for (std::uint64_t key : second) {
        const std::uint32_t number = numbers_.number_of(key);
        if (number >= left_.size() || left_[number] == 0) continue;  // only in the second bag, or more often there
        --left_[number];
        ++common;
    }
    return common;
}

template <class Keep>
std::size_t NgramOverlap::extend(Ngram* ngrams, std::size_t count, const WordSequence& text, std::size_t n, Keep&& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Ngram shorter = ngrams[i];
        if (shorter.start + n > text.size) continue;
        const std::uint64_t key = std::uint64_t{shorter.number} << 32 | text[shorter.start + n - 1];
        const std::uint32_t number = numbers_.number_of(key);
        if (keep(number)) ngrams[kept++] = {shorter.start, number};
    }
    return kept;
}

void NgramOverlap::count(const WordSequence& hypothesis, const std::vector<WordSequence>& references,
                         std::size_t max_order, double* matches) {
    std::fill(matches, matches + max_order, 0.0);
    const auto begin = [](const WordSequence& text, std::vector<Ngram>& ngrams) {
        ngrams.resize(text.size);
        for (std::size_t start = 0; start < text.size; ++start) ngrams[start] = {start, 0};
    };
    begin(hypothesis, hypothesis_);
    if (references_.size() < references.size()) references_.resize(references.size());
    for (std::size_t r = 0; r < references.size(); ++r) begin(references[r], references_[r]);

    for (std::size_t n = 1; n <= max_order && !hypothesis_.empty(); ++n) {
        std::size_t most = hypothesis_.size();
        for (std::size_t r = 0; r < references.size(); ++r) most += references_[r].size();
        numbers_.reset(most);
        counts_.clear();
        hypothesis_.resize(extend(hypothesis_.data(), hypothesis_.size(), hypothesis, n, [&](std::uint32_t number) {
            if (number == counts_.size()) counts_.emplace_back();
            ++counts_[number].in_hypothesis;
            return true;
        }));
        std::int64_t matching = 0;
        for (std::size_t r = 0; r < references.size(); ++r) {
            std::vector<Ngram>& ngrams = references_[r];
            ngrams.resize(extend(ngrams.data(), ngrams.size(), references[r], n, [&](std::uint32_t number) {
                if (number >= counts_.size()) return false;  // not in the hypothesis
                Counts& counts = counts_[number];
                if (++counts.in_reference > counts.most_in_reference) {
                    counts.most_in_reference = counts.in_reference;
                    matching += counts.most_in_reference <= counts.in_hypothesis;
                }
                return true;
            }));
            for (const Ngram& ngram : ngrams) counts_[ngram.number].in_reference = 0;
        }
        matches[n - 1] = static_cast<double>(matching);
        const auto unmatched = [&](const Ngram& ngram) { return counts_[ngram.number].most_in_reference == 0; };
        hypothesis_.erase(std::remove_if(hypothesis_.begin(), hypothesis_.end(), unmatched), hypothesis_.end());
    }
}

}  // namespace tesla
