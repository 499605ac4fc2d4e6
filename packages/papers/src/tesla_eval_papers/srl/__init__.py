"""Semantic role labelling of nouns (§16): which nouns are predicates, what are their arguments, in which role."""
