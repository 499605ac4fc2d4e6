"""The versions of the package and of its scores, in one place that costs nothing to import."""

__version__ = "0.9.0"

SCORING = 2
"""Raised whenever any score can change (docs/versions.md). Part of every signature, and so of every key of a cache."""
