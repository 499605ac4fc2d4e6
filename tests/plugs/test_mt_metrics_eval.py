"""Score files as mt-metrics-eval's EvalSet wants them under strict=True: by its rules, or by itself if installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugs.neighbours import two_systems

FIRST, SECOND, REFERENCES = (texts[:12] for texts in two_systems())
SYSTEMS = {"sys.A": FIRST, "sys-B": SECOND, "unjudged": FIRST[::-1], "refA": REFERENCES, "refB": SECOND}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A test set with two references, both among the systems, and a system that no one judged."""
    files = {f"system-outputs/de-en/{name}.txt": texts for name, texts in SYSTEMS.items()}
    files |= {f"references/de-en.{name}.txt": SYSTEMS[name] for name in ("refA", "refB")}
    files["sources/de-en.txt"] = [f"Quelle {i}" for i in range(len(FIRST))]
    files["documents/de-en.docs"] = [f"news\tdoc{i // 4}" for i in range(len(FIRST))]
    judged = [name for name in SYSTEMS if name != "unjudged"]
    files["human-scores/de-en.mqm.seg.score"] = [
        f"{name}\t{-(i * len(name)) % 7}" for name in judged for i in range(len(FIRST))
    ]
    files["human-scores/de-en.mqm.sys.score"] = [f"{name}\t{-len(name)}" for name in judged]
    for name, lines in files.items():
        path = tmp_path / "wmt99" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return tmp_path


def write_scores(tesla, home: Path, *names: str) -> list[Path]:
    asked = ("meta", "--mtme", str(home / "wmt99"), "--lp", "de-en", "-m", ",".join(names))
    outcome = tesla(*asked, "--write-scores", str(home))
    assert outcome.status == 0, outcome.err
    return sorted((home / "wmt99" / "metric-scores" / "de-en").iterdir())


def test_files_obey_the_rules_of_strict(tesla, home) -> None:
    paths = write_scores(tesla, home, "m", "bleu", "ter")
    assert len(paths) == 6
    for path in paths:
        name, level, ending = path.name.rsplit(".", maxsplit=2)
        references = set(name.rsplit("-", maxsplit=1)[1].split("."))
        assert ending == "score" and references <= {"refA", "refB"}
        scores: dict[str, list[float]] = {}
        for line in path.read_text("utf-8").splitlines():
            system, score = line.split()
            scores.setdefault(system, []).append(float(score))
        assert set(SYSTEMS) - references <= set(scores) <= set(SYSTEMS), path.name
        assert {len(values) for values in scores.values()} == {1 if level == "sys" else len(FIRST)}


def test_the_real_evalset_loads_them(tesla, home) -> None:
    data = pytest.importorskip(
        "mt_metrics_eval.data", reason="mt-metrics-eval is not installed: it is not on PyPI"
    )
    meta_info = pytest.importorskip("mt_metrics_eval.meta_info")
    write_scores(tesla, home, "m", "ter")
    info = meta_info.MetaInfo(std_ref="refA", std_gold={"sys": "mqm", "seg": "mqm"}, primary_metrics=set(),
                              outlier_systems=set())  # fmt: skip
    loaded = data.EvalSet("wmt99", "de-en", True, info=info, path=str(home), strict=True)
    assert loaded.metric_names == {"tesla-m-refA", "ter-refA"}
