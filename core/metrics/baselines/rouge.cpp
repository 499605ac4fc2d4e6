#include "metrics/baselines/rouge.h"

#include <array>
#include <stdexcept>
#include <string>

#include "base/interrupt.h"
#include "base/pairs.h"
#include "base/unicode.h"
#include "metrics/baselines/porter_stemmer.h"

namespace tesla {
namespace {

constexpr std::size_t kSkip = 4;  // ROUGE-SU4: up to so many words between the two of a skip bigram

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

RougeMeasures measures_of(std::int64_t common, std::size_t reference, std::size_t hypothesis) {
    if (common == 0) return {};
    RougeMeasures measures;
    measures.precision = static_cast<double>(common) / static_cast<double>(hypothesis);
    measures.recall = static_cast<double>(common) / static_cast<double>(reference);
    measures.f = 2 * measures.precision * measures.recall / (measures.precision + measures.recall);
    return measures;
}

std::size_t total_size(const RougeMatcher::Sentences& sentences) {
    std::size_t size = 0;
    for (const WordSequence& sentence : sentences) size += sentence.size;
    return size;
}

}  // namespace

void add_rouge_words(std::string_view text, WordTexts& texts) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t start = at;
        while (at < text.size() && is_word_character(text[at])) ++at;
        if (at > start) texts.add_word(text.substr(start, at - start));
    }
    texts.end_text();
}

void add_tokenised_words(std::string_view text, const Tokeniser& tokeniser, WordTexts& texts) {
    std::u32string characters;
    decode_utf8(text, characters);
    std::vector<Span> spans;
    tokeniser.tokenise(characters.data(), characters.size(), spans);
    std::string word;
    for (Span span : spans) {
        word.clear();
        for (std::uint32_t i = span.start; i < span.end; ++i) append_utf8(characters[i], word);
        texts.add_word(word);
    }
    texts.end_text();
}

void stem_rouge_words(WordTexts& texts) {
    std::vector<std::string> stems;
    stems.reserve(texts.words().size());
    for (std::string_view word : texts.words()) stems.push_back(porter_stem(word, PorterRules::Nltk));
    texts.replace_words({stems.begin(), stems.end()});
}

RougeKind rouge_kind(std::string_view name) {
    if (name == "1") return RougeKind::Unigrams;
    if (name == "2") return RougeKind::Bigrams;
    if (name == "L") return RougeKind::Subsequence;
    if (name == "Lsum") return RougeKind::Subsequences;
    if (name == "SU4") return RougeKind::SkipBigrams;
    throw std::invalid_argument("there is no such kind of ROUGE");
}

RougeMeasures RougeMatcher::match(const Sentences& reference, const Sentences& hypothesis) {
    if (kind_ == RougeKind::Subsequences) return match_summaries(reference, hypothesis);
    const WordSequence x = reference.empty() ? WordSequence{} : reference.front();
    const WordSequence y = hypothesis.empty() ? WordSequence{} : hypothesis.front();
    if (kind_ != RougeKind::Subsequence) return match_items(x, y);
    return measures_of(static_cast<std::int64_t>(subsequence_.length(x, y)), x.size, y.size);
}

void RougeMatcher::list_items(const WordSequence& text, std::vector<std::uint64_t>& items) const {
    constexpr std::uint64_t kNoWord = 0xFFFFFFFF;  // no word has this number
    const auto pair = [](std::uint64_t first, std::uint64_t second) { return first << 32 | second; };
    items.clear();
    if (kind_ != RougeKind::Bigrams)
        for (std::uint32_t word : text) items.push_back(pair(word, kNoWord));
    const std::size_t farthest = kind_ == RougeKind::Unigrams ? 0 : kind_ == RougeKind::Bigrams ? 1 : kSkip + 1;
    for (std::size_t distance = 1; distance <= farthest; ++distance)
        for (std::size_t i = 0; i + distance < text.size; ++i) items.push_back(pair(text[i], text[i + distance]));
}

RougeMeasures RougeMatcher::match_items(const WordSequence& reference, const WordSequence& hypothesis) {
    list_items(reference, reference_items_);
    list_items(hypothesis, hypothesis_items_);
    return measures_of(overlap_.common(reference_items_, hypothesis_items_), reference_items_.size(), hypothesis_items_.size());
}

// For every sentence of the reference the union of its subsequences with all sentences of the hypothesis; a word counts at
// most as often as it occurs on either side.
RougeMeasures RougeMatcher::match_summaries(const Sentences& reference, const Sentences& hypothesis) {
    for (const WordSequence& sentence : reference)
        for (std::uint32_t word : sentence) ++left_[word].in_reference;
    for (const WordSequence& sentence : hypothesis)
        for (std::uint32_t word : sentence) ++left_[word].in_hypothesis;
    std::int64_t hits = 0;
    for (const WordSequence& sentence : reference) {
        marked_.assign(sentence.size, 0);
        for (const WordSequence& other : hypothesis) subsequence_.mark(sentence, other, marked_);
        for (std::size_t i = 0; i < sentence.size; ++i) {
            LeftWords& left = left_[sentence[i]];
            if (marked_[i] == 0 || left.in_reference <= 0 || left.in_hypothesis <= 0) continue;
            ++hits;
            --left.in_reference;
            --left.in_hypothesis;
        }
    }
    for (const Sentences* sentences : {&reference, &hypothesis})
        for (const WordSequence& sentence : *sentences)
            for (std::uint32_t word : sentence) left_[word] = {};
    return measures_of(hits, total_size(reference), total_size(hypothesis));
}

std::vector<double> match_rouge(const WordTexts& sentences, const ArrayView<std::int64_t>& offsets,
                                const ArrayView<std::int64_t>& hypotheses, const ReferenceIndex& references, RougeKind kind,
                                int measure) {
    using Row = std::array<double, 3>;
    check_csr(offsets, sentences.size());
    references.check(hypotheses, offsets.size - 1);
    require(measure >= 0 && measure < static_cast<int>(Row{}.size()), "the measures are 0, 1 and 2");
    const auto chosen = static_cast<std::size_t>(measure);
    RougeMatcher matcher(kind, sentences.words().size());
    std::vector<double> rows;
    rows.reserve(hypotheses.size * Row{}.size());
    Interrupt interrupt;
    RougeMatcher::Sentences reference, hypothesis;
    const auto list = [&](std::size_t text, RougeMatcher::Sentences& listed) {
        listed.clear();
        for (std::int64_t s = offsets[text]; s < offsets[text + 1]; ++s) listed.push_back(sentences[static_cast<std::size_t>(s)]);
    };
    for (std::size_t pair = 0; pair < hypotheses.size; ++pair) {
        list(static_cast<std::size_t>(hypotheses[pair]), hypothesis);
        Row best{};
        references.for_each(pair, [&](std::size_t text) {
            list(text, reference);
            interrupt.step(kLeastPerPair);
            const RougeMeasures measures = matcher.match(reference, hypothesis);
            const Row row{measures.precision, measures.recall, measures.f};
            if (row[chosen] > best[chosen] || (row[chosen] == best[chosen] && row > best)) best = row;
        });
        rows.insert(rows.end(), best.begin(), best.end());
    }
    return rows;
}

}  // namespace tesla
