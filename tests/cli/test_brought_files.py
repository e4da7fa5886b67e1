"""What people bring to the command line besides tables: sparse matrices, pipelines, cubes that are made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.cli._app import app

X = np.random.default_rng(5).normal(size=(40, 3))


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_sparse_matrix_in_a_file_stays_sparse(form: str, tmp_path: Path) -> None:
    made = sp.random(30, 50, 0.1, format=form, random_state=1)
    sp.save_npz(tmp_path / "x.npz", made)
    table = lowfold.datasets.read(tmp_path / "x.npz", missing="drop")
    assert sp.issparse(table.X)
    assert np.array_equal(table.X.toarray(), made.toarray())
    with pytest.raises(InvalidInput, match="sparse rows are not standardised"):
        lowfold.datasets.read(tmp_path / "x.npz", standardize="unit")
    assert run("embed", tmp_path / "x.npz", "-m", "pca", "-o", tmp_path / "y.npy")[0] == 0
    assert np.allclose(np.load(tmp_path / "y.npy"), lowfold.PCA(2).fit_transform(sp.csr_array(made)))


def test_a_graph_in_a_file(tmp_path: Path) -> None:
    ring = sp.csr_array(sp.diags_array([1.0, 1.0, 1.0, 1.0], offsets=[1, -1, 11, -11], shape=(12, 12)))
    sp.save_npz(tmp_path / "ring.npz", ring)
    code, text = run(
        *("embed", tmp_path / "ring.npz", "-m", "laplacian-eigenmaps", "--metric", "precomputed_affinity"),
        *("-o", tmp_path / "y.npy"),
    )
    assert code == 0, text
    radius = np.linalg.norm(np.load(tmp_path / "y.npy"), axis=1)
    assert np.allclose(radius, radius[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": np.array(b"bsr")}, "in the forms csr, csc and coo"),
        ({"shape": np.array([3])}, "holds no points"),
        ({"indices": np.array([0, 99, 1])}, "not a readable npz file"),
        ({"data": np.array([1j, 2j, 3j])}, "not real numbers"),
    ],
)
def test_damaged_sparse_files_are_refused(change: dict[str, object], words: str, tmp_path: Path) -> None:
    whole = {"format": np.array(b"csr"), "shape": np.array([3, 3]), "data": np.ones(3)}
    whole |= {"indices": np.arange(3), "indptr": np.arange(4)}
    np.savez(tmp_path / "x.npz", **(whole | change))
    with pytest.raises(FileProblem, match=words):
        lowfold.datasets.read(tmp_path / "x.npz")


def test_transform_by_a_saved_pipeline(tmp_path: Path) -> None:
    reduce = make_pipeline(StandardScaler(), lowfold.PCA(2)).fit(X)
    lowfold.save(tmp_path / "p.lowfold", reduce)
    np.savetxt(tmp_path / "new.csv", X[:5], delimiter=",")
    code, text = run("transform", tmp_path / "p.lowfold", tmp_path / "new.csv", "-o", tmp_path / "y.npy")
    assert code == 0, text
    assert np.allclose(np.load(tmp_path / "y.npy"), reduce.transform(X[:5]))
    lowfold.save(tmp_path / "c.lowfold", make_pipeline(KNeighborsClassifier(algorithm="brute")).fit(X, X[:, 0] > 0))
    code, text = run("transform", tmp_path / "c.lowfold", tmp_path / "new.csv")
    assert code == 1
    assert "ends in KNeighborsClassifier places no points" in text


@pytest.mark.extra("pandas")
def test_columns_of_a_model_fitted_in_python_are_found_by_name(tmp_path: Path) -> None:
    import pandas as pd

    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = lowfold.PCA(2).fit(table)
    lowfold.save(tmp_path / "m.lowfold", model)
    table[["c", "a", "b"]].to_csv(tmp_path / "turned.csv", index=False)
    code, text = run("transform", tmp_path / "m.lowfold", tmp_path / "turned.csv", "-o", tmp_path / "y.npy")
    assert (code, text) == (0, "")
    assert np.allclose(np.load(tmp_path / "y.npy"), model.transform(table))


def test_a_scene_is_written_as_a_cube(tmp_path: Path) -> None:
    assert run("datasets", "hyperspectral_cube", "--n", 20, "-o", tmp_path / "scene.hdr")[0] == 0
    scene = lowfold.datasets.hyperspectral_cube(20, random_state=0)
    assert np.allclose(lowfold.datasets.read(tmp_path / "scene.hdr").X, scene.X, atol=1e-6)


def test_a_lazy_frame_is_named() -> None:
    class LazyFrame:
        """As polars' one: no rows before `collect`."""

    for method in (lowfold.PCA, lowfold.Isomap, lowfold.MetricMDS):
        with pytest.raises(InvalidInput, match=r"pass X.collect\(\)"):
            method(2).fit(LazyFrame())


def test_no_result_takes_the_place_of_what_is_read_or_of_another(tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "y.csv"
    lowfold.datasets.write_table(table, X)
    before = table.read_bytes()
    code, text = run("embed", table, "-m", "pca", "-o", tmp_path / "." / "t.csv", "--overwrite")
    assert code == 1
    assert "is the file that is read" in text
    assert table.read_bytes() == before
    code, text = run("embed", table, "-m", "pca", "-o", out, "--save", out)
    assert code == 1
    assert "named for two results" in text
    assert not out.exists()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere")
    code, text = run("embed", table, "-m", "pca", "-o", link)
    assert code == 1
    assert "the file exists" in text
    assert link.is_symlink()
    for words in (["", "-o", out], [table, "-o", ""]):
        code, text = run("embed", *words, "-m", "pca")
        assert code == 1
        assert "is no name of a file" in text


def test_sentences_speak_of_options(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lowfold.datasets.write_table(table, X * [1, 1, 1e4], ["a", "b", "c"], labels={"name": [f"p{i}" for i in range(40)]})
    _code, text = run("embed", table, "-m", "supervised-lle")
    assert "a class of its own for each of the 40 points" in text
    text = run("plan", table, "-m", "isomap")[1]
    assert "column 'c' spreads" in text
    assert "--standardize unit" in text
    assert "StandardScaler" not in text
    lowfold.datasets.write_table(tmp_path / "n.csv", X)
    assert "--label names their column" in run("embed", tmp_path / "n.csv", "-m", "supervised-lle")[1]
    text = run("embed", tmp_path / "n.csv", "-m", "pca", "--memory", "1")[1]
    assert "raise the budget with --memory" in text
    assert "set_config" not in text


def test_pairs_of_sensors_in_any_table(tmp_path: Path) -> None:
    places = np.random.default_rng(1).uniform(size=(6, 2))
    pairs = [(i, j, np.linalg.norm(places[i] - places[j])) for i in range(6) for j in range(i)]
    (tmp_path / "p.csv").write_text("".join(f"s{i};s{j};{f'{d:.6f}'.replace('.', ',')}\n" for i, j, d in pairs))
    code, text = run("locate", tmp_path / "p.csv", "-o", tmp_path / "y.csv")
    assert code == 0, text
    assert "15 measured pairs" in text
    (tmp_path / "r.csv").write_text("a,b,1\na,c\n")
    assert "row 2 has 2 fields" in run("locate", tmp_path / "r.csv")[1]
    (tmp_path / "b.csv").write_bytes(b"PAR1\x00\xff")
    assert "is a Parquet file" in run("locate", tmp_path / "b.csv")[1]
