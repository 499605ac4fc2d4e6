"""Choosing among candidates: re-ranking by any metric of the package."""
