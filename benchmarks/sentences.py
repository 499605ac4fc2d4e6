"""One call per sentence instead of one per corpus, and chrF through us: each against sacreBLEU on the same pairs.

python -m benchmarks sentences
"""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.common import cpu_seconds, wmt14_pairs

BLOCK = 400
BLOCKS = 10


def main() -> None:
    from sacrebleu.metrics import BLEU, CHRF

    from tesla_eval import create_metric

    pairs = wmt14_pairs((BLOCKS + 1) * BLOCK)
    blocks = [pairs[start : start + BLOCK] for start in range(0, len(pairs), BLOCK)]
    metric, bleu = create_metric("m", "en"), BLEU(effective_order=True)

    def one_by_one(scorer: object, block: list[tuple[str, str]]) -> float:
        return cpu_seconds(lambda: [scorer.sentence_score(h, [r]) for h, r in block])  # type: ignore[attr-defined]

    for scorer in (metric, bleu):
        one_by_one(scorer, blocks[0])
    timed = [(one_by_one(metric, block), one_by_one(bleu, block)) for block in blocks[1:]]
    report("sentence_score, TESLA-M", "BLEU", timed)
    for name, order in (("chrf", 0), ("chrf++", 2)):
        ours, theirs = create_metric(name, "en"), CHRF(word_order=order)
        timed = []
        for block in blocks[1:]:
            hypotheses, references = ([pair[side] for pair in block] for side in (0, 1))
            in_batch = cpu_seconds(partial(ours.corpus_score, hypotheses, [references]))
            timed.append((in_batch, one_by_one(theirs, block)))
        report(f"corpus_score, {name} through us", f"{name}, sentence_score", timed)


def report(what: str, peer: str, timed: list[tuple[float, float]]) -> None:
    ratios = sorted(peer_time / own for own, peer_time in timed)
    own, other = (median(times) / BLOCK * 1e6 for times in zip(*timed, strict=True))
    print(
        f"{what}: {own:.0f} microseconds a pair; sacreBLEU's {peer}: {other:.0f}; "
        f"{median(ratios):.2f} times as fast ({ratios[0]:.2f} to {ratios[-1]:.2f} in {len(ratios)} blocks)"
    )


if __name__ == "__main__":
    main()
