#include "language/analysis/word_marks.h"

#include <algorithm>

#include "base/checks.h"

namespace tesla {

WordMarks::WordMarks(const std::unordered_map<std::string, std::uint32_t>& listed, Asked asked, Ask ask)
    : asked_(std::move(asked)), ask_(std::move(ask)) {
    for (const auto& [word, mark] : listed) listed_.set(word, mark);
}

bool WordMarks::asks_for(std::string_view small, const WordTraits& traits) const {
    const std::string& beginning = asked_.beginning;
    return (traits.any & asked_.traits) || (!beginning.empty() && small.substr(0, beginning.size()) == beginning);
}

std::vector<std::uint32_t> WordMarks::ask(const std::vector<std::string_view>& forms) const {
    if (forms.empty()) return {};
    std::vector<std::uint32_t> told = ask_(forms);
    require(told.size() == forms.size(), "not as many marks as words");
    return told;
}

void CriticalWords::learn(const TokenArrays& tokens) {
    const std::uint64_t end = end_of(tokens.word);
    require_in_range(end <= lexicon_.word_count(), "no such word");
    marks_.learn(end, [this](std::uint32_t from, std::uint32_t to) { return look_at(from, to); });
}

std::vector<CriticalWords::Marks> CriticalWords::look_at(std::uint32_t from, std::uint32_t to) const {
    std::vector<Marks> marks(to - from);
    std::array<std::vector<std::uint32_t>, kLists> asked;
    std::array<std::vector<std::string_view>, kLists> forms;  // of those that are asked for
    std::string small;
    for (std::uint32_t word = from; word < to; ++word) {
        const WordTraits traits = lowering_.apply(lexicon_.form(word), small);
        for (std::size_t list = 0; list < kLists; ++list) {
            if (const std::uint32_t* mark = lists_[list]->find(small)) {
                marks[word - from][list] = *mark;
            } else if (lists_[list]->asks_for(small, traits)) {
                asked[list].push_back(word - from);
                forms[list].push_back(lexicon_.form(word));
            }
        }
    }
    for (std::size_t list = 0; list < kLists; ++list) {
        const std::vector<std::uint32_t> told = lists_[list]->ask(forms[list]);
        for (std::size_t k = 0; k < told.size(); ++k) marks[asked[list][k]][list] = told[k];
    }
    return marks;
}

void CriticalWords::append_numbers(const TokenArrays& tokens, std::size_t text, std::vector<std::uint32_t>& ids) const {
    const auto begin = static_cast<std::size_t>(tokens.offsets[text]), end = static_cast<std::size_t>(tokens.offsets[text + 1]);
    const std::size_t before = ids.size();
    ids.resize(before + (end - begin));
    for (std::size_t i = begin; i < end; ++i) ids[before + (i - begin)] = marks_[tokens.word[i]][kNumbers];
}

void CriticalWords::append_negations(const TokenArrays& tokens, std::size_t text, std::vector<std::uint8_t>& kinds) const {
    const auto begin = static_cast<std::size_t>(tokens.offsets[text]), end = static_cast<std::size_t>(tokens.offsets[text + 1]);
    const auto mark_of = [&](std::size_t i) { return i < end ? marks_[tokens.word[i]][kNegations] : kNoNegation; };
    const std::size_t before = kinds.size();
    kinds.resize(before + (end - begin), kNoNegation);
    for (std::size_t i = begin; i < end; ++i) {
        std::uint32_t mark = mark_of(i);
        if (mark == kNoNegation) continue;
        if (mark == kNegatedVerb)
            mark = std::count(verb_tags_.begin(), verb_tags_.end(), tokens.universal[i]) ? kParticle : kNoNegation;
        const bool denies = (mark == kParticle || mark == kNegativeWord) && mark_of(i + 1) != kTakesBack;
        if (denies) kinds[before + (i - begin)] = static_cast<std::uint8_t>(mark);
    }
}

}  // namespace tesla
