#include "metrics/scorer.h"

#include <numeric>

#include "base/checks.h"
#include "base/share.h"

namespace tesla {

Scorer::Scorer(std::vector<const FeatureGroup*> groups, std::vector<std::int64_t> columns, const Combination* combination,
               EmptyTexts empty)
    : groups_(std::move(groups)), combination_(combination), empty_(std::move(empty)) {
    std::vector<std::pair<std::size_t, std::size_t>> all;  // group and place
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        for (std::size_t place = 0; place < groups_[group]->columns(); ++place) all.emplace_back(group, place);
        read_.emplace_back(groups_[group]->columns(), false);
    }
    if (columns.empty()) {
        columns.resize(all.size());
        std::iota(columns.begin(), columns.end(), std::int64_t{0});
    }
    columns_.resize(groups_.size());
    for (std::int64_t column : columns) {
        require_in_range(static_cast<std::uint64_t>(column) < all.size(), "no such column");
        const auto [group, place] = all[static_cast<std::size_t>(column)];
        columns_[group].push_back({features_++, place});
        read_[group][place] = true;
    }
}

std::vector<StreamScores> Scorer::score(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis) const {
    const std::size_t segments = hypothesis.tokens.offsets.size() - 1;
    for (const AnalysedStream& stream : references) {
        require(stream.texts.tokens.offsets.size() - 1 == segments, "a stream has another number of texts");
        TextPairs{stream.present, stream.present}.check(segments, segments);
    }
    std::vector<StreamScores> streams;
    for (const AnalysedStream& stream : references) {
        const bool complete = stream.present.size == segments;
        Rows features = complete ? Rows(segments * features_) : Rows(segments * features_, kNoValue);
        streams.push_back({std::vector<double>(segments, kNoValue), std::move(features)});
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        const auto take = [&](std::size_t stream, std::size_t text, const double* row) {
            double* const to = streams[stream].features.data() + text * features_;
            for (const auto& [feature, place] : columns_[group]) to[feature] = row[place];
        };
        groups_[group]->compare_segments(references, hypothesis, read_[group], take);
    }
    for (std::size_t s = 0; s < references.size(); ++s) {
        for (std::int64_t k : references[s].present) {
            const auto i = static_cast<std::size_t>(k);
            streams[s].scores[i] = score_of(streams[s].features.data() + i * features(), references[s].texts, hypothesis, i);
        }
    }
    return streams;
}

StreamScores Scorer::score_one(const std::vector<AnalysedTexts>& references, const AnalysedTexts& hypothesis) const {
    const std::vector<std::int64_t> first{0};
    std::vector<AnalysedStream> streams;
    for (const AnalysedTexts& reference : references) streams.push_back({reference, first});
    std::vector<StreamScores> scored = score(streams, hypothesis);
    if (scored.size() == 1) return std::move(scored.front());
    std::vector<double> rows;
    for (const StreamScores& stream : scored) {
        rows.push_back(stream.scores.front());
        rows.insert(rows.end(), stream.features.begin(), stream.features.end());
    }
    const std::vector<double> means = mean_of_rows(rows.data(), scored.size(), 1 + features_);
    return {{means.front()}, {means.begin() + 1, means.end()}};
}

double Scorer::score_of(const double* row, const AnalysedTexts& reference, const AnalysedTexts& hypothesis,
                        std::size_t i) const {
    const auto is_empty = [i](const AnalysedTexts& side) { return side.tokens.offsets[i] == side.tokens.offsets[i + 1]; };
    const bool no_reference = is_empty(reference), no_hypothesis = is_empty(hypothesis);
    if (!no_reference && !no_hypothesis) return combination_->score(row, features_);
    if (!no_reference || !no_hypothesis) return empty_.lowest;
    return empty_.same(reference.texts[i], hypothesis.texts[i]) ? empty_.equal : empty_.lowest;
}

}  // namespace tesla
