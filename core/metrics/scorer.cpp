#include "metrics/scorer.h"

#include "base/checks.h"

namespace tesla {

Scorer::Scorer(std::vector<const FeatureGroup*> groups, std::vector<std::int64_t> columns, Combination* combination,
               EmptyTexts empty)
    : groups_(std::move(groups)), combination_(combination), empty_(std::move(empty)) {
    std::vector<Column> all;
    for (std::size_t group = 0; group < groups_.size(); ++group)
        for (std::size_t place = 0; place < groups_[group]->columns(); ++place) all.push_back({group, place});
    if (columns.empty()) columns_ = all;
    for (std::int64_t column : columns) {
        require_in_range(column >= 0 && static_cast<std::size_t>(column) < all.size(), "no such column");
        columns_.push_back(all[static_cast<std::size_t>(column)]);
    }
    for (const FeatureGroup* group : groups_) read_.emplace_back(group->columns(), false);
    for (const Column& column : columns_) read_[column.group][column.place] = true;
}

std::vector<StreamScores> Scorer::score(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis) const {
    const std::size_t segments = hypothesis.tokens.offsets.size() - 1;
    for (const AnalysedStream& stream : references) {
        require(stream.texts.tokens.offsets.size() - 1 == segments, "a stream has another number of texts");
        TextPairs{stream.present, stream.present}.check(segments, segments);
    }
    std::vector<std::vector<Rows>> compared;  // by group, then by stream
    for (std::size_t group = 0; group < groups_.size(); ++group)
        compared.push_back(groups_[group]->compare_segments(references, hypothesis, read_[group]));
    std::vector<StreamScores> streams;
    for (std::size_t s = 0; s < references.size(); ++s) {
        const AnalysedStream& stream = references[s];
        const bool complete = stream.present.size == segments;
        StreamScores out{std::vector<double>(segments, kMissing), Rows(segments * features(), complete ? 0.0 : kMissing)};
        for (std::size_t k = 0; k < stream.present.size; ++k) {
            const auto i = static_cast<std::size_t>(stream.present[k]);
            double* row = out.features.data() + i * features();
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                const auto [group, place] = columns_[c];
                row[c] = compared[group][s][k * groups_[group]->columns() + place];
            }
            out.scores[i] = score_of(row, stream.texts, hypothesis, i);
        }
        streams.push_back(std::move(out));
    }
    return streams;
}

double Scorer::score_of(const double* row, const AnalysedTexts& reference, const AnalysedTexts& hypothesis,
                        std::size_t i) const {
    const auto is_empty = [i](const AnalysedTexts& side) { return side.tokens.offsets[i] == side.tokens.offsets[i + 1]; };
    const bool no_reference = is_empty(reference), no_hypothesis = is_empty(hypothesis);
    if (!no_reference && !no_hypothesis) return combination_->score(row, columns_.size());
    if (!no_reference || !no_hypothesis) return empty_.lowest;
    return empty_.same(reference.texts[i], hypothesis.texts[i]) ? empty_.equal : empty_.lowest;
}

}  // namespace tesla
