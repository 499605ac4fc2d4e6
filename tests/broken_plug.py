"""A module of another package that cannot be imported, for tests/test_plugged.py."""

raise RuntimeError("this module does not work")
