"""The commands as a user types them: files in, files out, exit codes, one-line errors."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lowfold
from lowfold.cli._app import app
from lowfold.datasets._readers import read_table


@pytest.fixture
def roll(tmp_path: Path) -> Path:
    """150 points of a Swiss roll with a column of words and one of whole numbers."""
    X = lowfold.datasets.swiss_roll(150, random_state=0).X
    with (tmp_path / "roll.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "c", "kind", "year"])
        writer.writerows([*row, "inner" if i % 2 else "outer", 1990 + i % 7] for i, row in enumerate(X.tolist()))
    return tmp_path / "roll.csv"


def points(path: Path) -> np.ndarray:
    return np.asarray(read_table(path, label="year").X)


def test_embed_writes_what_the_class_gives(run: Any, roll: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    code, said, told = run("embed", roll, "--method", "isomap", "--n-neighbors", 5, "--label", "year", "--out", out)
    assert (code, said) == (0, "")
    kept, summary = told.splitlines()
    assert "'kind' is not numeric and is kept aside" in kept
    assert "Isomap: 150 points in 3 columns -> 2" in summary
    table = read_table(out, label="year")
    assert np.array_equal(table.X, lowfold.Isomap(2, n_neighbors=5).fit_transform(points(roll)))
    assert table.columns == ["isomap0", "isomap1"]
    assert table.labels["kind"][:2].tolist() == ["outer", "inner"]
    assert table.labels["year"][:8].tolist() == [1990, 1991, 1992, 1993, 1994, 1995, 1996, 1990]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["{file}"], "lowfold diagnose {file}, or lowfold embed {file} -m isomap"),
        (["embed", "{file}"], "lowfold diagnose FILE says what suits the data"),
        (["embed", "{file}", "-m", "isomap", "-k", "5"], "neighbours are --n-neighbors"),
        (["embed", "{file}", "-m", "isomap", "-d", "3"], "the dimension is --n-components"),
        (["embed", "{file}", "-m", "isomap", "--decimal", ","], "it belongs to the reader: --read decimal=VALUE"),
    ],
)
def test_what_is_typed_otherwise_is_answered_with_the_words_to_use(run: Any, roll: Path, typed, meant) -> None:
    code, said, told = run(*(word.format(file=roll) for word in typed))
    assert (code, said) == (2, "")
    assert meant.format(file=roll) in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "spelling", ["laplacian-eigenmaps", "laplacian_eigenmaps", "LaplacianEigenmaps", "LAPLACIANEIGENMAPS"]
)
def test_any_spelling_of_a_method(run: Any, roll: Path, spelling: str) -> None:
    code, said, _ = run("embed", roll, "-m", spelling, "--label", "year", "--n_components", 1)
    assert code == 0
    assert said.splitlines()[0] == "laplacianeigenmaps0,kind,year"


def test_flags_reach_the_parameters(run: Any, roll: Path) -> None:
    flags = ("--weights", "binary", "--laplacian", "symmetric", "--radius", 9, "--n-neighbors", "none", "--tol", "1e-8")
    code, said, _ = run("embed", roll, "-m", "laplacian-eigenmaps", "--label", "year", *flags, "-q")
    assert code == 0
    written = np.array([[float(v) for v in line.split(",")[:2]] for line in said.splitlines()[1:]])
    model = lowfold.LaplacianEigenmaps(weights="binary", laplacian="symmetric", radius=9, tol=1e-8)
    assert np.array_equal(written, model.fit_transform(points(roll)))


def test_set_takes_literals(run: Any, roll: Path) -> None:
    given = ("--set", "metric=minkowski", "--set", "metric-params={'p': 3}")
    code, said, _ = run("embed", roll, "-m", "isomap", "--label", "year", *given, "-q")
    assert code == 0
    first = [float(value) for value in said.splitlines()[1].split(",")[:2]]
    Y = lowfold.Isomap(metric="minkowski", metric_params={"p": 3}).fit_transform(points(roll))
    assert first == Y[0].tolist()


def test_save_and_transform(run: Any, roll: Path, tmp_path: Path) -> None:
    model, placed, back = tmp_path / "m.lowfold", tmp_path / "placed.csv", tmp_path / "back.csv"
    assert run("embed", roll, "-m", "isomap", "--label", "year", "--save", model)[0] == 0
    assert run("transform", model, roll, "--label", "year", "--out", placed)[0] == 0
    table = read_table(placed, label="year")
    fitted = lowfold.Isomap().fit(points(roll))
    assert np.array_equal(table.X, fitted.transform(points(roll)))
    assert list(table.labels) == ["kind", "year"]
    assert run("transform", model, placed, "--label", "year", "--inverse", "-o", back)[0] == 0
    assert np.array_equal(read_table(back, label="year").X, fitted.inverse_transform(table.X))


def test_a_matrix_of_distances(run: Any, tmp_path: Path) -> None:
    """The first column counts up by one; it is a column of distances and not of ids."""
    n = 12
    D = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    np.savetxt(tmp_path / "d.csv", D, delimiter=",")
    code, said, _ = run(
        "embed", tmp_path / "d.csv", "-m", "classical-mds", "--metric", "precomputed", "--n-components", 1
    )
    assert code == 0
    y = np.array([float(line) for line in said.splitlines()[1:]])
    assert np.allclose(np.abs(np.subtract.outer(y, y)), D)


def test_gaps_in_a_matrix_are_unmeasured(run: Any, tmp_path: Path) -> None:
    D = np.full((8, 8), np.nan)
    for i in range(7):
        D[i, i + 1] = D[i + 1, i] = 1.0
    np.fill_diagonal(D, 0.0)
    np.savetxt(tmp_path / "d.csv", D, delimiter=",")
    code, said, _ = run(
        "embed", tmp_path / "d.csv", "-m", "isomap", "--metric", "precomputed", "--n-components", 1, "-q"
    )
    assert code == 0
    y = np.sort([float(line) for line in said.splitlines()[1:]])
    assert np.allclose(np.diff(y), 1.0)


@pytest.fixture
def matrices(tmp_path: Path) -> list[Path]:
    """Distances of 25 points in the plane, its axes stretched differently each time."""
    X = np.random.default_rng(3).normal(size=(25, 2)) * [2, 1]
    paths = []
    for k, w in enumerate([[1.5, 0.5], [0.5, 1.5], [1.0, 1.0]]):
        paths.append(tmp_path / f"day{k}.csv")
        np.savetxt(paths[-1], np.sqrt((w * (X[:, None] - X) ** 2).sum(axis=-1)), delimiter=",")
    return paths


def test_several_matrices_of_the_same_points(run: Any, matrices: list[Path], tmp_path: Path) -> None:
    out, saved = tmp_path / "out.csv", tmp_path / "model.lowfold"
    settings = ("--metric", "precomputed", "--out", out, "--save", saved)
    code, said, told = run("embed", *matrices, "--method", "weighted_mds", *settings)
    assert (code, said) == (0, "")
    D = [np.loadtxt(path, delimiter=",") for path in matrices]
    model = lowfold.WeightedMDS(2).fit(D)
    assert np.allclose(read_table(out).X, model.embedding_)
    assert "day0.csv: weights 1.5, 0.5; 100.0% explained" in told
    assert "25 points in 3 matrices" in told
    code, said, _ = run("transform", saved, *matrices)
    assert code == 0
    assert np.allclose(np.loadtxt(said.splitlines()[1:], delimiter=","), model.embedding_)
    code, said, _ = run("embed", *matrices, "-m", "ReplicatedMDS", "--merge", "rms", "-q")
    expected = lowfold.ReplicatedMDS(2, merge="rms").fit(D).embedding_
    assert np.allclose(np.loadtxt(said.splitlines()[1:], delimiter=","), expected)
    assert run("plan", *matrices, "-m", "weighted-mds")[0] == 0


def test_several_files_where_they_do_not_belong(run: Any, matrices: list[Path], roll: Path, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "small.csv", np.zeros((4, 4)), delimiter=",")
    for args, words in (
        (("embed", *matrices, "-m", "pca"), "PCA takes one file; got 3"),
        (("embed", matrices[0], tmp_path / "small.csv", "-m", "replicated-mds"), "small.csv: has 4 x 4 numbers"),
    ):
        code, _, told = run(*args)
        assert code == 1
        assert words in told
    saved = tmp_path / "pca.lowfold"
    assert run("embed", roll, "-m", "pca", "--save", saved, "-q")[0] == 0
    code, _, told = run("transform", saved, roll, roll, "--inverse")
    assert code == 1
    assert "--inverse takes one file" in told


@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "parquet"])
def test_kinds_of_output(run: Any, roll: Path, tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / f"out.{ending}"
    code, _, told = run("embed", roll, "-m", "pca", "--label", "year", "-o", out)
    assert code == 0
    assert ("left out" in told) == (ending == "npy")
    assert np.array_equal(lowfold.datasets._readers.read(out).X[:, :2], lowfold.PCA().fit_transform(points(roll)))


@pytest.mark.extra("matplotlib")
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(run: Any, roll: Path, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"out.{ending}"
    code, said, _ = run("embed", roll, "-m", "isomap", "--label", "year", "--plot", picture, "--color", "year")
    assert (code, said) == (0, "")
    assert picture.stat().st_size > 3_000
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["roll.csv", picture.name])


def test_memory_budget_holds_for_the_command_alone(run: Any, roll: Path) -> None:
    before = lowfold.get_config().memory
    code, _, told = run("embed", roll, "-m", "isomap", "--label", "year", "--memory", "10kB")
    assert code == 1
    assert "the memory budget is 10.0 kB" in told
    assert lowfold.get_config().memory == before
    assert run("embed", roll, "-m", "isomap", "--memory", "much")[0] == 1


def test_nothing_is_overwritten_without_force(run: Any, roll: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious")
    for flag in ("--out", "--save", "--plot"):
        target = out if flag != "--plot" else out.with_suffix(".png")
        target.write_text("precious")
        code, _, told = run("embed", roll, "-m", "pca", flag, target)
        assert (code, target.read_text()) == (1, "precious")
        assert "--overwrite" in told
    assert run("embed", roll, "-m", "pca", "--out", out, "--overwrite")[0] == 0
    assert out.read_text() != "precious"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("flag", ["--out", "--save", "--plot"])
def test_devices_are_not_replaced(run: Any, roll: Path, tmp_path: Path, flag: str) -> None:
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    code, _, told = run("embed", roll, "-m", "pca", flag, pipe, "--overwrite")
    assert code == 1
    assert "no ordinary file" in told
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["embed", "{roll}", "-m", "isomap", "--scale", "3"], 2, "Isomap has no parameter 'scale'; it has"),
        (["embed", "{roll}", "-m", "isomp"], 2, "did you mean Isomap?"),
        (["embed", "{roll}"], 2, "--method"),
        (["embed", "{roll}", "-m", "pca", "--set", "solver"], 2, "--set takes name=value"),
        (["embed", "{roll}", "-m", "pca", "--set", "colour=3"], 2, "no parameter 'colour'"),
        (
            ["embed", "{roll}", "-m", "isomap", "--n-neighbors", "5", "--set", "n-neighbors=9"],
            2,
            "write the flag alone",
        ),
        (["embed", "{roll}", "-m", "isomap", "--set", "tol=1e-5", "--set", "tol=1e-9"], 2, "twice, as 1e-5 and 1e-9"),
        (
            ["tune", "{roll}", "-m", "isomap", "--n-neighbors", "5,9", "--set", "n_neighbors=9"],
            2,
            "write the flag alone",
        ),
        (["order", "{roll}", "--set", "metric=angular"], 2, "--metric and --set metric=angular are the same here"),
        (["datasets", "swiss_roll", "--n", "9", "--set", "n=7"], 2, "--n and --set n=7 are the same here"),
        (["embed", "{roll}", "-m", "pca", "--nonsense", "3"], 2, "--nonsense"),
        (["frobnicate"], 2, "frobnicate"),
        (["embed", "{dir}/missing.csv", "-m", "pca"], 1, "no such file"),
        (["embed", "{roll}", "-m", "pca", "--n-components", "0"], 1, "--n-components of PCA must be"),
        (["embed", "{roll}", "-m", "isomap", "--n-neighbors", "many"], 1, "--n-neighbors of Isomap must be"),
        (["embed", "{roll}", "-m", "isomap", "--n-neighbors", "150"], 1, "at most 149"),
        (["embed", "{roll}", "-m", "pca", "--label", "colour"], 1, "colour"),
        (["embed", "{roll}", "-m", "pca", "--plot", "{dir}/p.gif"], 1, "p.gif: pictures are written as"),
        (["embed", "{roll}", "-m", "pca", "--out", "{dir}/no/out.csv"], 1, "no folder"),
        (["embed", "{roll}", "-m", "pca", "--out", "{dir}"], 1, "is a folder"),
        (["embed", "{roll}", "-m", "pca", "--read", "colour=3"], 1, "no option 'colour'"),
        (["transform", "{roll}", "{roll}"], 1, "not a model of lowfold"),
        (["datasets", "rolls"], 2, "there is no data set 'rolls'"),
        (["datasets", "swiss_roll", "--set", "colour=3"], 2, "no option 'colour'"),
        (["datasets", "swiss_roll", "--n", "-3"], 1, "n"),
        (["list", "isomp"], 2, "did you mean Isomap?"),
    ],
)
def test_errors_are_one_line(run: Any, roll: Path, args: list[str], code: int, words: str) -> None:
    given = [arg.format(roll=roll, dir=roll.parent) for arg in args]
    got, said, told = run(*given)
    told = told.removeprefix("lowfold: column 'kind' is not numeric and is kept aside as a label: 'outer', ...\n")
    assert (got, said) == (code, "")
    assert told.startswith("lowfold: ")
    assert told.count("\n") == 1
    assert words in told
    assert [path.name for path in roll.parent.iterdir()] == ["roll.csv"]


def test_debug_shows_the_trace(run: Any, roll: Path) -> None:
    _, _, told = run("embed", roll, "-m", "pca", "--n-components", 0, "--debug")
    assert "Traceback" in told
    assert told.splitlines()[-1].startswith("lowfold: --n-components")


def test_a_defect_is_said_to_be_one(run: Any, roll: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(lowfold.PCA, "_embed", broken)
    code, _, told = run("embed", roll, "-m", "pca", "--quiet")
    assert code == 1
    assert "defect of lowfold: KeyError" in told
    assert told.count("\n") == 1


def test_interrupt_is_130(run: Any, roll: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lowfold.PCA, "_embed", interrupted)
    assert run("embed", roll, "-m", "pca")[0] == 130


def test_warnings_are_one_line_each(run: Any, tmp_path: Path) -> None:
    X = np.concatenate([np.random.default_rng(0).random((20, 2)), np.random.default_rng(1).random((20, 2)) + 50])
    np.savetxt(tmp_path / "two.csv", X, delimiter=",")
    code, _, told = run("embed", tmp_path / "two.csv", "-m", "isomap", "--n-neighbors", 4)
    assert code == 0
    assert len([line for line in told.splitlines() if line.startswith("lowfold: warning: ") and "bridge" in line]) == 1
    assert run("embed", tmp_path / "two.csv", "-m", "isomap", "--n-neighbors", 4, "--quiet")[2] == ""


def test_plan(run: Any, roll: Path) -> None:
    code, said, _ = run("plan", roll, "-m", "isomap", "--n-neighbors", 12, "--label", "year", "--memory", "100kB")
    assert code == 0
    assert "12 nearest, brute on 3 columns" in said
    assert "does not fit" in said


def test_list_and_versions(run: Any) -> None:
    code, said, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()[1:] if line[0] != " "] == [e.name for e in lowfold.REGISTRY]
    code, said, _ = run("list", "isomap")
    assert code == 0
    assert "n_neighbors : int" in said
    assert "lowfold" in run("versions")[1]
    assert run("--version")[1].strip() == f"lowfold {lowfold.__version__}"


def test_datasets(run: Any, tmp_path: Path) -> None:
    assert set(lowfold.datasets.SURFACES) <= set(run("datasets")[1].split())
    out = tmp_path / "moons.csv"
    assert run("datasets", "moons", "--n", 40, "--noise", 0.1, "--seed", 3, "--truth", "-o", out)[0] == 0
    data = lowfold.datasets.moons(40, noise=0.1, random_state=3)
    table = read_table(out, label=["color", "class", *(f"u{i + 1}" for i in range(data.parameters.shape[1]))])
    assert np.array_equal(table.X, data.X)
    assert np.array_equal(table.labels["class"], data.labels)
    code, said, _ = run("datasets", "swiss-roll", "--n", 5, "--set", "height=1")
    assert code == 0
    assert np.allclose([float(line.split(",")[1]) for line in said.splitlines()[1:]], 0.5, atol=0.5)


@pytest.mark.parametrize("command", ["", "embed", "plan", "transform", "list", "datasets", "versions"])
def test_help_has_examples(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.output
    assert command == "versions" or f"  lowfold {command}" in result.output


def test_help_of_embed_shows_every_parameter() -> None:
    shown = CliRunner().invoke(app, ["embed", "--help"], env={"COLUMNS": "200"}).output
    for entry in lowfold.REGISTRY:
        for name in getattr(lowfold, entry.name).parameters:
            assert f"--{name.replace('_', '-')} " in shown, name


def test_exit_codes_by_the_runner(roll: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["embed", str(roll), "-m", "pca", "-q"]).exit_code == 0
    assert runner.invoke(app, ["embed", "missing.csv", "-m", "pca"]).exit_code == 1
    assert runner.invoke(app, ["embed", str(roll), "-m", "nothing"]).exit_code == 2
