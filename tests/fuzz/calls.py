"""Calls of the core with sound and unsound arguments: `python -m tests.fuzz.calls --count 43000`.

What the other fuzzers do not reach: alignment, syntax, tuning, encoder, vectors, states, phrase runs, language models,
explanations of CELAB, edits of TER. A call may return or raise one of Python's usual errors; a crash ends the program.
"""

from __future__ import annotations

import argparse
import faulthandler
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval import _core

REFUSALS = (ValueError, IndexError, TypeError, OverflowError, RuntimeError)
ODD_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e30, -1.0, 0.0)
Array = npt.NDArray[Any]


class Draws:
    """Arguments for one call: mostly sound; with `harm` some are not."""

    def __init__(self, seed: str, folder: Path) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.harm = self.random.random() < 0.6

    def odd(self, chance: float = 0.1) -> bool:
        return self.harm and self.random.random() < chance

    def size(self, most: int) -> int:
        return self.random.randrange(most + 1)

    def count(self, least: int, most: int) -> int:
        """A number from `least` to `most`, or one that is not."""
        return (
            self.random.choice((0, -1, most + 1, 1 << 40)) if self.odd() else self.random.randint(least, most)
        )

    def real(self, least: float, most: float) -> float:
        return self.random.choice(ODD_FLOATS) if self.odd() else self.random.uniform(least, most)

    def array(self, kind: str, size: int, below: int) -> Array:
        """Whole numbers from 0; an unsound array has another length, another type or larger numbers."""
        draw = np.random.default_rng(self.random.randrange(1 << 30))
        low = -below if np.dtype(kind).kind == "i" and kind != "<i8" else 0
        numbers = draw.integers(low, max(below, 1), size).astype(kind)
        return self.damaged(numbers)

    def reals(self, kind: str, size: int) -> Array:
        draw = np.random.default_rng(self.random.randrange(1 << 30))
        return self.damaged(draw.normal(0, 1, size).astype(kind))

    def damaged(self, numbers: Array) -> Array:
        if not self.odd():
            return numbers
        action = self.random.randrange(4)
        if action == 0:
            return numbers[: self.random.randrange(len(numbers) + 1)].copy()
        if action == 1:
            return np.concatenate([numbers, numbers, np.zeros(1, numbers.dtype)])
        if action == 2 and len(numbers):
            place = self.random.randrange(len(numbers))
            is_float = numbers.dtype.kind == "f"
            numbers[place] = self.random.choice(ODD_FLOATS) if is_float else np.iinfo(numbers.dtype).max
            return numbers
        return numbers.astype(self.random.choice(("<i2", "<f8", "<u4", "|u1")), casting="unsafe")

    def offsets(self, total: int, texts: int) -> Array:
        cuts = sorted(self.random.sample(range(1, max(total, texts)), texts - 1)) if texts else []
        cuts = [min(cut, total) for cut in cuts]
        return self.damaged(np.array([0, *cuts, total] if texts else [0], np.int64))

    def words(self, most: int) -> str:
        letters = ("a", "b", "c", "d", "雨", "", " ", "\x00", "x" * 50) if self.harm else ("a", "b", "c", "d")
        return " ".join(self.random.choice(letters) for _ in range(self.size(most)))


def align(draws: Draws) -> None:
    sentences = draws.size(6)
    sides = [[draws.words(8) for _ in range(sentences + draws.odd())] for _ in range(2)]
    aligner = _core.WordAligner(*sides)
    for _ in range(3):
        sequential = draws.random.random() < 0.5
        aligner.expect(0, draws.count(0, len(aligner)), sequential)
        aligner.maximise(sequential)
    if len(aligner):
        aligner.posteriors(draws.count(0, len(aligner) - 1), True)
    aligner.directed_links(draws.count(0, 1), 0, draws.count(0, len(aligner)), draws.real(0, 1))


def grammar_of(draws: Draws) -> tuple[Any, int, int, int, int]:
    tags, categories, labels = (
        draws.random.randint(1, 4),
        draws.random.randint(1, 4),
        draws.random.randint(1, 6),
    )
    parents, rules, unary = draws.random.randint(1, 4), draws.size(20), draws.size(8)
    symbols = tags + categories
    partial = np.concatenate([np.zeros(tags, np.uint8), draws.array("|u1", categories, 2)])
    grammar = _core.SpanGrammar(
        tags, parents, draws.array("|u1", labels, symbols), draws.array("|u1", labels, parents), draws.damaged(partial),
        *(draws.array("|u1", rules, below) for below in (parents, symbols, symbols)),
        *(draws.array("|u1", unary, below) for below in (parents, tags)),
    )  # fmt: skip
    return grammar, tags, symbols, rules, unary


def parse(draws: Draws) -> None:
    grammar, tags, symbols, rules, unary = grammar_of(draws)
    words = draws.random.randint(0, 12)
    features, lengths = draws.size(30), draws.array("|u1", 30, 4)
    lengths = lengths[:features]
    weights = int(lengths.astype(np.int64).sum())
    parser = _core.SpanParser(
        grammar, draws.array("<u4", features, 1 << 20), lengths, draws.array("|u1", weights, 64),
        draws.array("|i1", weights, 127), draws.array("<u4", draws.size(9), 1 << 20), draws.array("|u1", tags, 4),
        draws.array("|u1", tags, 3), draws.array("<i2", rules, 99), draws.array("<i2", unary, 99),
        draws.array("<i2", symbols, 99),
    )  # fmt: skip
    forms = [[draws.random.choice("abcXYZ") for _ in range(words)]]
    parser.parse(forms, draws.array("|u1", words, tags), draws.count(1, 100), draws.count(2, 40))


def chart(draws: Draws) -> None:
    grammar, tags, symbols, rules, unary = grammar_of(draws)
    words = draws.random.randint(0, 7)
    size = (words + 1) ** 2 * _core.MOST_SPAN_LABELS
    scores = [draws.reals("<f4", size) for _ in range(3)]
    _core.best_span_tree(
        grammar, draws.array("|u1", words, tags), *scores, draws.reals("<f4", rules), draws.reals("<f4", unary),
        draws.reals("<f4", symbols), draws.count(1, 20),
    )  # fmt: skip


def train_parser(draws: Draws) -> None:
    grammar, tags, _, _, _ = grammar_of(draws)
    kinds = [draws.size(3) for _ in range(tags + draws.odd())]
    trainer = _core.SpanTrainer(grammar, [draws.size(1 << 20) for _ in range(5)], kinds)
    for _ in range(3):
        words = draws.random.randint(1, 3)
        nodes = [[0, words, words // 2, 0, 0, 0]] if words > 1 else [[0, 1, 0, 0, 0, 0]]
        if words == 3:
            nodes.append([1, 3, 2, 0, 0, 0])
        tree = draws.damaged(np.array(nodes, np.int32).reshape(-1))
        try:
            trainer.add_sentence(["a"] * words, draws.array("|u1", words, tags), tree)
        except REFUSALS:
            continue
    trainer.run_epoch(1, draws.real(0.01, 1), draws.real(0, 2), draws.count(1, 20), draws.count(1, 3))
    trainer.select(draws.count(0, 50), draws.random.random() < 0.5)
    trainer.quantised(draws.real(1, 100), draws.count(0, 3))


def tune(draws: Draws) -> None:
    candidates, features, columns = (
        draws.random.randint(6, 30),
        draws.random.randint(1, 4),
        draws.random.randint(1, 3),
    )
    table = _core.CandidateTable(
        draws.offsets(candidates, draws.random.randint(1, 6)),
        draws.reals("<f8", features * candidates).reshape(features, -1),
        draws.array("<i8", candidates * columns, 100).reshape(candidates, -1),
    )
    table.scores(draws.reals("<f8", features))
    table.best(draws.reals("<f8", features))
    table.cut(
        draws.reals("<f8", candidates), draws.reals("<f8", features), draws.real(-2, 0), draws.real(0, 2)
    )


def encode(draws: Draws) -> None:
    layers, heads, per_head = (
        draws.random.randint(1, 2),
        draws.random.randint(1, 3),
        draws.random.randint(1, 8),
    )
    size, inner, vocabulary, positions = (
        heads * per_head,
        draws.random.randint(1, 20),
        9,
        draws.random.randint(3, 12),
    )

    def dense(inputs: int, outputs: int) -> tuple[Array, Array, Array]:
        count = layers * outputs
        return draws.array("|i1", count * inputs, 63), draws.reals("<f4", count), draws.reals("<f4", count)

    encoder = _core.StateEncoder(
        layers, size, draws.count(heads, heads), inner, draws.real(1e-12, 1e-3), draws.count(0, 8), draws.count(0, 8),
        draws.array("|i1", vocabulary * size, 127), draws.reals("<f4", vocabulary),
        draws.reals("<f4", positions * size), draws.reals("<f4", (1 + 2 * layers) * 2 * size),
        dense(size, 3 * size), dense(size, size), dense(size, inner), dense(inner, size),
    )  # fmt: skip
    pieces = draws.size(40)
    kernel = draws.random.choice((*_core.KERNELS, "", "none"))
    offsets = draws.offsets(pieces, draws.random.randint(1, 4))
    encoder.encode(offsets, draws.array("<u4", pieces, vocabulary), kernel)


def look_up_vectors(draws: Draws) -> None:
    entries = sorted({draws.random.choice("abcdef") * draws.random.randint(1, 3) for _ in range(6)})
    dimensions, pieces = draws.random.randint(1, 9), draws.random.random() < 0.5
    table = _core.VectorTable(
        draws.damaged(np.frombuffer("\n".join(entries).encode(), np.uint8).copy()),
        draws.array("|i1", len(entries) * dimensions, 127), draws.count(dimensions, dimensions), pieces,
    )  # fmt: skip
    table.look_up(["a", "abc", "", "zz", "雨"])
    if pieces:
        table.segment("abcabc")


def match_states(draws: Draws) -> None:
    dimensions, kinds = draws.random.randint(1, 40), 5

    def texts(count: int) -> Any:
        pieces = draws.size(20)
        return _core.StateTexts(
            draws.offsets(pieces, count), draws.array("|u1", pieces, kinds),
            draws.array("|i1", pieces * dimensions, 127),
            draws.array("<i2", count * dimensions, _core.LARGEST_MEAN), draws.count(dimensions, dimensions),
        )  # fmt: skip

    x, y = texts(2), texts(2)
    pairs = [draws.array("<i8", 3, 2) for _ in range(2)]
    _core.match_states(x, y, *pairs, draws.array("<u4", kinds, 100) + 1, draws.real(0, 0.9))
    _core.state_gains_by_kind(x, y, *pairs, draws.count(kinds, kinds))
    _core.explain_states(texts(1), texts(1), draws.real(0, 0.9))


def merge_phrases(draws: Draws) -> None:
    counters = [_core.PhraseCounter(), _core.PhraseCounter()]
    paths = []
    for number, counter in enumerate(counters):
        for run in range(2):
            sentences = [draws.random.choice(("a b c", "b", "c d", "a")) for _ in range(draws.size(4))]
            links = [" ".join(f"{i}-{i}" for i in range(len(line.split()))) for line in sentences]
            if draws.odd() and links:
                links[0] = draws.random.choice(("9-9", "-1-0", "0-", "0-0 0-0", "99999999999-0", "x"))
            counter.add_sentences(sentences, sentences, links, links)
            counter.add_pairs(["a b", ""], ["c", "d"], draws.array("<u4", 2, 9))
            path = draws.folder / f"run-{number}-{run}"
            counter.write_run(str(path))
            paths.append(path)
    if draws.harm:
        content = bytearray(paths[0].read_bytes())
        for _ in range(draws.random.randint(1, 3)):
            content[draws.random.randrange(len(content))] ^= 1 << draws.random.randrange(8)
        paths[0].write_bytes(content[: draws.random.choice((len(content), draws.size(len(content))))])
    others = draws.random.choice(([], paths[2:]))
    counters[0].merge([str(path) for path in (*paths[:2], *others)], draws.count(1, 2), draws.real(0, 0.5))


def estimate(draws: Draws) -> None:
    order, vocabulary = draws.random.randint(1, 4), 9
    folder = tempfile.mkdtemp(dir=draws.folder)
    estimator = _core.NgramEstimator(
        draws.count(order, order), vocabulary, [0] * order, folder, draws.size(2000)
    )
    words = draws.size(60)
    estimator.add(draws.offsets(words, 3), draws.array("<u4", words, vocabulary))
    steps: list[Callable[[], object]] = [lambda: estimator.adjust_counts(lambda done: None)]
    for n in range(1, order + 1):
        discounts = [draws.real(0, 0.9) for _ in range(3)]
        steps.append(lambda n=n, d=discounts: estimator.estimate(n, d, lambda done: None))  # type: ignore[misc]
    steps.append(lambda: estimator.join_backoffs(lambda done: None))
    if draws.odd(0.5):
        place = draws.random.randrange(len(steps))
        steps.insert(place, steps[draws.random.randrange(len(steps))])
    for step in steps:
        step()
        for path in Path(folder).iterdir():
            if draws.odd(0.05) and path.stat().st_size:
                content = bytearray(path.read_bytes())
                content[draws.random.randrange(len(content))] ^= 1 << draws.random.randrange(8)
                path.write_bytes(content)
    estimator.read(draws.count(1, order), draws.size(9), draws.size(99))


def explain_celab(draws: Draws) -> None:
    units = "今天气好雨伞" if draws.random.random() < 0.5 else "ab"
    texts = [[draws.random.choice(units) for _ in range(draws.size(14))] for _ in range(2)]
    order = draws.count(1, 8)
    weights = None
    if draws.random.random() < 0.5:
        weights = (
            [np.abs(draws.reals("<f8", len(text) * max(order, 0))) for text in texts] if order < 9 else []
        )
    batch = _core.CelabBatch(_core.NgramVocabulary(), texts, order, weights)
    unknown = batch.unknown()
    batch.define(draws.offsets(len(unknown), len(unknown)), draws.array("<i4", len(unknown), 4))
    batch.explain(draws.count(0, 1), draws.count(0, 1), draws.count(1, 500))
    batch.solve(draws.array("<i8", 2, 2), draws.array("<i8", 2, 2), draws.count(1, 500))


def count_edits(draws: Draws) -> None:
    texts = [draws.array("<u4", draws.size(90), 6) for _ in range(2)]
    _core.count_edits(*(text.reshape(1, -1) if draws.odd() else text for text in texts))


CALLS: tuple[Callable[[Draws], None], ...] = (
    align, parse, chart, train_parser, tune, encode, look_up_vectors, match_states, merge_phrases,
    estimate, explain_celab, count_edits,
)  # fmt: skip


def fuzz(count: int, *, seed: int = 1) -> dict[str, Counter[str]]:
    """Make `count` calls; returns how often each kind came back or was refused."""
    outcomes = {call.__name__: Counter[str]() for call in CALLS}
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for number in range(count):
            call = CALLS[number % len(CALLS)]
            try:
                call(Draws(f"{seed}-{number}", Path(folder)))
                outcomes[call.__name__]["returned"] += 1
            except REFUSALS:
                outcomes[call.__name__]["refused"] += 1
            except BaseException:
                print(f"call {number} (seed {seed}, {call.__name__}):", flush=True)
                raise
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=43_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    start = time.monotonic()
    for name, outcomes in fuzz(options.count, seed=options.seed).items():
        print(f"{name}: {dict(sorted(outcomes.items()))}")
    print(f"{options.count:,} calls in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
