#include "language/syntax/span_parser.h"

#include <algorithm>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/portable.h"

namespace tesla {

SpanParser::SpanParser(SpanGrammar grammar, const SpanWeights& weights) : grammar_(std::move(grammar)) {
    grammar_.check();
    require(weights.feature_deltas.size == weights.row_lengths.size, "the parser's rows and features differ in number");
    require(weights.row_lanes.size == weights.row_weights.size, "the parser's labels and weights differ in number");
    require(weights.tag_kinds.size == grammar_.tags && weights.tag_breaks.size == grammar_.tags,
            "the parser's tags are incomplete");
    require(weights.binary.size == grammar_.rule_parent.size() && weights.unary.size == grammar_.unary_parent.size() &&
                weights.root.size == grammar_.symbols,
            "the parser's rules and their weights differ in number");
    const std::size_t count = weights.row_lengths.size;
    require(count < (std::size_t{1} << 25), "the parser has too many features");
    weights_.assign((count + 1) * kLaneCount, 0);
    std::vector<std::uint32_t> numbers(count);
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        require(at + weights.row_lengths[i] <= weights.row_lanes.size, "the parser's rows do not add up to its weights");
        for (std::size_t end = at + weights.row_lengths[i]; at < end; ++at) {
            require(weights.row_lanes[at] < kLaneCount, "the parser has a weight for a label that it does not have");
            weights_[(i + 1) * kLaneCount + weights.row_lanes[at]] = weights.row_weights[at];
        }
        numbers[i] = static_cast<std::uint32_t>(i + 1);
    }
    require(at == weights.row_lanes.size, "the parser's rows do not add up to its weights");
    rows_.build(hashes_of_differences(weights.feature_deltas), numbers);
    vocabulary_.build(hashes_of_differences(weights.word_deltas));
    tag_kinds_.assign(weights.tag_kinds.begin(), weights.tag_kinds.end());
    tag_breaks_.assign(weights.tag_breaks.begin(), weights.tag_breaks.end());
    rules_.binary.assign(weights.binary.begin(), weights.binary.end());
    rules_.unary.assign(weights.unary.begin(), weights.unary.end());
    rules_.root.assign(weights.root.begin(), weights.root.end());
}

void SpanParser::add_rows(const std::uint32_t* features, std::size_t count, float* out) const {
    std::uint32_t rows[kMostFeatures];
    for (std::size_t f = 0; f < count; ++f) rows_.prefetch(features[f]);
    for (std::size_t f = 0; f < count; ++f) {
        rows[f] = rows_.find(features[f]);
        prefetch_memory(&weights_[rows[f] * kLaneCount]);
    }
    std::int16_t sums[kLaneCount] = {};  // 64 features of at most 127 fit
    for (std::size_t f = 0; f < count; ++f) {
        if (rows[f] == 0) continue;
        const std::int8_t* row = &weights_[rows[f] * kLaneCount];
        for (std::size_t lane = 0; lane < kLaneCount; ++lane) sums[lane] = static_cast<std::int16_t>(sums[lane] + row[lane]);
    }
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) out[lane] += sums[lane];
}

void SpanParser::score(const SpanSentence& sentence, SpanScores& scores) const {
    Interrupt interrupt;
    score_spans(sentence, scores, interrupt,
                [this](const std::uint32_t* features, std::size_t count, float* lanes) { add_rows(features, count, lanes); });
}

std::size_t SpanParser::piece_end(const std::vector<std::uint8_t>& tags, std::size_t start, std::size_t longest) const {
    if (tags.size() - start <= longest) return tags.size();
    std::size_t end = start + longest;
    std::uint8_t best = 0;
    for (std::size_t i = start + longest; i > start + longest / 2; --i)
        if (tag_breaks_[tags[i - 1]] > best) {
            best = tag_breaks_[tags[i - 1]];
            end = i;
        }
    return end;
}

ParsedSentence SpanParser::parse(const std::vector<std::string>& forms, const std::vector<std::uint8_t>& tags,
                                 std::size_t beam, std::size_t longest) const {
    require(forms.size() == tags.size(), "words and tags differ in number");
    require(forms.size() <= 65535, "a sentence has at most 65535 words");
    require(std::all_of(tags.begin(), tags.end(), [&](std::uint8_t tag) { return tag < grammar_.tags; }),
            "a word has a tag that the parser does not have");
    require_beam(beam);
    require(longest >= 2 && longest <= 1000, "the longest sentence is out of range");
    ParsedSentence result;
    result.pieces = 0;
    SpanScores scores;
    SpanChart chart(grammar_, beam);
    std::vector<SpanNode> nodes;
    for (std::size_t start = 0; start < forms.size();) {
        const std::size_t end = piece_end(tags, start, longest);
        result.cut |= end - start < forms.size();
        const std::vector<std::uint8_t> part(tags.begin() + static_cast<std::ptrdiff_t>(start),
                                             tags.begin() + static_cast<std::ptrdiff_t>(end));
        std::vector<SpanWord> words;
        for (std::size_t i = start; i < end; ++i) words.push_back(vocabulary_.word(forms[i], tags[i], tag_kinds_[tags[i]]));
        score(SpanSentence(std::move(words)), scores);
        std::size_t pieces = 1;
        chart.parse(scores, rules_, part, nodes, pieces);
        for (SpanNode node : nodes) {
            node.start = static_cast<std::uint16_t>(node.start + start);
            node.end = static_cast<std::uint16_t>(node.end + start);
            result.nodes.push_back(node);
        }
        result.pieces += pieces;
        start = end;
    }
    return result;
}

ParsedBatch SpanParser::parse_batch(const std::vector<std::vector<std::string>>& forms, const ArrayView<std::uint8_t>& tags,
                                    std::size_t beam, std::size_t longest) const {
    std::size_t words = 0;
    for (const auto& sentence : forms) words += sentence.size();
    require(words == tags.size, "words and tags differ in number");
    ParsedBatch batch;
    batch.offsets.push_back(0);
    const std::uint8_t* tag = tags.data;
    for (const auto& sentence : forms) {
        const ParsedSentence parsed = parse(sentence, {tag, tag + sentence.size()}, beam, longest);
        tag += sentence.size();
        for (const SpanNode& node : parsed.nodes) {
            batch.start.push_back(node.start);
            batch.end.push_back(node.end);
            batch.label.push_back(node.label);
        }
        batch.offsets.push_back(static_cast<std::int64_t>(batch.start.size()));
        batch.pieces.push_back(static_cast<std::uint16_t>(parsed.pieces));
        batch.cut.push_back(parsed.cut);
    }
    return batch;
}

}  // namespace tesla
