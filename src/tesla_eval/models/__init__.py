"""Learned combinations of features, saved as data that anyone can read."""

from tesla_eval.models.linear import LinearModel, Scale, find_model, load_weights, read_model, write_model
from tesla_eval.models.pem import PemModel, find_pem_model, load_pem_model, read_pem_model

__all__ = [
    "LinearModel",
    "PemModel",
    "Scale",
    "find_model",
    "find_pem_model",
    "load_pem_model",
    "load_weights",
    "read_model",
    "read_pem_model",
    "write_model",
]
