"""Scores for other programs: HTTP with its page, and streaming over standard input and output."""
