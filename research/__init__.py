"""Studies: what was tried, with its script, its page and its answer; README.md lists them.

Run one from the root of the repository, `python -m research.celab parameters`. Nothing that ships imports this folder.
The studies may use the scripts in tools/, which import each other by name.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
