"""Shallow discourse parsing as in the Penn Discourse Treebank, and its role matrix (specification §11)."""

from tesla_eval.discourse.document import Document
from tesla_eval.discourse.loading import TextParser, load_parser
from tesla_eval.discourse.parser import Parser
from tesla_eval.discourse.relations import Relation

__all__ = ["Document", "Parser", "Relation", "TextParser", "load_parser"]
