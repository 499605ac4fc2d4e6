"""N-gram language models (modified Kneser–Ney), queried through sorted arrays in the core."""

from tesla_eval.lm.model import LanguageModel, load_language_model

__all__ = ["LanguageModel", "load_language_model"]
