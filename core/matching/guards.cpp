#include "matching/guards.h"

#include <algorithm>

#include "base/common_items.h"
#include "base/portable.h"
#include "base/share.h"
#include "language/analysis/critical_marks.h"

namespace tesla {
namespace {

// Content words in a row without a partner that a real translation may have (§8b): where it is longer than the
// reference, and otherwise.
constexpr std::size_t kFreeInsertion = 3, kFreeRun = 4;
// Pairs of words in another order are weighed against their number and this one: in short texts they say little.
constexpr std::size_t kPairsForOrder = 10;
// So many content words of a sentence stand for one that the reference has, too: fewer make the sentence a stray one.
constexpr std::size_t kWordsPerPartner = 3;

std::size_t beyond(std::size_t ours, std::size_t theirs) { return ours - std::min(ours, theirs); }

// How many numbers are on one side only.
std::size_t unshared(const std::pmr::vector<std::uint32_t>& x, const std::pmr::vector<std::uint32_t>& y) {
    return x.size() + y.size() - 2 * count_common(x, y);
}

}  // namespace

GuardText::GuardText(GuardView tokens, std::pmr::memory_resource* memory)
    : lemmas(tokens.size, memory), function(tokens.size, memory), numbers(memory), sentence_ends(memory) {
    // Local pointers: stores through uint8_t* may alias members.
    std::uint32_t* const lemma = lemmas.data();
    std::uint8_t* const is_function = function.data();
    std::size_t words = 0, contents = 0, stuttered = 0, particles = 0, negative_words = 0;
    const auto end_sentence = [this](std::size_t end) {
        if (end > (sentence_ends.empty() ? 0 : sentence_ends.back())) sentence_ends.push_back(end);
    };
    for (std::size_t k = 0; k < tokens.size; ++k) {
        if (tokens.starts[k]) end_sentence(contents);
        if (tokens.number[k] == kMarkup) continue;
        lemma[words] = tokens.lemma[k];
        is_function[words++] = tokens.function[k];
        contents += tokens.function[k] == 0;
        if (tokens.number[k] != 0) numbers.push_back(tokens.number[k]);
        particles += tokens.negation[k] == kParticle;
        negative_words += tokens.negation[k] == kNegativeWord;
        stuttered += k > 0 && tokens.lemma[k] == tokens.lemma[k - 1];
    }
    end_sentence(contents);
    lemmas.resize(words);
    function.resize(words);
    content = contents;
    stutters = stuttered;
    negations = std::max(particles, negative_words);
    std::sort(numbers.begin(), numbers.end());
}

void GuardMatcher::compare(const GuardText& x, const GuardText& y, double* row) {
    compare_lemmas(x, y);
    const auto [matched, run] = partners(y);
    const std::size_t longer = beyond(y.content, x.content);
    const std::size_t digression = beyond(run, kFreeRun);
    // More than half as long again, and a word: in halves of words.
    *row++ = share_of(beyond(2 * y.size(), 3 * x.size() + 2), 2 * y.size());
    const double insertion = share_of(beyond(std::min(run, longer), kFreeInsertion), y.content);
    const double recall = share_of(matched, x.content);
    *row++ = insertion;
    // Where the text says what the reference says, an insertion is no other way to say it.
    *row++ = insertion * recall * recall;
    *row++ = share_of(digression, digression + x.content);
    *row++ = stray(x, y);
    *row++ = disorder(x, y);
    *row++ = share_of(beyond(y.stutters, x.stutters), y.size());
    *row++ = share_of(unshared(x.numbers, y.numbers), x.numbers.size() + y.numbers.size());
    const auto [fewer, more] = std::minmax(x.negations, y.negations);
    *row++ = share_of(more - fewer, more);
}

void GuardMatcher::compare_lemmas(const GuardText& x, const GuardText& y) {
    sentences_ = EqualWords::are_sentences(x.size(), y.size());
    if (!sentences_) return number_lemmas(x, y);
    equal_.find(x.lemmas.data(), x.size(), y.lemmas.data(), y.size());
    content_x_ = ~bits_of_flags(x.function.data(), x.size());
    content_y_ = ~bits_of_flags(y.function.data(), y.size());
}

void GuardMatcher::number_lemmas(const GuardText& x, const GuardText& y) {
    numbers_.reset(x.size() + y.size());
    counts_.assign(x.size() + y.size(), {});
    for (std::uint32_t i = 0; i < x.size(); ++i) {
        Count& count = counts_[numbers_.number_of(x.lemmas[i])];
        ++count.x;
        count.content += x.function[i] == 0;
        count.place = i;
    }
    y_.resize(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        y_[i] = numbers_.number_of(y.lemmas[i]);
        ++counts_[y_[i]].y;
    }
}

// Content words of y with a partner in x, and the most in a row without one: partners are given out from the left or
// from the right, whichever leaves the shorter run.
GuardMatcher::Partners GuardMatcher::partners(const GuardText& y) {
    std::size_t matched = 0;
    const auto longest = [&](bool backwards) {
        take_partners(y, backwards);
        std::size_t run = 0, best = 0;
        matched = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {  // without a branch
            matched += taken_[i];
            run = taken_[i] ? 0 : run + (y.function[i] == 0);
            best = std::max(best, run);
        }
        return best;
    };
    const std::size_t from_left = longest(false);
    if (from_left <= kFreeInsertion) return {matched, from_left};
    const std::size_t from_right = longest(true);
    return {matched, std::min(from_left, from_right)};
}

// A content word of y takes a content word of x with its lemma that none before it, or behind it, has taken.
void GuardMatcher::take_partners(const GuardText& y, bool backwards) {
    taken_.resize(y.size());
    if (sentences_) {
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::uint64_t here = backwards ? ~first_bits(i) : first_bits(i + 1);
            const int wanted = count_bits(equal_.in_y(i) & content_y_ & here), offered = count_bits(equal_.in_x(i) & content_x_);
            const bool content = y.function[i] == 0;
            taken_[i] = content & (wanted <= offered);
        }
        return;
    }
    free_.resize(counts_.size());
    std::transform(counts_.begin(), counts_.end(), free_.begin(), [](const Count& count) { return count.content; });
    for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t place = backwards ? y.size() - 1 - i : i;
        std::uint32_t& free = free_[y_[place]];
        const bool content = y.function[place] == 0;
        taken_[place] = content & (free != 0);
        free -= taken_[place];
    }
}

// The share of content words in sentences that x has nearly nothing of, where y has more sentences than x.
double GuardMatcher::stray(const GuardText& x, const GuardText& y) {
    if (y.sentence_ends.size() <= x.sentence_ends.size()) return 0;
    take_partners(y, false);
    std::size_t from = 0, seen = 0, matched = 0, sum = 0;
    auto end = y.sentence_ends.begin();
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (y.function[i]) continue;
        matched += taken_[i];
        if (++seen < *end) continue;
        sum += beyond(seen - from, kWordsPerPartner * matched);
        from = seen;
        matched = 0;
        ++end;
    }
    return share_of(sum, y.content);
}

// How far more than a quarter of the pairs of words stand in another order; a random order has half of them.
double GuardMatcher::disorder(const GuardText& x, const GuardText& y) {
    find_sequence(y);
    const std::size_t count = sequence_.size();
    const std::size_t pairs = count * (count - (count > 0)) / 2 + kPairsForOrder;
    return share_of(beyond(4 * inversions(x.size()), pairs), 2 * pairs);
}

void GuardMatcher::find_sequence(const GuardText& y) {
    sequence_.resize(y.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {  // without a branch
        if (sentences_) {
            const std::uint64_t places = equal_.in_x(i), others = equal_.in_y(i);
            sequence_[count] = places == 0 ? 0 : static_cast<std::uint32_t>(lowest_bit(places));
            count += (places != 0) & ((places & (places - 1)) == 0) & ((others & (others - 1)) == 0);
        } else {
            const Count& of_lemma = counts_[y_[i]];
            sequence_[count] = of_lemma.place;
            count += (of_lemma.x == 1) & (of_lemma.y == 1);
        }
    }
    sequence_.resize(count);
}

// Pairs in the sequence, whose numbers are below `places`, of which the first is the larger one.
std::size_t GuardMatcher::inversions(std::size_t places) {
    constexpr std::size_t kBits = 64;
    if (places > kBits) {
        merged_.resize(sequence_.size());
        return inversions_by_merging(0, sequence_.size());
    }
    std::size_t sum = 0;
    std::uint64_t before = 0;  // a bit a number
    for (std::uint32_t place : sequence_) {
        sum += static_cast<std::size_t>(count_bits(before >> place));
        before |= std::uint64_t{1} << place;
    }
    return sum;
}

// Merge sort.
std::size_t GuardMatcher::inversions_by_merging(std::size_t from, std::size_t to) {
    if (to - from < 2) return 0;
    const std::size_t middle = from + (to - from) / 2;
    std::size_t sum = inversions_by_merging(from, middle) + inversions_by_merging(middle, to);
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

BatchArray<double> Guards::compare(const Guards& reference, const Guards& hypothesis, const TextPairs& pairs) {
    BatchArray<double> rows(pairs.size() * kGuardColumns);
    GuardMatcher matcher;
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const GuardText& x, const GuardText& y) {
        matcher.compare(x, y, rows.data() + k * kGuardColumns);
    });
    return rows;
}

}  // namespace tesla
