"""Constituency trees and the parser that makes them (specification §16)."""
