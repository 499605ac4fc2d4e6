"""Choosing among candidates: tuning of weights (MERT, PRO), re-ranking, minimum Bayes risk, scores for other programs."""
