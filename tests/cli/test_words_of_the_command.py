"""Files as people have them, on the command line: what is read, what is said of it, and in whose words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lowfold
from lowfold.cli._app import app
from lowfold.cli._errors import in_options


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    aside = "" if result.stderr_bytes is None else result.stderr  # click 8.1 has it in the output
    return result.exit_code, result.output + aside + str(result.exception or "")


def rows(n: int = 40, seed: int = 5100) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.random((n, 2)), np.arange(n) % 3])


def written(path: Path, header: str, lines: list[str], encoding: str = "utf-8") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("read with missing='drop' or missing='mean'", "read with --read missing=drop or --read missing=mean"),
        ("keep the column aside with label='a b'", "keep the column aside with --label 'a b'"),
        ("ids=False keeps it as data", "--read ids=False keeps it as data"),
        ("take with metric='precomputed'", "take with --metric precomputed"),
        ("`datasets.read(file, missing='mean')` mends them", "--read missing=mean mends them"),
        ("given as --read header=true", "given as --read header=true"),
        ("radius=0.5 joins no two points", "radius=0.5 joins no two points"),
    ],
)
def test_options_of_readers_in_words_of_the_command(words: str, command: str) -> None:
    assert in_options(words) == command


def test_a_gap_is_answered_with_a_flag_by_every_command(tmp_path: Path) -> None:
    file = written(tmp_path / "x.csv", "a,b", ["1,2", "?,3", "4,5"])
    for command in (("embed", file, "-m", "pca"), ("diagnose", file), ("compare", file), ("dimension", file)):
        code, said = run(*command)
        assert code == 1
        assert "--read missing=drop" in said
        assert "missing='" not in said


def test_rows_that_are_left_out_can_be_told(tmp_path: Path) -> None:
    lines = [",".join(map(str, row)) for row in rows()[:, :2]]
    lines[3] = "NA,1"
    file = written(tmp_path / "x.csv", "a,b", lines)
    assert run("embed", file, "-m", "pca", "--read", "missing=drop", "-o", tmp_path / "y.csv")[0] == 0
    ids = np.genfromtxt(tmp_path / "y.csv", delimiter=",", names=True)["id"]
    assert ids.tolist() == [1, 2, 3, *range(5, 41)]


def test_the_classes_are_those_of_the_label_that_was_named(tmp_path: Path) -> None:
    X = rows()
    lines = [f"{a},{b},{'tall' if a > 0.5 else 'low'},{int(c)}" for a, b, c in X]
    file = written(tmp_path / "x.csv", "a,b,height,class", lines)
    out = tmp_path / "y.npy"
    code, said = run("embed", file, "-m", "supervised-lle", "--label", "class", "--n-neighbors", 6, "-o", out)
    assert code == 0, said
    assert "classes are those of column 'class'" in said
    asked = lowfold.SupervisedLLE(2, n_neighbors=6).fit_transform(X[:, :2], X[:, 2].astype(int))
    assert np.allclose(np.load(out), asked)
    assert "'height'" in run("embed", file, "-m", "supervised-lle", "--n-neighbors", 6, "-o", tmp_path / "z.npy")[1]


def test_numbers_that_are_called_classes_are_told(tmp_path: Path) -> None:
    file = written(tmp_path / "x.csv", "a,b,class", [",".join(map(str, row)) for row in rows()])
    said = run("embed", file, "-m", "pca", "-o", tmp_path / "y.npy")[1]
    assert "column 'class' holds 3 different numbers and is used as data; --label class keeps it aside" in said
    assert "used as data" not in run("embed", file, "-m", "pca", "--label", "class", "-o", tmp_path / "z.npy")[1]


def test_edges_in_rows_are_a_graph_for_a_precomputed_metric(tmp_path: Path) -> None:
    ends = [(i, (i + 1) % 12) for i in range(12)]
    numbers = written(tmp_path / "n.txt", "# a ring", [f"{i} {j}" for i, j in ends])
    names = written(tmp_path / "w.csv", "from,to,weight", [f"n{i:02},n{j:02},1" for i, j in ends] + ["n01,n00,1"])
    for file in (numbers, names):
        code, said = run(
            *("embed", file, "-m", "laplacian-eigenmaps", "--metric", "precomputed_affinity", "-o", tmp_path / "y.csv"),
            "--overwrite",
        )
        assert code == 0, said
        assert "edges among 12 points" in said
        table = np.genfromtxt(tmp_path / "y.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
        radius = np.hypot(table["laplacianeigenmaps0"], table["laplacianeigenmaps1"])
        assert np.allclose(radius, radius[0])
        assert table["id"][5] == (5 if file is numbers else "n05")
    twice = written(tmp_path / "t.csv", "from,to,weight", ["a,b,1", "b,c,1", "b,a,2", "c,a,1"])
    code, said = run("embed", twice, "-m", "laplacian-eigenmaps", "--metric", "precomputed_affinity")
    assert code == 1
    assert "the edge of a and b comes twice, with 1 and 2" in said
    half = written(tmp_path / "h.csv", "a,b", ["0.5,1", "1,2", "2,3"])
    assert "by their numbers or names" in run("embed", half, "-m", "isomap", "--metric", "precomputed")[1]


@pytest.mark.extra("h5py")
def test_an_array_of_a_file_in_blocks_is_named(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"], file["other"] = rows(), np.arange(3.0)
    code, said = run("embed", tmp_path / "x.h5", "-m", "pca", "-o", tmp_path / "y.npy")
    assert code == 1
    assert "--read variable=NAME" in said
    words = ("--read", "variable=data", "-o", tmp_path / "y.npy")
    assert run("embed", tmp_path / "x.h5", "-m", "pca", *words)[0] == 0
    assert np.load(tmp_path / "y.npy").shape == (40, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("embed",), "Missing argument 'FILE"),
        (("plan",), "Missing argument 'FILE"),
        (("isomap", "x.csv"), "No such command 'isomap': it is a method; try lowfold embed FILE --method Isomap"),
        (("t-sne",), "try lowfold embed FILE --method TSNE"),
        (("embed", "x.csv", "-m", "tsne", "--n-iter", "300"), "for --n-iter use --max-iter (see"),
        (("embed", "x.csv", "-m", "isomap", "--k", "5"), "for --k use --n-neighbors (see"),
        (("embed", "x.csv", "-m", "lle", "--eigen-solver", "dense"), "for --eigen-solver use --solver"),
        (("embed", "x.csv", "-m", "pca", "--whiten", "1"), "for --whiten use --normalization unit"),
    ],
)
def test_what_is_typed_by_habit_is_answered(words: tuple[str, ...], said: str) -> None:
    code, told = run(*words)
    assert (code, said in told) == (2, True), told


def test_a_comparison_in_which_every_method_failed_ends_with_an_error(tmp_path: Path) -> None:
    file = written(tmp_path / "x.csv", "a", ["1", "2", "4", "7", "9"])
    code, said = run("compare", file, "--methods", "pca", "--quiet")
    assert code == 1
    assert "at most min(n_samples, n_features) = 1" in said


@pytest.mark.parametrize(("words", "whose"), [((), "lowfold"), (("faces",), "faces")])
def test_a_command_without_words_shows_its_help_in_lines(words: tuple[str, ...], whose: str) -> None:
    code, said = run(*words)
    assert code in (0, 2)  # 0 where click prints it itself
    assert "\nCommands:\n" in said
    assert f"lowfold: Usage: {whose}" not in said


@pytest.mark.parametrize("command", ["embed", "warmup", "list", "datasets", "cite", "studio"])
def test_names_of_what_is_taken_stand_once_in_the_usage(command: str) -> None:
    usage = run(command, "--help")[1].partition("\n\n")[0]
    assert "[[" not in usage
    assert "...}" not in usage


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("embed", "-m", "umap", "--help"), "`lowfold compare FILE --methods umap,tsne` measures it"),
        (("embed", "-m", "umap", "x.csv"), "`lowfold compare FILE --methods umap,tsne` measures it"),
        (("embed", "-m", "phate", "--help"), "has no phate; `lowfold.compare` takes any estimator"),
        (("embed", "-m", "isomp", "-h"), "did you mean Isomap?"),
        (("umap", "x.csv"), "has no umap; `lowfold compare FILE"),
    ],
)
def test_methods_that_are_not_here_are_answered_wherever_they_are_typed(words: tuple[str, ...], told: str) -> None:
    code, text = run(*words)
    assert code == 2
    assert told in text


def test_parameters_of_scikit_learn_are_answered_when_set(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "a,b,c", [",".join(map(str, row)) for row in rows()])
    code, text = run("embed", path, "-m", "lle", "--set", "method=hessian")
    assert code == 2
    assert "for method use the class HessianLLE; it has --n-components" in text
