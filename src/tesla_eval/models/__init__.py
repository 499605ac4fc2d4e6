"""Learned combinations of features, saved as data that anyone can read."""

from tesla_eval.models.linear import LinearModel, Scale, load_weights, read_weights, write_weights
from tesla_eval.models.svr import CremerModel, PemModel, load_pem_model, read_pem_model

__all__ = [
    "CremerModel",
    "LinearModel",
    "PemModel",
    "Scale",
    "load_pem_model",
    "load_weights",
    "read_pem_model",
    "read_weights",
    "write_weights",
]
