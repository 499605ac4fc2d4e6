"""JavaScript modules as one script that a page can carry: each is a function, so its private names stay private."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

DRAWING = ("dom", "match", "arithmetic", "explanation", "standalone")
"""The modules that draw an explanation, each after those that it imports."""
_IMPORT = re.compile(r'^import {([^}]*)} from "[./\w]*?(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


def asset(package: str, name: str) -> str:
    """The text of a file in the folder `assets` of a package."""
    return files(package).joinpath("assets", name).read_text("utf-8")


def bundled(package: str, names: Iterable[str]) -> str:
    """The modules of a package, in this order, each as a constant `module_NAME` with what it exports."""
    modules = []
    for name in names:
        code = asset(package, f"{name}.js")
        exports = ", ".join(_EXPORT.findall(code))
        inside = _EXPORT.sub(lambda match: match[0].removeprefix("export "), code)
        inside = _IMPORT.sub(r"const {\1} = module_\2;\n", inside)
        modules.append(f"const module_{name} = (() => {{\n{inside}return {{ {exports} }};\n}})();")
    return "\n".join(modules)


@lru_cache(maxsize=1)
def drawing_script() -> str:
    """The script that draws explanations.

    >>> drawing_script().startswith("const module_dom = (() => {")
    True
    """
    return bundled("tesla_eval.drawing", DRAWING)


def content_policy(style: str, script: str = "") -> str:
    """The content security policy of a page that loads nothing: exactly this style and this script, by their hashes.

    >>> content_policy("p { color: red }").startswith("default-src 'none'; script-src 'none'; style-src 'sha256-")
    True
    """
    hashes = (hashlib.sha256(text.encode("utf-8")).digest() for text in (script, style))
    code, rules = (f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in hashes)
    allowed = code if script else "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src {rules}; base-uri 'none'; form-action 'none'"
