"""Shallow discourse parsing as in the Penn Discourse Treebank, and its role matrix (specification §11)."""

from tesla_eval.language.discourse.document import Document, Relation
from tesla_eval.language.discourse.parser import Parser, TextParser, load_parser

__all__ = ["Document", "Parser", "Relation", "TextParser", "load_parser"]
