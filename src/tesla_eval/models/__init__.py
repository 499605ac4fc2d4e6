"""Learned combinations of features, saved as data that anyone can read: one file per kind of model."""
