"""Learned combinations of features, saved as data that anyone can read."""

from tesla_eval.models.linear import LinearModel, Scale, find_model, read_model, write_model

__all__ = ["LinearModel", "Scale", "find_model", "read_model", "write_model"]
