"""The outer loop of tuning: run the decoder, merge its n-best list with those before, tune; until weights settle."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.files import write_text
from tesla_eval.choosing.nbest import read_nbest
from tesla_eval.choosing.parameters import Parameters
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.segments import References
from tesla_eval_papers.tuning.mert import MertOptions, Tuned, mert
from tesla_eval_papers.tuning.objective import TuningObjective
from tesla_eval_papers.tuning.pool import Pool, TuningProblem
from tesla_eval_papers.tuning.pro import ProOptions, pro

Optimiser = MertOptions | ProOptions
_STATE = "state.json"
_LAST_CHARACTERS = 2000
_FORMAT = 1


@dataclass(frozen=True)
class Iteration:
    """One turn of the loop: all candidates so far, the new ones, and the tuned weights."""

    number: int
    candidates: int
    new: int
    tuned: Tuned


def optimise(
    problem: TuningProblem, parameters: Parameters, optimiser: Optimiser, seed: Sequence[int]
) -> Tuned:
    """Tune with the optimiser whose options are given; the same seed gives the same weights."""
    generator = np.random.default_rng(list(seed))
    if isinstance(optimiser, MertOptions):
        return mert(problem, parameters, optimiser, generator)
    return pro(problem, parameters, optimiser, generator)


def tune_list(
    metric: Metric,
    references: References,
    paths: Sequence[str],
    optimiser: Optimiser,
    *,
    parameters: Parameters | None = None,
    nbest_format: str | None = None,
    seed: int = 0,
    advance: Callable[[int], None] = lambda done: None,
) -> tuple[Parameters, Iteration]:
    """Tune on lists that are at hand, merged."""
    segments = len(references[0])
    pool = Pool(segments, parameters.names if parameters else None)
    for path in paths:
        pool.add(read_nbest(path, nbest_format, segments), path)
    parameters = parameters or Parameters.named(pool.names)
    pool.score(metric, references, advance)
    tuned = optimise(pool.problem(TuningObjective.of(metric)), parameters, optimiser, (seed, 1))
    return parameters, Iteration(1, len(pool), len(pool), tuned)


@dataclass(frozen=True)
class Loop:
    """When the outer loop ends: after `iterations`, without new candidates, or with weights that move less."""

    iterations: int = 100
    tolerance: float = 1e-4


def tune_decoder(
    metric: Metric,
    references: References,
    command: str,
    folder: Path,
    optimiser: Optimiser,
    parameters: Parameters,
    *,
    loop: Loop | None = None,
    nbest_format: str | None = None,
    seed: int = 0,
    advance: Callable[[int], None] = lambda done: None,
) -> Iterator[Iteration]:
    """Turn after turn of the loop; what `folder` holds already is not done again.

    In `command`, {weights} is the file of weights to be read and {nbest} the list to be written; without {nbest} the
    decoder's standard output is the list.
    """
    loop = loop or Loop()
    segments = len(references[0])
    settings = _settings(metric, references, command, optimiser, parameters, seed)
    state = _State(folder, settings)
    pool = Pool(segments, parameters.names)
    weights = parameters.weights
    for number in range(1, loop.iterations + 1):
        path = folder / f"nbest-{number}"
        if not path.exists():
            given = folder / f"weights-{number}.txt"
            given.write_text(
                "".join(f"{line}\n" for line in parameters.with_weights(weights).lines()), "utf-8"
            )
            _decode(command, given, path)
        new = pool.add(read_nbest(str(path), nbest_format, segments), str(path))
        done = state.iteration(number)
        if done is not None:
            tuned = Tuned(np.array(done["weights"]), done["score"], done["start_score"])
        else:
            pool.score(metric, references, advance)
            problem = pool.problem(TuningObjective.of(metric))
            tuned = optimise(problem, parameters.with_weights(weights), optimiser, (seed, number))
            state.add(tuned)
        yield Iteration(number, len(pool), new, tuned)
        settled = _distance(weights, tuned.weights) <= loop.tolerance
        weights = tuned.weights
        if settled or (new == 0 and number > 1):
            return


def _distance(first: FloatArray, second: FloatArray) -> float:
    """The largest change of a weight, both scaled to the length 1: only the direction of weights means something."""
    lengths = [float(np.sqrt((weights**2).sum())) for weights in (first, second)]
    if min(lengths) == 0:
        return 0.0 if max(lengths) == 0 else float("inf")
    return float(np.abs(first / lengths[0] - second / lengths[1]).max())


def _decode(command: str, weights: Path, nbest: Path) -> None:
    """Run the decoder; its list gets its name only when it is whole."""
    unfinished = nbest.with_name(f"{nbest.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--decoder {command!r}: {error}") from None
    if not words:
        raise UsageError("--decoder names no program")
    arguments = [
        word.replace("{weights}", str(weights)).replace("{nbest}", str(unfinished)) for word in words
    ]
    writes_file = any("{nbest}" in word for word in words)
    try:
        with unfinished.open("wb") if not writes_file else open(os.devnull, "wb") as output:  # noqa: PTH123
            ended = subprocess.run(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, check=False
            )
    except OSError as error:
        raise UsageError(f"the decoder {words[0]!r} cannot be started ({error.strerror})") from error
    if ended.returncode != 0:
        said = ended.stderr.decode("utf-8", "replace")[-_LAST_CHARACTERS:].strip()
        raise InputError(f"the decoder ended with status {ended.returncode}: {said or 'it said nothing'}")
    if not unfinished.exists():
        raise InputError(f"the decoder wrote no {unfinished}: does {command!r} use {{nbest}}?")
    unfinished.replace(nbest)


def _settings(
    metric: Metric,
    references: References,
    command: str,
    optimiser: Optimiser,
    parameters: Parameters,
    seed: int,
) -> dict[str, Any]:
    texts = hashlib.sha256()
    for stream in references:
        for text in stream:
            texts.update(b"-" if text is None else b"+" + text.encode("utf-8", "surrogatepass"))
            texts.update(b"\n")
    return {
        "format": _FORMAT,
        "metric": str(metric.get_signature()),
        "references": texts.hexdigest(),
        "decoder": command,
        "optimiser": repr(optimiser),
        "parameters": parameters.zmert_lines(),
        "seed": seed,
    }


class _State:
    """The record of a run in its folder: its settings, and the weights after each iteration."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._path = folder / _STATE
        self._iterations: list[dict[str, Any]] = []
        self._settings = settings
        folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            self._resume()
            return
        leftovers = sorted(folder.glob("nbest-*"))
        if leftovers:
            raise InputError(f"{leftovers[0]}: a list of another run; choose an empty folder with --work")
        self._write()

    def _resume(self) -> None:
        try:
            saved = json.loads(self._path.read_text("utf-8"))
            settings, self._iterations = saved["settings"], list(saved["iterations"])
            for done in self._iterations:
                if len(done["weights"]) != len(self._settings["parameters"]) - 1:
                    raise ValueError("the number of weights is wrong")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self._path}: is damaged ({error}); choose another folder with --work"
            ) from None
        different = [name for name in self._settings if settings.get(name) != self._settings[name]]
        if different:
            raise InputError(
                f"{self._path}: belongs to a run with other settings ({', '.join(different)}); "
                "use the same ones to go on, or choose another folder with --work"
            )

    def iteration(self, number: int) -> dict[str, Any] | None:
        return self._iterations[number - 1] if number <= len(self._iterations) else None

    def add(self, tuned: Tuned) -> None:
        self._iterations.append(
            {"weights": tuned.weights.tolist(), "score": tuned.score, "start_score": tuned.start_score}
        )
        self._write()

    def _write(self) -> None:
        saved = {"settings": self._settings, "iterations": self._iterations}
        write_text(self._path, json.dumps(saved))
