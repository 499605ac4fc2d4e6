#include "language/analysis/word_marks.h"

#include <algorithm>

#include "base/checks.h"

namespace tesla {

std::vector<std::uint32_t> WordMarks::of(const ArrayView<std::uint32_t>& words) {
    check_below(words, lexicon_.word_count(), "no such word");
    marks_.learn(end_of(words), [this](std::uint32_t from, std::uint32_t to) { return look_at(from, to); });
    std::vector<std::uint32_t> marks;
    marks.reserve(words.size);
    for (std::uint32_t word : words) marks.push_back(marks_[word]);
    return marks;
}

std::vector<std::uint32_t> WordMarks::look_at(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> marks(to - from), asked;
    std::vector<std::string_view> forms;  // of those that are asked for
    std::string small;
    for (std::uint32_t word = from; word < to; ++word) {
        const WordTraits traits = lowering_.apply(lexicon_.form(word), small);
        const auto listed = listed_.find(small);
        if (listed != listed_.end()) {
            marks[word - from] = listed->second;
        } else if ((traits.any & asked_.traits) ||
                   (!asked_.beginning.empty() && small.compare(0, asked_.beginning.size(), asked_.beginning) == 0)) {
            asked.push_back(word - from);
            forms.push_back(lexicon_.form(word));
        }
    }
    if (!asked.empty()) {
        const std::vector<std::uint32_t> told = ask_(forms);
        require(told.size() == asked.size(), "not as many marks as words");
        for (std::size_t k = 0; k < asked.size(); ++k) marks[asked[k]] = told[k];
    }
    return marks;
}

std::vector<std::uint8_t> CriticalWords::negations(const TokenArrays& tokens) {
    const std::vector<std::uint32_t> marks = negations_.of(tokens.word);
    std::vector<std::uint8_t> kinds(marks.size(), kNone);
    for (std::size_t text = 0; text + 1 < tokens.offsets.size(); ++text) {
        const auto end = static_cast<std::size_t>(tokens.offsets[text + 1]);
        for (auto i = static_cast<std::size_t>(tokens.offsets[text]); i < end; ++i) {
            if (i + 1 < end && marks[i + 1] == kTakesBack) continue;
            if (marks[i] == kParticle || marks[i] == kNegativeWord)
                kinds[i] = static_cast<std::uint8_t>(marks[i]);
            else if (marks[i] == kNegatedVerb)
                kinds[i] = std::count(verb_tags_.begin(), verb_tags_.end(), tokens.universal[i]) ? kParticle : kNone;
        }
    }
    return kinds;
}

}  // namespace tesla
