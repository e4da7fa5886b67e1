"""Rows of a training matrix of distances are its points, whether their own zeros are stored or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import lowfold
from lowfold._core.errors import RepairWarning


def nearest_of(k: int = 12) -> tuple[np.ndarray, csr_array]:
    """Distances of all pairs, two points being the same, and a sparse matrix of the nearest ones, one way."""
    X = lowfold.datasets.swiss_roll(120, random_state=71).X.copy()
    X[7] = X[8]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(D, axis=1)[:, 1 : k + 1]
    rows = np.repeat(np.arange(len(D)), k)
    return D, csr_array((D[rows, near.ravel()], (rows, near.ravel())), shape=D.shape)


@pytest.mark.parametrize("name", ["Isomap", "LTSA", "DiffusionMaps"])
def test_sparse_rows_without_a_diagonal_are_the_training_points(name: str) -> None:
    D, one_way = nearest_of()
    both = one_way.maximum(one_way.T)
    half = csr_array(np.triu(both.toarray()))
    for fitted, new, rows in (
        (one_way, one_way, slice(None)),
        (both, both[30:50], slice(30, 50)),
        (half, half, slice(None)),
        (D, csr_array(D)[:40], slice(40)),
    ):
        model = getattr(lowfold, name)(metric="precomputed").fit(fitted)
        size = np.abs(model.embedding_).max()
        assert np.allclose(model.transform(new), model.embedding_[rows], atol=1e-12 * size)


def test_other_distances_among_the_training_points_are_told_and_zeros_say_which_they_are() -> None:
    D, one_way = nearest_of()
    model = lowfold.Isomap(metric="precomputed").fit(one_way)
    wider = np.where(D < 8, D, 0.0)
    np.fill_diagonal(wider, 0.0)
    with pytest.warns(RepairWarning, match=r"of its 120 rows are not theirs.*Store a zero"):
        model.transform(csr_array(wider))
    rows, columns = np.nonzero(wider + np.eye(len(D)))
    stored = csr_array((wider[rows, columns], (rows, columns)), shape=D.shape)
    assert np.allclose(model.transform(stored), model.embedding_)


def test_new_points_are_not_taken_for_training_points() -> None:
    D, _ = nearest_of()
    model = lowfold.Isomap(metric="precomputed").fit(D[20:, 20:])
    new = D[:20, 20:].copy()
    new[:, 5] = np.nan
    alone = model.transform(new[:1])
    assert np.allclose(model.transform(new)[:1], alone)
    assert np.abs(alone - model.embedding_).sum(axis=1).min() > 0
