"""The studies are not in the source distribution: without them their tests are left out."""

from pathlib import Path

if not (Path(__file__).resolve().parents[3] / "research").is_dir():
    collect_ignore = [
        "test_discourse_syntax.py", "test_role_features.py", "test_srl_observables.py", "test_srl_tests.py"
    ]  # fmt: skip
