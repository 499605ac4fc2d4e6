#include "training/alignment_chain.h"

#include <algorithm>

namespace tesla {

void AlignmentChain::resize(std::size_t length, std::size_t states) {
    length_ = length;
    states_ = states;
    emission_.resize(length * states);
    posterior_.resize(length * states);
    null_emission_.resize(length);
    null_posterior_.resize(length);
}

void AlignmentChain::lexical() {
    for (std::size_t j = 0; j < length_; ++j) {
        const double* chances = &emission_[j * states_];
        double total = null_emission_[j];
        for (std::size_t i = 0; i < states_; ++i) total += chances[i];
        for (std::size_t i = 0; i < states_; ++i) posterior_[j * states_ + i] = chances[i] / total;
        null_posterior_[j] = null_emission_[j] / total;
    }
}

void AlignmentChain::sequential(const JumpWeights& weights) {
    set_transitions(weights);
    forward();
    backward();
    count_jumps();
}

void AlignmentChain::set_transitions(const JumpWeights& weights) {
    const std::size_t places = states_ + 1;
    transition_.resize(places * states_);
    norm_.resize(places);
    const double share = 1.0 - null_share();
    for (std::size_t a = 0; a < places; ++a) {
        double* row = &transition_[a * states_];
        double total = 0;
        for (std::size_t b = 0; b < states_; ++b) {
            row[b] = weights[jump_kind(static_cast<long>(b) + 1 - static_cast<long>(a))];
            total += row[b];
        }
        norm_[a] = total;
        for (std::size_t b = 0; b < states_; ++b) row[b] *= share / total;
    }
}

void AlignmentChain::forward() {
    const std::size_t places = states_ + 1;
    const double null_chance = null_share();
    reached_.assign((length_ + 1) * places, 0.0);
    word_reached_.resize(length_ * states_);
    null_reached_.resize(length_ * places);
    scale_.resize(length_);
    reached_[0] = 1.0;
    for (std::size_t j = 0; j < length_; ++j) {
        const double* before = &reached_[j * places];
        double* after = &reached_[(j + 1) * places];
        double* word = &word_reached_[j * states_];
        double* none = &null_reached_[j * places];
        std::fill(word, word + states_, 0.0);
        for (std::size_t a = 0; a < places; ++a) {
            const double mass = before[a];
            const double* row = &transition_[a * states_];
            for (std::size_t b = 0; b < states_; ++b) word[b] += mass * row[b];
        }
        const double* chances = &emission_[j * states_];
        double total = 0;
        for (std::size_t a = 0; a < places; ++a) {
            none[a] = before[a] * null_chance * null_emission_[j];
            after[a] = none[a];
        }
        for (std::size_t b = 0; b < states_; ++b) {
            word[b] *= chances[b];
            after[b + 1] += word[b];
        }
        for (std::size_t a = 0; a < places; ++a) total += after[a];
        scale_[j] = total;
        for (std::size_t a = 0; a < places; ++a) after[a] /= total;
        for (std::size_t a = 0; a < places; ++a) none[a] /= total;
        for (std::size_t b = 0; b < states_; ++b) word[b] /= total;
    }
}

void AlignmentChain::backward() {
    const std::size_t places = states_ + 1;
    const double null_chance = null_share();
    onward_.assign(places, 1.0);
    next_.resize(places);
    weighted_.resize(states_);
    pairs_.assign(places * states_, 0.0);
    for (std::size_t j = length_; j-- > 0;) {
        const double* word = &word_reached_[j * states_];
        const double* none = &null_reached_[j * places];
        const double* before = &reached_[j * places];
        double nothing = 0;
        for (std::size_t a = 0; a < places; ++a) nothing += none[a] * onward_[a];
        null_posterior_[j] = nothing;
        for (std::size_t b = 0; b < states_; ++b) posterior_[j * states_ + b] = word[b] * onward_[b + 1];
        for (std::size_t b = 0; b < states_; ++b)
            weighted_[b] = emission_[j * states_ + b] * onward_[b + 1] / scale_[j];
        const double null_step = null_chance * null_emission_[j] / scale_[j];
        for (std::size_t a = 0; a < places; ++a) {
            const double* row = &transition_[a * states_];
            double* pair = &pairs_[a * states_];
            const double mass = before[a];
            double total = null_step * onward_[a];
            for (std::size_t b = 0; b < states_; ++b) {
                const double step = row[b] * weighted_[b];
                pair[b] += mass * step;
                total += step;
            }
            next_[a] = total;
        }
        onward_.swap(next_);
    }
}

void AlignmentChain::count_jumps() {
    jumps_.fill(0.0);
    exposures_.fill(0.0);
    for (std::size_t a = 0; a <= states_; ++a) {
        double total = 0;
        JumpWeights kinds{};
        for (std::size_t b = 0; b < states_; ++b) {
            const std::size_t kind = jump_kind(static_cast<long>(b) + 1 - static_cast<long>(a));
            jumps_[kind] += pairs_[a * states_ + b];
            kinds[kind] += 1.0;
            total += pairs_[a * states_ + b];
        }
        for (std::size_t kind = 0; kind < kJumpKinds; ++kind) exposures_[kind] += total * kinds[kind] / norm_[a];
    }
}

}  // namespace tesla
