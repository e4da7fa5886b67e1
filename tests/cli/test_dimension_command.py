"""`lowfold dimension`: the table, the curves, JSON, local values, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lowfold
from lowfold import dimension
from lowfold._core.errors import InvalidInput
from lowfold.cli._app import app
from lowfold.datasets._readers import read_table

QUICK = ("-m", "local_pca,mle,two-nn")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """300 points of a plane in three columns, with a column of words."""
    X = np.pad(np.random.default_rng(0).random((300, 2)), ((0, 0), (0, 1)))
    lines = ["a,b,c,kind", *(f"{a},{b},{c},{'xy'[i % 2]}" for i, (a, b, c) in enumerate(X))]
    (tmp_path / "sheet.csv").write_text("\n".join(lines))
    return tmp_path / "sheet.csv"


def test_the_table_says_what_the_library_says(run: Any, sheet: Path) -> None:
    code, said, told = run("dimension", sheet, *QUICK)
    assert code == 0
    assert "'kind' is not numeric" in told
    lines = said.splitlines()
    assert lines[0].split() == [
        "estimator",
        "dimension",
        "sampling",
        "95%",
        "with",
        "scales",
        "and",
        "edges",
        "scales",
        "remark",
    ]
    assert [line.split()[0] for line in lines[1:4]] == ["local_pca", "mle", "two_nn"]
    X = read_table(sheet).X
    found = dimension.maximum_likelihood(X)
    assert found.interval is not None
    assert lines[2].split()[1] == f"{found.value:.3g}"
    assert f"{found.interval[0]:.3g} .. {found.interval[1]:.3g}" in lines[2]
    assert found.lengths is not None
    assert f"k 10 .. 20 (r {found.lengths[0]:.3g} .. {found.lengths[1]:.3g})" in lines[2]
    assert lines[-1].startswith("median of the 3 estimates without doubt")
    assert [path.name for path in sheet.parent.iterdir()] == ["sheet.csv"]


def test_cannot_tell_and_why(run: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).normal(size=(60, 30)))
    code, said, _ = run("dimension", tmp_path / "noise.npy", "-m", "mle,capacity,linear_energy")
    assert code == 0
    assert said.count("cannot tell") == 4
    assert "at least 256" in " ".join(said.split())
    assert "<= " not in said  # the energy rule leaves variance out: it bounds nothing
    assert "whole " in said
    assert "no estimate without doubt" in said


def test_json(run: Any, sheet: Path) -> None:
    code, said, told = run("dimension", sheet, *QUICK, "--json", "--quiet", "--seed", 3)
    assert (code, told) == (0, "")
    found = json.loads(said)
    assert (found["points"], found["columns"]) == (300, 3)
    assert [item["name"] for item in found["estimates"]] == ["local_pca", "mle", "two_nn"]
    ours = dimension.estimate_all(read_table(sheet).X, ("mle",), random_state=3)["mle"]
    assert found["estimates"][1] == json.loads(json.dumps(ours.as_dict()))


def test_local_values(run: Any, sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "local.csv"
    assert run("dimension", sheet, *QUICK, "--local", out)[0] == 0
    table = read_table(out)
    assert table.columns == ["local_pca", "mle"]
    assert np.allclose(table.X[:, 1], dimension.maximum_likelihood(read_table(sheet).X, n_resamples=0).local)
    assert list(table.labels) == ["kind"]
    code, _, told = run("dimension", sheet, "-m", "two_nn", "--local", tmp_path / "none.csv")
    assert code == 1
    assert "has values at points" in told


@pytest.mark.extra("matplotlib")
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_curves(run: Any, sheet: Path, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"curves.{ending}"
    names = "linear,local_pca,correlation,capacity_packing,multiscale_svd,mle"
    code, _, told = run("dimension", sheet, "-m", names, "--out", picture)
    assert code == 0
    assert f"wrote {picture}" in told
    assert picture.stat().st_size > 10_000
    picture.write_text("precious")
    code, said, told = run("dimension", sheet, "-m", names, "--out", picture)
    assert (code, said, picture.read_text()) == (1, "", "precious")
    assert "--overwrite" in told


@pytest.mark.extra("matplotlib")
def test_panels_show_the_value() -> None:
    X = np.pad(np.random.default_rng(0).random((600, 2)), ((0, 0), (0, 1)))
    found = dimension.estimate_all(X, ("linear_energy", "mle", "correlation", "capacity_box", "multiscale_svd"))
    few = dimension.estimate_all(X[:10], ("mle",))
    figure = lowfold.viz.dimension_curves([*found, *few], path=None, per_row=3)
    assert len(figure.axes) == 6
    energy, mle, correlation, *_, words = figure.axes
    assert energy.get_title() == "linear_energy: as a whole 2"
    assert mle.lines[-1].get_ydata()[0] == found["mle"].value
    low, high = found["mle"].band
    assert mle.get_title().endswith(f"({low:.3g} to {high:.3g})")
    spans = [patch.get_extents().transformed(mle.transData.inverted()).intervaly for patch in mle.patches[-2:]]
    assert np.allclose(spans, [(low, high), found["mle"].interval])  # beside the sampling what scales and edges do
    slope = np.polyfit(*np.log(correlation.lines[-1].get_data()), 1)[0]
    assert slope == pytest.approx(found["correlation"].value)
    assert "too few" in words.texts[0].get_text()
    import matplotlib.pyplot as plt

    plt.close(figure)
    with pytest.raises(InvalidInput, match="at least one"):
        lowfold.viz.dimension_curves([])


def test_a_matrix_of_distances(run: Any, tmp_path: Path) -> None:
    t = np.sort(np.random.default_rng(0).random(120))
    np.savetxt(tmp_path / "d.csv", np.abs(np.subtract.outer(t, t)), delimiter=",")
    names = "linear_exact,mle,correlation"
    code, said, _ = run("dimension", tmp_path / "d.csv", "--metric", "precomputed", "-m", names)
    assert code == 0
    assert "needs coordinates" in " ".join(said.split())
    rows = {line.split()[0]: line.split()[1] for line in said.splitlines() if line[:1].isalpha()}
    assert float(rows["mle"]) == pytest.approx(1, abs=0.15)
    assert float(rows["correlation"]) == pytest.approx(1, abs=0.15)


def test_another_metric(run: Any, sheet: Path) -> None:
    flags = ("--metric", "minkowski", "--metric-params", "{'p': 1}", "-m", "mle")
    code, said, _ = run("dimension", sheet, *flags)
    assert code == 0
    ours = dimension.maximum_likelihood(read_table(sheet).X, metric="minkowski", metric_params={"p": 1})
    assert said.splitlines()[1].split()[1] == f"{ours.value:.3g}"


@pytest.mark.extra("skdim")
def test_estimators_of_scikit_dimension(run: Any, sheet: Path) -> None:
    code, said, _ = run("dimension", sheet, "-m", "skdim:twonn,SKDIM:MOM")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()[1:3]] == ["skdim:TwoNN", "skdim:MOM"]
    code, _, told = run("dimension", sheet, "-m", "skdim:danko")
    assert code == 2
    assert "there are CorrInt, DANCo" in told


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["{dir}/missing.csv"], 1, "no such file"),
        (["{dir}/words.csv"], 1, "words.csv"),
        (["{dir}/empty.csv"], 1, "empty"),
        (["{sheet}", "-m", "mlle"], 2, "did you mean mle?"),
        (["{sheet}", "-m", "guess"], 2, "there are linear_exact, "),
        (["{sheet}", "--metric", "warped", "-m", "mle"], 1, "metric must be"),
        (["{sheet}", "--metric-params", "3", "-m", "mle"], 2, "takes a dict"),
        (["{sheet}", "--metric", "precomputed", "-m", "mle"], 1, "square"),
        (["{sheet}", "--out", "{dir}/curves.gif"], 1, "pictures are written as"),
        (["{sheet}", "--out", "{dir}/no/curves.png"], 1, "no folder"),
        (["{sheet}", "--label", "colour"], 1, "colour"),
    ],
)
def test_errors_are_one_line(run: Any, sheet: Path, args: list[str], code: int, words: str) -> None:
    (sheet.parent / "words.csv").write_text("a,b\nx,y\nz,w\n")
    (sheet.parent / "empty.csv").write_text("")
    got, said, told = run("dimension", *(arg.format(sheet=sheet, dir=sheet.parent) for arg in args))
    told = "".join(line for line in told.splitlines(True) if "is not numeric" not in line)
    assert (got, said) == (code, "")
    assert told.startswith("lowfold: ")
    assert told.count("\n") == 1
    assert words in told
    assert len(list(sheet.parent.iterdir())) == 3


def test_help_has_examples() -> None:
    shown = CliRunner().invoke(app, ["dimension", "--help"]).output
    assert "  lowfold dimension data.csv --out curves.png" in shown
