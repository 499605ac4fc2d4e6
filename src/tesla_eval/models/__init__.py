"""Learned combinations of features, saved as data that anyone can read."""

from tesla_eval.models.linear import (
    LinearModel,
    Scale,
    load_linear_model,
    read_linear_model,
    write_linear_model,
)
from tesla_eval.models.svr import PemModel, load_pem_model, read_pem_model

__all__ = [
    "LinearModel",
    "PemModel",
    "Scale",
    "load_linear_model",
    "load_pem_model",
    "read_linear_model",
    "read_pem_model",
    "write_linear_model",
]
