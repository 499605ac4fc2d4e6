"""TESLA-F with one language model and with two, into English.

    python -m research.language_models NAME [NAME ...] [--every N]

The weights are learned from all years but one, and measured on that one (`tools/yearly.py`): with `3gram`
alone, and with each further model NAME beside it (as `tesla train lm … -o lm-NAME-en.tesla` makes them in a folder of
`tesla resources`; `4gram` is built in). Prints Kendall's τ of segments and Pearson's r of systems, means over year ×
language pair, and the differences with 95 % intervals by resampling segments.
`--every N` takes one judged segment in N.
"""

from __future__ import annotations

import argparse
import sys

from loyo import judged, means
from research.papers_tables import thinned
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.metrics.features.ngrams import NgramGroup
from tesla_eval.metrics.features.pivots import PivotGroup
from yearly import Figures, gather, interval, leave_out

FIRST = "3gram"
NAME = "tesla-f"


class Features(FeatureMetric):
    """TESLA-F's features, uncombined."""

    id = "f-features"
    groups = (NgramGroup(), PivotGroup())
    combination = Uncombined()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    options = parser.parse_args()
    models = (FIRST, *options.models)
    Features.groups = (NgramGroup(), PivotGroup(), LanguageModelGroup(models))
    metric = Features("en")
    with ScoreCache() as cache:
        chosen_sets = ((year, kind, thinned(one, options.every)) for year, kind, one in judged(True))
        sets = gather(chosen_sets, metric.features, lambda lp: metric, lambda lp: [], cache)
    print(f"{len(sets)} sets, {sum(len(one.features) for one in sets)} outputs", file=sys.stderr)

    def figures(*chosen: str) -> list[Figures]:
        wanted = {f"lm.{name}" for name in chosen}

        def kept(feature: Feature) -> bool:
            return not feature.name.startswith("lm.") or feature.name in wanted

        return leave_out(sets, metric.features, name=NAME, kept=kept)

    alone = figures(FIRST)
    print("| language models | τ | r | τ − first row | r − first row |\n|---|--:|--:|--:|--:|")
    print("| {} | {:.4f} | {:.4f} | | |".format(FIRST, *means(alone, NAME)))
    trials = {"none": (), **{f"{FIRST} + {name}": (FIRST, name) for name in models[1:]}}
    if len(models) > 2:
        trials["all"] = models
    for title, chosen in trials.items():
        found = figures(*chosen)
        cells = []
        for statistic in ("tau", "pearson"):
            both = [
                Figures(one.data, {"with": one.scores[NAME], "alone": other.scores[NAME]})
                for one, other in zip(found, alone, strict=True)
                if one.data.has(statistic)
            ]
            cells.append("{:+.4f} [{:+.4f}, {:+.4f}]".format(*interval(both, "with", "alone", statistic)))
        print(
            "| {} | {:.4f} | {:.4f} | {} |".format(title, *means(found, NAME), " | ".join(cells)), flush=True
        )


if __name__ == "__main__":
    main()
