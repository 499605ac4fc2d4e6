"""Short adapters for scikit-learn, Optuna, MLflow and Weights & Biases, which are imported only when used."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.requests import create_metric
from tesla_eval.metrics.results import CorpusScore


class Result(Protocol):
    """An `Evaluation`, `CorpusScore` or `Score`."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""


def scorer(metric: str = "x", lang: str = "en", **options: Any) -> Any:
    """A scorer of scikit-learn for estimators that predict texts: for `cross_val_score` and `GridSearchCV`."""
    from sklearn.metrics import make_scorer

    chosen = create_metric(metric, lang, **options)
    return make_scorer(partial(_corpus_score, chosen), greater_is_better=chosen.higher_is_better)


def _corpus_score(metric: Metric, references: Sequence[Any], predictions: Sequence[str]) -> float:
    return _scored(metric, references, predictions).score


def _scored(metric: Metric, references: Sequence[Any], predictions: Sequence[str]) -> CorpusScore:
    by_segment = [[given] if isinstance(given, str) else list(given) for given in references]
    return metric.corpus_score(list(predictions), by_segment, references_by_segment=True)


def objective(
    decode: Callable[[Any], Sequence[str]],
    references: Sequence[Any],
    metric: str = "x",
    lang: str = "en",
    **options: Any,
) -> Callable[[Any], float]:
    """An objective of Optuna: `decode(trial)` gives the texts, and their score is what the study looks at."""
    chosen = create_metric(metric, lang, **options)

    def score(trial: Any) -> float:
        scored = _scored(chosen, references, decode(trial))
        trial.set_user_attr("signature", str(scored.signature))
        return scored.score

    return score


def log_to_mlflow(result: Result, step: int | None = None) -> None:
    """Log the scores of a result to the active run of MLflow, with the whole result as `tesla-eval.json`."""
    import mlflow

    scores = _scores(result)
    mlflow.log_metrics({re.sub(r"[^\w./ -]", "_", name): score for name, score in scores.items()}, step=step)
    mlflow.log_dict(result.to_dict(), "tesla-eval.json")


def log_to_wandb(result: Result, run: Any, step: int | None = None) -> None:
    """Log the scores of a result to a run of Weights & Biases, and the signatures to its configuration."""
    run.log(_scores(result), step=step)
    document = result.to_dict()
    signatures = document.get("signatures") or {document["metric"]: document["signature"]}
    run.config.update({"tesla_eval": signatures}, allow_val_change=True)


def _scores(result: Result) -> dict[str, float]:
    """The scores by name, `SYSTEM/METRIC` where there are several systems; one that does not exist is left out."""
    document = result.to_dict()
    scores = (
        {
            f"{one['system']}/{name}": score
            for one in document["systems"]
            for name, score in one["scores"].items()
        }
        if "systems" in document
        else {document["metric"]: document["score"]}
    )
    return {name: score for name, score in scores.items() if score is not None}
