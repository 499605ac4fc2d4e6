"""COMET and BERTScore where their packages are missing; tests/plugs/test_comet.py runs them."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tesla_eval import UsageError
from tesla_eval.metrics import create_metric


@pytest.mark.parametrize("name", ["comet", "comet-qe", "bertscore"])
def test_without_the_package_the_message_says_what_to_install(name: str, tesla, write) -> None:
    if find_spec("comet") or find_spec("bert_score"):
        pytest.skip("the packages are installed")
    extra = name.removesuffix("-qe")
    with pytest.raises(UsageError, match=rf"is not installed: pip install 'tesla-eval\[{extra}\]'"):
        create_metric(name, "en", model="folder")
    outcome = tesla("score", "-r", write("ref", ["a b"]), write("sys", ["a b"]), "-m", f"{name}:model=folder")
    assert outcome.status == 2 and f"tesla-eval[{extra}]" in outcome.err


@pytest.mark.parametrize("name", ["comet", "comet-qe", "bertscore"])
def test_a_model_must_be_named(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} needs a model: -m {name}:model=FOLDER"):
        create_metric(name, "en")
