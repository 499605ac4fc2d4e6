"""Dask, Datasets, scikit-learn, Optuna, MLflow and Weights & Biases: the bits of the metric itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tesla_eval import evaluate, score
from tesla_eval.connect.adapters import log_to_mlflow, log_to_wandb, objective, scorer
from tesla_eval.connect.frames import score_frame
from tesla_eval.metrics import create_metric
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

pandas = neighbour("pandas")
HYPOTHESES, OTHERS, REFERENCES = (texts[:30] for texts in two_systems())
RESULT = evaluate({"a": HYPOTHESES, "b": OTHERS}, [REFERENCES], ["m", "chrf++"], lang="en")
NAMES = {f"{system}/{name}" for system in "ab" for name in ("tesla-m", "chrf++")}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> None:
    """Everything that is written stays here, and nothing goes over the network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")


@pytest.mark.parametrize("name", ["m", "x", "bleu"])
def test_dask_scores_partition_by_partition(name: str) -> None:
    dask = neighbour("dask.dataframe")
    rows = pandas.DataFrame({"mt": HYPOTHESES, "ref": REFERENCES}, index=range(100, 130))
    frame = dask.from_pandas(rows, npartitions=4).map_partitions(score_frame, "mt", "ref", name, "en")
    metric = create_metric(name, "en")
    assert frame.columns.tolist() == ["mt", "ref", metric.id] and frame.dtypes[metric.id] == np.float64
    scored = frame.compute()
    assert scored.index.tolist() == rows.index.tolist()
    expected = metric.corpus_score(HYPOTHESES, [REFERENCES]).segments
    assert scored[metric.id].tolist() == expected.tolist()


def test_a_dataset_of_hugging_face_gets_a_column() -> None:
    dataset = neighbour("datasets").Dataset.from_dict({"mt": HYPOTHESES, "ref": REFERENCES})
    scored = score_frame(dataset, "mt", "ref", "m", "en")
    assert list(scored["tesla-m"]) == score(HYPOTHESES, [REFERENCES], "m", "en").segments.tolist()


@pytest.mark.parametrize(("name", "sign"), [("m", 1), ("ter", -1)])
def test_scikit_learn_searches_with_a_scorer(name: str, sign: int) -> None:
    neighbour("sklearn")
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import GridSearchCV

    class Decoder(BaseEstimator):
        def __init__(self, good: bool = False) -> None:
            self.good = good

        def fit(self, texts, references):
            return self

        def predict(self, texts):
            return [OTHERS[k] if self.good else HYPOTHESES[k].upper() for k in texts]

    places = np.arange(30)
    search = GridSearchCV(Decoder(), {"good": [False, True]}, scoring=scorer(name, "en"), cv=3)
    search.fit(places, np.array(REFERENCES, object))
    assert search.best_params_ == {"good": True}
    folds = [search.cv_results_[f"split{k}_test_score"][1] for k in range(3)]
    metric = create_metric(name, "en")
    expected = [metric.corpus_score(OTHERS[k : k + 10], [REFERENCES[k : k + 10]]).score for k in (0, 10, 20)]
    assert folds == [sign * value for value in expected]


def test_optuna_finds_the_better_system() -> None:
    optuna = neighbour("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.GridSampler({"which": ["a", "b"]})
    )
    texts = {"a": HYPOTHESES, "b": OTHERS}
    study.optimize(
        objective(lambda trial: texts[trial.suggest_categorical("which", ["a", "b"])], REFERENCES, "m")
    )
    expected = {name: score(side, [REFERENCES], "m", "en").score for name, side in texts.items()}
    assert {trial.params["which"]: trial.value for trial in study.trials} == expected
    assert study.best_trial.user_attrs["signature"].startswith("metric:tesla-m|")


def test_mlflow_keeps_every_digit_and_the_whole_result() -> None:
    mlflow = neighbour("mlflow")
    with mlflow.start_run() as run:
        log_to_mlflow(RESULT, step=3)
        log_to_mlflow(score(HYPOTHESES, [REFERENCES], "m", "en"))
    logged = mlflow.get_run(run.info.run_id).data.metrics
    assert logged.keys() == {"a/tesla-m", "b/tesla-m", "a/chrf__", "b/chrf__", "tesla-m"}
    assert logged["a/chrf__"] == RESULT.scores["a"]["chrf++"]
    assert logged["tesla-m"] == RESULT.scores["a"]["tesla-m"]
    kept = mlflow.artifacts.load_dict(f"{run.info.artifact_uri}/tesla-eval.json")
    assert kept == json.loads(json.dumps(score(HYPOTHESES, [REFERENCES], "m", "en").to_dict()))


def test_weights_and_biases_gets_scores_and_signatures() -> None:
    wandb = neighbour("wandb")
    with wandb.init(project="test") as run:
        log_to_wandb(RESULT, run)
        assert {name: run.summary[name] for name in NAMES} == {
            f"{system}/{name}": value for system, row in RESULT.scores.items() for name, value in row.items()
        }
        assert run.config["tesla_eval"] == RESULT.signatures
        log_to_wandb(score(HYPOTHESES, [REFERENCES], "m", "en"), run)
        assert run.summary["tesla-m"] == RESULT.scores["a"]["tesla-m"]


def test_the_page_runs_as_written() -> None:
    for name in ("dask", "datasets", "sklearn", "optuna", "mlflow", "wandb"):
        neighbour(name)
    run_python(ROOT / "docs" / "connect" / "adapters.md", {})
