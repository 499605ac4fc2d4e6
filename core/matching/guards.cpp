#include "matching/guards.h"

#include <algorithm>

#include "base/checks.h"

namespace tesla {
namespace {

// Content words in a row without a partner that a real translation may have (§8b): where it is longer than the
// reference, and otherwise.
constexpr std::size_t kFreeInsertion = 3, kFreeRun = 4;
// Pairs of words in another order are weighed against their number and this one: in short texts they say little.
constexpr std::size_t kPairsForOrder = 10;
// So many content words of a sentence stand for one that the reference has, too: fewer make the sentence a stray one.
constexpr std::size_t kWordsPerPartner = 3;

double share(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::size_t beyond(std::size_t ours, std::size_t theirs) { return ours - std::min(ours, theirs); }

// How many numbers are on one side only.
std::size_t unshared(const std::vector<std::uint32_t>& x, const std::vector<std::uint32_t>& y) {
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        common += x[i] == y[j];
        const bool step_x = x[i] <= y[j], step_y = y[j] <= x[i];
        i += step_x;
        j += step_y;
    }
    return x.size() + y.size() - 2 * common;
}

}  // namespace

void GuardTokens::check() const {
    check_csr(offsets, lemma.size);
    check_columns(lemma.size, {function.size, number.size, negation.size, starts.size});
}

GuardText::GuardText(const GuardTokens& tokens, std::size_t from, std::size_t to) {
    std::size_t particles = 0, negative_words = 0;
    const auto end_sentence = [this] {
        if (content.size() > (sentence_ends.empty() ? 0 : sentence_ends.back())) sentence_ends.push_back(content.size());
    };
    for (std::size_t k = from; k < to; ++k) {
        if (tokens.starts[k]) end_sentence();
        if (tokens.number[k] == kMarkup) continue;
        ++size;
        once.emplace_back(tokens.lemma[k], static_cast<std::uint32_t>(k - from));
        if (!tokens.function[k]) content.push_back(tokens.lemma[k]);
        if (tokens.number[k] != 0) numbers.push_back(tokens.number[k]);
        particles += tokens.negation[k] == kParticle;
        negative_words += tokens.negation[k] == kNegativeWord;
        stutters += k > from && tokens.lemma[k] == tokens.lemma[k - 1];
    }
    end_sentence();
    negations = std::max(particles, negative_words);
    std::sort(numbers.begin(), numbers.end());
    std::sort(once.begin(), once.end());
    std::size_t kept = 0;
    for (std::size_t k = 0; k < once.size(); ++k) {
        const bool same_before = k > 0 && once[k - 1].first == once[k].first;
        const bool same_after = k + 1 < once.size() && once[k + 1].first == once[k].first;
        if (!same_before && !same_after) std::swap(once[kept++], once[k]);
    }
    once.resize(kept);
    std::vector<std::uint32_t> sorted = content;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t lemma : sorted) {
        if (counts.empty() || counts.back().lemma != lemma) counts.push_back({lemma, 0});
        ++counts.back().count;
    }
}

void GuardMatcher::compare(const GuardText& x, const GuardText& y, double* row) {
    const auto [matched, run] = partners(x, y);
    const std::size_t longer = beyond(y.content.size(), x.content.size());
    const std::size_t digression = beyond(run, kFreeRun);
    // More than half as long again, and a word: in halves of words.
    *row++ = share(beyond(2 * y.size, 3 * x.size + 2), 2 * y.size);
    const double insertion = share(beyond(std::min(run, longer), kFreeInsertion), y.content.size());
    const double recall = share(matched, x.content.size());
    *row++ = insertion;
    // Where the text says what the reference says, an insertion is no other way to say it.
    *row++ = insertion * recall * recall;
    *row++ = share(digression, digression + x.content.size());
    *row++ = stray(x, y);
    *row++ = disorder(x, y);
    *row++ = share(beyond(y.stutters, x.stutters), y.size);
    *row++ = share(unshared(x.numbers, y.numbers), x.numbers.size() + y.numbers.size());
    const auto [fewer, more] = std::minmax(x.negations, y.negations);
    *row++ = share(more - fewer, more);
}

// Content words of y with a partner in x, and the most in a row without one: partners are given out from the left or
// from the right, whichever leaves the shorter run.
GuardMatcher::Partners GuardMatcher::partners(const GuardText& x, const GuardText& y) {
    std::size_t matched = 0;
    auto longest = [&](auto begin, auto end) {
        matched = 0;
        free_partners(x);
        std::size_t run = 0, best = 0;
        for (auto lemma = begin; lemma != end; ++lemma) {
            if (take_partner(x, *lemma)) {
                ++matched;
                run = 0;
            } else {
                best = std::max(best, ++run);
            }
        }
        return best;
    };
    const std::size_t from_left = longest(y.content.begin(), y.content.end());
    if (from_left <= kFreeInsertion) return {matched, from_left};
    const std::size_t from_right = longest(y.content.rbegin(), y.content.rend());
    return {matched, std::min(from_left, from_right)};
}

void GuardMatcher::free_partners(const GuardText& x) {
    free_.clear();
    for (const GuardText::Count& one : x.counts) free_.push_back(one.count);
}

// Whether a content word of x with this lemma is still free; it is taken.
bool GuardMatcher::take_partner(const GuardText& x, std::uint32_t lemma) {
    const auto place = std::lower_bound(x.counts.begin(), x.counts.end(), lemma,
                                        [](const GuardText::Count& one, std::uint32_t wanted) { return one.lemma < wanted; });
    if (place == x.counts.end() || place->lemma != lemma) return false;
    std::uint32_t& left = free_[static_cast<std::size_t>(place - x.counts.begin())];
    if (left == 0) return false;
    --left;
    return true;
}

// The share of content words in sentences that x has nearly nothing of, where y has more sentences than x.
double GuardMatcher::stray(const GuardText& x, const GuardText& y) {
    if (y.sentence_ends.size() <= x.sentence_ends.size()) return 0;
    free_partners(x);
    std::size_t from = 0, sum = 0;
    for (std::size_t end : y.sentence_ends) {
        std::size_t matched = 0;
        for (std::size_t k = from; k < end; ++k) matched += take_partner(x, y.content[k]);
        sum += beyond(end - from, kWordsPerPartner * matched);
        from = end;
    }
    return share(sum, y.content.size());
}

// How far more than a quarter of the pairs of words stand in another order; a random order has half of them.
double GuardMatcher::disorder(const GuardText& x, const GuardText& y) {
    places_.clear();
    for (std::size_t i = 0, j = 0; i < x.once.size() && j < y.once.size();) {
        if (x.once[i].first == y.once[j].first) {
            places_.emplace_back(y.once[j++].second, x.once[i++].second);
        } else if (x.once[i].first < y.once[j].first) {
            ++i;
        } else {
            ++j;
        }
    }
    std::sort(places_.begin(), places_.end());
    sequence_.clear();
    for (const auto& place : places_) sequence_.push_back(place.second);
    merged_.resize(sequence_.size());
    const std::size_t count = sequence_.size(), pairs = count * (count - (count > 0)) / 2 + kPairsForOrder;
    return share(beyond(4 * inversions(0, count), pairs), 2 * pairs);
}

// Merge sort.
std::size_t GuardMatcher::inversions(std::size_t from, std::size_t to) {
    if (to - from < 2) return 0;
    const std::size_t middle = from + (to - from) / 2;
    std::size_t sum = inversions(from, middle) + inversions(middle, to);
    for (std::size_t i = from, j = middle, k = from; k < to; ++k) {
        if (j == to || (i < middle && sequence_[i] < sequence_[j])) {
            merged_[k] = sequence_[i++];
        } else {
            merged_[k] = sequence_[j++];
            sum += middle - i;
        }
    }
    std::copy(merged_.begin() + static_cast<std::ptrdiff_t>(from), merged_.begin() + static_cast<std::ptrdiff_t>(to),
              sequence_.begin() + static_cast<std::ptrdiff_t>(from));
    return sum;
}

Guards::Guards(const GuardTokens& tokens) {
    tokens.check();
    texts_.reserve(tokens.offsets.size - 1);
    for (std::size_t t = 0; t + 1 < tokens.offsets.size; ++t)
        texts_.emplace_back(tokens, static_cast<std::size_t>(tokens.offsets[t]),
                            static_cast<std::size_t>(tokens.offsets[t + 1]));
}

std::vector<double> Guards::compare(const Guards& reference, const Guards& hypothesis, const TextPairs& pairs) {
    std::vector<double> rows(pairs.size() * kGuardColumns);
    GuardMatcher matcher;
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const GuardText& x, const GuardText& y) {
        matcher.compare(x, y, rows.data() + k * kGuardColumns);
    });
    return rows;
}

}  // namespace tesla
