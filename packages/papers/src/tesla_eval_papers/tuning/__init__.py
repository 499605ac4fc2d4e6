"""Tuning of the weights of a decoder: MERT, PRO, merged n-best lists (specification §15)."""
