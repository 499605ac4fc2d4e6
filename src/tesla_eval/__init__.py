"""tesla-eval: judge machine-made text against references by exact matching of weighted n-grams.

from tesla_eval import score, explain, TeslaM

score(hypotheses, [references]).score           # a system, with TESLA-X
explain("The cats sat.", ["The cat sat."])      # one text, with the matching behind its score
metric = TeslaM(lang="en")                      # a metric that is used more than once
metric.sentence_score("hyp", ["ref1", "ref2"])
metric.corpus_score(hypotheses, [references])

`dir(tesla_eval)` lists the public names; everything else may change in any version (docs/versions.md).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tesla_eval.base.version import __version__ as __version__

# NumPy's OpenBLAS starts a thread per core that waits busily before it sleeps: 2^26 cycles, 0.1 s of CPU time per core
# at every start. 2^20 are as good for its products (docs/benchmarks.md, "Start-up"). It is read when NumPy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

if TYPE_CHECKING:
    from tesla_eval.base.errors import InputError as InputError
    from tesla_eval.base.errors import ResourceError as ResourceError
    from tesla_eval.base.errors import TeslaError as TeslaError
    from tesla_eval.base.errors import TeslaWarning as TeslaWarning
    from tesla_eval.base.errors import UsageError as UsageError
    from tesla_eval.base.records import Signature as Signature
    from tesla_eval.base.records import Token as Token
    from tesla_eval.language.analysis import Analyser as Analyser
    from tesla_eval.metrics.base import Metric as Metric
    from tesla_eval.metrics.feature_metric import FeatureMetric as FeatureMetric
    from tesla_eval.metrics.features import FeatureGroup as FeatureGroup
    from tesla_eval.metrics.requests import create_metric as create_metric
    from tesla_eval.metrics.results import CorpusScore as CorpusScore
    from tesla_eval.metrics.results import Explanation as Explanation
    from tesla_eval.metrics.results import Score as Score
    from tesla_eval.metrics.results import SegmentScores as SegmentScores
    from tesla_eval.metrics.shortcuts import explain as explain
    from tesla_eval.metrics.shortcuts import score as score
    from tesla_eval.metrics.shortcuts import score_samples as score_samples
    from tesla_eval.metrics.tesla_b import TeslaB as TeslaB
    from tesla_eval.metrics.tesla_celab import TeslaCelab as TeslaCelab
    from tesla_eval.metrics.tesla_celab import TeslaCelabMinus as TeslaCelabMinus
    from tesla_eval.metrics.tesla_f import TeslaF as TeslaF
    from tesla_eval.metrics.tesla_m import TeslaM as TeslaM
    from tesla_eval.metrics.tesla_s import TeslaS as TeslaS
    from tesla_eval.metrics.tesla_s import TeslaSRecall as TeslaSRecall
    from tesla_eval.metrics.tesla_s_source import TeslaSSource as TeslaSSource
    from tesla_eval.metrics.tesla_s_x import TeslaSX as TeslaSX
    from tesla_eval.metrics.tesla_x import TeslaX as TeslaX
    from tesla_eval.report.evaluation import Evaluation as Evaluation
    from tesla_eval.report.evaluation import evaluate as evaluate

_HOMES = {
    "InputError": "base.errors",
    "ResourceError": "base.errors",
    "TeslaError": "base.errors",
    "TeslaWarning": "base.errors",
    "UsageError": "base.errors",
    "Signature": "base.records",
    "Token": "base.records",
    "Analyser": "language.analysis",
    "Metric": "metrics.base",
    "FeatureMetric": "metrics.feature_metric",
    "FeatureGroup": "metrics.features",
    "create_metric": "metrics.requests",
    "CorpusScore": "metrics.results",
    "Explanation": "metrics.results",
    "Score": "metrics.results",
    "SegmentScores": "metrics.results",
    "explain": "metrics.shortcuts",
    "score": "metrics.shortcuts",
    "score_samples": "metrics.shortcuts",
    "TeslaB": "metrics.tesla_b",
    "TeslaCelab": "metrics.tesla_celab",
    "TeslaCelabMinus": "metrics.tesla_celab",
    "TeslaF": "metrics.tesla_f",
    "TeslaM": "metrics.tesla_m",
    "TeslaS": "metrics.tesla_s",
    "TeslaSRecall": "metrics.tesla_s",
    "TeslaSSource": "metrics.tesla_s_source",
    "TeslaSX": "metrics.tesla_s_x",
    "TeslaX": "metrics.tesla_x",
    "Evaluation": "report.evaluation",
    "evaluate": "report.evaluation",
}
"""The module of each public name, which is imported when the name is first asked for."""
_PAPERS = ("Cremer", "Dicomer", "Pem", "PemX")
"""The metrics of the package `tesla-eval-papers`."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    from tesla_eval.base.errors import import_module

    if name in _PAPERS:
        from tesla_eval.base.errors import GET_PAPERS

        raise ImportError(f"{name} is in the package tesla_eval_papers: {GET_PAPERS}")
    if name not in _HOMES:
        raise AttributeError(f"module 'tesla_eval' has no attribute {name!r}")
    return getattr(import_module(f"tesla_eval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOMES])
