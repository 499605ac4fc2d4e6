"""`tesla train encoder` and `tesla train n`: own encoders, and the numbers learned for them."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import SUFFIX, Provenance, user_data_folder, write_resource
from tesla_eval.cli.shared.options import judgement_options, need_scikit_learn, provenance_options
from tesla_eval.cli.shared.outputs import resource_option
from tesla_eval.cli.shared.terminal import progress, resumable
from tesla_eval.judgements.meta.run import analysed_language, wmt_sets
from tesla_eval.judgements.wmt import read_preferences
from tesla_eval.language.analysis.languages import code_to_build, resolve_language
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.models.documents import write_document
from tesla_eval.models.linear import load_weights
from tesla_eval_neural.building import LAYERS
from tesla_eval_neural.encoder import KIND, load_encoder
from tesla_eval_neural.learning import PENALTY

__all__ = ["encoder", "train_n"]


@click.command()
@click.option(
    "--from",
    "source",
    required=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A Hugging Face folder: config.json, model.safetensors, and tokenizer.json or vocab.txt.",
)
@click.option("-l", "--lang", "language", required=True, metavar="CODE", help="The language's code.")
@click.option(
    "--layers",
    type=click.IntRange(1, 48),
    default=LAYERS,
    show_default=True,
    help="The first layers to keep; more cost more time and gave little more for English.",
)
@click.option(
    "--tuned",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Tuned layers in place of the folder's, as packages/neural/tools/tune_encoder.py writes them.",
)
@resource_option("encoder-CODE.tesla")
@provenance_options("Where the encoder comes from; default: the folder's name.")
def encoder(
    *, source: Path, language: str, layers: int, tuned: Path | None, output: Path | None, provenance: Provenance,
) -> None:  # fmt: skip
    """Make the encoder of TESLA-N for a language from a published model.

    Models of the types BERT, RoBERTa and XLM-R are read, so E5, LaBSE and many others too. The files are read as data;
    nothing is executed. Then learn the weights with `tesla train n`.

    \b
    tesla train encoder -l de --from multilingual-e5-small/ --licence MIT
    """
    from tesla_eval_neural.building import build_encoder, opener_of, read_folder, with_tuned_layers

    language = code_to_build(language)
    output = output or user_data_folder() / f"{KIND}-{language}{SUFFIX}"
    with progress() as bar:
        bar.stage("reading")
        folder = read_folder(opener_of(source), layers, name=str(source))
        if tuned is not None:
            folder = with_tuned_layers(folder, tuned)
        bar.stage("building")
        encoder = build_encoder(folder, language, provenance.or_from([source.name]))
        write_resource(output, encoder, compress=False)
    click.echo(
        f"{output}: {layers} layers, {encoder.info['dimensions']} dimensions, {len(folder.vocabulary)} pieces, "
        f"{output.stat().st_size / 1e6:.1f} MB"
    )


@click.command("n", context_settings={"max_content_width": 110})
@judgement_options
@click.option("-l", "--lang", "language", default="en", show_default=True, help="Language of the weights.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the weights go; default: weights-n-LANG.json among your own resources.",
)
@click.option(
    "--encoder", "encoder_file", type=click.Path(path_type=Path, exists=True), help="An encoder's file."
)
@click.option(
    "--penalty",
    type=click.FloatRange(0, min_open=True),
    default=PENALTY,
    show_default=True,
    help="L2 penalty.",
)
def train_n(
    *, segments: tuple[str, ...], pairs: tuple[str, ...], lps: tuple[str, ...], language: str, output: Path | None,
    encoder_file: Path | None, penalty: float, threshold: float, day: str, jobs: int, no_cache: bool,
) -> None:  # fmt: skip
    """Learn the weights of TESLA-N for an encoder from rankings, or from scores.

    TESLA-X's weights for the language stay as they are; what is learned is how much they and the encoder count.

    \b
    tesla train n -l de --segments wmt24.seg.tsv.gz
    """
    need_scikit_learn("tesla train n")
    from tesla_eval.training.judged import collect
    from tesla_eval_neural import learning
    from tesla_eval_neural.metric import weights_file

    code = resolve_language(language)
    installed = load_encoder(code, encoder_file)
    x_model = load_weights("tesla-x", code)
    metric = learning.features_metric(
        code, x_model, encoder=None if encoder_file is None else str(encoder_file), workers=jobs
    )
    judged = (
        one
        for one in wmt_sets(segments, read_preferences(*pairs), {}, lps)
        if analysed_language(one.outputs.lp) == code
    )
    with (
        resumable(None if no_cache else "the cache"),
        ScoreCache(on_disk=not no_cache) as cache,
        progress() as bar,
    ):
        sets = collect(judged, lambda lp: metric, cache, threshold=threshold, progress=bar)
    if not any(len(one.better) for one in sets):
        raise UsageError("there are no pairs to learn from; lower --threshold")
    features = learning.learned_features(metric)
    columns = [
        np.column_stack(
            [
                learning.x_scores(x_model, metric.features, one.features),
                one.features[:, : len(features) - 1],
            ]
        )
        for one in sets
    ]
    ready = [learning.with_columns(one, values) for one, values in zip(sets, columns, strict=True)]
    learned = learning.fit_features(ready, features, penalty)
    model = learning.shipped_model(
        learned, x_model, metric, installed, date=day,
        data=tuple(f"{one.name}: {one.counts.sum():.0f} pairs" for one in sets),
        training={"learner": "signed", "penalty": penalty},
    )  # fmt: skip
    path = output or user_data_folder() / weights_file(code)
    write_document(path, model)
    shares = ", ".join(
        f"{name} {weight:.3f}" for name, weight in zip(learned.features, learned.weights, strict=True) if weight > 0
    )  # fmt: skip
    click.echo(f"{path}: {shares}; learned from {len(sets)} sets")
