"""What the written pages of docs/ promise exists: names, commands, and the markup that docstrings are turned into."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import re
import tomllib
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lowfold
from lowfold._core.errors import LowfoldWarning
from lowfold.methods.registry import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def code(text: str) -> str:
    """What stands in backticks or in a fenced or indented block."""
    fenced = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    rest = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return "\n".join([*fenced, *re.findall(r"`([^`\n]+)`", rest), *re.findall(r"^ {4}(\S.*)$", rest, re.MULTILINE)])


def blocks(page: str) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


@PAGE
def test_names_exist(page: Path) -> None:
    for dotted in set(
        re.findall(r"(?<![\w/.'\"])lowfold((?:\.[A-Za-z_]\w*)+)", code(page.read_text(encoding="utf-8")))
    ):
        found: object = lowfold
        for name in dotted.removeprefix(".").split("."):
            found = getattr(found, name)


@PAGE
def test_classes_exist(page: Path) -> None:
    text = re.sub(
        r"## (?:scikit-learn|umap-learn|megaman).*?(?=\n## |\Z)", "", page.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    for name in set(re.findall(r"`([A-Z][A-Za-z]+(?:Isomap|LLE|MDS|PCA|LTSA|Maps|maps|MVU|SNE|Projection))[(`]", text)):
        assert hasattr(lowfold, name), name


@PAGE
def test_commands_exist(page: Path) -> None:
    from typer.main import get_command

    from lowfold.cli._app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = re.findall(
        r"^(?:\$ )?(?:\w+=\w+ )?lowfold ([a-z][a-z_-]+)", code(page.read_text(encoding="utf-8")), re.MULTILINE
    )
    assert set(named) <= known


@PAGE
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert link.startswith("generated/") or (page.parent / link).exists(), link


@pytest.mark.extra("anndata")
def test_lines_of_the_page_for_newcomers_run() -> None:
    import anndata
    from sklearn.datasets import load_digits

    X = load_digits().data[:150]
    lines = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(lines) == 9
    for line in lines:
        if "compare" in line:  # starts processes; tests/select has it
            continue
        found = {"lowfold": lowfold, "X": X, "adata": anndata.AnnData(X)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowfoldWarning)
            exec(compile(line, "coming-from.md", "exec"), found)
        Y = found["Y"] if "Y" in found else found["adata"].obsm["X_diffusion_maps"]
        assert Y.shape in {(150, 2), (150, 3)}


def run_tasks(*, commands: bool) -> dict[str, Any]:
    """The blocks of the everyday tasks in the order of the page: later ones read what earlier ones wrote."""
    from typer.testing import CliRunner

    from lowfold.cli._app import app

    found: dict[str, Any] = {}
    text = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^## \d+\.", text, re.MULTILINE)) == 20
    for kind, block in re.findall(r"```(python|console)\n(.*?)```", text, re.DOTALL):
        if kind == "python" and ("import polars" not in block or importlib.util.find_spec("polars")):
            exec(compile(block, "tasks.md", "exec"), found)
        for line in re.findall(r"^\$ lowfold (.*)", block, re.MULTILINE) if commands else ():
            result = CliRunner().invoke(app, line.split())
            assert result.exit_code == 0, result.output
    return found


@pytest.mark.extra("pandas", "PIL", "anndata", "networkx")
def test_the_everyday_tasks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run_tasks(commands=False)
    assert found["Y"].shape == (150, 2)  # of the texts
    assert found["search"].best_score_ > 0.9
    assert found["model"].n_features_in_ == 3  # of the rows in a file


@pytest.mark.slow
@pytest.mark.extra("pandas", "pyarrow", "matplotlib", "PIL", "anndata", "networkx")
def test_the_commands_of_the_everyday_tasks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_tasks(commands=True)


def test_blocks_of_the_theory_hold() -> None:
    found: dict[str, object] = {}
    for block in blocks("theory.md"):
        exec(compile(block, "theory.md", "exec"), found)
    assert "spread" in found


def test_every_method_says_when_and_is_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    words = tomllib.loads((ROOT / "docs" / "when.toml").read_text(encoding="utf-8"))
    names = [entry.name for entry in REGISTRY]
    assert list(words) == names
    for name, said in words.items():
        assert set(said) == {"use", "avoid"}
        assert all(said[key].endswith(".") for key in said), name
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    assert set(importlib.import_module("turned").TURNED) == set(names)


@pytest.fixture
def markup() -> ModuleType:
    pytest.importorskip("numpydoc")
    spec = importlib.util.spec_from_file_location("markup", ROOT / "docs" / "_ext" / "markup.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_docstrings_keep_their_words(markup: ModuleType) -> None:
    assert markup.escape("eigenvalues_ of A*B in `a_b`") == r"eigenvalues\_ of A\*B in `a_b`"
    assert markup.paragraphs("x --a--> y").startswith("```text")
    assert markup.paragraphs(">>> 1 + 1\n2").startswith("```python")
    assert markup.table(("a",), [("b\nc",)]) == "| a |\n| --- |\n| b c |"


FIGURES = ROOT / "docs" / "figures"


def test_every_remade_figure_has_words_and_a_function() -> None:
    words = tomllib.loads((FIGURES / "words.toml").read_text(encoding="utf-8"))["figure"]
    keys = [one["key"] for one in words]
    made = re.findall(
        r'^    "(\w+)": Made\(', "\n".join(p.read_text("utf-8") for p in FIGURES.glob("*.py")), re.MULTILINE
    )
    tables = {key for key in keys if key.startswith("wang_table_15")}  # made in a loop over what was printed
    assert len(keys) == len(set(keys))
    assert set(keys) == set(made) | tables
    assert all(one[name] for one in words for name in ("number", "title", "setting", "printed", "verdict"))


def test_every_entry_of_the_list_has_tests_that_exist_or_a_reason() -> None:
    keys = {one["key"] for one in tomllib.loads((FIGURES / "words.toml").read_text(encoding="utf-8"))["figure"]}
    with (ROOT / "docs" / "truth.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["source"], row["title"]) for row in rows}) == len(rows) == 584
    for row in rows:
        assert set(row["figures"].split()) <= keys, row
        assert (row["tests"] and row["built in"]) or row["remark"], row
        assert all("::test_" in place for place in row["tests"].split()), row
        for place in [*row["tests"].split(), *row["built in"].split()]:
            path, _, name = place.partition("::")
            assert (ROOT / path).exists(), row
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), row


@pytest.mark.parametrize("key", ["wang_table_1_1", "wang_3_2", "wang_8_1", "vidal_4_2", "levada_ball"])
def test_a_remade_figure_bears_out_its_sentence(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheap ones; `make docs` checks all."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    one = next(one for one in importlib.import_module("figures").FIGURES if one.key == key)
    made = one.made.draw()
    assert made.rows
    assert one.made.holds(made.rows)
    spoiled = [{name: str(place) for place, name in enumerate(row)} for row in made.rows]
    assert not one.made.holds(spoiled)
