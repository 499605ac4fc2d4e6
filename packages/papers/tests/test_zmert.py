"""Z-MERT with TESLA as its metric: the launcher's guards, and a real run where a JDK and Z-MERT are."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.fixtures import SHARED_DATA

HERE = Path(__file__).resolve().parents[1] / "src" / "tesla_eval_papers" / "integrations" / "zmert"
ZMERT = SHARED_DATA / "zmert"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and the like look there
    spec.loader.exec_module(module)
    return module


check_nbest, launcher = load("check_nbest"), load("zmert_tesla")


class TestNbestChecker:
    def test_a_good_list(self, write) -> None:
        assert (
            check_nbest.problems(
                write("n", ["0 ||| a ||| 1 2", "0 ||| b ||| 1 2 ||| 7", "1 ||| c ||| 0 -1e3"]), 2, 2, 2
            )
            is None
        )

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["0 ||| a ||| 1 2", "", "1 ||| a ||| 1 2"], "line 2: must be"),
            (["0 ||| a ||| 1 2", "1 ||| a"], "line 2: must be"),
            (["0 ||| a ||| 1 2"], "candidates for 1 of 2 sentences"),
            (["0 ||| a ||| 1 2", "2 ||| a ||| 1 2"], "line 2: sentence 2 after 0"),
            (["1 ||| a ||| 1 2"], "line 1: sentence 1 after -1"),
            (["0 ||| a ||| 1 2"] * 3, "line 3: more than 2 candidates"),
            (["0 ||| a ||| 1", "1 ||| a ||| 1 2"], "line 1: must have 2 features"),
            (["0 ||| a ||| 1 x", "1 ||| a ||| 1 2"], "line 1: must have 2 features"),
        ],
    )
    def test_traps(self, write, lines, message: str) -> None:
        assert message in (check_nbest.problems(write("n", lines), 2, 2, 2) or "")


class TestLauncher:
    CONFIG = (
        "-r\tref.txt",
        "-p\tparams.txt",
        "-m\tTESLA m en",
        "-decOut\tn.out",
        "-dcfg\tdec.cfg",
        "-txtNrm\t0",
        "-N\t5",
    )

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "ref.txt").write_text("a\nb\n")
        (tmp_path / "params.txt").write_text("lm ||| 1 Opt -Inf +Inf -1 1\nnormalization = LNorm 2 1\n")
        (tmp_path / "zmert.cfg").write_text("\n".join(self.CONFIG) + "\n")
        return tmp_path

    def checked(self, folder: Path) -> None:
        launcher.check(launcher.read_config(folder / "zmert.cfg"), folder)

    def test_a_good_configuration(self, folder: Path) -> None:
        self.checked(folder)
        options = launcher.read_config(folder / "zmert.cfg")
        assert launcher.count_sentences(options, folder) == 2
        assert launcher.parameter_names(folder / "params.txt") == ["lm"]

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("-txtNrm\t0", "-txtNrm\t1", "-txtNrm 0"),
            ("-txtNrm\t0\n", "", "-txtNrm 0"),
            ("TESLA m en", "BLEU 4 closest", "-m TESLA"),
            ("ref.txt", "ref.txt\n-rps\t3", "cannot be shared"),
        ],
    )
    def test_configurations_that_go_wrong(self, folder: Path, old: str, new: str, message: str) -> None:
        path = folder / "zmert.cfg"
        path.write_text(path.read_text().replace(old, new))
        with pytest.raises(launcher.ConfigError, match=message):
            self.checked(folder)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("dec.cfg.ZMERT.orig", "killed"),
            ("n.out.temp.stats.it1", "delete"),
            ("ZMERT.temp.state", "delete"),
        ],
    )
    def test_leftovers(self, folder: Path, name: str, message: str) -> None:
        (folder / name).write_text("")
        with pytest.raises(launcher.ConfigError, match=message):
            self.checked(folder)

    def test_a_normalisation_that_would_crash(self, folder: Path) -> None:
        (folder / "params.txt").write_text("lm ||| 1 Opt -Inf +Inf -1 1\nnormalization = absval 1 5\n")
        with pytest.raises(launcher.ConfigError, match="absval"):
            self.checked(folder)


@pytest.mark.slow
class TestRealRun:
    @pytest.fixture
    def toy(self, tmp_path: Path) -> Path:
        if shutil.which("javac") is None:
            pytest.skip("there is no JDK here: install one to run Z-MERT (javac is not on the PATH)")
        if not (ZMERT / "zmert.jar").exists():
            pytest.skip("Z-MERT and its toy problem are not here")
        folder = tmp_path / "toy"
        shutil.copytree(ZMERT / "toy", folder)
        for path in [folder, *folder.iterdir()]:
            path.chmod(0o755)
        return folder

    def run(self, folder: Path, config: str = "zmert.tesla.cfg") -> subprocess.CompletedProcess[str]:
        bin_folder = folder.parent / "bin"
        bin_folder.mkdir(exist_ok=True)
        (bin_folder / "tesla").write_text(f'#!/bin/sh\nexec {sys.executable} -m tesla_eval.cli "$@"\n')
        (bin_folder / "tesla").chmod(0o755)
        return subprocess.run(
            [sys.executable, str(HERE / "zmert_tesla.py"), str(ZMERT / "zmert.jar"), config], cwd=folder, text=True,
            env={**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}, capture_output=True,
            timeout=600, check=False,
        )  # fmt: skip

    def test_zmert_tunes_for_tesla_and_agrees_with_our_own_mert(self, toy: Path, tesla, monkeypatch) -> None:
        ended = self.run(toy)
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
        final = float(ended.stdout.rpartition("(TESLA: ")[2].split(")")[0])
        assert (toy / "final.tesla.txt").exists()
        monkeypatch.chdir(toy)
        decoder = f"{sys.executable} decoder.py {{weights}} {{nbest}} 5 cands.tsv.gz"
        ours = tesla(
            "tune", "-m", "m", "--decoder", decoder, "--params", "params.txt", "-r", "ref.txt", "-o", "w.txt"
        )
        assert ours.status == 0, ours.err
        last = float(ours.out.splitlines()[-2].split()[-1])
        assert last == pytest.approx(final, abs=0.002)
        assert final > 0.57  # the first weights give 0.5419

    def test_a_bad_list_ends_the_run_with_a_message(self, toy: Path) -> None:
        (toy / "decode.sh").write_text(
            "#!/bin/sh\npython3 decoder.py dec.cfg nbest.out 5 cands.tsv.gz\necho >> nbest.out\n"
        )
        ended = self.run(toy)
        assert ended.returncode != 0
        assert "must be SENTENCE ||| TEXT ||| FEATURES" in ended.stdout + ended.stderr
