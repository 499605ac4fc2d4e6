// Interpolated modified Kneser-Ney (Chen & Goodman 1998) from sentences of word numbers, in passes over sorted n-grams
// on disk, as Heafield et al. (2013) do it: memory is bounded, whatever the size of the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/ngram_sorter.h"

namespace tesla {

// N-grams of one order, sorted by their words from the last to the first.
struct EstimatedNgrams {
    std::vector<std::uint32_t> words;    // of each n-gram, the last one first
    std::vector<std::uint32_t> parents;  // the numbers of the n-grams without their first words
    std::vector<double> probability, backoff;
};

class NgramEstimator {
   public:
    using Progress = std::function<void(std::uint64_t)>;  // so many more records are done
    using Discounts = std::array<double, 3>;              // of n-grams counted once, twice, more often

    // `thresholds[n - 1]`: n-grams seen at most so often are left out of the model; the thresholds must not descend.
    NgramEstimator(unsigned order, std::uint32_t vocabulary, std::vector<std::uint64_t> thresholds, std::string folder,
                   std::size_t memory);
    ~NgramEstimator();

    void add_sentence(const std::uint32_t* words, std::size_t length);
    // Pass 1: how often an n-gram counts. The longest as often as it is seen; a shorter one once for every word that
    // is seen before it, or, where nothing can come before it (it begins a sentence), as often as it is seen.
    void adjust_counts(const Progress& progress);
    // t_1 .. t_4 of order n: how many n-grams count once, twice, ...
    const std::array<std::uint64_t, 4>& count_of_counts(unsigned n) const { return count_of_counts_.at(n - 1); }
    std::uint64_t ngrams(unsigned n) const { return adjusted_.at(n - 1); }

    // Passes 2 and 3 for one order; the orders must come one after the other, from 1.
    void estimate(unsigned n, const Discounts& discounts, const Progress& progress);
    // After the last order: pass 4 gives every n-gram its backoff weight.
    void join_backoffs(const Progress& progress);

    std::uint64_t kept(unsigned n) const { return kept_.at(n - 1); }
    // Some n-grams of order n of the model, from number `start` on.
    EstimatedNgrams read(unsigned n, std::uint64_t start, std::uint64_t count) const;

   private:
    // The n-grams of the model, last word first, sorted so: x probability, y backoff weight, tag the line of the
    // n-gram without its first word among those of order n - 1.
    std::string result_path(unsigned n) const;
    std::string path(const char* what, unsigned n) const;
    void write_adjusted(unsigned n, NgramRecord record);
    void estimate_unigrams(const Discounts& discounts);
    void weigh_contexts(unsigned n, const Discounts& discounts, NgramSorter& weighted, const Progress& progress);
    void interpolate(unsigned n, NgramSorter& weighted, const Progress& progress);

    unsigned order_;
    std::uint32_t vocabulary_;
    std::vector<std::uint64_t> thresholds_;
    std::string folder_;
    std::size_t memory_;
    std::unique_ptr<NgramSorter> counts_;
    std::vector<std::unique_ptr<RecordWriter>> adjusted_writers_;
    unsigned estimated_ = 0;  // orders
    bool joined_ = false;
    std::vector<std::uint64_t> adjusted_, kept_;
    std::vector<std::array<std::uint64_t, 4>> count_of_counts_;
    std::vector<std::unique_ptr<NgramSorter>> backoffs_;  // of the n-grams of order n: [n - 1]
};

}  // namespace tesla
