"""What is copied as Python or as a command gives the same picture, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lowfold.cli import main
from lowfold.datasets import read, write_table
from lowfold.studio import _recipe
from lowfold.studio._stored import stored
from lowfold.studio._task_data import read as read_data
from lowfold.studio._task_fit import fit


def ran(tmp_path: Path, source: dict[str, Any], method: str, params: dict[str, Any], **options: Any) -> Any:
    for name in ("col", "stages"):
        (tmp_path / name).mkdir()
    where = {"folder": str(tmp_path / "data"), "columns": str(tmp_path / "col")}
    told = read_data(lambda said: None, source, **where, **options)
    out = tmp_path / "run"
    fit(lambda said: None, **where, stages=str(tmp_path / "stages"), out=str(out), method=method, params=params)
    return told, np.load(out / "embedding.npy"), stored(tmp_path / "data")


def by_python(known: Any, method: str, params: dict[str, Any]) -> Any:
    names: dict[str, Any] = {}
    exec(_recipe.python(known, method, params), names)
    return names["Y"]


def test_a_table_with_columns_kept_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    write_table("roll.csv", X, ["a", "b", "class", "c"], labels={"word": np.array(["u", "v"] * 30)})
    source = {"kind": "file", "name": "roll.csv", "path": str(tmp_path / "roll.csv")}
    params = {"n_neighbors": 7, "n_components": 2}
    roles = {"a": "data", "b": "colour", "class": "data", "c": "data", "word": "label"}
    told, Y, known = ran(tmp_path, source, "Isomap", params, roles=roles)
    assert told["features"] == 3
    assert np.array_equal(by_python(known, "Isomap", params), Y)
    line = _recipe.command(known, "Isomap", params)
    assert main(line.split()[1:]) == 0
    assert np.array_equal(read("isomap.csv", label=["b"]).X, Y)


def test_rows_with_missing_values_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(4).normal(size=(50, 3))
    lines = [
        "x,y,z",
        *(",".join("" if i == 7 and j == 1 else repr(float(v)) for j, v in enumerate(r)) for i, r in enumerate(X)),
    ]
    Path("gaps.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = {"kind": "file", "name": "gaps.csv", "path": str(tmp_path / "gaps.csv")}
    told, Y, known = ran(tmp_path, source, "PCA", {"n_components": 2}, missing="drop")
    assert told["dropped"] == 1
    assert any("1 rows with missing values" in words for words in told["notices"])
    assert len(Y) == 49
    assert np.array_equal(by_python(known, "PCA", {"n_components": 2}), Y)
    assert _recipe.command(known, "PCA", {}).startswith("# this run cannot")


@pytest.mark.parametrize("name", ["moons", "uneven_square", "digits"])
def test_a_built_in_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    source = {"kind": "set", "name": name, "n": 80, "noise": 0.05, "seed": 2}
    _, Y, known = ran(tmp_path, source, "PCA", {})
    assert np.array_equal(by_python(known, "PCA", {}), Y)
    line = _recipe.command(known, "PCA", {})
    if name == "digits":
        assert "Python" in line
        return
    for part in line.split(" && "):
        assert main(part.split()[1:]) == 0
    assert np.array_equal(read("pca.csv").X, Y)
