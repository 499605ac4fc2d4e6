#include "training/span_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/random.h"

namespace tesla {
namespace {

constexpr float kHighestRate = 1e4f;  // so that scores stay finite
constexpr std::size_t kFirstFeatures = std::size_t{1} << 19;

}  // namespace

SpanTrainer::SpanTrainer(SpanGrammar grammar, const std::vector<std::uint32_t>& vocabulary,
                         std::vector<std::uint8_t> tag_kinds)
    : grammar_(std::move(grammar)), tag_kinds_(std::move(tag_kinds)) {
    grammar_.check();
    require(tag_kinds_.size() == grammar_.tags, "the parser's tags are incomplete");
    vocabulary_.build(vocabulary);
    rows_.reserve(kFirstFeatures);
    hashes_.push_back(0);
    blocks_.push_back(std::make_unique<float[]>(kBlockRows * kRowFloats));
    binary_.resize(grammar_.rule_parent.size());
    unary_.resize(grammar_.unary_parent.size());
    root_.resize(grammar_.symbols);
    left_.resize(grammar_.parents * grammar_.symbols);
    right_.resize(grammar_.parents * grammar_.symbols);
    const std::size_t symbols = grammar_.symbols;
    rule_of_.assign(grammar_.parents * symbols * symbols, -1);
    for (std::size_t r = 0; r < binary_.size(); ++r)
        rule_of_[(grammar_.rule_parent[r] * symbols + grammar_.rule_left[r]) * symbols + grammar_.rule_right[r]] =
            static_cast<int>(r);
    unary_of_.assign(grammar_.parents * grammar_.tags, -1);
    for (std::size_t r = 0; r < unary_.size(); ++r)
        unary_of_[grammar_.unary_parent[r] * grammar_.tags + grammar_.unary_tag[r]] = static_cast<int>(r);
}

void SpanTrainer::add_sentence(const std::vector<std::string>& forms, const std::vector<std::uint8_t>& tags,
                               std::vector<SpanNode> nodes) {
    require(forms.size() == tags.size() && !forms.empty() && !nodes.empty(), "a sentence is incomplete");
    std::vector<SpanWord> words;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        require(tags[i] < grammar_.tags, "a word has a tag that the parser does not have");
        words.push_back(vocabulary_.word(forms[i], tags[i], tag_kinds_[tags[i]]));
    }
    for (const SpanNode& node : nodes) {
        const bool leaf = node.end == node.start + 1;
        require(node.start < node.end && node.end <= forms.size() && node.label >= 0 &&
                    static_cast<std::size_t>(node.label) < grammar_.label_top.size() && node.left < grammar_.symbols &&
                    node.right < grammar_.symbols && (leaf || (node.start < node.split && node.split < node.end)),
                "a tree is no binary tree over its words");
    }
    examples_.push_back({SpanSentence(std::move(words)), tags, std::move(nodes)});
}

std::uint32_t SpanTrainer::new_row(std::uint32_t hash) {
    const std::size_t number = hashes_.size();
    if (number / kBlockRows >= blocks_.size()) blocks_.push_back(std::make_unique<float[]>(kBlockRows * kRowFloats));
    hashes_.push_back(hash);
    return static_cast<std::uint32_t>(number);
}

void SpanTrainer::add_rows(const std::uint32_t* features, std::size_t count, float* out) const {
    std::uint32_t numbers[kMostFeatures];
    for (std::size_t f = 0; f < count; ++f) rows_.prefetch(features[f]);
    for (std::size_t f = 0; f < count; ++f) {
        numbers[f] = find(features[f]);
        if (numbers[f])
            for (std::size_t line = 0; line < kLaneCount; line += 16) prefetch_memory(row(numbers[f]) + line);
    }
    for (std::size_t f = 0; f < count; ++f) {
        if (numbers[f] == 0) continue;
        const float* weights = row(numbers[f]);
        for (std::size_t lane = 0; lane < kLaneCount; ++lane) out[lane] += weights[lane];
    }
}

void SpanTrainer::score(const SpanSentence& sentence) {
    score_spans(sentence, scores_, interrupt_,
                [this](const std::uint32_t* features, std::size_t count, float* lanes) { add_rows(features, count, lanes); });
}

void SpanTrainer::sum_rules() {
    const std::size_t symbols = grammar_.symbols;
    rules_.binary.resize(binary_.size());
    for (std::size_t r = 0; r < binary_.size(); ++r)
        rules_.binary[r] = binary_[r].weight + left_[grammar_.rule_parent[r] * symbols + grammar_.rule_left[r]].weight +
                           right_[grammar_.rule_parent[r] * symbols + grammar_.rule_right[r]].weight;
    rules_.unary.resize(unary_.size());
    for (std::size_t r = 0; r < unary_.size(); ++r) rules_.unary[r] = unary_[r].weight;
    rules_.root.resize(root_.size());
    for (std::size_t s = 0; s < root_.size(); ++s) rules_.root[s] = root_[s].weight;
}

int SpanTrainer::rule_number(const SpanNode& node) const {
    const std::size_t symbols = grammar_.symbols;
    const std::size_t parent = grammar_.label_bottom[static_cast<std::size_t>(node.label)];
    return rule_of_[(parent * symbols + node.left) * symbols + node.right];
}

float SpanTrainer::tree_score(const Example& example, const std::vector<SpanNode>& nodes) const {
    float score = rules_.root[grammar_.label_top[static_cast<std::size_t>(nodes[0].label)]];
    for (const SpanNode& node : nodes) {
        const auto label = static_cast<std::size_t>(node.label);
        const std::size_t parent = grammar_.label_bottom[label];
        score += scores_.span[scores_.row(node.start, node.end) + label];
        if (node.end == node.start + 1) {
            const int rule = unary_of_[parent * grammar_.tags + example.tags[node.start]];
            if (rule >= 0) score += rules_.unary[static_cast<std::size_t>(rule)];
        } else {
            score += scores_.left[scores_.row(node.start, node.split) + parent] +
                     scores_.right[scores_.row(node.split, node.end) + parent];
            const int rule = rule_number(node);
            if (rule >= 0) score += rules_.binary[static_cast<std::size_t>(rule)];
        }
    }
    return score;
}

void SpanTrainer::step(float& weight, float& squares, float& total, float gradient) const {
    squares += gradient * gradient;
    const float change = rate_ * gradient / std::sqrt(squares);
    weight += change;
    total += change * static_cast<float>(steps_);
}

void SpanTrainer::update_feature(std::uint32_t hash, std::size_t lane, float gradient) {
    std::uint32_t number = 0;
    if (fixed_) {
        number = find(hash);
    } else {
        const std::uint32_t value = rows_.find_or_add(hash, kWaiting, [](std::uint32_t) { return true; });
        if (!(value & kWaiting)) {
            number = value;
        } else if (value + 1 - kWaiting < min_updates_) {
            rows_.renumber(hash, value + 1);
        } else {
            number = new_row(hash);
            rows_.renumber(hash, number);
        }
    }
    if (number == 0) return;
    float* weights = row(number) + lane;
    step(weights[0], weights[kLaneCount], weights[2 * kLaneCount], gradient);
}

void SpanTrainer::update_node(const Example& example, const SpanNode& node, float gradient) {
    std::uint32_t features[kMostFeatures];
    const auto label = static_cast<std::size_t>(node.label);
    const std::size_t parent = grammar_.label_bottom[label], symbols = grammar_.symbols;
    const auto update = [&](std::size_t count, std::size_t lane) {
        for (std::size_t f = 0; f < count; ++f) update_feature(features[f], lane, gradient);
    };
    const auto update_scalar = [&](Scalar& scalar) { step(scalar.weight, scalar.squares, scalar.total, gradient); };
    example.sentence.span(node.start, node.end, features);
    update(kSpanFeatures, label);
    if (node.end == node.start + 1) {
        const int rule = unary_of_[parent * grammar_.tags + example.tags[node.start]];
        if (rule >= 0) update_scalar(unary_[static_cast<std::size_t>(rule)]);
        return;
    }
    example.sentence.split(node.split, features);
    update(kSplitFeatures, parent);
    example.sentence.split_left(node.start, node.split, features);
    update(kSplitLeftFeatures, parent);
    example.sentence.split_right(node.split, node.end, features);
    update(kSplitRightFeatures, parent);
    const int rule = rule_number(node);
    if (rule >= 0) update_scalar(binary_[static_cast<std::size_t>(rule)]);
    update_scalar(left_[parent * symbols + node.left]);
    update_scalar(right_[parent * symbols + node.right]);
}

void SpanTrainer::update_root(const std::vector<SpanNode>& nodes, float gradient) {
    Scalar& scalar = root_[grammar_.label_top[static_cast<std::size_t>(nodes[0].label)]];
    step(scalar.weight, scalar.squares, scalar.total, gradient);
}

// Every label that is not the right one costs: it must be worse by that much.
void SpanTrainer::add_cost(const Example& example, float cost) {
    const std::size_t n = example.tags.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j <= n; ++j) {
            float* labels = &scores_.span[scores_.row(i, j)];
            for (std::size_t label = 0; label < kLaneCount; ++label) labels[label] += cost;
        }
    for (const SpanNode& node : example.nodes)
        scores_.span[scores_.row(node.start, node.end) + static_cast<std::size_t>(node.label)] -= cost;
}

// Nodes that both trees have cancel out. Returns whether there were others.
bool SpanTrainer::update_tree(const Example& example, const std::vector<SpanNode>& predicted) {
    const auto same = [](const SpanNode& a, const SpanNode& b) {
        return a.start == b.start && a.end == b.end && a.label == b.label && a.split == b.split && a.left == b.left &&
               a.right == b.right;
    };
    bool changed = false;
    std::vector<char> right(predicted.size(), 0);
    for (const SpanNode& node : example.nodes) {
        const auto equal = std::find_if(predicted.begin(), predicted.end(), [&](const SpanNode& p) { return same(p, node); });
        if (equal != predicted.end()) {
            right[static_cast<std::size_t>(equal - predicted.begin())] = 1;
            continue;
        }
        update_node(example, node, 1);
        changed = true;
    }
    for (std::size_t p = 0; p < predicted.size(); ++p)
        if (!right[p]) {
            update_node(example, predicted[p], -1);
            changed = true;
        }
    if (grammar_.label_top[static_cast<std::size_t>(predicted[0].label)] !=
        grammar_.label_top[static_cast<std::size_t>(example.nodes[0].label)]) {
        update_root(example.nodes, 1);
        update_root(predicted, -1);
    }
    return changed;
}

std::size_t SpanTrainer::run_epoch(std::uint64_t seed, float rate, float cost, std::size_t beam, std::uint32_t min_updates) {
    require(rate > 0 && rate <= kHighestRate && cost >= 0 && cost <= kHighestRate, "rate or cost is out of range");
    require_beam(beam);
    rate_ = rate;
    min_updates_ = min_updates;
    std::vector<std::size_t> order(examples_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    SpanChart chart(grammar_, beam);
    std::vector<SpanNode> predicted;
    std::size_t wrong = 0;
    for (std::size_t number : order) {
        const Example& example = examples_[number];
        ++steps_;
        score(example.sentence);
        sum_rules();
        const float gold_score = tree_score(example, example.nodes);
        add_cost(example, cost);
        std::size_t pieces = 1;
        const float score = chart.parse(scores_, rules_, example.tags, predicted, pieces);
        if (pieces > 1 || predicted.empty())
            ++wrong;
        else if (score > gold_score)
            wrong += update_tree(example, predicted);
    }
    return wrong;
}

void SpanTrainer::select(std::size_t count, bool restart) {
    std::vector<std::pair<float, std::uint32_t>> sizes;  // negative, so that the largest come first; ties by hash
    for (std::uint32_t number = 1; number < hashes_.size(); ++number) {
        const float* weights = row(number);
        float size = 0;
        for (std::size_t lane = 0; lane < kLaneCount; ++lane)
            size = std::max(size, std::abs(averaged(weights[lane], weights[2 * kLaneCount + lane])));
        sizes.emplace_back(-size, hashes_[number]);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.resize(std::min(count, sizes.size()));
    std::vector<std::uint32_t> kept_hashes{0};
    std::vector<std::unique_ptr<float[]>> kept_blocks;
    kept_blocks.push_back(std::make_unique<float[]>(kBlockRows * kRowFloats));
    FlatTable<0> kept_rows(sizes.size());
    for (const auto& [size, hash] : sizes) {
        const std::size_t number = kept_hashes.size();
        if (number / kBlockRows >= kept_blocks.size())
            kept_blocks.push_back(std::make_unique<float[]>(kBlockRows * kRowFloats));
        if (!restart) std::copy_n(row(find(hash)), 2 * kLaneCount, kept_blocks.back().get() + (number % kBlockRows) * kRowFloats);
        kept_rows.add(hash, static_cast<std::uint32_t>(number));
        kept_hashes.push_back(hash);
    }
    hashes_ = std::move(kept_hashes);
    blocks_ = std::move(kept_blocks);
    rows_ = std::move(kept_rows);
    for (auto* scalars : {&binary_, &unary_, &root_, &left_, &right_})
        for (Scalar& scalar : *scalars) {
            if (restart) scalar = Scalar{};
            scalar.total = 0;
        }
    steps_ = 0;
    fixed_ = true;
}

SpanTrainedArrays SpanTrainer::quantised(double scale, int min_weight) const {
    SpanTrainedArrays arrays;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> features;
    for (std::uint32_t number = 1; number < hashes_.size(); ++number) features.emplace_back(hashes_[number], number);
    std::sort(features.begin(), features.end());
    std::vector<std::uint32_t> hashes;
    for (const auto& [hash, number] : features) {
        const float* weights = row(number);
        std::uint8_t length = 0;
        for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
            const double average = averaged(weights[lane], weights[2 * kLaneCount + lane]);
            const double rounded = std::clamp(std::nearbyint(average * scale), -127.0, 127.0);
            if (rounded == 0 || std::abs(rounded) < min_weight) continue;
            arrays.row_lanes.push_back(static_cast<std::uint8_t>(lane));
            arrays.row_weights.push_back(static_cast<std::int8_t>(rounded));
            ++length;
        }
        if (length == 0) continue;
        hashes.push_back(hash);
        arrays.row_lengths.push_back(length);
    }
    arrays.feature_deltas = hash_differences(hashes);
    const auto rounded = [&](double average) {
        return static_cast<std::int16_t>(std::clamp(std::nearbyint(average * scale), -32767.0, 32767.0));
    };
    const auto value = [&](const Scalar& scalar) { return averaged(scalar.weight, scalar.total); };
    const std::size_t symbols = grammar_.symbols;
    for (std::size_t r = 0; r < binary_.size(); ++r)
        arrays.binary.push_back(rounded(value(binary_[r]) +
                                        value(left_[grammar_.rule_parent[r] * symbols + grammar_.rule_left[r]]) +
                                        value(right_[grammar_.rule_parent[r] * symbols + grammar_.rule_right[r]])));
    for (const Scalar& scalar : unary_) arrays.unary.push_back(rounded(value(scalar)));
    for (const Scalar& scalar : root_) arrays.root.push_back(rounded(value(scalar)));
    return arrays;
}

}  // namespace tesla
