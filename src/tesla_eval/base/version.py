"""The version of the package and the number of its scoring, in a module that is cheap to import."""

__version__ = "0.9.0"

SCORING = 3
"""Raised whenever any score can change (docs/versions.md). Part of every signature, and so of every key of a cache."""
