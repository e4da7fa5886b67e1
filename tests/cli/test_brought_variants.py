"""Variants of the everyday tasks: texts of Windows, sparse files, classes with gaps, other columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.apps import order_collection

Run = Callable[..., tuple[int, str, str]]
rng = np.random.default_rng(9013)
X = rng.normal(size=(40, 3))


def test_texts_of_windows_and_empty_ones(tmp_path: Path, run: Run) -> None:
    words = ["Käse Brot Öl Wein", "Nebel Regen Föhn Schnee"]
    for i in range(12):
        picked = " ".join(rng.choice(words[i % 2].split(), 6))
        (tmp_path / f"{i}.txt").write_bytes(f"{picked} über".encode("cp1252"))
    (tmp_path / "none.txt").write_bytes(b"")
    code, _, told = run("documents", tmp_path, "-m", "pca")
    assert code == 1
    assert "read texts of Windows with --encoding cp1252" in told
    code, out, told = run("documents", tmp_path, "-m", "pca", "--encoding", "cp1252")
    assert code == 0, told
    assert len(out.splitlines()) == 13
    assert "1 of 13 documents have none of the terms and are left out: none.txt" in told
    assert "käse" in lowfold.datasets.read(tmp_path, encoding="cp1252").columns
    with pytest.raises(FileProblem, match="encoding='cp1252'"):
        lowfold.datasets.read(tmp_path)
    with pytest.raises(InvalidInput, match="encoding must be one that Python knows"):
        lowfold.datasets.read(tmp_path, encoding="none such")


def test_a_sparse_file_with_its_zeros(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.npz"
    A = sp.random_array((60, 8), density=0.5, random_state=3, format="csr")
    sp.save_npz(path, A)
    code, _, told = run("dimension", path, "-m", "two_nn")
    assert code == 1
    assert "--read dense=true takes them with their zeros" in told
    code, out, told = run("dimension", path, "-m", "two_nn", "--read", "dense=true")
    assert code == 0, told
    assert "two_nn" in out
    assert np.array_equal(lowfold.datasets.read(path, dense=True).X, A.toarray())
    with pytest.raises(InvalidInput, match="na is for tables"):
        lowfold.datasets.read(path, na=-1)
    with lowfold.config_context(memory=3000), pytest.raises(FileProblem, match="the matrix with its zeros would need"):
        lowfold.datasets.read(path, dense=True)


@pytest.mark.parametrize("nothing", [None, np.nan, "pandas"])
def test_points_without_a_class(nothing: Any) -> None:
    if nothing == "pandas":
        nothing = pytest.importorskip("pandas").NA
    y = np.array(["u", "v", "w", nothing] * 10, dtype=object)
    with pytest.raises(InvalidInput, match="no class for 10 of 40 points, the first in row 3"):
        lowfold.SupervisedLLE(2).fit(X, y)
    with pytest.raises(InvalidInput, match="no class for 40 of 40 points"):
        lowfold.SupervisedLLE(2).fit(X, np.full(40, np.nan))


@pytest.mark.extra("pandas")
def test_other_columns_are_refused_as_bad_input() -> None:
    import pandas as pd

    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = lowfold.PCA(2).fit(table)
    with pytest.raises(InvalidInput, match="takes the columns of the fit"):
        model.transform(table.assign(d=1.0))
    with pytest.raises(InvalidInput, match="needs them all, under the names of the fit"):
        model.transform(table.rename(columns={"c": "z"}))


def test_a_point_without_a_distance_is_named() -> None:
    D = np.linalg.norm(X[:, None] - X, axis=-1)
    D[17] = D[:, 17] = np.nan
    D[17, 17] = 0
    with pytest.raises(InvalidInput, match=r"fall into 2 groups .* of the last group are the points 17"):
        lowfold.MetricMDS(2, metric="precomputed").fit(D)


def test_a_masked_matrix_of_distances_is_told_where_to_go() -> None:
    D = np.linalg.norm(X[:, None] - X, axis=-1)
    far = np.ma.masked_greater(D, 2.5)
    with pytest.raises(InvalidInput, match="or, of distances, to MetricMDS"):
        lowfold.MetricMDS(2, metric="precomputed").fit(far)
    lowfold.MetricMDS(3, metric="precomputed").fit(far.filled(np.nan))


def test_cells_without_data_are_counted(tmp_path: Path, run: Run) -> None:
    from lowfold.datasets._write_envi import write_envi

    cube = rng.uniform(1, 2, size=(5, 6, 4)).astype(np.float32)
    cube[1, 2] = cube[4, :] = -9999
    write_envi(tmp_path / "s.hdr", [cube], cube.shape, names=["a", "b", "c", "d"], ignore=-9999.0)
    code, _, told = run("cube", tmp_path / "s.hdr", "-m", "pca", "--n-components", 2, "--out", tmp_path / "f.hdr")
    assert code == 0, told
    assert "5 x 6 cells (7 without data left out), 4 bands -> 2 features" in told


def test_a_descent_goes_on_from_a_layout_that_its_callback_kept() -> None:
    layouts: list[np.ndarray] = []
    Z = lowfold.datasets.s_curve(200, random_state=9016).X
    stopped = lowfold.TSNE(2, callback=lambda step, loss, Y: layouts.append(Y) or len(layouts) == 6).fit(Z)
    assert stopped.stop_reason_ == "callback"
    assert not np.array_equal(layouts[-2], layouts[-1])  # copies, not one array that changes
    further = lowfold.TSNE(2, init=layouts[-1], early_exaggeration_iter=0).fit(Z)
    assert further.kl_divergence_ <= stopped.kl_divergence_
    assert abs(further.kl_divergence_ - lowfold.TSNE(2).fit(Z).kl_divergence_) < 0.05


def test_an_order_says_nothing_of_a_second_coordinate() -> None:
    t = np.sort(rng.uniform(0, 3, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = order_collection(np.column_stack([np.cos(t), np.sin(t), t]))
    assert np.array_equal(found.order, np.arange(80)) or np.array_equal(found.order, np.arange(80)[::-1])
