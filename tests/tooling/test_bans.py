"""What only one folder may call (solvers, searches, threads), and what no compiled loop may ask for."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "lowfold"


@dataclass(frozen=True)
class Ban:
    """Names (each with everything below it) that only the folders in `home` may use."""

    names: tuple[str, ...]
    home: tuple[str, ...]
    why: str


BANS = (
    Ban(
        (
            "scipy.sparse.linalg.eigsh",
            "scipy.sparse.linalg.eigs",
            "scipy.sparse.linalg.lobpcg",
            "scipy.sparse.linalg.svds",
            "sklearn.utils.extmath.randomized_svd",
            "sklearn.decomposition.TruncatedSVD",
        ),
        ("spectral", "lowrank"),
        "N-sized eigenproblems have one door, lowfold.spectral: it checks residuals, budget and the trivial vectors",
    ),
    Ban(
        tuple(
            f"{package}.{name}"
            for package in ("numpy.linalg", "scipy.linalg")
            for name in ("eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals", "eig_banded", "eigh_tridiagonal")
        ),
        ("spectral", "lowrank", "_core"),
        "N-sized problems go through lowfold.spectral, stacks of small ones through lowfold._core",
    ),
    Ban(
        (
            "scipy.spatial.KDTree",
            "scipy.spatial.cKDTree",
            "scipy.spatial.kdtree",
            "scipy.spatial.ckdtree",
            "sklearn.neighbors",
            "faiss",
            "pynndescent",
            "hnswlib",
        ),
        ("graph",),
        "what a neighbour is (never the point itself, ties by index) is decided once, in lowfold.graph",
    ),
    Ban(
        ("concurrent.futures", "threading.Thread", "threadpoolctl"),
        ("_core",),
        "one helper, lowfold._core.parallel, runs blocks on threads with BLAS held at one",
    ),
)

# Keyword arguments that no call may have, unless the value is a literal False, and why.
KEYWORDS = {
    "parallel": "a parallel Numba loop aborts or hangs under threads and fork",
    "fastmath": "with fastmath a loop does not see inf or NaN",
}

# Loops that Numba cannot keep on disk, and why.
UNCACHED = {"call_pairs": "compiled for the user's own function, which has no stable name"}

# Calls whose first argument is the name of a module: the import is in the string.
LOADERS = {"load_extra", "import_module", "__import__"}


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a text; three tests ask for those of the whole library."""
    return ast.parse(source)


def imported_names(tree: ast.AST) -> dict[str, str]:
    """Local name -> full name, for every import of the file, wherever it stands."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted(node: ast.AST, names: dict[str, str]) -> str | None:
    """The full name that `a.b.c` stands for, or None where `a` was not imported."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and (base := dotted(node.value, names)):
        return f"{base}.{node.attr}"
    return None


def used_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, full name) of every imported thing that the file imports or refers to."""
    names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute) and (name := dotted(node, names)):
            yield node.lineno, name
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0] if node.args else None
            if called in LOADERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value


def broken(source: str, folder: str) -> list[str]:
    """Every ban that this text breaks as a file of `folder`: 'line 3: scipy.sparse.linalg.eigsh: why'."""
    tree = parsed(source)
    found = {
        f"line {line}: {name}: {ban.why}"
        for line, name in used_names(tree)
        for ban in BANS
        if folder not in ban.home and any(name == banned or name.startswith(banned + ".") for banned in ban.names)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                harmless = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg in KEYWORDS and not harmless:
                    found.add(f"line {node.lineno}: {keyword.arg}: {KEYWORDS[keyword.arg]}")
    return sorted(found)


def compiled(source: str) -> list[tuple[str, str]]:
    """(name, decorator) of every function of a text that Numba compiles."""
    return [
        (node.name, ast.unparse(decorator))
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if re.search(r"\b(n?jit|vectorize)\b", ast.unparse(decorator))
    ]


FILES = sorted(SOURCE.rglob("*.py"))


def test_the_library_keeps_the_bans() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}, {said}"
        for path in FILES
        for said in broken(path.read_text(encoding="utf-8"), path.relative_to(SOURCE).parts[0])
    ]
    assert not found, "\n".join(found)


def insiders(source: str) -> list[str]:
    """What a file knows of the making of methods: private modules, and classes told apart by their name."""
    tree = parsed(source)
    found = [f"line {line}: {name}" for line, name in used_names(tree) if name.startswith("lowfold.methods._")]
    return found + [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "__name__"
    ]


def test_only_methods_know_how_methods_are_made() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}, {said}"
        for folder in ("quality", "select", "dimension", "cli", "viz", "apps")
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for said in insiders(path.read_text(encoding="utf-8"))
    ]
    assert not found, "ask the method, or registry.entry_of(model):\n" + "\n".join(found)
    assert len(insiders("from lowfold.methods._fit import Data\nx = type(m).__name__ == 'SNE'")) == 2
    assert not insiders("from lowfold.methods.registry import entry_of\nname = type(m).__name__")


def test_loops_release_the_lock_and_are_cached() -> None:
    seen = [(path, *loop) for path in FILES for loop in compiled(path.read_text(encoding="utf-8"))]
    wanted = {True: "njit(nogil=True)", False: "njit(nogil=True, cache=True)"}
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {name} is @{decorator}"
        for path, name, decorator in seen
        if decorator != wanted[name in UNCACHED]
    ]
    assert not found, "\n".join(found)
    assert UNCACHED.keys() <= {name for _, name, _ in seen}


def test_mypy_knows_the_modules_of_loops() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    (listed,) = [rule["module"] for rule in settings["overrides"] if "disallow_untyped_decorators" in rule]
    holding = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        for path in FILES
        if compiled(path.read_text(encoding="utf-8"))
    }
    assert set(listed) == holding, "pyproject.toml, [[tool.mypy.overrides]] of the loops, does not match the files"


@pytest.mark.parametrize(
    ("source", "folder", "count"),
    [
        ("from scipy.sparse.linalg import eigsh", "methods", 1),
        ("from scipy.sparse.linalg import eigsh", "spectral", 0),
        ("import scipy.sparse.linalg as sla\ndef f(A):\n    return sla.lobpcg(A, A)", "kernels", 1),
        ("import numpy as np\nw = np.linalg.eigh(np.eye(2))", "geometry", 1),
        ("import numpy as np\nw = np.linalg.eigh(np.eye(2))", "_core", 0),
        ("import numpy as np\nw = np.linalg.solve(np.eye(2), np.ones(2))", "geometry", 0),
        ("from numpy import linalg\nlinalg.svd", "quality", 1),
        ("def f():\n    from scipy.spatial import KDTree", "datasets", 1),
        ("def f():\n    from scipy.spatial import KDTree", "graph", 0),
        ("from sklearn.neighbors import NearestNeighbors as NN", "quality", 1),
        ("load_extra('faiss', 'ann', 'search')", "methods", 1),
        ("extras.load_extra('faiss', 'ann', 'search')", "graph", 0),
        ("from concurrent.futures import ThreadPoolExecutor", "spectral", 1),
        ("@njit(nogil=True, parallel=True)\ndef f(x): return x", "graph", 1),
        ("@njit(nogil=True, fastmath={'nnan'})\ndef f(x): return x", "graph", 1),
        ("@njit(nogil=True, parallel=False, cache=True)\ndef f(x): return x", "graph", 0),
    ],
)
def test_the_check_sees_what_it_should(source: str, folder: str, count: int) -> None:
    assert len(broken(source, folder)) == count
