"""A run that is killed (SIGKILL, no chance to clean up) leaves nothing half-written under the final name."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tesla_eval.base.files import replacing
from tesla_eval.base.resources import read_resource
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.cache import ScoreCache
from tests.fixtures import shipped_pairs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

OLD = "what was there before\n"
SEGMENTS = 60_000

# Runs a command once, then in children that kill themselves before their n-th access to a file of the output's folder,
# until one comes to its end. Python reports each access, so all moments between two accesses are tried. The final name
# is never opened for writing: a file gets it by renaming.
VICTIM = """
import os, signal, sys
folder, final, old, *arguments = sys.argv[1:]
left = 0

def watch(event, details):
    global left
    if event not in ("open", "os.rename", "os.remove") or not isinstance(details[0], (str, os.PathLike)):
        return
    path = os.path.realpath(details[0])
    if event == "open" and path == final and (details[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        os._exit(99)
    if os.path.dirname(path) == folder and path != final:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

def run():
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            os._exit(98)

from tesla_eval.cli import main
sys.addaudithook(watch)
sys.argv = ["tesla", *arguments]
run()
for number in range(1, 10):
    os.rename(final, f"{old}.{number}")
    os.link(old, final)
    child = os.fork()
    if not child:
        left = number
        run()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != -signal.SIGKILL:
        os._exit(status)
os._exit(97)
"""


def numbered(pairs: list[tuple[str, str]], count: int) -> list[list[str]]:
    """Hypotheses and references, as many as asked for and no two alike."""
    return [[f"{number} {pairs[number % len(pairs)][side]}" for number in range(count)] for side in (0, 1)]


@pytest.fixture
def texts(write) -> list[str]:
    """Files of hypotheses and references."""
    return [
        write(name, side)
        for name, side in zip(("hyp", "ref"), numbered(shipped_pairs("en"), 300), strict=True)
    ]


def commands(texts: list[str], write) -> dict[str, list[str]]:
    """What to type, without the output."""
    hypotheses, references = texts
    treebank = "\n".join(
        f"{number}\t{word}\t{word}\t{tag}" + "\t_" * 6
        for number, (word, tag) in enumerate(
            [("the", "DET"), ("cat", "NOUN"), ("sleeps", "VERB"), (".", "PUNCT")], 1
        )
    )
    rows = [
        f"de-en\tset\ts{k}\t{i}\t{k + i / 9}\t{'the cat ' * k}sat\tthe cat sat here {i}"
        for k in range(1, 5)
        for i in range(1, 9)
    ]
    header = "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"
    nbest = [
        f"{i} ||| the cat {'sat ' * k}||| good= {k} bad= {k % 2}" for i in range(300) for k in range(1, 4)
    ]
    return {
        "score": [
            "score", "-l", "en", "-m", "m", "-r", references, hypotheses, "--format", "tsv", "--segments",
        ],
        "compare": [
            "compare", "-l", "en", "-m", "m", "--resamples", "100", "-r", references, hypotheses, references,
        ],
        "build lm": ["train", "lm", "-l", "en", "--order", "2", references],
        "build tagger": [
            "train", "tagger", "-l", "fr", "--train", write("t.conllu", f"{treebank}\n\n".encode() * 9),
        ],
        "train": [
            "train", "x", "--segments", write("seg.tsv", [header, *rows]), "--no-cache", "--threshold", "0.5",
        ],
        "tune": [
            "tune", "-m", "m", "-r", references, "--nbest", write("n.best", nbest),
            "--params", write("params", ["good 0.1", "bad 1"]),
        ],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["score", "compare", "build lm", "build tagger", "train", "tune"])
def test_killed_at_every_access_to_its_folder(texts, write, tmp_path: Path, name: str) -> None:
    folder, old = tmp_path / "out", tmp_path / "old"
    folder.mkdir()
    final = folder / "made.tesla"
    for path in (old, final):
        path.write_text(OLD)
    command = [*commands(texts, write)[name], "-o", str(final)]
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(folder), str(final), str(old), *command],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before = OLD.encode()
    assert old.read_bytes() == before
    complete, *left = (path.read_bytes() for path in sorted(tmp_path.glob("old.*")))
    *earlier, last = left
    assert earlier == [before] * len(earlier) and last == complete, (
        "the old file until the new one is renamed"
    )
    assert len(earlier) >= 3, "before it is made, before it is opened, before it is renamed"
    assert not list(folder.glob(".*")), "the run that comes to its end clears what the killed ones left"
    assert final.read_bytes() == complete
    if name.startswith("build"):
        read_resource(final)


WATCHED = """
import os, sys
from pathlib import Path
from tesla_eval.cli import main

def watch(event, details):
    if event == "open" and (details[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        print(Path(os.fsdecode(details[0])).name, file=sys.stderr)

sys.addaudithook(watch)
sys.argv = ["tesla", *sys.argv[1:]]
main()
"""


def test_no_file_of_a_judging_round_is_opened_under_its_final_name(texts, tmp_path: Path) -> None:
    folder = tmp_path / "round"
    command = f"judge make --judges ann --items 5 -o {folder} -r {texts[1]} {' '.join(texts)}".split()
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    names = {path.name for path in folder.iterdir()}
    assert names == {"key.json", "sheet-ann.tsv", "sheet-ann.html", "instructions.txt", "outputs.seg.tsv"}
    assert not names & set(done.stderr.split())


def test_killed_while_the_scores_are_written(write, tmp_path: Path) -> None:
    """Not simulated: a process is killed as soon as its temporary file has some bytes."""
    hypotheses, references = numbered(shipped_pairs("en"), SEGMENTS)
    files = write("ref", references), write("hyp", hypotheses)
    final = tmp_path / "scores.tsv"
    final.write_text(OLD)
    command = [
        sys.executable, "-m", "tesla_eval.cli", "score", "-l", "en", "-m", "chrf,m", "-r", *files, "--segments",
        "--format", "tsv", "-o", str(final), "--quiet",
    ]  # fmt: skip
    for _ in range(3):
        with subprocess.Popen(command) as run:
            while run.poll() is None:
                if any(
                    part.exists() and part.stat().st_size for part in tmp_path.glob(f".{final.name}.*.part")
                ):
                    run.kill()
                    break
                time.sleep(0.0005)
        if run.returncode == -signal.SIGKILL:
            break
        final.write_text(OLD)  # it was quicker than we are
    assert run.returncode == -signal.SIGKILL
    (part,) = tmp_path.glob(f".{final.name}.*.part")
    assert part.stat().st_size > 0
    assert final.read_text() == OLD


CACHING = """
import os, signal, sys
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.cache import ScoreCache
hypotheses, references = (open(path, encoding="utf-8").read().splitlines() for path in sys.argv[2:])
done = 0
cache = ScoreCache(sys.argv[1])

def advance(number):
    global done
    done += number
    if done >= 1024:  # in the middle of the next transaction
        cache._database.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), 2000)

cache.score(create_metric("m", "en"), hypotheses, [references], advance)
"""


def test_killed_while_the_cache_is_written(write, tmp_path: Path) -> None:
    hypotheses, references = numbered(shipped_pairs("en"), 2500)
    files = write("hyp", hypotheses), write("ref", references)
    done = subprocess.run([sys.executable, "-c", CACHING, str(tmp_path), *files], check=False)
    assert done.returncode == -signal.SIGKILL
    with sqlite3.connect(tmp_path / "scores.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    metric = create_metric("m", "en")
    with ScoreCache(tmp_path) as cache:
        assert len(cache) == 1024, "whole chunks, none lost and none in parts"
        scores = cache.score(metric, hypotheses, [references]).scores
        assert len(cache) == 2500
    assert scores.tolist() == metric.score_segments(hypotheses, [references]).scores.tolist()


class TestOutput:
    def test_the_file_holds_what_standard_output_would(self, tesla, texts, tmp_path: Path) -> None:
        hypotheses, references = texts
        command = ("score", "-m", "m,bleu", "-r", references, hypotheses, "--json", "--segments")
        shown = tesla(*command).out
        outcome = tesla(*command, "-o", str(tmp_path / "scores.json"))
        assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
        assert (tmp_path / "scores.json").read_text("utf-8") == shown
        assert tesla(*command, "-o", "-").out == shown
        assert json.loads(shown)["systems"]
        assert not [*tmp_path.glob("*.part"), *tmp_path.glob(".*")]

    def test_a_file_that_cannot_be_written_is_named_before_the_work(
        self, tesla, texts, tmp_path: Path
    ) -> None:
        hypotheses, references = texts
        for output, reason in (
            (str(tmp_path / "none" / "x"), "there is no folder"), (str(tmp_path), "directory"),
            (hypotheses, "is also an input"), (references, "is also an input"),
        ):  # fmt: skip
            for name in ("score", "compare"):
                outcome = tesla(name, "-m", "m", "-r", references, hypotheses, hypotheses, "-o", output)
                assert outcome.status == 2 and reason in outcome.err, (name, outcome.err)
        assert Path(hypotheses).read_text("utf-8").startswith("0 ")

    def test_a_link_stays_a_link_and_a_device_a_device(self, tmp_path: Path) -> None:
        target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
        link.symlink_to(target)
        os.mkfifo(pipe)
        with replacing(link) as temporary:
            temporary.write_text("new")
        assert link.is_symlink() and target.read_text() == "new"
        with replacing(pipe) as temporary:
            assert temporary == pipe
        assert pipe.is_fifo()
