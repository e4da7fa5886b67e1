"""Neighbours of rows in blocks: bit for bit those of the search in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold._core import rows as blocks
from lowfold._core.open_rows import open_rows
from lowfold._core.run import Run
from lowfold.graph import find_neighbors
from lowfold.graph._block_search import _calibrated, _task
from lowfold.graph._connect import find_bridges
from lowfold.graph._reading import read_blocks, read_points
from lowfold.graph._search import nearest


def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, X: np.ndarray, rows: int) -> Path:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * X.shape[1] * rows)
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize(("columns", "dtype"), [(3, np.float64), (20, np.float32)])
def test_exact_neighbours_have_the_bits_of_those_in_memory(tmp_path, monkeypatch, metric, columns, dtype) -> None:
    rng = np.random.default_rng(columns)
    X = np.round(rng.normal(size=(500, columns)), 1).astype(dtype)  # ties, and some points twice
    X[400:420] = X[:20]
    path = cut(tmp_path, monkeypatch, X, 130)
    whole, found = (find_neighbors(given, 9, metric=metric) for given in (X, path))
    assert np.array_equal(found.indices, whole.indices)
    assert np.array_equal(found.distances, whole.distances)
    radius = float(np.median(whole.distances))
    whole, found = (find_neighbors(given, radius=radius, metric=metric) for given in (X, path))
    assert np.array_equal(found.indices, whole.indices)
    assert np.array_equal(found.distances, whole.distances)
    new = rng.normal(size=(30, columns)).astype(dtype)
    sources = read_points(X, "X", metric, None), read_blocks(open_rows(path), metric, None)
    whole, found = (nearest(source, 5, queries=new) for source in sources)
    assert np.array_equal(found.indices, whole.indices)
    assert np.array_equal(found.distances, whole.distances)


def test_blocks_with_fewer_points_than_neighbours(tmp_path, monkeypatch) -> None:
    X = np.random.default_rng(1).normal(size=(41, 2))
    path = cut(tmp_path, monkeypatch, X, 4)
    assert np.array_equal(find_neighbors(path, 12).indices, find_neighbors(X, 12).indices)


def test_huge_values_are_scaled_as_in_memory(tmp_path, monkeypatch) -> None:
    X = (np.random.default_rng(2).normal(size=(90, 3)) * 1e18).astype(np.float32)
    path = cut(tmp_path, monkeypatch, X, 40)
    assert np.array_equal(find_neighbors(path, 4).distances, find_neighbors(X, 4).distances)


@pytest.mark.extra("faiss")
def test_the_recall_of_the_approximate_search_is_what_it_says(tmp_path, monkeypatch) -> None:
    X = np.random.default_rng(3).normal(size=(3000, 16)).astype(np.float32)
    path = cut(tmp_path, monkeypatch, X, 1000)
    found, truth = find_neighbors(path, 10, search="faiss"), find_neighbors(X, 10)
    pairs = zip(found.indices.reshape(-1, 10), truth.indices.reshape(-1, 10))
    recall = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in pairs])
    assert found.recall >= 0.95
    assert abs(recall - found.recall) < 0.03
    assert not (found.indices.reshape(-1, 10) == np.arange(3000)[:, None]).any()


@pytest.mark.extra("faiss")
def test_lists_are_found_once_here_and_for_every_pair_elsewhere(tmp_path, monkeypatch) -> None:
    X = np.random.default_rng(5).normal(size=(900, 8)).astype(np.float32)
    rows = open_rows(cut(tmp_path, monkeypatch, X, 300))
    here = find_neighbors(rows, 6, search="faiss")
    rows.jobs = 1  # as on a cluster
    elsewhere = find_neighbors(rows, 6, search="faiss")
    assert np.array_equal(here.indices, elsewhere.indices)
    assert here.recall == elsewhere.recall


@pytest.mark.extra("faiss")
def test_few_lists_suffice_on_a_curve(tmp_path, monkeypatch) -> None:
    t = np.sort(np.random.default_rng(6).uniform(size=2500))
    X = np.column_stack([np.cos(t * j) for j in range(1, 12)]).astype(np.float32)
    source = read_blocks(open_rows(cut(tmp_path, monkeypatch, X, 1000)), "euclidean", None)
    task, recall = _calibrated(source, _task(source, None, 5, "faiss", Run()), Run())
    assert task.lists.probes <= 4  # of 50
    assert recall >= 0.95


def test_bridges_between_pieces(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(100, 2)) + 20 * np.array(c) for c in ([0, 0], [0, 1], [3, 1])])
    X = np.concatenate([X, [[500.0, 0.0], [501.0, 0.0]]])
    labels = np.repeat([0, 1, 2, 3], [100, 100, 100, 2])
    path = cut(tmp_path, monkeypatch, X, 70)
    whole = find_bridges(read_points(X, "X", "euclidean", None), labels)
    found = find_bridges(read_blocks(open_rows(path), "euclidean", None), labels)
    assert np.array_equal(found.edges, whole.edges)
    assert np.array_equal(found.lengths, whole.lengths)
