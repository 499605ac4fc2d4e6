"""The transport solver alone against POT, HiGHS and SciPy on the unigram problems of real pairs.

python -m benchmarks solver
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval import _core
from tesla_eval.language.analysis.pipeline import load_pipeline

PAIRS = 300


def problems() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Weights of both sides in tenths and similarities in halves, one problem a pair."""
    pairs = wmt14_pairs(PAIRS)
    pipeline = load_pipeline("en")
    sides = pipeline.analyse([r for _, r in pairs], [h for h, _ in pairs])
    found = []
    for i in range(len(pairs)):
        x, y = (side.tokens(i) for side in sides)
        if not x or not y:
            continue
        s = np.array([[2 if a.lemma == b.lemma else (a.pos == b.pos) + bool(set(a.senses) & set(b.senses)) for b in y]
                      for a in x])  # fmt: skip
        found.append((*(np.array([1 if t.function else 10 for t in side]) for side in (x, y)), s))
    return found


def _ours(given):  # type: ignore[no-untyped-def]
    arcs = [tuple(a.astype(np.int64) for a in (*np.nonzero(s), s[np.nonzero(s)])) for _, _, s in given]
    return cpu_seconds(
        lambda: [_core.solve_transport(x, y, *a) for (x, y, _), a in zip(given, arcs, strict=True)]
    )


def _pot(given):  # type: ignore[no-untyped-def]
    from ot.lp.emd_wrap import emd_c

    # POT balances the masses: a dummy node on either side takes what is not matched, at no gain.
    balanced = []
    for x, y, s in given:
        a, b = np.append(x, y.sum()).astype(float), np.append(y, x.sum()).astype(float)
        cost = np.zeros((len(a), len(b)))
        cost[:-1, :-1] = 2 - s
        cost[-1, :-1] = cost[:-1, -1] = 2.0
        balanced.append((a / a.sum(), b / b.sum(), np.ascontiguousarray(cost)))
    return cpu_seconds(lambda: [emd_c(a, b, cost, 1_000_000, 1) for a, b, cost in balanced])


def _scipy(given):  # type: ignore[no-untyped-def]
    from scipy.optimize import linprog

    def solve(x, y, s):  # type: ignore[no-untyped-def]
        rows, columns = np.nonzero(s)
        constraints = np.zeros((len(x) + len(y), len(rows)))
        constraints[rows, np.arange(len(rows))] = constraints[len(x) + columns, np.arange(len(rows))] = 1
        return linprog(-s[rows, columns], A_ub=constraints, b_ub=np.concatenate([x, y]), method="highs")

    return cpu_seconds(lambda: [solve(*problem) for problem in given])


def main() -> None:
    given = problems()
    seconds = interleaved(
        {
            "ours": lambda: _ours(given),
            "POT emd_c": lambda: _pot(given),
            "SciPy linprog (HiGHS)": lambda: _scipy(given),
        },
        rounds=3,
    )
    print(f"{len(given)} unigram problems of WMT14 pairs, CPU time, called from Python one by one")
    for name, value in seconds.items():
        print(
            f"{name:<24}{value / len(given) * 1e6:>10.1f} us a problem{value / seconds['ours']:>10.1f}x ours"
        )


if __name__ == "__main__":
    main()
