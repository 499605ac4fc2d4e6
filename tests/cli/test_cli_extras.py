"""What needs a package that is not installed says so at once, with the command that installs it."""

from __future__ import annotations

import pytest

TRAIN = "pip install 'tesla-eval[train]'"


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("train", "f", "--learner", "svm", "--segments", "none.tsv", "-o", "w.json"), TRAIN),
        (("train", "dicomer", "none.jsonl", "-o", "d.tesla"), TRAIN),
        (("train", "cremer", "none.jsonl", "-o", "c.tesla"), TRAIN),
        (
            ("meta", "--segments", "none.tsv", "--plots", "p", "--plot-format", "png"),
            "pip install matplotlib",
        ),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_missing_package_is_named_before_any_file_is_read(tesla, monkeypatch, command, remedy) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = tesla(*command)
    assert found.status == 2
    assert "which is not installed" in found.err
    assert found.err.endswith(f"{remedy}\n")
