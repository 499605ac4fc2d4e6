#include "language/syntax/span_chart.h"

#include <algorithm>
#include <limits>

#include "base/checks.h"
#include "language/syntax/span_features.h"

namespace tesla {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kPiece = 1e4f;  // what one more piece costs where there is no whole tree

// How many scores of a kind the spans of so many words have.
std::size_t scores_of(std::size_t words) { return (words + 1) * (words + 1) * kLaneCount; }

bool below(const std::vector<std::uint8_t>& values, std::size_t bound) {
    return std::all_of(values.begin(), values.end(), [&](std::uint8_t v) { return v < bound; });
}

}  // namespace

void SpanGrammar::check() const {
    require(!label_top.empty() && label_top.size() <= kLaneCount && parents <= kLaneCount,
            "a parser has 1 to 64 labels and parents");
    require(label_top.size() == label_bottom.size() && is_partial.size() == symbols && tags <= symbols && symbols <= 255,
            "the parser's labels do not fit together");
    require(rule_parent.size() == rule_left.size() && rule_left.size() == rule_right.size() &&
                unary_parent.size() == unary_tag.size() && rule_parent.size() < 65536 && unary_parent.size() < 65536,
            "the parser's rules do not fit together");
    require(below(label_top, symbols) && below(label_bottom, parents) && below(rule_parent, parents) &&
                below(rule_left, symbols) && below(rule_right, symbols) && below(unary_parent, parents) &&
                below(unary_tag, tags),
            "a rule of the parser names a symbol that it does not have");
    // Words that form no tree stand beside each other: each must be a piece.
    require(std::all_of(is_partial.begin(), is_partial.begin() + static_cast<std::ptrdiff_t>(tags),
                        [](std::uint8_t partial) { return partial == 0; }),
            "a tag of the parser is an unfinished constituent");
}

void require_beam(std::size_t beam) { require(beam >= 1 && beam <= 100, "the beam is out of range"); }

void check_scores(const SpanGrammar& grammar, const std::vector<std::uint8_t>& tags, const SpanScores& scores,
                  const RuleScores& rules) {
    const std::size_t size = scores_of(tags.size());
    require(scores.n == tags.size() && scores.span.size() == size && scores.left.size() == size && scores.right.size() == size &&
                rules.binary.size() == grammar.rule_parent.size() && rules.unary.size() == grammar.unary_parent.size() &&
                rules.root.size() == grammar.symbols,
            "the scores do not fit the grammar and the sentence");
    require(below(tags, grammar.tags), "a word has a tag that the grammar does not have");
}

void SpanScores::resize(std::size_t words) {
    n = words;
    const std::size_t size = scores_of(n);
    for (auto* part : {&span, &left, &right})
        if (part->size() < size) part->resize(size);
}
std::size_t SpanScores::row(std::size_t i, std::size_t j) const { return (i * (n + 1) + j) * kLaneCount; }

SpanChart::SpanChart(const SpanGrammar& grammar, std::size_t beam) : grammar_(grammar), beam_(beam) {
    const std::size_t symbols = grammar.symbols, rules = grammar.rule_parent.size();
    std::vector<std::uint16_t> order(rules);
    for (std::size_t i = 0; i < rules; ++i) order[i] = static_cast<std::uint16_t>(i);
    const auto pair = [&](std::size_t rule) { return grammar.rule_left[rule] * symbols + grammar.rule_right[rule]; };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return pair(a) < pair(b); });
    pair_begin_.assign(symbols * symbols + 1, 0);
    for (std::uint16_t rule : order) {
        ++pair_begin_[pair(rule) + 1];
        entries_.push_back({rule, grammar.rule_parent[rule]});
    }
    for (std::size_t i = 1; i < pair_begin_.size(); ++i) pair_begin_[i] += pair_begin_[i - 1];
    unary_of_tag_.resize(grammar.tags);
    for (std::size_t i = 0; i < grammar.unary_tag.size(); ++i)
        unary_of_tag_[grammar.unary_tag[i]].emplace_back(grammar.unary_parent[i], static_cast<std::uint16_t>(i));
    best_.resize(grammar.parents);
    candidate_of_.assign(symbols, -1);
}

void SpanChart::add_candidates(const float* labels) {
    for (std::size_t label = 0; label < grammar_.label_top.size(); ++label) {
        const Best& best = best_[grammar_.label_bottom[label]];
        if (best.score == kNever) continue;
        const std::uint8_t symbol = grammar_.label_top[label];
        const Item item{labels[label] + best.score, static_cast<std::int16_t>(label), best.split, symbol, best.left, best.right};
        std::int16_t& place = candidate_of_[symbol];
        if (place < 0) {
            place = static_cast<std::int16_t>(candidates_.size());
            candidates_.push_back(item);
        } else if (item.score > candidates_[static_cast<std::size_t>(place)].score) {
            candidates_[static_cast<std::size_t>(place)] = item;
        }
    }
}

void SpanChart::keep_best(std::size_t i, std::size_t j) {
    for (const Item& item : candidates_) candidate_of_[item.symbol] = -1;
    const std::size_t kept = std::min(beam_, candidates_.size());
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(),
                      [](const Item& a, const Item& b) { return a.score != b.score ? a.score > b.score : a.symbol < b.symbol; });
    std::copy_n(candidates_.begin(), kept, cell(i, j));
    count(i, j) = static_cast<std::uint8_t>(kept);
}

float SpanChart::parse(const SpanScores& scores, const RuleScores& rules, const std::vector<std::uint8_t>& tags,
                       std::vector<SpanNode>& nodes, std::size_t& pieces) {
    n_ = tags.size();
    nodes.clear();
    pieces = 1;
    if (n_ == 0) return 0;
    items_.resize((n_ + 1) * (n_ + 1) * beam_);
    counts_.assign((n_ + 1) * (n_ + 1), 0);
    for (std::size_t i = 0; i < n_; ++i) fill_word(i, tags[i], scores, rules);
    for (std::size_t length = 2; length <= n_; ++length)
        for (std::size_t i = 0; i + length <= n_; ++i) {
            interrupt_.step(100 * length);
            fill_span(i, i + length, scores, rules);
        }
    const auto [best, place] = best_root(rules);
    if (best == kNever)
        glue(nodes, pieces);
    else
        emit(0, n_, place, nodes);
    return best;
}

void SpanChart::fill_word(std::size_t i, std::uint8_t tag, const SpanScores& scores, const RuleScores& rules) {
    std::fill(best_.begin(), best_.end(), Best{kNever, 0, 0, 0});
    for (const auto& [parent, rule] : unary_of_tag_[tag]) best_[parent].score = rules.unary[rule];
    const Item bare{0, -1, 0, tag, 0, 0};
    candidates_.assign(1, bare);
    candidate_of_[tag] = 0;
    add_candidates(scores.span.data() + scores.row(i, i + 1));
    keep_best(i, i + 1);
    // The bare word stays: without it some rules could never apply.
    Item* const items = cell(i, i + 1);
    Item* const end = items + count(i, i + 1);
    if (std::none_of(items, end, [](const Item& item) { return item.label < 0; })) end[-1] = bare;
}

void SpanChart::fill_span(std::size_t i, std::size_t j, const SpanScores& scores, const RuleScores& rules) {
    const std::size_t symbols = grammar_.symbols;
    std::fill(best_.begin(), best_.end(), Best{kNever, 0, 0, 0});
    bool any = false;
    for (std::size_t k = i + 1; k < j; ++k) {
        const std::size_t left_count = count(i, k), right_count = count(k, j);
        if (left_count == 0 || right_count == 0) continue;
        const Item *left = cell(i, k), *right = cell(k, j);
        const float* left_scores = scores.left.data() + scores.row(i, k);
        const float* right_scores = scores.right.data() + scores.row(k, j);
        for (std::size_t a = 0; a < left_count; ++a)
            for (std::size_t b = 0; b < right_count; ++b) {
                const std::size_t pair = left[a].symbol * symbols + right[b].symbol;
                const float children = left[a].score + right[b].score;
                for (std::uint32_t e = pair_begin_[pair]; e < pair_begin_[pair + 1]; ++e) {
                    const auto [rule, parent] = entries_[e];
                    const float score = children + rules.binary[rule] + left_scores[parent] + right_scores[parent];
                    if (score > best_[parent].score) {
                        best_[parent] = {score, static_cast<std::uint16_t>(k), static_cast<std::uint8_t>(a),
                                         static_cast<std::uint8_t>(b)};
                        any = true;
                    }
                }
            }
    }
    if (!any) return;
    candidates_.clear();
    add_candidates(scores.span.data() + scores.row(i, j));
    keep_best(i, j);
}

// The score of the best tree and its place; kNever where there is none.
std::pair<float, std::size_t> SpanChart::best_root(const RuleScores& rules) {
    float best = kNever;
    std::size_t place = 0;
    const Item* root = cell(0, n_);
    for (std::size_t a = 0; a < count(0, n_); ++a)
        if (!grammar_.is_partial[root[a].symbol] && root[a].label >= 0 && root[a].score + rules.root[root[a].symbol] > best) {
            best = root[a].score + rules.root[root[a].symbol];
            place = a;
        }
    return {best, place};
}

void SpanChart::emit(std::size_t i, std::size_t j, std::size_t place, std::vector<SpanNode>& nodes) {
    const Item item = cell(i, j)[place];
    if (item.label < 0) return;
    SpanNode node;
    node.start = static_cast<std::uint16_t>(i);
    node.end = static_cast<std::uint16_t>(j);
    node.label = item.label;
    if (j - i > 1) {
        node.split = item.split;
        node.left = cell(i, item.split)[item.left].symbol;
        node.right = cell(item.split, j)[item.right].symbol;
    }
    nodes.push_back(node);
    if (j - i > 1) {
        emit(i, item.split, item.left, nodes);
        emit(item.split, j, item.right, nodes);
    }
}

void SpanChart::glue(std::vector<SpanNode>& nodes, std::size_t& pieces) {
    std::vector<float> best(n_ + 1, kNever);
    std::vector<std::pair<std::size_t, std::size_t>> from(n_ + 1);
    best[0] = 0;
    for (std::size_t j = 1; j <= n_; ++j)
        for (std::size_t i = 0; i < j; ++i)
            for (std::size_t a = 0; a < count(i, j); ++a) {
                const Item& item = cell(i, j)[a];
                const float score = best[i] + item.score - kPiece;
                if (item.label < 0 && best[j] == kNever) from[j] = {i, a};  // whatever the scores are, words are pieces
                if (!grammar_.is_partial[item.symbol] && score > best[j]) {
                    best[j] = score;
                    from[j] = {i, a};
                }
            }
    std::vector<std::size_t> ends;
    for (std::size_t j = n_; j > 0; j = from[j].first) ends.push_back(j);
    pieces = ends.size();
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) emit(from[*end].first, *end, from[*end].second, nodes);
}

}  // namespace tesla
