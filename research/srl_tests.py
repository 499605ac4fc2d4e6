"""Whether two role labellers differ: the paper's χ² test, and McNemar's exact test."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from tesla_eval.statistics.agreements import binomial_upper_tail
from tesla_eval_papers.srl.evaluation import Counts, RoleCounts


class Comparison(NamedTuple):
    """Two systems on one task: the paper's χ² test, and McNemar's exact test."""

    chi_square: float
    chi_square_p: float
    only_first: int
    only_second: int
    mcnemar_p: float


def compare(first: RoleCounts, second: RoleCounts, task: str) -> Comparison:
    """Whether two systems differ on a task.

    χ² compares two counts per system, arguments that are right and arguments that are missed or too many, as if the
    systems had seen different texts. McNemar's test pairs them, argument by argument.
    """
    rows = []
    for counts in (first, second):
        part: Counts = getattr(counts, task)
        rows.append((part.matched, part.predicted + part.gold - 2 * part.matched))
    (a, b), (c, d) = rows
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    chi_square = (a + b + c + d) * (a * d - b * c) ** 2 / margins if margins else 0.0
    one, other = first.decisions.get(task, Counter()), second.decisions.get(task, Counter())
    only_first = only_second = 0
    for key in one.keys() | other.keys():
        # What is not among the decisions was neither gold nor predicted, and that is right.
        right = one.get(key, 1) == 1
        if right != (other.get(key, 1) == 1):
            only_first += right
            only_second += not right
    total = only_first + only_second
    tail = binomial_upper_tail(max(only_first, only_second), total) if total else 1.0
    p = math.erfc(math.sqrt(chi_square / 2))
    return Comparison(chi_square, p, only_first, only_second, min(1.0, 2 * tail))
