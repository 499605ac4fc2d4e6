"""What `tesla judge agree` prints: text, JSON, TSV."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tesla_eval.cli.shared.meta_formats import shown_p, shown_statistic
from tesla_eval.cli.shared.outputs import tsv_lines
from tesla_eval.cli.shared.terminal import aligned, visible
from tesla_eval.judgements.meta.significance import JudgeAgreement, PreferenceReport, PreferenceShares
from tesla_eval.metrics.results import json_number
from tesla_eval.statistics.agreements import Agreement


def _preference_text(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    for report in reports:
        criterion = f" {visible(report.criterion)}" if report.criterion else ""
        yield f"{visible(report.lp)} {visible(report.testset)}{criterion}"
        if report.judges is not None:
            yield from _judge_tables(report.judges)
        rows = [["system", "expected wins", "wins", "losses"]]
        rows += [
            [visible(s.system), f"{s.expected_wins:.4f}", str(s.wins), str(s.losses)] for s in report.systems
        ]
        yield from aligned(rows, numeric=(1, 2, 3))
        yield ""
        rows = [["first", "second", "wins", "losses", "ties", "p (sign test)", "p (Holm)"]]
        for test in report.tests:
            ties = "" if test.ties is None else str(test.ties)
            counts = [str(test.wins), str(test.losses), ties]
            names = [visible(test.first), visible(test.second)]
            rows.append([*names, *counts, shown_p(test.p_value), shown_p(test.adjusted)])
        yield from aligned(rows, numeric=range(2, 7), keys=2)
        yield ""
        if report.shares is not None:
            yield from _share_tables(report, report.shares)


def _judge_tables(judges: JudgeAgreement) -> Iterator[str]:
    rows = [["agreement", "P(E)", "P(A)", "kappa", "pairs of judgements"]]
    rows.append(["two judges", *_agreement_cells(judges.between)])
    rows.append(["one judge twice", *_agreement_cells(judges.within)])
    rows.append(["two judges, ties left out", *_agreement_cells(judges.between_untied)])
    rows.append(["one judge twice, ties left out", *_agreement_cells(judges.within_untied)])
    yield from aligned(rows, numeric=(1, 2, 3, 4))
    yield ""
    if judges.pairs:
        rows = [["judge", "judge", "P(A)", "kappa", "pairs", "P(A) untied", "kappa untied", "pairs untied"]]
        for pair in judges.pairs:
            cells = [cell for one in (pair.agreement, pair.untied) for cell in _agreement_cells(one)[1:]]
            rows.append([visible(pair.first), visible(pair.second), *cells])
        yield from aligned(rows, numeric=range(2, 8), keys=2)
        yield ""
    if judges.correlations:
        rows = [["judge", "judge", "sentence Pearson", "outputs", "system Pearson", "systems"]]
        for one in (*judges.correlations, *judges.with_others):
            cells = [
                cell
                for level in (one.sentence, one.system)
                for cell in (shown_statistic(level.value), str(level.n))
            ]
            rows.append([visible(one.first), visible(one.second), *cells])
        yield from aligned(rows, numeric=range(2, 6), keys=2)
        yield ""


def _share_tables(report: PreferenceReport, shares: PreferenceShares) -> Iterator[str]:
    names = [visible(s.system) for s in report.systems]
    rows = [["system", "best", "score1 (better or equal)", "score2 (better)"]]
    for name, *values in zip(names, shares.best, shares.score1, shares.score2, strict=True):
        rows.append([name, *map(_percent, values)])
    yield from aligned(rows, numeric=range(1, 4))
    yield ""
    yield "row preferred / column preferred"
    rows = [["", *names]]
    for i, name in enumerate(names):
        cells = [
            "-" if i == j else f"{_percent(shares.matrix[i][j])} / {_percent(shares.matrix[j][i])}"
            for j in range(len(names))
        ]
        rows.append([name, *cells])
    yield from aligned(rows, numeric=range(1, len(names) + 1), keys=1)
    yield ""


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def _agreement_cells(agreement: Agreement) -> list[str]:
    return [
        f"1/{agreement.outcomes}",
        shown_statistic(agreement.p_agree),
        shown_statistic(agreement.kappa),
        str(agreement.n),
    ]


def _preference_json(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    plain = [_without_nan(asdict(report)) for report in reports]
    for report in plain:
        for key in ("shares", "criterion"):
            if not report[key]:
                del report[key]
    yield json.dumps({"preferences": plain}, ensure_ascii=False, indent=1)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _preference_tsv(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    """The table of preferences: one row per pair of systems."""
    yield from tsv_lines(
        [("lp", "testset", "criterion", "first", "second", "wins", "losses", "ties", "p_value", "p_holm")]
    )
    for report in reports:
        for test in report.tests:
            rest = (test.ties, json_number(test.p_value), json_number(test.adjusted))
            cells = (
                report.lp,
                report.testset,
                report.criterion,
                test.first,
                test.second,
                test.wins,
                test.losses,
            )
            yield from tsv_lines([(*cells, *("" if cell is None else cell for cell in rest))])


PREFERENCE_FORMATS: dict[str, Callable[[Sequence[PreferenceReport]], Iterator[str]]] = {
    "json": _preference_json, "text": _preference_text, "tsv": _preference_tsv,
}  # fmt: skip
