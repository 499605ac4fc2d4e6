"""The rest of the TESLA papers, plugged into tesla-eval: paraphrases, discourse, roles of nouns, and tuning."""

from __future__ import annotations

from importlib import import_module

from tesla_eval_papers import resources as resources

_METRICS = {"Cremer": "cremer", "Dicomer": "dicomer", "Pem": "pem", "PemX": "pem_x"}
"""The metrics, each with its module."""

__all__ = ["Cremer", "Dicomer", "Pem", "PemX"]  # loaded when they are first asked for


def __getattr__(name: str) -> object:
    """Import a metric when it is first asked for."""
    if name not in _METRICS:
        raise AttributeError(f"module 'tesla_eval_papers' has no attribute {name!r}")
    return getattr(import_module(f"tesla_eval_papers.metrics.{_METRICS[name]}"), name)
