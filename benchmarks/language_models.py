"""Asking a language model: our sorted arrays beside KenLM's query on the same model (pip install kenlm).

python -m benchmarks language_models
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval.base.resources import read_resource, write_resource
from tesla_eval.language.lm import LanguageModel
from tesla_eval.training.language_models import (
    LanguageModelSettings,
    model_resource,
    train_language_model,
    write_arpa,
)

SENTENCES = 20_000
ROUNDS = 7


def main() -> None:
    texts = list(chain.from_iterable(wmt14_pairs(SENTENCES // 2)))
    try:
        import kenlm
    except ImportError:
        print("KenLM is not installed (pip install kenlm): nothing to compare with")
        return
    for order in (3, 5):
        with TemporaryDirectory() as folder:
            ours, theirs, words = _models(kenlm, texts, order, Path(folder))
        batch = ours.analyse(texts)
        joined = [" ".join(sentence) for sentence in words]
        ours.score(batch)
        seconds = interleaved(
            {
                "ours": lambda: cpu_seconds(lambda: ours.score(batch)),  # noqa: B023
                "kenlm": lambda: cpu_seconds(lambda: [theirs.score(text) for text in joined]),  # noqa: B023
            },
            ROUNDS,
        )
        print(
            f"order {order}: {len(texts)} sentences, ours {len(texts) / seconds['ours'] / 1000:.0f} k/s, KenLM "
            f"{len(texts) / seconds['kenlm'] / 1000:.0f} k/s: {seconds['kenlm'] / seconds['ours']:.2f} times KenLM"
        )
    print("KenLM looks up each word's text; ours has the numbers of the words from the analysis")


def _models(kenlm, texts, order, folder):  # type: ignore[no-untyped-def]
    with train_language_model(lambda: [texts], "en", LanguageModelSettings(order=order)) as trained:
        write_arpa(folder / "model.arpa", trained)
        write_resource(folder / "model.tesla", model_resource(trained))
    ours = LanguageModel(read_resource(folder / "model.tesla"))
    words = [[word for word, _ in ours.explain(text)[:-1]] for text in texts]
    return ours, kenlm.Model(str(folder / "model.arpa")), words


if __name__ == "__main__":
    main()
