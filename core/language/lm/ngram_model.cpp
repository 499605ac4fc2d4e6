#include "language/lm/ngram_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checks.h"

namespace tesla {

// The words before the next one, the nearest first, and the backoff weights of the contexts they form.
struct NgramModel::History {
    std::array<std::uint32_t, kLongestNgram> words{};
    std::array<double, kLongestNgram> log_backoff{};  // [k]: of the context of k + 1 words
    std::size_t length = 0;                           // words known
    std::size_t known = 0;                            // contexts known
};

NgramModel::NgramModel(std::vector<std::vector<std::uint32_t>> words,
                       std::vector<std::vector<float>> log_probabilities,
                       const std::vector<std::vector<std::uint32_t>>& children, double least_left) {
    const std::size_t order = words.size();
    require(order >= 1 && order <= kLongestNgram, "the order is not 1 to 5");
    require(log_probabilities.size() == order && children.size() == order - 1, "an order lacks arrays");
    levels_.resize(order);
    for (std::size_t n = 0; n < order; ++n) {
        NgramLevel& level = levels_[n];
        level.words = std::move(words[n]);
        level.log_probability = std::move(log_probabilities[n]);
        require(level.words.size() < kNone, "there are too many n-grams");
        require(level.words.size() == level.log_probability.size(), "words and probabilities differ in number");
        if (n + 1 == order) continue;
        require(children[n].size() == level.words.size(), "words and children differ in number");
        level.first_child.reserve(level.words.size() + 1);
        std::uint64_t total = 0;
        for (std::uint32_t count : children[n]) {
            level.first_child.push_back(static_cast<std::uint32_t>(total));
            total += count;
            require(total < kNone, "there are too many n-grams");
        }
        level.first_child.push_back(static_cast<std::uint32_t>(total));
        require(total == words[n + 1].size(), "children and n-grams differ in number");
    }
    require(vocabulary() > kSentenceEnd, "the vocabulary is too small");
    for (std::size_t word = 0; word < vocabulary(); ++word)
        require(levels_[0].words[word] == word, "the words are not numbered in order");
    for (std::size_t n = 1; n < order; ++n) {
        const std::vector<std::uint32_t>& last_words = levels_[n].words;
        const std::vector<std::uint32_t>& starts = levels_[n - 1].first_child;
        for (std::size_t parent = 0; parent + 1 < starts.size(); ++parent)
            for (std::uint32_t i = starts[parent]; i < starts[parent + 1]; ++i)
                require(last_words[i] < vocabulary() && (i == starts[parent] || last_words[i - 1] < last_words[i]),
                        "n-grams are not in order");
    }
    for (const NgramLevel& level : levels_)
        for (float value : level.log_probability)
            require(value <= 0, "a probability is above 1");
    normalise_unigrams();
    for (std::size_t n = 1; n < order; ++n) compute_backoffs(n, least_left);
}

void NgramModel::normalise_unigrams() {
    std::vector<float>& values = levels_[0].log_probability;
    values[kSentenceStart] = -std::numeric_limits<float>::infinity();  // never predicted
    double sum = 0;
    for (float value : values) sum += std::exp(static_cast<double>(value));
    require(sum > 0, "no word has a probability");
    for (float& value : values) value = static_cast<float>(value - std::log(sum));
}

// For every n-gram of level n the node, at level n - 1, of its context: the n-gram without its last word. Both are found
// by one walk: where the children of an n-gram go on with words a < b < c, so do the children of its context.
std::vector<std::uint32_t> NgramModel::contexts_of(std::size_t n) const {
    std::vector<std::uint32_t> contexts = levels_[1].words;  // the context of a bigram is a word
    for (std::size_t m = 2; m <= n; ++m) {
        const std::vector<std::uint32_t>& starts = levels_[m - 1].first_child;
        const NgramLevel& shorter = levels_[m - 1];
        const std::vector<std::uint32_t>& shorter_starts = levels_[m - 2].first_child;
        std::vector<std::uint32_t> longer(levels_[m].words.size());
        for (std::size_t parent = 0; parent < contexts.size(); ++parent) {
            auto place = shorter.words.begin() + shorter_starts[contexts[parent]];
            const auto end = shorter.words.begin() + shorter_starts[contexts[parent] + 1];
            for (std::uint32_t i = starts[parent]; i < starts[parent + 1]; ++i) {
                place = std::lower_bound(place, end, levels_[m].words[i]);
                require(place != end && *place == levels_[m].words[i], "the context of an n-gram is missing");
                longer[i] = static_cast<std::uint32_t>(place - shorter.words.begin());
            }
        }
        contexts = std::move(longer);
    }
    return contexts;
}

void NgramModel::compute_backoffs(std::size_t n, double least_left) {
    NgramLevel& level = levels_[n];
    NgramLevel& shorter = levels_[n - 1];
    const std::vector<std::uint32_t> contexts = contexts_of(n);
    std::vector<double> here(shorter.words.size(), 0.0), below(shorter.words.size(), 0.0);
    for (std::size_t parent = 0; parent + 1 < shorter.first_child.size(); ++parent) {
        const double lower = std::exp(static_cast<double>(shorter.log_probability[parent]));
        for (std::uint32_t i = shorter.first_child[parent]; i < shorter.first_child[parent + 1]; ++i) {
            here[contexts[i]] += std::exp(static_cast<double>(level.log_probability[i]));
            below[contexts[i]] += lower;
        }
    }
    bool crowded = false;
    std::vector<float> shift(shorter.words.size(), 0.0F);
    for (std::size_t context = 0; context < here.size(); ++context) {
        if (here[context] <= 1 - least_left || below[context] >= 1) continue;
        shift[context] = static_cast<float>(std::log((1 - 2 * least_left) / here[context]));
        crowded = true;
    }
    if (crowded) {  // rounded probabilities that leave nothing to the lower order are made smaller
        std::fill(here.begin(), here.end(), 0.0);
        for (std::size_t i = 0; i < contexts.size(); ++i) {
            level.log_probability[i] += shift[contexts[i]];
            here[contexts[i]] += std::exp(static_cast<double>(level.log_probability[i]));
        }
    }
    shorter.log_backoff.resize(here.size());
    for (std::size_t context = 0; context < here.size(); ++context) {
        const double left = 1 - here[context], lower = 1 - below[context];
        shorter.log_backoff[context] = left > 0 && lower > 0 ? std::log(left / lower) : 0;
    }
}

std::uint32_t NgramModel::child(std::size_t n, std::uint32_t node, std::uint32_t word) const {
    const std::uint32_t* const words = levels_[n + 1].words.data();
    const std::uint32_t* place = words + levels_[n].first_child[node];
    std::size_t left = levels_[n].first_child[node + 1] - levels_[n].first_child[node];
    if (left == 0) return kNone;
    while (left > 1) {  // without branches that a processor could guess wrong
        const std::size_t half = left / 2;
        place += place[half - 1] < word ? half : 0;
        left -= half;
    }
    return *place == word ? static_cast<std::uint32_t>(place - words) : kNone;
}

double NgramModel::step(History& history, std::uint32_t word) const {
    const std::size_t order = levels_.size();
    std::array<double, kLongestNgram> log_backoff{};
    std::uint32_t node = word;
    double log_probability = levels_[0].log_probability[word];
    std::size_t matched = 1;
    if (order > 1) log_backoff[0] = levels_[0].log_backoff[word];
    while (matched < order && matched <= history.length) {
        node = child(matched - 1, node, history.words[matched - 1]);
        if (node == kNone) break;
        log_probability = levels_[matched].log_probability[node];
        ++matched;
        if (matched < order) log_backoff[matched - 1] = levels_[matched - 1].log_backoff[node];
    }
    for (std::size_t k = matched; k <= history.known; ++k) log_probability += history.log_backoff[k - 1];
    for (std::size_t k = kLongestNgram - 1; k > 0; --k) history.words[k] = history.words[k - 1];
    history.words[0] = word;
    history.length = std::min(history.length + 1, order - 1);
    history.known = std::min(matched, order - 1);
    history.log_backoff = log_backoff;
    return log_probability;
}

void NgramModel::score(const std::uint32_t* words, std::size_t length, double* out) const {
    History history;
    step(history, kSentenceStart);
    for (std::size_t i = 0; i < length; ++i) out[i] = step(history, words[i]);
    out[length] = step(history, kSentenceEnd);
}

std::vector<double> NgramModel::score_words(const ArrayView<std::int64_t>& offsets, const ArrayView<std::uint32_t>& words) const {
    const std::size_t sentences = offsets.size - 1;
    std::vector<double> values(words.size + sentences);
    for (std::size_t i = 0; i < sentences; ++i) {
        const auto start = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
        score(words.data + start, end - start, values.data() + start + i);
    }
    return values;
}

std::vector<double> NgramModel::score_sentences(const ArrayView<std::int64_t>& offsets,
                                                const ArrayView<std::uint32_t>& words) const {
    const std::vector<double> values = score_words(offsets, words);
    std::vector<double> sums;
    for (std::size_t i = 0; i + 1 < offsets.size; ++i) {
        const auto begin = values.begin() + offsets[i] + static_cast<std::ptrdiff_t>(i);
        sums.push_back(std::accumulate(begin, begin + (offsets[i + 1] - offsets[i]) + 1, 0.0));
    }
    return sums;
}

std::vector<double> NgramModel::distribution(const std::vector<std::uint32_t>& context) const {
    History history;
    for (std::uint32_t word : context) step(history, word);
    std::vector<double> result(vocabulary());
    for (std::uint32_t word = 0; word < result.size(); ++word) {
        History copy = history;
        result[word] = std::exp(step(copy, word));
    }
    return result;
}

}  // namespace tesla
