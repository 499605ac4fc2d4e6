#include "training/word_aligner.h"

#include <algorithm>
#include <unordered_map>

#include "base/flat_table.h"
#include "base/interrupt.h"
#include "training/line_words.h"

namespace tesla {
namespace {

constexpr double kCountSteps = 4294967296.0;   // per expected word pair: 2^32 leaves room for 2^32 of them
constexpr double kExposureSteps = 268435456.0;   // exposures grow larger: 2^28
constexpr double kLeastChance = 1e-10;         // no sentence pair becomes impossible
constexpr double kLeastWeight = 1e-6;

double chance_of(std::uint64_t count, std::uint64_t total) {
    return total == 0 ? kLeastChance : std::max(kLeastChance, static_cast<double>(count) / static_cast<double>(total));
}

void append_link(std::string& line, std::size_t target, std::size_t pivot) {
    if (!line.empty()) line += ' ';
    line += std::to_string(target);
    line += '-';
    line += std::to_string(pivot);
}

}  // namespace

class WordAligner::Scratch {
   public:
    AlignmentChain chains[2];
};

void WordAligner::Side::read(const std::vector<std::string_view>& lines) {
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (std::string_view line : lines) {
        for_each_word(line, [&](std::string_view word) {
            words.push_back(numbers.try_emplace(word, static_cast<std::uint32_t>(numbers.size())).first->second);
        });
        ends.push_back(words.size());
    }
    vocabulary = numbers.size();
}

WordAligner::WordAligner(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot) {
    target_.read(target);
    pivot_.read(pivot);
    number_pairs();
    const std::size_t generated[] = {pivot_.vocabulary, target_.vocabulary};
    for (std::size_t d = 0; d < 2; ++d) {
        directions_[d].null_chance.assign(generated[d], 1.0);
        directions_[d].null_count = std::vector<ExpectedCount>(generated[d]);
        directions_[d].weights.fill(1.0 / kJumpKinds);
    }
}

void WordAligner::number_pairs() {
    FirstMet numbers;
    Interrupt interrupt;
    for (std::size_t k = 0; k < size(); ++k) {
        interrupt.look();
        cell_starts_.push_back(cells_.size());
        for (std::size_t i = target_.start(k); i < target_.ends[k]; ++i)
            for (std::size_t j = pivot_.start(k); j < pivot_.ends[k]; ++j) {
                cells_.push_back(numbers.number_of(std::uint64_t{target_.words[i]} << 32 | pivot_.words[j]));
            }
    }
    pair_words_ = numbers.keys();
    pairs_ = std::vector<WordPair>(pair_words_.size());
}

void WordAligner::infer(AlignmentModel model, std::size_t pair, Scratch& scratch) const {
    const std::size_t m = target_.size(pair), n = pivot_.size(pair);
    const std::uint32_t* cell = &cells_[cell_starts_[pair]];
    AlignmentChain &forward = scratch.chains[0], &reverse = scratch.chains[1];
    forward.resize(n, m);
    reverse.resize(m, n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const WordPair& words = pairs_[cell[i * n + j]];
            forward.emission(j, i) = words.chance[0];
            reverse.emission(i, j) = words.chance[1];
        }
    for (std::size_t j = 0; j < n; ++j)
        forward.null_emission(j) = directions_[0].null_chance[pivot_.words[pivot_.start(pair) + j]];
    for (std::size_t i = 0; i < m; ++i)
        reverse.null_emission(i) = directions_[1].null_chance[target_.words[target_.start(pair) + i]];
    for (std::size_t d = 0; d < 2; ++d)
        model == AlignmentModel::Lexical ? scratch.chains[d].lexical() : scratch.chains[d].sequential(directions_[d].weights);
}

void WordAligner::expect(AlignmentModel model, std::size_t from, std::size_t to) {
    Scratch scratch;
    Interrupt interrupt;
    for (std::size_t k = from; k < to; ++k) {
        interrupt.look();
        const std::size_t m = target_.size(k), n = pivot_.size(k);
        if (m == 0 || n == 0) continue;
        infer(model, k, scratch);
        const AlignmentChain &forward = scratch.chains[0], &reverse = scratch.chains[1];
        const std::uint32_t* cell = &cells_[cell_starts_[k]];
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j)
                pairs_[cell[i * n + j]].count.add(forward.posterior(j, i) * reverse.posterior(i, j), kCountSteps);
        for (std::size_t j = 0; j < n; ++j)
            directions_[0].null_count[pivot_.words[pivot_.start(k) + j]].add(forward.null_posterior(j), kCountSteps);
        for (std::size_t i = 0; i < m; ++i)
            directions_[1].null_count[target_.words[target_.start(k) + i]].add(reverse.null_posterior(i), kCountSteps);
        if (model == AlignmentModel::Lexical) continue;
        for (std::size_t d = 0; d < 2; ++d)
            for (std::size_t kind = 0; kind < kJumpKinds; ++kind) {
                directions_[d].jumps[kind].add(scratch.chains[d].jumps()[kind], kCountSteps);
                directions_[d].exposures[kind].add(scratch.chains[d].exposures()[kind], kExposureSteps);
            }
    }
}

void WordAligner::maximise(AlignmentModel model) {
    std::vector<std::uint64_t> counts(pairs_.size()), target_totals(target_.vocabulary), pivot_totals(pivot_.vocabulary);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        counts[p] = pairs_[p].count.take();
        target_totals[pair_target(p)] += counts[p];
        pivot_totals[pair_pivot(p)] += counts[p];
    }
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        pairs_[p].chance[0] = chance_of(counts[p], target_totals[pair_target(p)]);
        pairs_[p].chance[1] = chance_of(counts[p], pivot_totals[pair_pivot(p)]);
    }
    for (Direction& direction : directions_) {
        std::vector<std::uint64_t> nulls;
        std::uint64_t total = 0;
        for (ExpectedCount& count : direction.null_count) total += nulls.emplace_back(count.take());
        for (std::size_t w = 0; w < nulls.size(); ++w) direction.null_chance[w] = chance_of(nulls[w], total);
        if (model == AlignmentModel::Lexical) continue;
        // Jumps / exposures is the step of Hunter (2004) for choices among the places that a sentence has: the likelihood
        // never falls.
        double sum = 0;
        for (std::size_t kind = 0; kind < kJumpKinds; ++kind) {
            const double jumps = static_cast<double>(direction.jumps[kind].take()) / kCountSteps;
            const double exposures = static_cast<double>(direction.exposures[kind].take()) / kExposureSteps;
            direction.weights[kind] = exposures == 0 ? 0 : jumps / exposures;
            sum += direction.weights[kind];
        }
        for (double& weight : direction.weights)
            weight = sum == 0 ? 1.0 / kJumpKinds : std::max(kLeastWeight, weight / sum);
    }
}

Posteriors WordAligner::posteriors(AlignmentModel model, std::size_t pair) const {
    const std::size_t m = target_.size(pair), n = pivot_.size(pair);
    Posteriors result{std::vector<double>(n * m), std::vector<double>(m * n)};
    if (m == 0 || n == 0) return result;
    Scratch scratch;
    infer(model, pair, scratch);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            result.pivot_by_target[j * m + i] = scratch.chains[0].posterior(j, i);
            result.target_by_pivot[i * n + j] = scratch.chains[1].posterior(i, j);
        }
    return result;
}

std::vector<std::string> WordAligner::directed_links(std::size_t direction, std::size_t from, std::size_t to,
                                                     double threshold) const {
    std::vector<std::string> lines;
    Scratch scratch;
    Interrupt interrupt;
    for (std::size_t k = from; k < to; ++k) {
        interrupt.look();
        std::string& line = lines.emplace_back();
        if (target_.size(k) == 0 || pivot_.size(k) == 0) continue;
        infer(AlignmentModel::Sequential, k, scratch);
        const AlignmentChain& chain = scratch.chains[direction];
        for (std::size_t word = 0; word < chain.length(); ++word) {
            std::size_t best = 0;
            for (std::size_t state = 1; state < chain.states(); ++state)
                if (chain.posterior(word, state) > chain.posterior(word, best)) best = state;
            if (chain.posterior(word, best) < threshold) continue;
            direction == 0 ? append_link(line, best, word) : append_link(line, word, best);
        }
    }
    return lines;
}

}  // namespace tesla
