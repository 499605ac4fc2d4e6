"""PEM and PEM-X beside TESLA-B on the same pairs: all read pivot phrases, PEM and PEM-X a language model too.

python -m benchmarks pem
"""

from __future__ import annotations

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval.metrics import Metric, create_metric
from tesla_eval_papers import Pem, PemX

PAIRS = 4_000


def main() -> None:
    pairs = wmt14_pairs(PAIRS)
    hypotheses, references = [list(side) for side in zip(*pairs, strict=True)]
    metrics: dict[str, Metric] = {
        "pem": Pem(lang="en"),
        "pem-x": PemX(lang="en"),
        "b": create_metric("b", "en"),
    }

    def run(metric: Metric) -> float:
        # Another order of the lines each time would be analysed anew; the same texts cost their analysis once.
        return cpu_seconds(lambda: metric.corpus_score(hypotheses, [references]))

    for metric in metrics.values():
        run(metric)
    seconds = interleaved({name: lambda metric=metric: run(metric) for name, metric in metrics.items()})  # type: ignore[misc]
    rate = {name: PAIRS / value for name, value in seconds.items()}
    print(
        f"{PAIRS} WMT14 pairs a second of CPU: PEM {rate['pem']:.0f}, TESLA-B {rate['b']:.0f}: "
        f"{rate['pem'] / rate['b']:.2f} times TESLA-B; "
        f"PEM-X {rate['pem-x']:.0f}: {rate['pem-x'] / rate['pem']:.2f} times PEM"
    )


if __name__ == "__main__":
    main()
