"""Learned functions kept as data: regressions of PEM and CREMER, ASO."""
