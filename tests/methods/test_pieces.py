"""Components embedded one by one: what a model in pieces has for every point, and what it refuses in words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import lowfold
from lowfold._core.errors import DisconnectedWarning, InvalidInput

GEODESIC = ["Isomap", "LandmarkIsomap", "ConformalIsomap", "KernelIsomap", "LocallyLinearIsomap"]
WALKS = ["LaplacianEigenmaps", "DiffusionMaps", "VectorDiffusionMaps"]
ALIGNED = ["LLE", "ModifiedLLE", "SupervisedLLE", "LTSA", "HessianLLE"]


def blobs(*sizes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bent sheets far from each other, rows shuffled; and the sheet of each row."""
    rng = np.random.default_rng(seed)
    U = [rng.random((size, 2)) for size in sizes]
    X = np.vstack([np.column_stack([u, np.sin(2 * u[:, 0] + u[:, 1])]) + 40.0 * i for i, u in enumerate(U)])
    order = rng.permutation(len(X))
    return X[order], np.repeat(np.arange(len(sizes)), sizes)[order]


def fitted(name: str, X: np.ndarray, mode: str, **options):
    model = getattr(lowfold, name)(2, on_disconnected=mode, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        return model.fit(X, np.arange(len(X)) % 2) if name == "SupervisedLLE" else model.fit(X)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_component_has_its_own_walk(seed: int) -> None:
    X, box = blobs(50, 30, 3, 1, seed=seed)
    model = fitted("DiffusionMaps", X, "separate", radius=0.9)
    for i in range(3):
        rows = box == i
        alone = lowfold.DiffusionMaps(min(2, rows.sum() - 1), radius=0.9).fit(X[rows])
        assert np.allclose(model.stationary_[rows], alone.stationary_)
        assert model.stationary_[rows].sum() == pytest.approx(1)
        right, left = model.right_vectors_[rows], model.left_vectors_[rows]
        assert np.allclose(np.abs(right[:, : alone.n_components]), np.abs(alone.right_vectors_), atol=1e-5)
        product = left.T @ right  # phi_k' psi_l = delta_kl
        assert np.allclose(product, np.eye(2) * (np.arange(2) < alone.n_components), atol=1e-8)
    assert np.isnan(model.stationary_[box == 3]).all()
    assert np.array_equal(model.eigenvalues_, lowfold.DiffusionMaps(2, radius=0.9).fit(X[box == 0]).eigenvalues_)
    largest = fitted("DiffusionMaps", X, "largest", radius=0.9, weights="self_tuning", tuning=3)
    for name in ("stationary_", "right_vectors_", "left_vectors_", "local_scales_"):
        value = getattr(largest, name)
        assert len(value) == len(X)
        assert np.array_equal(np.isfinite(value.reshape(len(X), -1)).all(axis=1), box == 0)


@pytest.mark.parametrize("name", [*WALKS, *ALIGNED])
def test_rows_of_fitted_attributes(name: str) -> None:
    X, box = blobs(40, 30)
    separate = fitted(name, X, "separate", n_neighbors=8)
    for attribute in separate.per_point:
        if getattr(separate, attribute, None) is None:
            continue
        value = getattr(separate, attribute)
        assert len(value) == 70
        assert np.isfinite(value).all()
        for i in (0, 1):
            alone = getattr(lowfold, name)(2, n_neighbors=8).fit(X[box == i])
            assert np.allclose(value[box == i], getattr(alone, attribute), atol=1e-6)
    assert len(separate._extend.pieces) == 2


@pytest.mark.parametrize("name", [*GEODESIC, *WALKS])
@pytest.mark.parametrize("mode", ["separate", "largest"])
def test_no_common_kernel(name: str, mode: str) -> None:
    X, _ = blobs(30, 20)
    with pytest.raises(InvalidInput, match=r"one model of all points.*component_labels_"):
        fitted(name, X, mode, n_neighbors=8).kernel()


@pytest.mark.parametrize("name", ["Isomap", "LTSA", "DiffusionMaps"])
def test_distances_to_what_was_left_out(name: str) -> None:
    X, box = blobs(30, 20)
    model = fitted(name, X, "largest", n_neighbors=8)
    D = model.distances(X, X + 1e-4)
    assert np.array_equal(np.isfinite(D), np.logical_and.outer(box == 0, box == 0))
    inside = model.distances(X[box == 0])
    assert np.isfinite(inside).all()
    assert np.isnan(model.distances(X[box == 1])).all()


@pytest.mark.parametrize("rule", ["maxmin", "random"])
def test_landmarks_in_every_component(rule: str) -> None:
    X, box = blobs(40, 20, 4)
    counted = fitted("LandmarkIsomap", X, "separate", n_neighbors=3, landmarks=12, landmark_rule=rule)
    assert np.bincount(box[counted.landmarks_]).tolist() == [12, 12, 4]
    assert np.isfinite(counted.embedding_).all()
    named = np.concatenate([np.flatnonzero(box == i)[:4] for i in range(3)])
    given = fitted("LandmarkIsomap", X, "separate", n_neighbors=3, landmarks=named)
    assert np.array_equal(given.landmarks_, np.sort(named))
    with pytest.raises(InvalidInput, match="only 0 of the given landmarks lie in a component of 20 points"):
        fitted("LandmarkIsomap", X, "separate", n_neighbors=3, landmarks=np.flatnonzero(box == 0))


def test_the_anchor_keeps_its_number() -> None:
    X, box = blobs(40, 30)
    last = int(np.flatnonzero(box == 0)[-1])
    model = fitted("HessianLLE", X, "separate", n_neighbors=10, anchor=last)
    near = np.append(model.neighbors_.row(last)[0], last)
    Y = model.embedding_[near]
    offset = model._extend.pieces[0].offset
    assert np.allclose((Y - offset).T @ (Y - offset), np.eye(2), atol=1e-6)
    with pytest.raises(InvalidInput, match="not in the largest component"):
        fitted("HessianLLE", X, "largest", n_neighbors=10, anchor=int(np.flatnonzero(box == 1)[0]))


def test_components_too_small_for_tangent_planes() -> None:
    X, box = blobs(60, 5, 2, 1)
    model = fitted("VectorDiffusionMaps", X, "separate", radius=1.2, tangent_dim=2, n_eigenvectors=20)
    assert np.isfinite(model.embedding_).all()
    for i in (1, 2, 3):  # fewer points than planes or fields need: one place for all of them
        assert np.ptp(model.embedding_[box == i], axis=0).max() == 0
        assert (model.orientation_[box == i] == 0).all()
    assert model.tangents_.shape == (68, 3, 2)


@pytest.mark.parametrize("seed", [7, 8, 9])
@pytest.mark.parametrize("name", ["LLE", "ModifiedLLE"])
def test_bridges_do_not_lay_pieces_over_each_other(name: str, seed: int) -> None:
    """With a bridge as stiff as LTSA's one in ten points had its nearest neighbour in the other piece."""
    sheets = [lowfold.datasets.s_curve(n, random_state=seed + n).X for n in (350, 250)]
    X = np.vstack([sheets[0], sheets[1] + [0.0, 0.0, 6.0]])
    piece = np.repeat([0, 1], [350, 250])
    Y = fitted(name, X, "connect", n_neighbors=10).embedding_
    nearest = NearestNeighbors(n_neighbors=2).fit(Y).kneighbors(Y, return_distance=False)[:, 1]
    assert (piece[nearest] == piece).mean() > 0.99
    for part in (0, 1):
        assert np.linalg.matrix_rank(Y[piece == part] - Y[piece == part].mean(axis=0), tol=1e-6) == 2
