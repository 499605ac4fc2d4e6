"""Tuning, minimum Bayes risk and serving against the targets of the project: `python -m benchmarks.tuning [PART ...]`.

Parts: mert (2,500 segments × 300 candidates), mbr (100 candidates of 20 words), serve. All in CPU seconds. The peers
`fastchrf` and `mbrs` are measured where their packages can be imported.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval.choosing.nbest import Candidate, CandidateList
from tesla_eval.choosing.parameters import Parameters
from tesla_eval.metrics import create_metric
from tesla_eval_papers.tuning.mert import MertOptions
from tesla_eval_papers.tuning.objective import TuningObjective
from tesla_eval_papers.tuning.outer import optimise
from tesla_eval_papers.tuning.pool import Pool
from tesla_eval_papers.tuning.pro import ProOptions

SEGMENTS, CANDIDATES, RESTARTS, FEATURES = 2500, 300, 20, 12
_NAMES = tuple(f"f{k}" for k in range(1, FEATURES + 1))


def edited(text: str, words: Sequence[str], rng: random.Random, edits: int) -> tuple[str, list[int]]:
    """The text after so many random edits, and how many of each kind there were."""
    tokens = text.split() or ["."]
    counts = [0, 0, 0, 0]
    for _ in range(edits):
        at, kind = rng.randrange(len(tokens)), rng.randrange(4)
        counts[kind] += 1
        if kind == 0:
            tokens[at] = rng.choice(words)
        elif kind == 1 and len(tokens) > 1:
            del tokens[at]
        elif kind == 2:
            tokens.insert(at, rng.choice(words))
        elif at + 1 < len(tokens):
            tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
    return " ".join(tokens), counts


def nbest_lists(segments: int, size: int, seed: int = 17) -> tuple[list[CandidateList], list[str]]:
    """Lists made from real system outputs by seeded edits, with features that tell something of the edits."""
    rng = random.Random(seed)
    pairs = (wmt14_pairs(6000) * 2)[:segments]
    words = [word for _, reference in pairs[:500] for word in reference.split()]
    lists = []
    for segment, (output, _) in enumerate(pairs):
        candidates = []
        for _ in range(size):
            text, counts = edited(output, words, rng, rng.randint(0, 8))
            known = [-count + rng.gauss(0, 1.5) for count in counts]
            other = [rng.gauss(0, 1) for _ in range(FEATURES - len(known) - 1)]
            candidates.append(Candidate(text, _NAMES, (*known, float(len(text.split())), *other)))
        lists.append(CandidateList(segment, f"segment {segment}", tuple(candidates)))
    return lists, [reference for _, reference in pairs]


def mert_part() -> None:
    """Scoring and tuning on large lists, with TESLA-M and with BLEU."""
    lists, references = nbest_lists(SEGMENTS, CANDIDATES)
    pool = Pool(SEGMENTS)
    reading = cpu_seconds(lambda: pool.add(lists))
    lists.clear()
    print(f"{len(pool)} candidates, {pool.texts} texts; merging {reading:.1f} s")
    for name in ("m", "bleu"):
        metric = create_metric(name, "en")
        metric.sentence_score("warm up", ["warm up"])
        scored = copy(pool)  # each metric scores the same candidates
        scored._scored, scored._scored_count = [], 0
        scoring = cpu_seconds(lambda scored=scored, metric=metric: scored.score(metric, [references]))  # type: ignore[misc]
        problem = scored.problem(TuningObjective.of(metric))
        parameters = Parameters.named(_NAMES)
        for title, options in (("mert", MertOptions(RESTARTS)), ("pro", ProOptions())):
            start = time.process_time()
            tuned = optimise(problem, parameters, options, (1,))
            took = time.process_time() - start
            rounds = f", {tuned.rounds} rounds" if tuned.rounds else ""
            print(
                f"{name}: scoring {scoring:.1f} s, {title} {took:.1f} s{rounds}; "
                f"{tuned.start_score:.4f} -> {tuned.score:.4f}"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


MBR_CANDIDATES, MBR_WORDS, MBR_SEGMENTS = 100, (19, 21), 20


def samples() -> list[list[str]]:
    """Lists of 100 different candidates of about 20 words, as a sampling decoder gives them."""
    rng = random.Random(23)
    pairs = [pair for pair in wmt14_pairs(6000) if MBR_WORDS[0] <= len(pair[0].split()) <= MBR_WORDS[1]]
    words = [word for _, reference in pairs for word in reference.split()]
    lists = []
    for output, _ in pairs[:MBR_SEGMENTS]:
        texts: dict[str, None] = {}
        while len(texts) < MBR_CANDIDATES:
            texts[edited(output, words, rng, rng.randint(1, 6))[0]] = None
        lists.append(list(texts))
    return lists


def mbr_part() -> None:
    """All pairs of 100 candidates: each ordered pair, each unordered pair once, and the peers where they are."""
    lists = samples()
    works: dict[str, Callable[[list[str]], object]] = {}
    for name in ("m", "x"):
        metric = create_metric(name, "en")
        naive = np.array(
            [[metric.sentence_score(h, [r]).score for r in lists[0][:12]] for h in lists[0][:12]]
        )
        for title, matrix in (
            ("each ordered pair", metric._ordered_pairs),
            ("once", _once(metric)),
        ):
            assert np.array_equal(naive, matrix(lists[0][:12], lists[0][:12])), (name, title)
            works[f"tesla-{name}, {title}"] = lambda texts, matrix=matrix: matrix(texts, texts)  # type: ignore[misc]
    works |= peers()
    took = interleaved(
        {
            name: lambda work=work: with_children(lambda: [work(texts) for texts in lists])  # type: ignore[misc]
            for name, work in works.items()
        },
        rounds=3,
    )
    for name, seconds in took.items():
        print(f"{name:28} {MBR_SEGMENTS / seconds:8.1f} segments/s")


def with_children(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of those it starts (mbrs has workers)."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    start = used()
    work()
    return used() - start


def peers() -> dict[str, Callable[[list[str]], object]]:
    """Other people's pairwise chrF, where it is installed."""
    works: dict[str, Callable[[list[str]], object]] = {}
    if find_spec("fastchrf"):
        import fastchrf

        works["fastchrf pairwise_chrf"] = lambda texts: fastchrf.pairwise_chrf([texts], [texts])
        works["fastchrf aggregate_chrf"] = lambda texts: fastchrf.aggregate_chrf([texts], [texts])
    if find_spec("mbrs"):
        from mbrs.decoders import DecoderMBR
        from mbrs.metrics import MetricChrF

        decoder = DecoderMBR(DecoderMBR.Config(), MetricChrF(MetricChrF.Config(num_workers=1)))
        works["mbrs, chrF"] = lambda texts: decoder.decode(texts, texts)
        fast = DecoderMBR(DecoderMBR.Config(), MetricChrF(MetricChrF.Config(num_workers=1, fastchrf=True)))
        works["mbrs, chrF by fastchrf"] = lambda texts: fast.decode(texts, texts)
    return works


def _once(metric: Any) -> Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float64]]:
    return lambda texts, _: np.asarray(metric.pairwise(texts, texts))


def serve_part() -> None:
    """Lines per second of `tesla serve`, good and bad ones mixed, and its memory."""
    tesla = Path(sys.executable).with_name("tesla")
    pairs = wmt14_pairs(2000)
    lines = []
    for k in range(50_000):
        hypothesis, reference = pairs[k % len(pairs)]
        good = json.dumps({"hyp": hypothesis, "refs": [reference]})
        lines.append(good if k % 10 else "not JSON")
    start = time.perf_counter()
    ended = subprocess.run([tesla, "serve"], input="\n".join(lines).encode(), capture_output=True, check=True)
    took = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answers = ended.stdout.count(b"\n")
    print(f"{answers} answers, {answers / (used.ru_utime + used.ru_stime):.0f} per CPU second, {took:.1f} s in all, "
          f"peak memory {used.ru_maxrss / 1024:.0f} MB")  # fmt: skip


PARTS: dict[str, Callable[[], None]] = {"mert": mert_part, "mbr": mbr_part, "serve": serve_part}


def main() -> None:
    for name in [part for part in sys.argv[1:] if part in PARTS] or PARTS:
        print(f"-- {name}")
        PARTS[name]()


if __name__ == "__main__":
    main()
