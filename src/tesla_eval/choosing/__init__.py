"""Choosing among candidates: minimum Bayes risk and re-ranking of n-best lists (specification §15)."""
