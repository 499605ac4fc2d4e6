"""Tokens and characters to weighted bags, texts to units."""
