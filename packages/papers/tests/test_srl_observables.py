"""The study of the role labeller: auxiliary problems from features that can be observed."""

from __future__ import annotations

import pytest

from research.srl import observable_problems, value_weights
from tesla_eval_papers.training.srl import collect_examples
from test_srl import miniature


def test_observable_problems_remove_what_would_tell_them() -> None:
    sentences = miniature()
    trees = [s.tree for s in sentences]
    examples = collect_examples(sentences, trees, {}).identification
    labels, without = observable_problems(examples, "hw", 3)
    names = [examples.table.names[column] for column in without]
    assert labels.shape == (len(examples.rows), 3)
    assert {name.partition("=")[0] for name in names} == {"hw", "pred&hw"}
    weights = value_weights(examples, "hw", 3)
    assert not weights[:, without].any()
    assert weights.any()
    with pytest.raises(ValueError, match="neither used nor collected"):
        observable_problems(examples, "chunkseq", 3)
    distances = collect_examples(sentences, trees, {}, identification=("distance",)).identification
    values = [distances.table.names[row[0]] for row in distances.rows]
    labels, without = observable_problems(examples, "distance", 20, values)
    assert not len(without)
    assert (labels.sum(axis=1) == 1).all()
