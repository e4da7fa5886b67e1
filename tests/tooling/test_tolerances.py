"""A tolerance has a name and a sentence: none stands inside a function, none at a file's head without its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lowfold"

FOLDERS = (
    "spectral",
    "sdp",
    "graph",
    "kernels",
    "optimize",
    "lowrank",
    "methods",
    "quality",
    "dimension",
    "select",
    "geometry",
    "metrics",
    "apps",
)

SMALL = 1e-3  # numbers up to this are tolerances, ridges and steps; formulas have none so small


def _defaults(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """Declared parameters: their names are those of the arguments, their sentences the docstring's."""
    for value in (*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)):
        yield from ast.walk(value)


def inline_tolerances(source: str) -> list[tuple[int, float]]:
    """Line and value of every float of at most SMALL inside a function of `source`, declared parameters left out."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    declared = {id(node) for function in functions for node in _defaults(function)}
    return sorted(
        {
            (node.lineno, node.value)
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, float)
            and 0 < node.value <= SMALL
            and id(node) not in declared
        }
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_tolerances_are_named_constants(folder: str) -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {value:g}"
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for line, value in inline_tolerances(path.read_text(encoding="utf-8"))
    ]
    assert not found, "give each a name at the head of its file, or in _core/rounding.py, and say why: " + str(found)


def test_what_counts_as_inline() -> None:
    source = "TOL = 1e-9\ndef f(x, tol=1e-8):\n    return x > 1e-7 * tol + (lambda y, s=1e-6: y - 1e-5)(0.5)\n"
    assert inline_tolerances(source) == [(3, 1e-7), (3, 1e-5)]


def silent_tolerances(source: str) -> list[int]:
    """Lines of small constants at the head of a module that have no comment beside or above them."""
    lines = source.splitlines()
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    small = [
        node.lineno
        for node in assigned
        if any(
            isinstance(n, ast.Constant) and isinstance(n.value, float) and 0 < n.value <= SMALL for n in ast.walk(node)
        )
    ]
    return [line for line in small if "#" not in lines[line - 1] and not lines[line - 2].startswith("#")]


@pytest.mark.parametrize("folder", [*FOLDERS, "_core"])
def test_named_tolerances_say_why(folder: str) -> None:
    paths = sorted((SOURCE / folder).rglob("*.py"))
    found = [f"{path.name}:{line}" for path in paths for line in silent_tolerances(path.read_text(encoding="utf-8"))]
    assert not found, f"a sentence beside or above: {found}"


def test_what_counts_as_silent() -> None:
    assert silent_tolerances("A = 1e-9\n# Rounding.\nB = 1e-8\nC = 1e-7  # rounding\nD = 2.0\n") == [1]
