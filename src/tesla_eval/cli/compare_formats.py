"""What `tesla compare` prints: text, JSON, LaTeX."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from tesla_eval.cli.meta_formats import shown_p
from tesla_eval.cli.score_formats import PERCENT_SCALE, latex_escaped
from tesla_eval.cli.terminal import aligned, visible
from tesla_eval.meta.systems import DocumentScores, SystemComparison

__all__ = ["COMPARE_FORMATS", "Comparisons"]


@dataclass(frozen=True)
class Comparisons:
    """One comparison a metric, all of the same systems."""

    by_metric: tuple[SystemComparison, ...]
    signatures: tuple[str, ...]
    baseline: str | None


def _text(found: Comparisons) -> Iterator[str]:
    first = found.by_metric[0]
    units = f"{first.segments} segments"
    if first.documents is not None:
        units += f" in {first.units} documents, which are resampled whole"
    yield f"{len(first.systems)} systems, {units}; {first.resamples} resamples, seed {first.seed}"
    for comparison in found.by_metric:
        yield ""
        yield from _systems_text(comparison, found.baseline)
        yield ""
        yield from _pairs_text(comparison)
        if comparison.documents is not None:
            yield ""
            yield from _documents_text(comparison, comparison.documents)
    yield ""
    yield from found.signatures


def _systems_text(comparison: SystemComparison, baseline: str | None) -> Iterator[str]:
    better = "" if comparison.higher_is_better else " (lower is better)"
    head = ["cluster"] if comparison.clusters is not None else []
    rows = [[*head, "system", comparison.metric + better, f"{100 * (1 - comparison.alpha):g} % interval"]]
    for i in comparison.best_first:
        mark = " (baseline)" if comparison.systems[i] == baseline else ""
        cluster = [str(comparison.clusters[i])] if comparison.clusters is not None else []
        low, high = (_shown(comparison, ends[i]) for ends in (comparison.low, comparison.high))
        score = _shown(comparison, comparison.scores[i])
        rows.append([*cluster, visible(comparison.systems[i]) + mark, score, f"{low} to {high}"])
    yield from aligned(rows, numeric=range(len(rows[0]) - 2, len(rows[0])))


def _pairs_text(comparison: SystemComparison) -> Iterator[str]:
    head = [
        "first",
        "second",
        "difference",
        "interval",
        "wins",
        "p boot",
        "Holm",
        "p rand",
        "Holm",
        "d",
        "superior",
    ]
    rows = [[*head, ""]]
    for pair in comparison.pairs:
        low, high = (_shown(comparison, end, signed=True) for end in (pair.low, pair.high))
        tests = (pair.p_bootstrap, pair.p_bootstrap_holm, pair.p_randomisation, pair.p_randomisation_holm)
        rows.append([
            visible(pair.first), visible(pair.second), _shown(comparison, pair.difference, signed=True),
            f"{low} to {high}", f"{pair.wins:.3f}", *map(shown_p, tests),
            "-" if math.isnan(pair.cohen_d) else f"{pair.cohen_d:+.2f}", f"{pair.superiority:.3f}",
            "*" if pair.is_significant(comparison.alpha) else "",
        ])  # fmt: skip
    yield from aligned(rows, numeric=range(2, len(head)))
    yield f"* differ at level {comparison.alpha:g} (approximate randomisation, Holm-corrected)"


def _documents_text(comparison: SystemComparison, documents: DocumentScores) -> Iterator[str]:
    rows = [["document", *map(visible, comparison.systems)]]
    for name, scores in zip(documents.names, documents.scores.tolist(), strict=True):
        rows.append([visible(name), *(_shown(comparison, score) for score in scores)])
    yield from aligned(rows, numeric=range(1, len(rows[0])))


def _json(found: Comparisons) -> Iterator[str]:
    plain = {
        "signatures": list(found.signatures),
        "baseline": found.baseline,
        "metrics": [_plain(comparison) for comparison in found.by_metric],
    }
    yield json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)


def _plain(comparison: SystemComparison) -> dict[str, Any]:
    clusters = comparison.clusters or (None,) * len(comparison.systems)
    columns = zip(
        comparison.systems, comparison.scores, comparison.low, comparison.high, clusters, strict=True
    )
    result: dict[str, Any] = {
        "metric": comparison.metric,
        "higher_is_better": comparison.higher_is_better,
        "segments": comparison.segments,
        "units": comparison.units,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "alpha": comparison.alpha,
        "systems": [
            {"system": system, "score": score, "low": low, "high": high, "cluster": cluster}
            for system, score, low, high, cluster in columns
        ],
        "pairs": [
            {
                key: None if isinstance(value, float) and math.isnan(value) else value
                for key, value in asdict(pair).items()
            }
            | {"significant": pair.is_significant(comparison.alpha)}
            for pair in comparison.pairs
        ],
    }
    if comparison.documents is not None:
        result["documents"] = [
            {"document": name, "scores": dict(zip(comparison.systems, scores, strict=True))}
            for name, scores in zip(
                comparison.documents.names, comparison.documents.scores.tolist(), strict=True
            )
        ]
    return result


def _latex(found: Comparisons) -> Iterator[str]:
    """Systems down, metrics across: score and half width of the interval, best cluster (or difference) marked."""
    first = found.by_metric[0]
    yield from (f"% {signature}" for signature in found.signatures)
    level = f"{100 * (1 - first.alpha):g} percent"
    yield f"% subscript: half of the {level} interval; {first.resamples} resamples, seed {first.seed}"
    if found.baseline is None:
        yield "% bold: in the first rank cluster (approximate randomisation, Holm-corrected)"
    else:
        yield "% dagger: differs from the baseline (approximate randomisation, Holm-corrected)"
    yield f"\\begin{{tabular}}{{l{'r' * len(found.by_metric)}}}"
    yield "\\toprule"
    yield (
        " & ".join(["System", *(latex_escaped(comparison.metric) for comparison in found.by_metric)]) + r" \\"
    )
    yield "\\midrule"
    for i in first.best_first:
        cells = [_latex_cell(comparison, i) for comparison in found.by_metric]
        yield " & ".join([latex_escaped(first.systems[i]), *cells]) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"


def _latex_cell(comparison: SystemComparison, system: int) -> str:
    score = _shown(comparison, comparison.scores[system])
    half = _shown(comparison, (comparison.high[system] - comparison.low[system]) / 2)
    if comparison.clusters is not None and comparison.clusters[system] == 1:
        score = f"\\mathbf{{{score}}}"
    if comparison.clusters is None and any(
        pair.first == comparison.systems[system] and pair.is_significant(comparison.alpha)
        for pair in comparison.pairs
    ):
        score += r"^\dagger"
    return f"${score}_{{\\pm {half}}}$"


def _shown(comparison: SystemComparison, value: float, *, signed: bool = False) -> str:
    digits = 2 if comparison.metric in PERCENT_SCALE else 4
    return f"{value:{'+' if signed else ''}.{digits}f}"


COMPARE_FORMATS: dict[str, Callable[[Comparisons], Iterator[str]]] = {
    "json": _json, "latex": _latex, "text": _text,
}  # fmt: skip
