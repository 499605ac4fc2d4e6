"""The study of connectives with parse trees: what it reads off a tree, and how it counts."""

from __future__ import annotations

import numpy as np
import pytest

from research import discourse_syntax as study
from tesla_eval_papers.discourse.connectives import ConnectiveCandidate
from tesla_eval_papers.syntax.trees import read_tree

TREE = read_tree(
    "(TOP (S (ADVP (IN In) (NN addition)) (NP (PRP he)) (VP (VP (VBD ate)) (CC and)"
    " (VP (VBD left) (SBAR (IN as) (IN if) (S (VP (VBN chased))))))))"
)


@pytest.mark.parametrize(
    ("name", "tokens", "facts", "path"),
    [
        ("in addition", (0, 1), {"S=ADVP", "P=S", "L=-", "R=NP", "RV=False", "RS=False"}, "ADVP^S^TOP"),
        ("and", (4,), {"S=CC", "P=VP", "L=VP", "R=VP", "RV=True", "RS=True"}, "CC^VP^S^TOP"),
        ("as if", (6, 7), {"S=-", "P=VP", "L=VBD", "R=-", "RV=False", "RS=False"}, "SBAR^VP^VP^S^TOP"),
    ],
)
def test_self_parent_siblings_and_path(
    name: str, tokens: tuple[int, ...], facts: set[str], path: str
) -> None:
    categories, paths = study.tree_features(TREE, ConnectiveCandidate(name, tokens))
    alone = {one for one in categories if "&" not in one and "|" not in one}
    assert alone == facts
    assert {one for one in categories if "|" in one} == {f"{name}|{one}" for one in facts}
    assert sum("&" in one for one in categories) == 15
    assert paths[0] == f"path={path}"
    assert paths[1] == f"short={path.replace('VP^VP', 'VP')}"


def test_rules_lie_within_the_argument() -> None:
    assert study.rules(TREE, range(2, 4)) == {"NP→PRP", "VP→VBD"}
    assert "S→ADVP NP VP" in study.rules(TREE)
    assert study.rule_features({"a", "b"}, {"b"}) == ["1:a", "1:b", "2:b", "b:b"]


def test_the_gain_is_of_pooled_counts() -> None:
    before, after = np.array([[1.0, 4.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.0, 1.0]])
    assert study.ratio(before) == pytest.approx(0.4)
    assert study.interval(before, after).startswith("+0.400 [+0.000, +0.500]")
