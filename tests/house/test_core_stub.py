"""The stub of the core names what the core has, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import tesla_eval
from tesla_eval import _core

TYPING_ONLY = {"Explained"}


def test_the_stub_is_in_step_with_the_module() -> None:
    stub = ast.parse((Path(tesla_eval.__file__).parent / "_core.pyi").read_text("utf-8"))
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    constants = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert (classes.keys() - TYPING_ONLY) | functions | constants == public
    for name in classes.keys() - TYPING_ONLY:
        methods = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        found = {method for method in vars(getattr(_core, name)) if not method.startswith("_")}
        assert {method for method in methods if not method.startswith("_")} == found, name
