"""The studies are not in the source distribution: without them their tests are left out."""

from pathlib import Path

if not (Path(__file__).resolve().parents[2] / "research").is_dir():
    collect_ignore_glob = ["test_*.py"]
