#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/syntax/span_parser.h"
#include "training/span_trainer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using Bytes = Array<std::uint8_t>;

SpanGrammar grammar_of(std::size_t tags, std::size_t parents, const Bytes& label_top, const Bytes& label_bottom,
                       const Bytes& is_partial, const Bytes& rule_parent, const Bytes& rule_left, const Bytes& rule_right,
                       const Bytes& unary_parent, const Bytes& unary_tag) {
    SpanGrammar grammar;
    grammar.tags = tags;
    grammar.symbols = is_partial.size();
    grammar.parents = parents;
    grammar.label_top = copied(label_top);
    grammar.label_bottom = copied(label_bottom);
    grammar.is_partial = copied(is_partial);
    grammar.rule_parent = copied(rule_parent);
    grammar.rule_left = copied(rule_left);
    grammar.rule_right = copied(rule_right);
    grammar.unary_parent = copied(unary_parent);
    grammar.unary_tag = copied(unary_tag);
    grammar.check();
    return grammar;
}

nb::tuple parse_batch(const SpanParser& parser, const std::vector<std::vector<std::string>>& forms, const Bytes& tags,
                      std::size_t beam, std::size_t longest) {
    ParsedBatch batch = without_gil([&] { return parser.parse_batch(forms, view_of(tags), beam, longest); });
    return nb::make_tuple(to_numpy(std::move(batch.offsets)), to_numpy(std::move(batch.start)), to_numpy(std::move(batch.end)),
                          to_numpy(std::move(batch.label)), to_numpy(std::move(batch.pieces)), to_numpy(std::move(batch.cut)));
}

void add_example(SpanTrainer& trainer, const std::vector<std::string>& forms, const Bytes& tags,
                 const Array<std::int32_t>& nodes) {
    constexpr std::size_t kColumns = 6;
    require(nodes.size() % kColumns == 0, "a node has start, end, split, label, left, right");
    std::vector<SpanNode> tree;
    for (std::size_t at = 0; at < nodes.size(); at += kColumns) {
        SpanNode node;
        node.start = static_cast<std::uint16_t>(nodes(at));
        node.end = static_cast<std::uint16_t>(nodes(at + 1));
        node.split = static_cast<std::uint16_t>(nodes(at + 2));
        node.label = static_cast<std::int16_t>(nodes(at + 3));
        node.left = static_cast<std::uint16_t>(nodes(at + 4));
        node.right = static_cast<std::uint16_t>(nodes(at + 5));
        tree.push_back(node);
    }
    trainer.add_sentence(forms, copied(tags), std::move(tree));
}

// CKY alone, over scores that somebody else computed: what tests compare with a slow version.
nb::tuple best_tree(const SpanGrammar& grammar, const Bytes& tags, const Array<float>& span, const Array<float>& left,
                    const Array<float>& right, const Array<float>& binary, const Array<float>& unary,
                    const Array<float>& root, std::size_t beam) {
    const std::vector<std::uint8_t> tags_of_words = copied(tags);
    const SpanScores scores{copied(span), copied(left), copied(right), tags_of_words.size()};
    const RuleScores rules{copied(binary), copied(unary), copied(root)};
    check_scores(grammar, tags_of_words, scores, rules);
    require_beam(beam);
    SpanChart chart(grammar, beam);
    std::vector<SpanNode> nodes;
    std::size_t pieces = 1;
    const float score = chart.parse(scores, rules, tags_of_words, nodes, pieces);
    nb::list rows;
    for (const SpanNode& node : nodes) rows.append(nb::make_tuple(node.start, node.end, node.split, node.label));
    return nb::make_tuple(score, rows, pieces);
}

nb::dict trained_dict(SpanTrainedArrays&& arrays) {
    nb::dict result;
    result["feature_deltas"] = to_numpy(std::move(arrays.feature_deltas));
    result["row_lengths"] = to_numpy(std::move(arrays.row_lengths));
    result["row_lanes"] = to_numpy(std::move(arrays.row_lanes));
    result["row_weights"] = to_numpy(std::move(arrays.row_weights));
    result["binary"] = to_numpy(std::move(arrays.binary));
    result["unary"] = to_numpy(std::move(arrays.unary));
    result["root"] = to_numpy(std::move(arrays.root));
    return result;
}

}  // namespace

void bind_syntax(nb::module_& m) {
    m.attr("SPAN_FEATURES") = kSpanFeatureVersion;
    m.attr("MOST_SPAN_LABELS") = kLaneCount;
    m.def("span_word_key", &SpanVocabulary::key, "form"_a, "The hash by which the parser knows a frequent word.");

    nb::class_<SpanGrammar>(m, "SpanGrammar")
        .def(
            "__init__",
            [](SpanGrammar* self, std::size_t tags, std::size_t parents, const Bytes& label_top, const Bytes& label_bottom,
               const Bytes& is_partial, const Bytes& rule_parent, const Bytes& rule_left, const Bytes& rule_right,
               const Bytes& unary_parent, const Bytes& unary_tag) {
                new (self) SpanGrammar(grammar_of(tags, parents, label_top, label_bottom, is_partial, rule_parent,
                                                  rule_left, rule_right, unary_parent, unary_tag));
            },
            "tags"_a, "parents"_a, "label_top"_a, "label_bottom"_a, "is_partial"_a, "rule_parent"_a, "rule_left"_a,
            "rule_right"_a, "unary_parent"_a, "unary_tag"_a);

    m.def("best_span_tree", &best_tree, "grammar"_a, "tags"_a, "span"_a, "left"_a, "right"_a, "binary"_a, "unary"_a,
          "root"_a, "beam"_a, "Score, nodes (start, end, split, label) and pieces of the best tree, by given scores.");

    nb::class_<SpanParser>(m, "SpanParser")
        .def(
            "__init__",
            [](SpanParser* self, const SpanGrammar& grammar, Array<std::uint32_t> feature_deltas, Bytes row_lengths,
               Bytes row_lanes, Array<std::int8_t> row_weights, Array<std::uint32_t> word_deltas, Bytes tag_kinds,
               Bytes tag_breaks, Array<std::int16_t> binary, Array<std::int16_t> unary, Array<std::int16_t> root) {
                new (self) SpanParser(grammar, {view_of(feature_deltas), view_of(row_lengths), view_of(row_lanes),
                                                view_of(row_weights), view_of(word_deltas), view_of(tag_kinds),
                                                view_of(tag_breaks), view_of(binary), view_of(unary), view_of(root)});
            },
            "grammar"_a, "feature_deltas"_a, "row_lengths"_a, "row_lanes"_a, "row_weights"_a, "word_deltas"_a,
            "tag_kinds"_a, "tag_breaks"_a, "binary"_a, "unary"_a, "root"_a)
        .def("parse", &parse_batch, "forms"_a, "tags"_a, "beam"_a, "longest"_a,
             "Offsets of sentences, starts, ends and labels of nodes in preorder, pieces and cut per sentence.");

    nb::class_<SpanTrainer>(m, "SpanTrainer")
        .def(nb::init<SpanGrammar, std::vector<std::uint32_t>, std::vector<std::uint8_t>>(), "grammar"_a, "vocabulary"_a,
             "tag_kinds"_a)
        .def("add_sentence", &add_example, "forms"_a, "tags"_a, "nodes"_a,
             "`nodes`: start, end, split, label, left and right symbol of each node in preorder.")
        .def("run_epoch", &SpanTrainer::run_epoch, "seed"_a, "rate"_a, "cost"_a, "beam"_a, "min_updates"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def("select", &SpanTrainer::select, "count"_a, "restart"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("features", &SpanTrainer::features)
        .def(
            "quantised",
            [](const SpanTrainer& trainer, double scale, int min_weight) {
                return trained_dict(trainer.quantised(scale, min_weight));
            },
            "scale"_a, "min_weight"_a);
}

}  // namespace tesla
