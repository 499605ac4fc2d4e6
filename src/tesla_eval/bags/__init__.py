"""Tokens to weighted bags."""

from tesla_eval.bags.ngrams import FUNCTION_WORD_DISCOUNT, NgramFeature, build_bags, exact_discount

__all__ = ["FUNCTION_WORD_DISCOUNT", "NgramFeature", "build_bags", "exact_discount"]
