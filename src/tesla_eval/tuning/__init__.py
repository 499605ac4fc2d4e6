"""Choosing among candidates: tuned weights (MERT, PRO), re-ranking, minimum Bayes risk, scores for other programs."""
