"""What TESLA-N costs on one thread, beside TESLA-X, TESLA-M and chrF++: CPU time, the least of several runs.

    python -m research.n_speed [--pairs 100] [--runs 5]

Pairs are evenly chosen from newstest2019 into English (../shared/data/wmt). Cold: the encoder saw neither
text before; words and lemmas were looked up before.
Further: 100 candidates that the encoder never saw against one reference that it knows, in one batch as of an n-best
list, or one by one. MBR: 100 candidates against each other by `pairwise`. Start-up: a process that scores one pair,
less one that does nothing but start Python. Encoder: every kernel that this CPU has beside onnxruntime, where `onnx`
and `onnxruntime` are installed, in interleaved rounds; an operation is a multiplication or an addition.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tesla_eval
from research.onnx_peer import peer_of
from tesla_eval._core import KERNELS
from tesla_eval.base.resources import read_resource
from tesla_eval_neural.encoder import load_encoder, shipped_file

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt" / "wmt19-darr.seg.tsv.gz"

_BATCH = 500


def rows() -> list[dict[str, str]]:
    with gzip.open(DATA, "rt", encoding="utf-8", newline="\n") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def forget() -> None:
    encoder = load_encoder("en")
    encoder._cache.clear()
    encoder._cached_bytes = 0


def least(run: Callable[[], object], runs: int) -> float:
    """The least CPU time of several runs, in milliseconds."""
    times = []
    for _ in range(runs):
        forget()
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def start_up(code: str, runs: int) -> float:
    """The least CPU time of a process, in seconds."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    everything = rows()
    some = everything[:: max(1, len(everything) // given.pairs)][: given.pairs]
    many = everything[:: max(1, len(everything) // _BATCH)][:_BATCH]
    corpus = [row["hypothesis"] for row in many], [[row["reference"] for row in many]]
    pieces = [len(load_encoder("en").pieces(row["hypothesis"]).ids) for row in some]
    print(f"{len(some)} pairs, {sum(pieces) / len(pieces):.1f} pieces per output")
    for name in ("n", "x", "m", "chrf++"):
        metric = tesla_eval.create_metric(name, "en")
        metric.sentence_score("A first text.", ["Another text."])

        def one(row: dict[str, str], metric: tesla_eval.Metric = metric) -> object:
            return metric.sentence_score(row["hypothesis"], [row["reference"]])

        for row in some:  # words and lemmas are looked up once per process
            one(row)
        alone = sum(least(lambda row=row: one(row), given.runs) for row in some) / len(some)  # type: ignore[misc]
        batch = least(lambda metric=metric: metric.score_segments(*corpus), given.runs) / len(many)  # type: ignore[misc]
        print(
            f"{name:8} cold pair {alone:.3f} ms alone, {batch:.3f} ms in a batch of {len(many)}", flush=True
        )
    metric = tesla_eval.create_metric("n", "en")
    hypotheses = [row["hypothesis"] for row in some]
    reference = some[0]["reference"]
    count = len(hypotheses)

    def with_new_texts(run: Callable[[], object]) -> float:
        forget()
        load_encoder("en").encode([reference])
        return _timed(run)

    def in_batch() -> object:
        return metric.score_segments(hypotheses, [[reference] * count])

    def one_by_one() -> object:
        return [metric.sentence_score(hypothesis, [reference]) for hypothesis in hypotheses]

    for name, run in (("in a batch", in_batch), ("one by one", one_by_one)):
        new = min(with_new_texts(run) for _ in range(given.runs))
        known = min(_timed(run) for _ in range(given.runs))
        print(
            f"further candidate of {count}, {name}: {1000 * new / count:.3f} ms (new text), "
            f"{1000 * known / count:.3f} ms (text already encoded)", flush=True
        )  # fmt: skip
    compare_kernels(hypotheses, given.runs)
    candidates = list(dict.fromkeys(row["hypothesis"] for row in everything))[:100]
    metric.pairwise(candidates, candidates)
    mbr = least(lambda: metric.pairwise(candidates, candidates), given.runs)
    print(f"MBR 100 x 100: {mbr / 1000:.2f} s per segment")
    pair = "import tesla_eval; tesla_eval.create_metric({!r}).sentence_score('Two men.', ['Two women.'])"
    nothing = start_up("pass", given.runs)
    for name in ("n", "x"):
        print(f"start-up and one pair, {name}: {start_up(pair.format(name), given.runs) - nothing:.2f} s")


def compare_kernels(texts: list[str], runs: int) -> None:
    """What encoding a text takes by each kernel and by onnxruntime, and how near their states are."""
    encoder = load_encoder("en")
    pieces = [encoder.pieces(text).ids for text in texts]
    offsets = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    flat = np.array([number for ids in pieces for number in ids], np.uint32)
    ways: dict[str, Callable[[], object]] = {
        kernel: lambda kernel=kernel: encoder.encode_pieces(offsets, flat, kernel)  # type: ignore[misc]
        for kernel in KERNELS
    }
    try:
        peer = peer_of(read_resource(shipped_file("encoder-en.tesla")))
    except ImportError:
        print("onnxruntime or onnx is not installed: no peer")
    else:
        ways["onnxruntime"] = lambda: peer(pieces)
        ours, theirs = encoder.encode_pieces(offsets, flat)[0].astype(float), np.concatenate(peer(pieces))
        cosines = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
        print(f"cosine of our states with onnxruntime's: {cosines.mean():.5f}, least {cosines.min():.5f}")
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, run in ways.items():
            times[name].append(_timed(run))
    first = min(times[KERNELS[0]])
    done = operations(pieces) / 1e9
    for name, seconds in times.items():
        ratio = min(seconds) / first
        print(
            f"encoder, {name}: {1000 * min(seconds) / len(texts):.3f} ms per text, {ratio:.2f} times the first, "
            f"{done / min(seconds):.0f} billion operations a second", flush=True
        )  # fmt: skip


def operations(texts: list[list[int]]) -> float:
    """Multiplications and additions of the dense layers and of attention, for texts of one window each."""
    info = read_resource(shipped_file("encoder-en.tesla")).info
    layers, size, inner = int(info["layers"]), int(info["dimensions"]), int(info["inner"])
    total = 0
    for rows in (len(pieces) + 2 for pieces in texts):  # with those for the beginning and the end
        total += layers * rows * (4 * size * size + 2 * size * inner + 2 * size * rows)
    return 2 * total


def _timed(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
