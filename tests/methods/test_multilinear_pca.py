"""Multilinear PCA on images and cubes."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold


def images(seed: int, n: int = 60, shape: tuple[int, ...] = (9, 7)) -> np.ndarray:
    """Arrays with a planted core of 2 x 2 (x 2) and a little noise."""
    rng = np.random.default_rng(seed)
    core = rng.normal(size=(n, *(2 for _ in shape))) * 3
    for axis, size in enumerate(shape):
        U = np.linalg.qr(rng.normal(size=(size, 2)))[0]
        core = np.moveaxis(np.tensordot(core, U, axes=(axis + 1, 1)), -1, axis + 1)
    return core + 0.05 * rng.normal(size=(n, *shape)) + 1


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("shape", [(9, 7), (6, 5, 4)])
def test_planted_modes_are_found(seed: int, shape: tuple[int, ...]) -> None:
    X = images(seed, shape=shape)
    ranks = [2] * len(shape)
    model = lowfold.MultilinearPCA(2 ** len(shape), ranks=ranks).fit(X)
    assert model.explained_variance_ratio_.sum() > 0.97
    assert [U.shape for U in model.modes_] == [(size, 2) for size in shape]
    for U in model.modes_:
        assert np.allclose(U.T @ U, np.eye(2))
    assert np.linalg.norm(model.inverse_transform(model.embedding_) - X) < 0.2 * np.linalg.norm(X - X.mean(axis=0))
    assert np.allclose(model.transform(X), model.embedding_)
    flat = model.components_.reshape(len(model.components_), -1)
    assert np.allclose(flat @ flat.T, np.eye(len(flat)), atol=1e-8)
    assert np.allclose((X - model.mean_).reshape(len(X), -1) @ flat.T, model.embedding_)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_captured_scatter_never_falls_and_pca_captures_no_less(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 8, 6))
    model = lowfold.MultilinearPCA(3, ranks=[3, 2], tol=1e-9).fit(X)
    assert np.all(np.diff(model.scatter_) >= -1e-9 * model.scatter_[0])
    assert len(model.scatter_) > 2
    free = lowfold.PCA(3).fit(X.reshape(40, -1))
    assert np.all(np.cumsum(model.eigenvalues_) <= np.cumsum(free.eigenvalues_) + 1e-9)
    early = lowfold.MultilinearPCA(3, ranks=[3, 2], tol=1e-9, max_iter=1).fit(X)
    assert early.scatter_[-1] < model.scatter_[-1]
    loose = lowfold.MultilinearPCA(3, ranks=[3, 2], tol=0.9).fit(X)
    assert loose.n_iter_ < model.n_iter_


def test_rows_of_features_give_pca() -> None:
    X = np.random.default_rng(2).normal(size=(30, 5))
    model, reference = lowfold.MultilinearPCA(3).fit(X), lowfold.PCA(3).fit(X)
    assert np.allclose(model.embedding_, reference.embedding_)
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_)


def test_energy_sets_the_ranks() -> None:
    X = images(3)
    assert lowfold.MultilinearPCA(2, energy=0.97).fit(X).ranks_ == (2, 2)
    assert lowfold.MultilinearPCA(2, energy=1.0).fit(X).ranks_ == (9, 7)


def test_the_contract_on_three_axes() -> None:
    X = images(4)
    single = lowfold.MultilinearPCA(2, ranks=[2, 2]).fit(X.astype(np.float32))
    assert single.embedding_.dtype == single.transform(X[:2].astype(np.float32)).dtype == np.float32
    assert single.inverse_transform(single.embedding_).shape == X.shape
    one, two = (lowfold.MultilinearPCA(2, n_jobs=jobs).fit(X).embedding_ for jobs in (1, 2))
    assert np.array_equal(one, two)
    whitened = lowfold.MultilinearPCA(2, normalization="unit").fit(X)
    assert np.allclose(whitened.embedding_.std(axis=0), 1)
    assert np.allclose(whitened.kernel().dense(), whitened.kernel().dense().T)
    for call, words in (
        (lambda: lowfold.MultilinearPCA(2, ranks=[2]).fit(X), "one number for each axis"),
        (lambda: lowfold.MultilinearPCA(2, ranks=[10, 2]).fit(X), "one number for each axis"),
        (lambda: lowfold.MultilinearPCA(5, ranks=[2, 2]).fit(X), "n_components of MultilinearPCA"),
        (lambda: single.transform(X[:, :, :6]), "fitted on"),
        (lambda: lowfold.MultilinearPCA(2).fit(np.where(X > 3, np.nan, X)), "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
