#include "matching/vector_texts.h"

#include <algorithm>

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
    return VectorText(text_, merged_, scratch_, memory);
}

VectorTexts::VectorTexts(const TokenArrays& tokens, WordVectors& vectors, bool merged) : dimensions_(vectors.dimensions()) {
    VectorReader reader(tokens, vectors, merged);
    texts_.reserve(tokens.offsets.size() - 1);
    for (std::size_t i = 0; i + 1 < tokens.offsets.size(); ++i) texts_.push_back(reader.read(i, &memory_));
}

std::int64_t VectorTexts::total_weight() const {
    std::int64_t total = 0;
    for (const VectorText& text : texts_) total += text.total;
    return total;
}

void VectorTexts::check_together(const VectorTexts& reference, const VectorTexts& hypothesis) {
    require(reference.dimensions_ == hypothesis.dimensions_, "the vectors do not belong together");
}

Measures VectorTexts::match(const VectorTexts& reference, const VectorTexts& hypothesis, const TextPairs& pairs, double alpha) {
    check_together(reference, hypothesis);
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

std::vector<VectorFlowEntry> VectorTexts::flow(const VectorTexts& reference, const VectorTexts& hypothesis) {
    check_together(reference, hypothesis);
    require(reference.size() == 1 && hypothesis.size() == 1, "one text on either side");
    return VectorMatcher(reference.dimensions_).flow(reference.texts_[0], hypothesis.texts_[0]);
}

}  // namespace tesla
