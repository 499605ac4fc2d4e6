"""Build the C++ core with sanitizers or another compiler into `build/checked-*`, and run Python on it.

    python tools/checked_core.py address -- -m pytest tests/house/test_core_safety.py
    python tools/checked_core.py thread -- -m tests.fuzz.threads
    CXX=clang++-14 python tools/checked_core.py plain

The package and its dependencies come from where this Python finds them; only the core is another one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SANITIZERS = {"address": "address,undefined", "thread": "thread", "plain": ""}
# The sanitizer looks for what throws exceptions as it starts, when Python has not loaded it yet.
RUNTIMES = {
    "address": ("libasan.so", "libstdc++.so.6"),
    "thread": ("libtsan.so", "libstdc++.so.6"),
    "plain": (),
}
MISSING = 77  # what a test that is skipped returns, by the custom of Automake


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=SANITIZERS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="-- what Python is to run")
    options = parser.parse_args()
    compiler = os.environ.get("CXX", "c++")
    runtimes = [find_runtime(compiler, name) for name in RUNTIMES[options.kind]]
    folder = ROOT / "build" / f"checked-{options.kind}-{Path(compiler).name}"
    build(options.kind, compiler, folder)
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    if arguments:
        python = make_environment(folder)
        raise SystemExit(run(python, runtimes, folder / "reports", arguments))


def find_runtime(compiler: str, name: str) -> str:
    """The shared library of a sanitizer, which must be there before Python is."""
    if shutil.which(compiler) is None:
        print(f"There is no compiler {compiler}. Debian and Ubuntu: apt-get install g++", file=sys.stderr)
        raise SystemExit(MISSING)
    clang = "clang" in Path(compiler).name and name.endswith("san.so")
    names = [f"libclang_rt.{name[3]}san-{arch}.so" for arch in ("x86_64", "aarch64")] if clang else [name]
    for candidate in names:
        answer = subprocess.run(
            [compiler, f"-print-file-name={candidate}"], capture_output=True, text=True, check=True
        )
        path = Path(answer.stdout.strip())
        if path.is_absolute() and path.exists():
            return str(path.resolve())
    package = "libclang-rt-14-dev" if clang else "libgcc-12-dev (any version of your gcc)"
    print(
        f"The sanitizer's library {names[0]} is missing. Debian and Ubuntu: apt-get install {package}",
        file=sys.stderr,
    )
    raise SystemExit(MISSING)


def build(kind: str, compiler: str, folder: Path) -> None:
    """Configure and build; what did not change is not compiled again."""
    configure = [
        "cmake", "-S", str(ROOT), "-B", str(folder), f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DTESLA_SANITIZE={SANITIZERS[kind]}", f"-DPython_EXECUTABLE={sys.executable}",
        # Optimising at link time needs Clang's own linker tools, which a checking build can do without.
        f"-DCMAKE_BUILD_TYPE={'RelWithDebInfo' if 'clang' in Path(compiler).name else 'Release'}",
    ]  # fmt: skip
    environment = dict(os.environ, PATH=os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]))
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", str(folder), "--parallel", jobs], check=True, env=environment)


def make_environment(folder: Path) -> Path:
    """A virtual environment with this checkout's package, the core of `folder`, and this Python's other packages.

    An environment of its own, because an editable installation would put its own core first.
    """
    home = folder / "venv"
    if not home.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    package = folder / "package" / "tesla_eval"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for source in (ROOT / "src" / "tesla_eval").iterdir():
        if source.suffix not in {".so", ".pyd"}:
            (package / source.name).symlink_to(source)
    (core,) = folder.glob("_core*.so")
    (package / core.name).symlink_to(core)
    for name in ("data", "papers", "neural"):
        beside = package.parent / f"tesla_eval_{name}"
        beside.unlink(missing_ok=True)
        beside.symlink_to(ROOT / "packages" / name / "src" / beside.name)
    site = next((home / "lib").glob("python*")) / "site-packages"
    (site / "checked.pth").write_text(
        f"{package.parent}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8"
    )
    return home / "bin" / "python"


def run(python: Path, runtimes: list[str], reports: Path, arguments: list[str]) -> int:
    """Run Python on the core; sanitizers write to files, for pytest would swallow what they say as the program ends."""
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    log = f"log_path={reports / 'report'}"
    environment = dict(
        os.environ,
        LD_PRELOAD=" ".join(runtimes),
        # The interpreter frees nothing at its end; allocations that fail return null, as they do without a sanitizer.
        # Giving memory back to the system time and again costs more than all tests.
        ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1:"
        f"allocator_release_to_os_interval_ms=-1:{log}",
        UBSAN_OPTIONS=f"print_stacktrace=1:halt_on_error=1:{log}",
        TSAN_OPTIONS=f"halt_on_error=1:second_deadlock_stack=1:suppressions={ROOT / 'tests/fuzz/tsan.supp'}:{log}",
        PYTHONMALLOC="malloc",  # so that each object of Python is an allocation of its own
    )
    environment.pop("PYTHONPATH", None)
    status = subprocess.run([str(python), *arguments], env=environment, check=False, cwd=ROOT).returncode
    for report in sorted(reports.iterdir()):
        print(report.read_text("utf-8", "replace"), file=sys.stderr)
        status = status or 1
    return status


if __name__ == "__main__":
    main()
