#include "matching/vector_texts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checks.h"
#include "base/share.h"

namespace tesla {

VectorText VectorReader::read(std::size_t i, std::pmr::memory_resource* memory) {
    const auto from = static_cast<std::size_t>(tokens_.offsets[i]), to = static_cast<std::size_t>(tokens_.offsets[i + 1]);
    const std::size_t ahead = std::min(to + (to - from), tokens_.word.size());  // the next text may be as long as this one
    for (std::size_t k = to; k < ahead; ++k) vectors_.prefetch(tokens_.word[k]);
    text_.resize(to - from);
    for (std::size_t k = from; k < to; ++k) {
        VectorToken& token = text_[k - from];
        token.lemma = tokens_.lemma[k];
        vectors_.read(tokens_.word[k], token.lemma, token.word);
    }
    return VectorText(text_, scratch_, memory);
}

WordTokens VectorReader::tokens_of_words(const VectorText& text) const {
    std::vector<std::uint32_t> word_of_token(text_.size());
    if (text.is_sentence)
        std::iota(word_of_token.begin(), word_of_token.end(), 0U);
    else
        word_of_token = scratch_.places;
    return WordTokens(text_, std::move(word_of_token), text.size());
}

WordTokens::WordTokens(const VectorTokens& tokens, std::vector<std::uint32_t> word_of_token, std::size_t words)
    : tokens_(tokens.size()), next_(words + 1), left_(tokens.size()) {
    for (std::uint32_t word : word_of_token) ++next_[word + 1];
    std::partial_sum(next_.begin(), next_.end(), next_.begin());
    std::vector<std::uint32_t> place(next_.begin(), next_.end());
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        tokens_[place[word_of_token[i]]++] = i;
        left_[i] = tokens[i].word.weight;
    }
}

std::uint32_t WordTokens::first_open(std::uint32_t word) {
    std::uint32_t& next = next_[word];
    while (left_[tokens_[next]] == 0) ++next;
    return tokens_[next];
}

VectorTexts::VectorTexts(const TokenArrays& tokens, WordVectors& vectors) : dimensions_(vectors.dimensions()) {
    VectorReader reader(tokens, vectors);
    texts_.reserve(tokens.offsets.size() - 1);
    for (std::size_t i = 0; i + 1 < tokens.offsets.size(); ++i) texts_.push_back(reader.read(i, &memory_));
}

std::int64_t VectorTexts::total_weight() const {
    std::int64_t total = 0;
    for (const VectorText& text : texts_) total += text.total;
    return total;
}

Measures VectorTexts::match(const VectorTexts& reference, const VectorTexts& hypothesis, const TextPairs& pairs, double alpha) {
    require(reference.dimensions_ == hypothesis.dimensions_, "the vectors do not belong together");
    Measures measures(pairs.size(), kVectorProblems, alpha);
    VectorMatcher matcher(reference.dimensions_);
    std::size_t at = 0;
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t, const VectorText& x, const VectorText& y) {
        for (const SharedMeaning& shared : matcher.match(x, y)) {
            measures.precision[at] = shared.exists() ? shared.precision() : kNoValue;
            measures.recall[at] = shared.exists() ? shared.recall() : kNoValue;
            measures.f[at] = shared.exists() ? shared.f(alpha) : kNoValue;
            ++at;
        }
    });
    return measures;
}

std::vector<VectorFlowEntry> flow_of_tokens(const TokenArrays& reference, const TokenArrays& hypothesis, WordVectors& vectors) {
    require(reference.offsets.size() == 2 && hypothesis.offsets.size() == 2, "one text on either side");
    Arena memory;
    VectorReader reader_x(reference, vectors), reader_y(hypothesis, vectors);
    const VectorText x = reader_x.read(0, &memory), y = reader_y.read(0, &memory);
    WordTokens tokens_x = reader_x.tokens_of_words(x), tokens_y = reader_y.tokens_of_words(y);
    std::vector<VectorFlowEntry> entries;
    for (VectorFlowEntry between_words : VectorMatcher(vectors.dimensions()).flow(x, y)) {
        for (std::int64_t open = between_words.amount; open > 0; open -= entries.back().amount) {
            VectorFlowEntry entry = between_words;
            entry.reference = tokens_x.first_open(between_words.reference);
            entry.hypothesis = tokens_y.first_open(between_words.hypothesis);
            entry.amount = std::min({open, tokens_x.left(entry.reference), tokens_y.left(entry.hypothesis)});
            tokens_x.trade(entry.reference, entry.amount);
            tokens_y.trade(entry.hypothesis, entry.amount);
            entries.push_back(entry);
        }
    }
    std::sort(entries.begin(), entries.end(), [](const VectorFlowEntry& a, const VectorFlowEntry& b) {
        return std::pair{a.reference, a.hypothesis} < std::pair{b.reference, b.hypothesis};
    });
    return entries;
}

}  // namespace tesla
