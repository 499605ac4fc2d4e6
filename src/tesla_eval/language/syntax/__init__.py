"""Constituency trees and the parser that makes them (specification §16)."""

from tesla_eval.language.syntax.parser import ConstituencyParser, Parse, load_parser
from tesla_eval.language.syntax.trees import Tree, read_tree

__all__ = ["ConstituencyParser", "Parse", "Tree", "load_parser", "read_tree"]
