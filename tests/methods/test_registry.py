"""The registry, the files in methods/, the public names, README and the command line agree."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import BY_NAME, REGISTRY, find, load

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {"linear", "MDS", "kernel", "spectral", "semidefinite", "neighbour embedding", "clustering"}
NOT_METHODS = {"registry", "files", "plan", "citations", "warmup"}


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(REGISTRY)
    assert len({name.lower() for name in BY_NAME}) == len(REGISTRY)


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)
def test_every_row_is_a_documented_class(entry: lowfold.methods.registry.Entry) -> None:
    cls = getattr(lowfold, entry.name)
    assert cls.__module__ == f"lowfold.methods.{entry.module}"
    assert entry.family in FAMILIES
    assert set(entry.inputs) <= {"points", "distances", "graph", "matrices", "tensors"}
    assert entry.inputs
    assert "Parameters\n" in cls.__doc__
    assert "{" + "n_components}" not in cls.__doc__
    assert any(year in entry.citation for year in map(str, range(1900, 2030)))
    assert set(cls.parameters) <= set(cls.limits), "a parameter without limits"


def test_every_file_has_a_row() -> None:
    files = {p.stem for p in (ROOT / "src/lowfold/methods").glob("*.py") if not p.stem.startswith("_")} - NOT_METHODS
    assert files == {entry.module for entry in REGISTRY}


def test_public_names() -> None:
    assert set(BY_NAME) <= set(lowfold.__all__)
    assert len(lowfold.__all__) == len(set(lowfold.__all__))
    for name in lowfold.__all__:
        assert getattr(lowfold, name) is not None
    assert dir(lowfold) == sorted([*lowfold.__all__, *lowfold._FOLDERS])
    with pytest.raises(AttributeError, match="its methods are PCA"):
        lowfold.NoSuchMethod  # noqa: B018


def test_names_of_the_folders_are_answered_with_their_place() -> None:
    with pytest.raises(ImportError, match=r"swiss_roll is lowfold\.datasets\.swiss_roll"):
        from lowfold import swiss_roll  # noqa: F401
    with pytest.raises(ImportError, match=r"ShortcutWarning is lowfold\.errors\.ShortcutWarning"):
        lowfold.ShortcutWarning  # noqa: B018


def test_the_stub_for_type_checkers_has_the_names_of_now() -> None:
    stub = ast.parse((ROOT / "src" / "lowfold" / "__init__.pyi").read_text(encoding="utf-8"))
    listed = {alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(listed) == dir(lowfold), "src/lowfold/__init__.pyi does not match"
    for name, module in listed.items():
        folder = importlib.import_module(f"lowfold.{name}") if module == "lowfold" else None
        assert getattr(lowfold, name) is (folder or getattr(importlib.import_module(str(module)), name))


@pytest.mark.parametrize(
    "spelling", ["LaplacianEigenmaps", "laplacian-eigenmaps", "laplacian_eigenmaps", "laplacian EIGENMAPS"]
)
def test_a_method_is_found_by_any_spelling(spelling: str) -> None:
    assert find(spelling).name == "LaplacianEigenmaps"
    assert load(spelling) is lowfold.LaplacianEigenmaps


def test_a_name_that_is_no_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="no method 'isomp'; did you mean Isomap"):
        find("isomp")


def test_readme_counts_the_methods_of_now() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(REGISTRY)} methods" in text


@pytest.mark.extra("matplotlib")
def test_readme_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["Y"].shape == (1000, 2)  # type: ignore[attr-defined]
    assert {path.name for path in tmp_path.iterdir()} == {"roll.png", "roll.lowfold"}
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (ROOT / link).exists() or link == "ARCHITECTURE.md", link


def test_the_command_line_knows_every_method() -> None:
    from lowfold.cli._values import find_method

    for entry in REGISTRY:
        assert find_method(entry.module) is entry or find_method(entry.name) is entry


def test_import_is_light() -> None:
    code = "import lowfold, sys; print([n for n in ('sklearn', 'numba', 'pandas', 'matplotlib') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
