"""Word alignment by eflomal (Östling & Tiedemann 2016), called as a program: it is GPL, and never imported."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

from tesla_eval.errors import BuildError, ResourceError
from tesla_eval.resources import replacing

__all__ = ["align_with_eflomal", "find_eflomal"]

PROGRAM = "eflomal-align"
_LAST_WORDS = 400  # characters of the program's complaint that are passed on


def find_eflomal() -> str:
    """The path of the program; `ResourceError` with the command that installs it if it is nowhere."""
    beside = shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
    found = beside or shutil.which(PROGRAM) or _installed_script()
    if found is None:
        raise ResourceError(
            f"the aligner {PROGRAM} is not installed; `pip install eflomal` (GPL-3.0, used as a separate program), or "
            "give your own alignments with --alignments"
        )
    return found


def _installed_script() -> str | None:
    """The script where pip put it, which need not be on the path."""
    try:
        files = importlib.metadata.files("eflomal") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == PROGRAM and (path := Path(str(file.locate()))).is_file():
            return str(path.resolve())
    return None


def align_with_eflomal(target: Path, pivot: Path, forward: Path, reverse: Path) -> None:
    """Align the lines of two files of words; the links of both directions go into two files (Pharaoh format).

    These appear under their names only when they are complete. An interrupt ends the program too.
    """
    program = find_eflomal()
    try:
        with replacing(forward) as forward_part, replacing(reverse) as reverse_part:
            files = ["-s", str(target), "-t", str(pivot), "-f", str(forward_part), "-r", str(reverse_part)]
            done = subprocess.run(
                [program, "--overwrite", *files],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                raise BuildError(
                    f"{PROGRAM} failed with status {done.returncode}: {done.stderr.strip()[-_LAST_WORDS:]}"
                )
    except OSError as error:
        raise BuildError(f"{program}: cannot be run ({error.strerror})") from error
