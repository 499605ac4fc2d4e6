"""The version of the package and the number of its scoring, in a module that is cheap to import."""

__version__ = "0.9.0"

SCORING = 4
"""Raised whenever any score can change (docs/versions.md). Part of every signature, and so of every key of a cache."""

DATA_VERSION = "1.0"
"""The version of the package `tesla-eval-data` that this code reads. Raised whenever a model or table changes."""
