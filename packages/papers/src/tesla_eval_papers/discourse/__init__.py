"""Shallow discourse parsing as in the Penn Discourse Treebank, and its role matrix (specification §11)."""
