"""What is copied as Python or as a command gives the same picture, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold.cli import main
from lowfold.datasets import read, write_table
from lowfold.methods.registry import REGISTRY, load
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


@pytest.mark.parametrize(
    ("missing", "standardize", "ending"),
    [("drop", "none", "npy"), ("mean", "none", "csv"), ("drop", "unit", "csv"), ("mean", "robust", "npy")],
)
def test_missing_values_and_columns_made_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, standardize: str, ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(4).normal(size=(50, 4)) * [1, 30, 0.2, 5]
    X[7, 1] = X[30, 0] = np.nan
    if ending == "npy":
        np.save("gaps.npy", X)
    else:
        lines = [",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in X]
        Path("gaps.csv").write_text("\n".join(["a,b,c,d", *lines]) + "\n", encoding="utf-8")
    source = {"kind": "file", "name": f"gaps.{ending}", "path": str(tmp_path / f"gaps.{ending}")}
    roles = {} if ending == "npy" else {"d": "colour"}
    told, Y, known = ran(tmp_path, source, "PCA", {}, roles=roles, missing=missing, standardize=standardize)
    assert (told["dropped"], told["gaps"], told["missing"]) == (2 if missing == "drop" else 0, 2, 0)
    assert np.array_equal(by_python(known, "PCA", {}), Y)
    assert main(_recipe.command(known, "PCA", {}).split()[1:]) == 0
    assert np.array_equal(read("pca.csv", label=list(roles)).X, Y)


@pytest.mark.parametrize(("missing", "standardize"), [("drop", "robust"), ("mean", "unit")])
def test_columns_of_an_array_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, standardize: str
) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(4).normal(size=(50, 4)).astype(np.float32)
    X[7, 1] = np.nan
    X[:, 3] = np.arange(50) % 3
    np.save("classes.npy", X)
    source = {"kind": "file", "name": "classes.npy", "path": str(tmp_path / "classes.npy")}
    columns = read("classes.npy", missing="keep").columns
    options = {"roles": {columns[3]: "label"}, "missing": missing, "standardize": standardize}
    _, Y, known = ran(tmp_path, source, "SupervisedLLE", {"n_neighbors": 6}, **options)
    assert np.array_equal(by_python(known, "SupervisedLLE", {"n_neighbors": 6}), Y)
    assert _recipe.command(known, "SupervisedLLE", {}).startswith("# this run cannot")


def test_a_random_part_of_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowfold.studio._task_data.MOST_ROWS", 40)
    source = {"kind": "set", "name": "moons", "n": 90, "noise": 0.05, "seed": 2}
    told, Y, known = ran(tmp_path, source, "SupervisedLLE", {"n_neighbors": 6})
    assert (told["shown"], told["n"]) == (40, 90)
    assert "showing 40 of 90 rows, random" in told["notices"]
    assert np.array_equal(by_python(known, "SupervisedLLE", {"n_neighbors": 6}), Y)
    rows = np.load(tmp_path / "data" / "rows.npy")
    assert np.array_equal(
        lowfold.datasets.moons(90, noise=0.05, random_state=2).X[rows], np.load(tmp_path / "data" / "X.npy")
    )


@pytest.mark.extra("PIL")
def test_a_folder_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Path("it's").mkdir()
    for number, pixels in enumerate(np.random.default_rng(0).integers(0, 255, (12, 5, 4), dtype=np.uint8)):
        Image.fromarray(pixels).save(Path("it's") / f"{number}.png")
    source = {"kind": "file", "name": "it's", "path": str(tmp_path / "it's")}
    told, Y, known = ran(tmp_path, source, "PCA", {})
    assert told["item"] == "image"
    assert "pixel" not in _recipe.python(known, "PCA", {})
    assert np.array_equal(by_python(known, "PCA", {}), Y)


def test_the_methods_that_take_labels_are_known() -> None:
    assert {entry.name for entry in REGISTRY if load(entry.name).supervised} == _recipe.SUPERVISED


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


def test_a_first_line_that_is_told_to_hold_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [["mineral", *range(400, 420)], *([f"m{i % 3}", *rng.random(20).tolist()] for i in range(30))]
    Path("bands.csv").write_text("".join(f"{','.join(map(str, row))}\n" for row in rows), encoding="utf-8")
    source = {"kind": "file", "name": "bands.csv", "path": str(tmp_path / "bands.csv")}
    told, Y, known = ran(tmp_path, source, "PCA", {}, header="yes")
    assert (told["shown"], told["header"], told["columns"][0]["name"]) == (30, True, "400")
    assert np.array_equal(by_python(known, "PCA", {}), Y)
    assert main(_recipe.command(known, "PCA", {}).split()[1:]) == 0
    assert np.array_equal(read("pca.csv").X, Y)
