"""What `tesla meta --rankings` prints of judges and systems: text, JSON, TSV."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tesla_eval.cli.meta_formats import shown_p
from tesla_eval.cli.terminal import aligned, visible
from tesla_eval.meta.preference_tests import PreferenceReport
from tesla_eval.stats import Agreement

__all__ = ["PREFERENCE_FORMATS"]


def _text(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    for report in reports:
        yield f"{visible(report.lp)} {visible(report.testset)}"
        if report.between_judges is not None and report.within_judges is not None:
            rows = [["agreement", "P(A)", "kappa", "pairs of judgements"]]
            rows.append(["two judges", *_agreement_cells(report.between_judges)])
            rows.append(["one judge twice", *_agreement_cells(report.within_judges)])
            yield from aligned(rows, numeric=(1, 2, 3))
            yield ""
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
        yield from aligned(rows, numeric=range(2, 7))
        yield ""


def _agreement_cells(agreement: Agreement) -> list[str]:
    shown = ["-" if math.isnan(x) else f"{x:.4f}" for x in (agreement.p_agree, agreement.kappa)]
    return [*shown, str(agreement.n)]


def _json(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    plain = [_without_nan(asdict(report)) for report in reports]
    yield json.dumps({"preferences": plain}, ensure_ascii=False, indent=1)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _tsv(reports: Sequence[PreferenceReport]) -> Iterator[str]:
    """The table of preferences: one row a pair of systems."""
    yield "\t".join(("lp", "testset", "first", "second", "wins", "losses", "ties", "p_value", "p_holm"))
    for report in reports:
        for test in report.tests:
            ties = "" if test.ties is None else test.ties
            numbers = ["" if math.isnan(p) else repr(p) for p in (test.p_value, test.adjusted)]
            cells = (
                report.lp,
                report.testset,
                test.first,
                test.second,
                test.wins,
                test.losses,
                ties,
                *numbers,
            )
            yield "\t".join(map(str, cells))


PREFERENCE_FORMATS: dict[str, Callable[[Sequence[PreferenceReport]], Iterator[str]]] = {
    "json": _json, "text": _text, "tsv": _tsv,
}  # fmt: skip
