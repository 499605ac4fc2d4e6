"""TESLA for Hugging Face evaluate: `evaluate.load("…/integrations/evaluate/tesla")`, without a network."""

import datasets
import evaluate

import tesla_eval

# evaluate reads this file line by line to find what it needs: one import per line.

_DESCRIPTION = (
    """TESLA matches weighted bags of n-grams of a text and its references with linear programming."""
)

_CITATION = """@inproceedings{dahlmeier-etal-2011-tesla,
  title = {{TESLA} at {WMT} 2011: Translation Evaluation and Tunable Metric},
  author = {Dahlmeier, Daniel and Liu, Chang and Ng, Hwee Tou},
  booktitle = {Proceedings of the Sixth Workshop on Statistical Machine Translation},
  year = {2011}
}"""

_INPUTS = """
Args:
    predictions: the texts to judge.
    references: one text per prediction, or one list of texts per prediction; lists may differ in length.
    metric: any name that `tesla score -m` takes; "x" if not given.
    lang: the language of the references, or "auto".
    Other options go to the metric.
Returns:
    score: the score of all predictions.
    scores: the score of each.
    signature: what makes them reproducible.
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class Tesla(evaluate.Metric):
    """A metric of tesla-eval as a module of evaluate."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def _compute(self, predictions, references, metric="x", lang="auto", **options):
        by_segment = [[given] if isinstance(given, str) else given for given in references]
        result = tesla_eval.score(
            predictions, by_segment, metric, lang, references_by_segment=True, **options
        )
        return {
            "score": result.score,
            "scores": result.segments.tolist(),
            "signature": str(result.signature),
        }
