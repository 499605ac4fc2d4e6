"""Damaged resource files, loaded and used: `python -m tests.fuzz.resources --count 1000`.

Every file is tried in a process of its own, which must end well or with a `TeslaError`, within `--limit` seconds of
processor time. Half of the files have changed bytes, which checksums should notice; the others have changed arrays and
good checksums, as if somebody had made them to do harm.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource as limits
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import TeslaError
from tesla_eval.base.resources import Resource, read_resource, shipped_folder, write_resource
from tesla_eval.language.analysis import detection, load_pipeline
from tesla_eval.language.analysis.antonyms import load_antonyms
from tesla_eval.language.lm import load_language_model
from tesla_eval.metrics import create_metric
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser
from tesla_eval_papers.srl.labeller import load_labeller
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tests.fuzz.texts import hostile_pairs

TEXTS = [text for pair in hostile_pairs(7, 40) for text in pair]
SENTENCES = "It rained. But we went out because the children wanted to, although nobody else did."
OK, REFUSED, UNEXPECTED = 0, 3, 4


def use_metric(name: str) -> Callable[[str], None]:
    def use(language: str) -> None:
        create_metric(name, language).score_segments(TEXTS[::2], [TEXTS[1::2]])

    return use


def use_analysis(language: str) -> None:
    load_pipeline(language).analyse(TEXTS)
    create_metric("m", language).score_segments(TEXTS[::2], [TEXTS[1::2]])


def use_language_model(language: str) -> None:
    model = load_language_model(language)
    (batch,) = (
        model.pipeline.analyse(TEXTS)
        if hasattr(model, "pipeline")
        else load_pipeline(language).analyse(TEXTS)
    )
    model.score(batch)


def use_parser(language: str) -> None:
    load_discourse_parser(language).parse(SENTENCES)


def use_syntax(language: str) -> None:
    load_tree_parser(language).parse(SENTENCES)


def use_labeller(language: str) -> None:
    load_labeller(language).label_text(SENTENCES, load_tree_parser(language))


def use_antonyms(language: str) -> None:
    table = load_antonyms(language)
    assert table is not None
    table.antonyms(table.words[0])
    create_metric("x", language).score_segments(TEXTS[::2], [TEXTS[1::2]])


def use_detection(_language: str) -> None:
    """The shipped file alone is read, so that this takes the damaged one by hand."""
    models = detection.models_of(
        read_resource(Path(os.environ["TESLA_EVAL_DATA"]) / "detection.tesla", detection.KIND)
    )
    with patch.object(detection, "load_detection", lambda: models):
        detection.identify(TEXTS)


def use_weights(name: str) -> Callable[[str], None]:
    def use(language: str) -> None:
        path = next(Path(os.environ["TESLA_EVAL_DATA"]).glob("*.json"))
        create_metric(name, language, weights=str(path)).score_segments(TEXTS[::2], [TEXTS[1::2]])

    return use


USES: dict[str, Callable[[str], None]] = {
    "lemmas": use_analysis, "compounds": use_analysis, "senses": use_analysis, "tagger": use_analysis,
    "segmenter": use_analysis, "frequencies": use_metric("x"), "pem": use_metric("pem"), "cremer": use_metric("cremer"),
    "dicomer": use_metric("dicomer"), "phrases": use_metric("b"), "discourse": use_parser,
    "lm-3gram": use_language_model, "parser": use_syntax, "srl": use_labeller, "antonyms": use_antonyms,
    "vectors": use_metric("x"), "detection": use_detection, "weights-f": use_weights("f"),
    "weights-x": use_weights("x"),
}  # fmt: skip


def damaged_bytes(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    action = random.randrange(4)
    if action == 0:
        return bytes(changed[: random.randrange(len(changed))])
    if action == 1:
        place = random.randrange(len(changed))
        return bytes(changed[:place] + random.randbytes(random.randrange(1, 64)) + changed[place:])
    beginning = (
        min(len(changed), 600) if random.random() < 0.5 else len(changed)
    )  # the header is the tricky part
    for _ in range(random.randrange(1, 20)):
        changed[random.randrange(beginning)] ^= 1 << random.randrange(8)
    return bytes(changed)


def damaged_array(random: Random, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    changed = np.array(array)
    flat = changed.reshape(-1)
    action = random.randrange(8)
    if action == 0 or flat.size == 0:
        return np.zeros(random.randrange(3), array.dtype)
    if action == 1:
        return flat[: random.randrange(flat.size)].copy()
    if action == 2:
        return np.concatenate([flat, flat[: random.randrange(1, flat.size + 1)]])
    if action == 3:
        return changed.astype(random.choice(("u1", "i1", "<u2", "<i4", "<u8", "<f4")))
    if action == 4:
        return changed.reshape(-1, 1) if random.random() < 0.5 else np.array(changed[::-1])
    raw = flat.view(np.uint8)
    for _ in range(random.choice((1, 2, 10, 1000))):
        if action == 5:
            raw[random.randrange(raw.size)] ^= 1 << random.randrange(8)
        elif action == 6:
            width = array.dtype.itemsize
            place = random.randrange(flat.size) * width
            raw[place : place + width] = random.choice((0, 0xFF, 0x7F, 0x80))
        else:
            i, j = random.randrange(flat.size), random.randrange(flat.size)
            flat[i], flat[j] = flat[j], flat[i]
    return changed


def damaged_document(random: Random, value: Any) -> Any:
    """A document of JSON with some values replaced."""
    if random.random() < 0.1:
        return random.choice((None, "", -1, 1e400, float("nan"), [], {}, [[]], True, "x" * 99, 1 << 70))
    if isinstance(value, dict):
        return {key: damaged_document(random, one) for key, one in value.items() if random.random() > 0.03}
    if isinstance(value, list):
        place = random.randrange(len(value) + 1)
        return [damaged_document(random, one) if i == place else one for i, one in enumerate(value)]
    return value


def write_damaged(random: Random, source: Path, target: Path) -> None:
    if source.suffix == ".json" and random.random() < 0.5:
        target.write_text(
            json.dumps(damaged_document(random, json.loads(source.read_text("utf-8")))), "utf-8"
        )
        return
    if source.suffix == ".json" or random.random() < 0.5:
        target.write_bytes(damaged_bytes(random, source.read_bytes()))
        return
    found = read_resource(source)
    arrays = dict(found.arrays)
    for name in random.sample(list(arrays), random.randrange(1, min(3, len(arrays)) + 1)):
        arrays[name] = damaged_array(random, arrays[name])
        if random.random() < 0.03:
            del arrays[name]
    info = dict(found.info)
    if random.random() < 0.2:
        info = {key: damaged_document(random, value) for key, value in info.items()}
    changed = Resource(
        found.kind, found.language, arrays, analysis=found.analysis, provenance=found.provenance,
        info=info,
    )  # fmt: skip
    write_resource(target, changed, compress=random.random() < 0.5)


def outcome(use: Callable[[str], None], language: str, folder: Path, limit: int) -> int:
    """What a process of its own says of the file in `folder`: its exit status, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = UNEXPECTED
    try:
        limits.setrlimit(limits.RLIMIT_CPU, (limit, limit + 1))
        os.environ["TESLA_EVAL_DATA"] = str(folder)
        use(language)
        status = OK
    except TeslaError:
        status = REFUSED
    except BaseException:  # whatever it is, it is what we look for
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def fuzz(
    count: int, *, seed: int = 1, largest: int = 5_000_000, limit: int = 20, keep: Path | None = None
) -> Counter[str]:
    """Try `count` damaged files; returns how often each outcome came."""
    sources = []
    for path in sorted(shipped_folder().iterdir()):
        kind = next((kind for kind in USES if path.name.startswith((f"{kind}-", f"{kind}."))), None)
        if kind and path.stat().st_size <= largest:
            sources.append((kind, path))
    by_kind = sorted({kind for kind, _ in sources})
    found: Counter[str] = Counter()
    for number in range(count):
        random = Random(f"{seed}-{number}")
        kind = random.choice(by_kind)
        _, source = random.choice([entry for entry in sources if entry[0] == kind])
        language = source.stem.removeprefix(f"{kind}-").split("-")[0]
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / source.name
            write_damaged(random, source, target)
            status = outcome(USES[kind], language, Path(folder), limit)
            if status in (OK, REFUSED):
                found["used" if status == OK else "refused"] += 1
                continue
            found["failed"] += 1
            print(
                f"file {number} (seed {seed}, {source.name}): ended with {status}",
                file=sys.stderr,
                flush=True,
            )
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                target.replace(keep / f"{number}-{source.name}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=20, help="seconds of processor time for one file")
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    options = parser.parse_args()
    faulthandler.enable()
    start = time.monotonic()
    found = fuzz(options.count, seed=options.seed, limit=options.limit, keep=options.keep)
    print(
        f"{options.count:,} damaged files in {time.monotonic() - start:.0f} s: {dict(sorted(found.items()))}"
    )
    sys.exit(found["failed"] > 0)


if __name__ == "__main__":
    main()
