"""Constraints for pip: the lowest versions that pyproject.toml allows, for `make test-lowest`.

python tools/lowest_versions.py > constraints.txt
"""

from __future__ import annotations

import re
from pathlib import Path

REQUIREMENT = re.compile(r'"([A-Za-z][\w.-]*)\s*(?:==|>=)\s*([\d.]+)[^"]*"')
EXTRAS = {"test"}
"""What the tests need."""


def lowest_versions(text: str) -> dict[str, str]:
    """The lowest version of each package that the project and its tests need.

    Python 3.10 reads no TOML, so this looks at the lines.

    >>> lowest_versions('dependencies = [\\n  "numpy>=1.24", # why\\n]\\ntest = ["pytest>=8"]\\n')
    {'numpy': '1.24', 'pytest': '8'}
    """
    found: dict[str, str] = {}
    inside = False
    for line in text.split("\n"):
        name = line.split("=", 1)[0].strip()
        if line.startswith("dependencies = [") or name in EXTRAS:
            inside = True
        if inside:
            found.update(REQUIREMENT.findall(line))
            inside = "]" not in line.split("#", 1)[0]
    return found


if __name__ == "__main__":
    pyproject = Path(__file__).resolve().parents[1] / "pyproject.toml"
    for package, version in lowest_versions(pyproject.read_text("utf-8")).items():
        print(f"{package}=={version}")
