"""Tuning, minimum Bayes risk and serving against the targets of the project: `python -m benchmarks.tuning [PART ...]`.

Parts: mert (2,500 segments × 300 candidates), mbr (100 candidates of 20 words), serve. CPU seconds throughout. The peers
`fastchrf` and `mbrs` are measured where their packages can be imported.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from benchmarks.common import cpu_seconds, wmt14_pairs
from tesla_eval.metrics import create_metric
from tesla_eval.tuning.mert import MertOptions
from tesla_eval.tuning.nbest import Candidate, CandidateList
from tesla_eval.tuning.objective import Objective
from tesla_eval.tuning.outer import optimise
from tesla_eval.tuning.parameters import Parameters
from tesla_eval.tuning.pool import Pool
from tesla_eval.tuning.pro import ProOptions

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
        scored = pool if name == "m" else pool.unscored()
        scoring = cpu_seconds(lambda scored=scored, metric=metric: scored.score(metric, [references]))  # type: ignore[misc]
        problem = scored.problem(Objective.of(metric))
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


PARTS: dict[str, Callable[[], None]] = {"mert": mert_part}


def main() -> None:
    for name in sys.argv[1:] or PARTS:
        if name in PARTS:
            print(f"-- {name}")
            PARTS[name]()


if __name__ == "__main__":
    main()
