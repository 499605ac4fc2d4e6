"""Summaries of many topics by many systems, with human scores; and lists of scored texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.nouns import EvalSet, FloatTable, SummaryRow
from tesla_eval.judgements.tac import is_tac_folder, read_tac_folder, whole_text
from tesla_eval.texts.compression import SUFFIXES, without_suffix
from tesla_eval.texts.lines import read_json_lines
from tesla_eval.texts.tables import usual_name

_AUTOMATIC = ("rouge", "bleu", "meteor", "chrf", "bert", "bart", "mover", "cider", "js-", "js_")
"""Names that judged data sets give to scores of metrics, which stand beside what people said."""

OVERALL = "mean"
"""The mean of the scores of SummEval, Newsroom or SummEval-OP: the nearest they have to overall responsiveness."""
_AVERAGED = (
    ("coherence", "consistency", "fluency", "relevance"),  # SummEval
    ("coherence", "fluency", "informativeness", "relevance"),  # Newsroom
    (
        "Fluency",
        "Coherence",
        "Relevance",
        "Faithfulness",
        "Aspect Coverage",
        "Sentiment Consistency",
        "Specificity",
    ),
)
_HUMAN_SYSTEM = "human-summaries"
"""SummEval-OP lists its model summaries among the systems."""


@dataclass
class SummarySet:
    """Systems by topics: a summary each (or none), the models of every topic, and tables of human scores by name.

    `sources` holds the text that each topic's summaries are made from, where it is known for all topics.
    """

    name: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    hypotheses: tuple[tuple[str | None, ...], ...]
    references: tuple[tuple[str, ...], ...]
    """For every topic its models, at least one."""
    human: Mapping[str, FloatTable] = field(default_factory=dict)
    sources: tuple[str, ...] | None = None

    @property
    def reference_streams(self) -> tuple[tuple[str | None, ...], ...]:
        """The models as K streams of topics, `None` where a topic has fewer than K."""
        most = max(map(len, self.references))
        padded = [(*models, *[None] * (most - len(models))) for models in self.references]
        return tuple(zip(*padded, strict=True))

    def eval_sets(self, score: str | None = None, lang: str = "en") -> Iterator[EvalSet]:
        """One test set for each kind of human score, or only that of the kind `score`; a topic is a segment."""
        if not self.human:
            raise InputError(f"{self.name}: has no human scores")
        if score is not None and score not in self.human:
            raise UsageError(f"{self.name}: no human scores {score!r}; there are {', '.join(self.human)}")
        for kind, table in self.human.items():
            if score in (None, kind):
                yield EvalSet(
                    lp=lang, testset=f"{self.name} {kind}", systems=self.systems, segments=self.topics,
                    hypotheses=self.hypotheses, references=self.reference_streams, human=table,
                    sources=self.sources,
                )  # fmt: skip


def read_summaries(path: str) -> SummarySet:
    """Summaries from JSON Lines, from a folder of text files, or from a judged data set, whichever `path` is."""
    folder = Path(path)
    if not folder.is_dir():
        return _collected(without_suffix(folder.name).removesuffix(".jsonl"), _json_rows(path))
    if is_tac_folder(folder):
        return _collected(folder.resolve().name, read_tac_folder(folder))
    if (folder / "peers").is_dir():
        return _collected(folder.name, _text_rows(folder))
    documents, summaries = (_present(folder, name) for name in ("docs.jsonl", "summaries.jsonl"))
    if documents is None or summaries is None:
        raise InputError(
            f"{path}: has neither the folders peers and models, nor summaries named as DUC's and TAC's, nor the files "
            "docs.jsonl and summaries.jsonl; "
            "see docs/formats.md for the layouts"
        )
    return _collected(folder.resolve().name, _judged_rows(documents, summaries))


def _collected(name: str, rows: Iterable[SummaryRow]) -> SummarySet:
    references: dict[str, tuple[str, ...]] = {}
    sources: dict[str, str] = {}
    cells: dict[tuple[str, str], SummaryRow] = {}
    for row in rows:
        if references.setdefault(row.topic, row.references) != row.references:
            raise InputError(f"{row.place}: {row.topic} has other references than in an earlier line")
        if row.source is not None and sources.setdefault(row.topic, row.source) != row.source:
            raise InputError(f"{row.place}: {row.topic} has another source than in an earlier line")
        if (row.system, row.topic) in cells:
            raise InputError(f"{row.place}: a second summary of {row.topic} by {row.system}")
        cells[row.system, row.topic] = row
    if not cells:
        raise InputError(f"{name}: contains no summaries")
    if sources and len(sources) < len(references):
        missing = next(topic for topic in references if topic not in sources)
        raise InputError(
            f"{name}: {missing} has no source, but other topics have one; add it, or leave out all"
        )
    systems = tuple(sorted({system for system, _ in cells}))
    human = {kind: None for row in cells.values() for kind in row.human}
    tables = {
        kind: np.array([[_score(cells.get((s, t)), kind) for t in references] for s in systems])
        for kind in human
    }
    for kinds in _AVERAGED:
        if OVERALL not in tables and all(kind in tables for kind in kinds):
            tables[OVERALL] = np.mean([tables[kind] for kind in kinds], axis=0)
    return SummarySet(
        name,
        systems=systems,
        topics=tuple(references),
        hypotheses=tuple(
            tuple(cells[s, t].hypothesis if (s, t) in cells else None for t in references) for s in systems
        ),
        references=tuple(references.values()),
        human=tables,
        sources=tuple(sources[topic] for topic in references) if sources else None,
    )


def _score(row: SummaryRow | None, kind: str) -> float:
    return math.nan if row is None else row.human.get(kind, math.nan)


def _json_rows(path: str) -> Iterator[SummaryRow]:
    for place, row in read_json_lines(path):
        human = row.get("human", {})
        scores = human if isinstance(human, dict) else {"human": human}
        yield SummaryRow(
            place, _name_in(row, "id", place), _name_in(row, "system", place),
            _text_in(row, usual_name(row, "hyp") or "hypothesis", place),
            _texts_in(row, usual_name(row, "ref") or "references", place),
            {kind: _number(scores, kind, place) for kind in scores},
            _source_in(row, usual_name(row, "src") or "source", place),
        )  # fmt: skip


def _judged_rows(documents: Path, summaries: Path) -> Iterator[SummaryRow]:
    references: dict[str, tuple[str, ...]] = {}
    sources: dict[str, str | None] = {}
    rows = list(read_json_lines(str(summaries)))
    written = {
        _name_in(row, "doc", place): (_text_in(row, "summary", place),)
        for place, row in rows
        if row.get("system") == _HUMAN_SYSTEM
    }
    for place, row in read_json_lines(str(documents)):
        topic = _name_in(row, "doc", place)
        if "ref_sents" in row:
            references[topic] = ("\n".join(_texts_in(row, "ref_sents", place)),)
        elif "refs" in row or topic not in written:
            references[topic] = _texts_in(row, "refs", place)
        else:
            references[topic] = written[topic]
        sources[topic] = _source_in(row, "src" if "src" in row else "reviews", place)
    for place, row in rows:
        topic, system = _name_in(row, "doc", place), _name_in(row, "system", place)
        if topic not in references:
            raise InputError(f"{place}: doc {topic} is not in {documents}")
        if system == _HUMAN_SYSTEM and references[topic] == written[topic]:
            continue
        if "kind" in row:  # REALSumm: the same name in both kinds is two systems
            system = f"{_name_in(row, 'kind', place)}/{system}"
        summary = (
            "\n".join(_texts_in(row, "sents", place)) if "sents" in row else _text_in(row, "summary", place)
        )
        human = {kind: _number(row, kind, place) for kind, value in row.items() if _is_human(kind, value)}
        yield SummaryRow(place, topic, system, summary, references[topic], human, sources[topic])


def _is_human(kind: str, value: object) -> bool:
    """Whether a field holds a human score: any number does, whatever its name, unless a metric made it."""
    a_number = isinstance(value, int | float) and not isinstance(value, bool)
    return a_number and kind not in ("doc", "system") and not kind.lower().startswith(_AUTOMATIC)


def _text_rows(folder: Path) -> Iterator[SummaryRow]:
    outputs = sorted((folder / "peers").glob("*/*.txt"))
    models = _models(folder / "models", {path.stem for path in outputs})
    for path in outputs:
        if path.stem not in models:
            raise InputError(f"{path}: {folder / 'models'} has no model of this topic")
        yield SummaryRow(str(path), path.stem, path.parent.name, whole_text(path), models[path.stem])


def _models(folder: Path, topics: set[str]) -> dict[str, tuple[str, ...]]:
    by_topic: dict[str, list[str]] = {}
    for path in sorted([*folder.glob("*.txt"), *folder.glob("*/*.txt")]):
        name = path.stem if path.parent == folder else path.parent.name
        while name not in topics and "." in name:  # TOPIC.NAME; a topic may have dots itself
            name = name.rpartition(".")[0]
        if name not in topics:
            raise InputError(f"{path}: belongs to a topic that no system summarised")
        by_topic.setdefault(name, []).append(whole_text(path))
    return {topic: tuple(texts) for topic, texts in by_topic.items()}


def _present(folder: Path, name: str) -> Path | None:
    """The file of that name, plain or compressed."""
    return next((path for end in ("", *SUFFIXES) if (path := folder / f"{name}{end}").exists()), None)


def _value(row: Mapping[str, Any], key: str, place: str) -> Any:
    if key not in row:
        raise InputError(f"{place}: has no {key!r}")
    return row[key]


def _name_in(row: Mapping[str, Any], key: str, place: str) -> str:
    value = _value(row, key, place)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: {key!r} is neither a name nor a whole number")
    return str(value)


def _text_in(row: Mapping[str, Any], key: str, place: str) -> str:
    value = _value(row, key, place)
    if not isinstance(value, str):
        raise InputError(f"{place}: {key!r} is not a text")
    return value


def _source_in(row: Mapping[str, Any], key: str, place: str) -> str | None:
    """The source text, if the line has one; a list of sentences is one text."""
    value = row.get(key)
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return "\n".join(value)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{place}: {key!r} is neither a text nor a list of texts")
    return value


def _texts_in(row: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    value = _value(row, key, place)
    if isinstance(value, str) and key in ("ref", "reference"):
        return (value,)
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise InputError(f"{place}: {key!r} must be a list with at least one text")
    return tuple(value)


def _number(row: Mapping[str, Any], key: str, place: str) -> float:
    value = row[key]
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{place}: the human score {key!r} is not a number")
    return float(value)


TextList = list[tuple[str, float]]


def read_text_lists(path: str, human: str | None = None) -> list[TextList]:
    """The lists of a file: `{"list": NAME, "text": TEXT, "score": NUMBER}` per line, or summaries, one list per topic.

    `human` names the human score of summaries that have several.
    """
    if not Path(path).is_dir():
        first = next(read_json_lines(path), None)
        if first is None:
            raise InputError(f"{path}: contains no texts")
        if "text" in first[1]:
            return _own_lists(path)
    summaries = read_summaries(path)
    table = summaries.human[choose_human(summaries, human)]
    return [
        [
            (text, float(table[system, topic]))
            for system, row in enumerate(summaries.hypotheses)
            if (text := row[topic]) is not None and not math.isnan(table[system, topic])
        ]
        for topic in range(len(summaries.topics))
    ]


def choose_human(summaries: SummarySet, human: str | None) -> str:
    """The human score of that name, in whatever case, or the only one there is."""
    names = tuple(summaries.human)
    if human is None and len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"{summaries.name}: has no human scores")
    for name in names:
        if human is not None and name.casefold() == human.casefold():
            return name
    raise UsageError(f"{summaries.name}: has the human scores {', '.join(names)}; name one with --human")


def _own_lists(path: str) -> list[TextList]:
    lists: dict[str, TextList] = {}
    for place, row in read_json_lines(path):
        name, text, score = (row.get(key) for key in ("list", "text", "score"))
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise InputError(f"{place}: needs a 'list' (a name) and a 'text'")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise InputError(f"{place}: needs a 'score' that is a number")
        lists.setdefault(str(name), []).append((text, float(score)))
    return list(lists.values())
