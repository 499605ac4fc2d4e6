"""TESLA-S against rouge-score on the same 2,500 REALSumm summaries, one thread, cold.

python -m benchmarks summaries
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import SHARED_DATA, cpu_seconds, interleaved

COLD = "import sys; from benchmarks import summaries; print(summaries.measure(sys.argv[1]))"
PEERS = {  # name: rouge-score's types, stemming
    "rouge1": (["rouge1"], False),
    "rouge2": (["rouge2"], False),
    "rouge1, stemmed": (["rouge1"], True),
    "rouge2, stemmed": (["rouge2"], True),
    "rougeL": (["rougeL"], False),
    "rouge1+2+L": (["rouge1", "rouge2", "rougeL"], False),
}


def pairs() -> tuple[list[str], list[str]]:
    """Hypotheses and references."""
    from tesla_eval.judgements.summaries import read_summaries

    folder = SHARED_DATA / "summaries" / "realsumm"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is needed for this benchmark")
    outputs = read_summaries(str(folder))
    hypotheses = [text or "" for row in outputs.hypotheses for text in row]
    return hypotheses, [models[0] for models in outputs.references] * len(outputs.systems)


def measure(name: str) -> float:
    """CPU seconds of scoring all pairs once in this process, resources loaded."""
    hypotheses, references = pairs()
    if name == "tesla-s":
        from tesla_eval import TeslaS

        metric = TeslaS(lang="en")
        metric.sentence_score("Resources load.", ["Resources are loaded."])
        return cpu_seconds(lambda: metric.corpus_score(hypotheses, [references]))
    from rouge_score.rouge_scorer import RougeScorer

    types, stem = PEERS[name]
    scorer = RougeScorer(types, use_stemmer=stem)
    return cpu_seconds(
        lambda: [
            scorer.score(reference, text) for text, reference in zip(hypotheses, references, strict=True)
        ]
    )


def cold(name: str) -> float:
    """`measure` in a process of its own: nothing is cached from an earlier run."""
    found = subprocess.run([sys.executable, "-c", COLD, name], capture_output=True, text=True, check=True)
    return float(found.stdout)


def main() -> None:
    count = len(pairs()[0])
    seconds = interleaved({name: lambda name=name: cold(name) for name in ["tesla-s", *PEERS]}, rounds=3)  # type: ignore[misc]
    print(f"{count} summaries of REALSumm, one thread, cold, CPU time, median of 3 interleaved runs")
    print(f"{'metric':<18}{'summaries/s':>12}{'TESLA-S is':>14}")
    for name, value in seconds.items():
        print(f"{name:<18}{count / value:>12,.0f}{value / seconds['tesla-s']:>13.2f}x")


if __name__ == "__main__":
    main()
