"""Matching: from two bags and a similarity to the exact optimum."""
