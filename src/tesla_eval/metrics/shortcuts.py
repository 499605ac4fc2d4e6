"""Scores and explanations in one call, without making a metric first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tesla_eval.base.errors import InputError, UsageError, warn
from tesla_eval.base.progress import progress_bars
from tesla_eval.language.choice import AUTO, ChosenLanguage, choose
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.language_check import reads_language, settle_language
from tesla_eval.metrics.requests import listed, named_metrics, only
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.metrics.segments import References, streams_of_texts, texts_of

if TYPE_CHECKING:
    from tesla_eval.metrics.results import CorpusScore, Explanation

_FIELDS = frozenset({"src", "mt", "ref"})


def score(
    hypotheses: Sequence[str],
    references: References,
    metric: str | Metric = "x",
    lang: str = AUTO,
    *,
    sources: Sequence[str] | None = None,
    references_by_segment: bool = False,
    **options: Any,
) -> CorpusScore:
    """Score a system's texts against K streams of references with one metric: a name, as `-m` takes it, or an object.

    The language is identified from the references, unless `lang` names it; the signature of the result shows it. With
    `references_by_segment` the references are one list per hypothesis instead.

    >>> result = score(["The cats sat."], [["The cat sat."]], metric="m")
    >>> round(result.score, 4), result.segments.shape
    (0.5873, (1,))
    """
    hypotheses, references = texts_of(hypotheses), streams_of_texts(references)
    chosen = metric_for(metric, lang, references or [hypotheses], options)
    return chosen.corpus_score(hypotheses, references, sources, references_by_segment=references_by_segment)


def score_samples(
    samples: Sequence[Mapping[str, Any]],
    metric: str | Metric = "x",
    lang: str = AUTO,
    *,
    progress: bool = True,
    **options: Any,
) -> CorpusScore:
    """Score samples in COMET's form: `mt`, and where the metric reads them `ref` (a text or a list of texts) and `src`.

    A progress bar is drawn if standard error is a terminal. `metric` is a name with options for it, or a metric.

    >>> samples = [{"src": "Die Katze saß.", "mt": "The cats sat.", "ref": "The cat sat."}]
    >>> score_samples(samples, "m").to_dict()["segments"]
    [0.5873015873015873]
    """
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, Mapping) or not sample.keys() <= _FIELDS or "mt" not in sample:
            raise InputError(
                f"sample {number}: must be a mapping with mt, and ref and src where the metric reads them"
            )
    columns: list[list[Any]] = [[sample.get(field) for sample in samples] for field in ("mt", "src", "ref")]
    hypotheses, sources, given = columns
    has_sources = any(source is not None for source in sources)
    if has_sources and None in sources:
        raise InputError(f"sample {sources.index(None) + 1}: has no src, but others have one")
    references = [[texts] if isinstance(texts, str) else list(texts or ()) for texts in given]
    chosen = metric_for(metric, lang, references if any(references) else [hypotheses], options)
    with progress_bars(chosen.id, len(samples), wanted=progress) as bars:
        return chosen.corpus_score(
            hypotheses,
            references if any(references) else (),
            sources if has_sources else None,
            references_by_segment=any(references),
            progress=bars,
        )


def explain(
    hypothesis: str,
    references: Sequence[str],
    metric: str | Metric = "m",
    lang: str = AUTO,
    *,
    sources: str | None = None,
    **options: Any,
) -> Explanation:
    """The score of one text with the matching behind it.

    >>> explanation = explain("The cats sat.", ["The cat sat."])
    >>> explanation.references[0].features[0].name
    'ms.1'
    """
    references = texts_of(references)
    return metric_for(metric, lang, [references or [hypothesis]], options).explain(
        hypothesis, references, sources
    )


def metric_for(metric: str | Metric, lang: str, references: Any, options: dict[str, Any]) -> Metric:
    """The one metric of `metrics_for`."""
    if "metrics" in options:
        raise UsageError(
            "give one metric, as metric=…",
            hint="evaluate({'name': hypotheses}, references, metrics=…) takes several",
        )
    _, chosen = metrics_for([metric], lang, references, options)
    return only(chosen).metric


def metrics_for(
    metrics: str | Metric | Sequence[str | Metric], lang: str, references: Any, options: dict[str, Any]
) -> tuple[str, list[NamedMetric]]:
    """The language and the metrics for it; for `auto`, the language that the references are written in.

    A metric object keeps its own language, which is compared with the texts when they are scored.
    """
    objects = [one for one in listed(metrics) if isinstance(one, Metric)]
    if lang == AUTO and objects and len(objects) == len(listed(metrics)):  # no language is needed
        return objects[0].lang, named_metrics(metrics, lang, **options)
    chosen = chosen_language(lang, references)
    named = named_metrics(metrics, chosen.code, **options)
    if lang == AUTO:
        made = [settle_language(one.metric) for one in named if one.metric not in objects]
        if chosen.assumed and any(map(reads_language, made)):
            warn(f"language: {chosen.message}")
    return chosen.code, named


def chosen_language(lang: str, references: Any) -> ChosenLanguage:
    """The language; `auto` is the one that the references are written in."""
    streams = [stream for stream in streams_of_texts(references) or () if not isinstance(stream, str)]
    return choose(lang, [text for stream in streams for text in stream if isinstance(text, str)])
