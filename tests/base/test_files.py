"""Files appear whole, each writer's own, with the mode that they had; what killed runs left is cleared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tesla_eval.base.files import replacing, scratch_folder, write_text

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, locks and signals of POSIX")

THREADS, ROUNDS, LINES = 4, 300, 400


def in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run `work` in threads; the errors that they ended with."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_that_write_one_path_never_publish_a_mixed_file(tmp_path: Path) -> None:
    """Four threads write one file 1,200 times; a fifth looks at it all the time."""
    path = tmp_path / "scores.tsv"
    contents = {(f"{number}" * 99 + "\n") * LINES for number in range(THREADS)}
    done, mixed, looks = threading.Event(), 0, 0

    def work(number: int) -> None:
        nonlocal mixed, looks
        if number == THREADS:
            while not done.is_set():
                if path.exists():
                    looks += 1
                    mixed += path.read_text() not in contents
            return
        try:
            for _ in range(ROUNDS):
                with replacing(path) as temporary, temporary.open("w") as out:
                    for _ in range(LINES):
                        out.write(f"{number}" * 99 + "\n")
        finally:
            done.set()

    assert in_threads(THREADS + 1, work) == []
    assert (mixed, looks > 0) == (0, True)
    assert path.read_text() in contents
    assert list(tmp_path.iterdir()) == [path]


@posix_only
class TestModes:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
    def test_an_existing_file_keeps_its_mode(self, tmp_path: Path, mode: int) -> None:
        path = tmp_path / "private.txt"
        path.write_text("old")
        path.chmod(mode)
        write_text(path, "new")
        assert path.read_text() == "new"
        assert path.stat().st_mode & 0o777 == mode

    def test_nobody_else_can_read_it_while_it_is_written(self, tmp_path: Path) -> None:
        path = tmp_path / "private.txt"
        path.write_text("old")
        path.chmod(0o600)
        with replacing(path) as temporary:
            temporary.write_text("new")
            assert temporary.stat().st_mode & 0o077 == 0

    def test_a_new_file_has_the_mode_that_open_gives(self, tmp_path: Path) -> None:
        (tmp_path / "usual").write_text("")
        write_text(tmp_path / "new", "")
        assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


KILLED = """
import os, signal, sys
from pathlib import Path
from tesla_eval.base.files import replacing, scratch_folder

with replacing(Path(sys.argv[1])) as temporary, scratch_folder("tesla-lm", Path(sys.argv[1]).parent) as scratch:
    temporary.write_text("half")
    (scratch / "run-0001.bin").write_text("half")
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    print(temporary.name, scratch.name, flush=True)
    sys.stdin.read()
"""


@posix_only
class TestLeftovers:
    def start(self, path: Path, end: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), end],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def test_those_of_killed_runs_are_cleared_by_the_next_one(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        for _ in range(3):
            with self.start(path, "killed") as run:
                assert run.wait() == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 2, "each run cleared what the one before left"
        write_text(path, "whole")
        with scratch_folder("tesla-lm", tmp_path) as scratch:
            assert sorted(tmp_path.iterdir()) == sorted([path, scratch])
        assert list(tmp_path.iterdir()) == [path]

    def test_those_of_older_versions_are_cleared_too(self, tmp_path: Path) -> None:
        (tmp_path / ".out.txt.4711.part").write_text("half")
        write_text(tmp_path / "out.txt", "whole")
        assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]

    def test_what_another_process_is_writing_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        with self.start(path, "asked") as run:
            assert run.stdout is not None and run.stdin is not None
            names = set(run.stdout.readline().split())
            write_text(path, "ours")
            with scratch_folder("tesla-lm", tmp_path) as scratch:
                assert {one.name for one in tmp_path.iterdir()} == {path.name, scratch.name, *names}
            run.stdin.close()
            assert run.wait() == 0
        assert path.read_text() == "half"
        assert list(tmp_path.iterdir()) == [path]

    def test_files_of_similar_names_stay(self, tmp_path: Path) -> None:
        others = [
            ".out.txt.part",
            ".out.txt.notes.part",
            ".out.txt.4711.part.bak",
            "tesla-lm",
            "tesla-lm.en.part",
        ]
        for name in others:
            (tmp_path / name).write_text("mine")
        write_text(tmp_path / "out.txt", "whole")
        with scratch_folder("tesla-lm", tmp_path):
            pass
        assert {path.name for path in tmp_path.iterdir()} == {"out.txt", *others}


@posix_only
@pytest.mark.slow
def test_a_hundred_killed_runs_leave_a_whole_file_and_one_leftover_at_most(tmp_path: Path) -> None:
    """Killed at any moment, not at chosen ones: see `test_killed` for these."""
    path, kills = tmp_path / "out.txt", 0
    endless = (
        "import sys\nfrom pathlib import Path\nfrom tesla_eval.base.files import replacing\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    for content in 'ab':\n"
        "        with replacing(Path(sys.argv[1])) as temporary, temporary.open('w') as out:\n"
        "            for _ in range(99):\n"
        "                out.write(content * 999)\n"
    )
    for number in range(100):
        with subprocess.Popen([sys.executable, "-c", endless, str(path)], stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            run.stdout.readline()
            time.sleep(0.001 * (number % 20))
            os.kill(run.pid, signal.SIGKILL)
            kills += run.wait() == -signal.SIGKILL
        assert not path.exists() or path.read_text() in ("a" * 99 * 999, "b" * 99 * 999)
        assert len(list(tmp_path.glob(".*"))) <= 1
    assert kills == 100
    write_text(path, "whole")
    assert list(tmp_path.iterdir()) == [path]
