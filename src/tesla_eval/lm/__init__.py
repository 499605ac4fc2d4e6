"""N-gram language models: trained by modified Kneser–Ney, asked through sorted arrays in the core."""

from tesla_eval.lm.model import LanguageModel, load_language_model
from tesla_eval.lm.training import LanguageModelSettings, train_language_model

__all__ = ["LanguageModel", "LanguageModelSettings", "load_language_model", "train_language_model"]
