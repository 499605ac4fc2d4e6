"""The output folder of `tesla score --engine ray`: killed, cut, crowded or full, it never holds a wrong bit."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tesla_eval.base.files import locked
from tests.engines.common import own_scores, processes_below, same_rows, write_pairs

pytest.importorskip("ray", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

ROWS, ROW_GROUP, KILLS = 20_000, 1_000, 20
_COMMAND = (
    "import sys; from tesla_eval.connect import parquet; from tesla_eval.cli import main\n"
    f"parquet._SPAN_ROWS = {ROW_GROUP}; sys.argv = sys.argv[1:]; main()"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "d.parquet"
    write_pairs(path, ROWS, row_group=ROW_GROUP)
    return path


@pytest.fixture(scope="module")
def expected(data: Path):
    return own_scores(data)


def command(data: Path, output: Path) -> list[str]:
    """A run with a local cluster of two workers."""
    return [
        sys.executable, "-c", _COMMAND, "tesla", "score", "--engine", "ray", str(data), "-l", "en", "-m", "m",
        "-j", "2", "-o", str(output),
    ]  # fmt: skip


def start(data: Path, output: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(data, output),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def read(output: Path):
    """The published parts, which the description lists."""
    from pyarrow import parquet

    (folder,) = output.glob("signature=*")
    listed = json.loads((folder / "_scores.json").read_text("utf-8"))["parts"]
    paths = sorted(folder.glob("part-*.parquet"))
    assert sorted(listed) == [path.name for path in paths]
    return arrow.concat_tables([parquet.read_table(path) for path in paths])


def completed(output: Path) -> set[str]:
    return {path.name.removesuffix(".parquet")[-65:] for path in output.glob("*/**/*.parquet")}


def test_kills_at_random_moments_lose_no_part_and_leave_no_process(
    data: Path, expected, tmp_path: Path
) -> None:
    moments = random.Random(7)
    output = tmp_path / "out"
    for number in range(KILLS):
        before = completed(output)
        with start(data, output) as run:
            first_part = moments.random() < 0.7  # else it may not even have begun
            begin, longest = time.monotonic(), moments.uniform(0.5, 8.0)
            while run.poll() is None and (
                len(completed(output)) == len(before) if first_part else time.monotonic() < begin + longest
            ):
                time.sleep(0.02)
            time.sleep(moments.uniform(0.0, 0.3))
            below = processes_below(run.pid)
            workers = [pid for pid, (_, name, _) in below.items() if name.startswith("ray::_FileWorker")]
            if number % 2 and workers:
                os.kill(moments.choice(workers), signal.SIGKILL)
                time.sleep(moments.uniform(0.0, 0.5))
            run.kill()
            _, complaint = run.communicate()
        assert "Traceback" not in complaint
        assert before <= completed(output), "no part is lost"
        wait_for_the_end_of(below)
        if run.returncode == 0:
            assert same_rows(read(output), expected)
            shutil.rmtree(output)
    done = subprocess.run(command(data, output), capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert same_rows(read(output), expected)


def wait_for_the_end_of(processes: dict[int, tuple[int, str, float]]) -> None:
    """A killed command takes its cluster with it."""
    deadline = time.monotonic() + 10
    alive = set(processes)
    while alive and time.monotonic() < deadline:
        alive = {pid for pid in alive if _is_alive(pid)}
        time.sleep(0.1)
    assert not alive, [processes[pid] for pid in alive]


def _is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_a_second_driver_is_told_to_wait(data: Path, expected, tmp_path: Path) -> None:
    output = tmp_path / "out"
    subprocess.run(command(data, output), capture_output=True, check=True)
    with locked(next(output.glob("*/_lock"))):
        second = subprocess.run(command(data, output), capture_output=True, text=True, check=False)
    assert (second.returncode, second.stderr.count("\n")) == (2, 1), second.stderr
    assert "another process is writing there" in second.stderr
    assert same_rows(read(output), expected)


def test_other_input_is_refused_and_a_cut_part_mended(data: Path, expected, tmp_path: Path) -> None:
    output, other = tmp_path / "out", tmp_path / "e.parquet"
    write_pairs(other, 2_000, row_group=ROW_GROUP, first=ROWS)
    subprocess.run(command(data, output), capture_output=True, check=True)
    refused = subprocess.run(command(other, output), capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "holds scores of other input (d.parquet)" in refused.stderr
    part = sorted(output.glob("*/part-*.parquet"))[3]
    part.write_bytes(part.read_bytes()[:100])
    mended = subprocess.run(command(data, output), capture_output=True, text=True, check=True)
    assert "is damaged; its rows are scored again" in mended.stderr
    assert f"{ROWS // ROW_GROUP - 1} of them were there already" in mended.stderr
    assert same_rows(read(output), expected)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_one_line_and_the_run_resumes(data: Path, expected, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120k", "none", str(disk)], check=False).returncode:
        pytest.skip("this system does not let us mount")
    try:
        full = subprocess.run(command(data, disk / "out"), capture_output=True, text=True, check=False)
        assert full.returncode == 2 and "Traceback" not in full.stderr
        assert "No space left on device" in full.stderr and "run the same again" in full.stderr
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        subprocess.run(command(data, disk / "out"), capture_output=True, check=True)
        assert same_rows(read(disk / "out"), expected)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_local_cluster_listens_on_this_machine_only(data: Path, tmp_path: Path) -> None:
    with start(data, tmp_path / "out") as run:
        while not list(tmp_path.glob("out/*/_lock")):
            time.sleep(0.05)
        own = {run.pid, *processes_below(run.pid)}
        addresses = {address for pid in own for address in _listening(pid)}
        assert run.wait() == 0
    assert addresses
    assert all(address in ("0100007F", "0000000000000000FFFF00000100007F") for address in addresses), (
        addresses
    )


def _listening(pid: int) -> set[str]:
    """The local addresses, in the kernel's hexadecimal, at which a process listens."""
    try:
        sockets = {
            str(file.readlink()).partition("[")[2].rstrip("]")
            for file in Path(f"/proc/{pid}/fd").iterdir()
            if str(file.readlink()).startswith("socket:")
        }
        lines = [
            line.split()
            for family in ("tcp", "tcp6")
            for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]
        ]
    except OSError:
        return set()
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and line[9] in sockets}
