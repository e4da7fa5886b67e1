"""Hessian LLE: the true Hessian estimator, its identities with LTSA and the stacked operator, scale, experiments."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.alignment_helpers import angle, explained, nullity, plane

import lowfold
from lowfold import datasets
from lowfold._core.run import Run
from lowfold.graph import Points, nearest
from lowfold.kernels._alignment import align
from lowfold.kernels._hessian import hessian_alignment, hessian_rows, quadratic_dimension
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.kernels._tangent import tangents
from lowfold.metrics._resolve import resolve_metric


def alignment(X, k, d, include_self=False):
    source = Points(X, resolve_metric("euclidean", None, X))
    found = nearest(source, k)
    return hessian_alignment(Patches.around(found, include_self=include_self), geometry_of(source, found), d, Run())[0]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_local_matrices_are_projectors_of_the_right_rank(d: int) -> None:
    X = np.random.default_rng(d).normal(size=(60, 5))
    A = alignment(X, quadratic_dimension(d) + 3, d)
    for i in range(0, 60, 9):
        W = A.local(i)
        assert np.allclose(W @ W, W, atol=1e-10)
        assert np.trace(W) == pytest.approx(d * (d + 1) / 2)
        assert np.abs(W.sum(axis=1)).max() < 1e-10
    assert align(A).dense().trace() == pytest.approx(60 * d * (d + 1) / 2)


def test_rows_estimate_second_derivatives() -> None:
    rng = np.random.default_rng(0)
    T = rng.normal(size=(12, 2))
    T -= T.mean(axis=0)
    local = tangents(T[None], 2)
    Q = hessian_rows(local.V)[0]
    affine = 3 + T @ [2.0, -1.0]
    assert np.abs(Q.T @ affine).max() < 1e-12
    saddle = T[:, 0] ** 2 - T[:, 1] ** 2  # zero Laplacian, but not affine
    assert np.linalg.norm(Q.T @ saddle) > 0.1
    full = np.column_stack([np.ones(12), T, T[:, 0] ** 2, T[:, 0] * T[:, 1], T[:, 1] ** 2])
    assert np.linalg.norm(Q.T @ saddle) == pytest.approx(
        np.linalg.norm(saddle - full[:, :3] @ np.linalg.lstsq(full[:, :3], saddle, rcond=None)[0])
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_stacked_operator_gives_the_same_kernel(seed: int) -> None:
    A = alignment(np.random.default_rng(seed).normal(size=(50, 4)), 9, 2)
    H = A.stacked()
    assert np.allclose((H.T @ H).toarray(), align(A).dense(), atol=1e-12)


@pytest.mark.parametrize(("d", "seed"), [(1, 0), (2, 0), (2, 1), (3, 0)])
def test_with_the_fewest_neighbours_it_is_ltsa(d: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(80, 5))
    k = quadratic_dimension(d)
    with np.errstate(all="raise"):
        hessian = alignment(X, k, d)
    from tests.methods.test_ltsa import alignment as tangent_alignment

    assert np.allclose(align(hessian).dense(), align(tangent_alignment(X, k, d, include_self=False)).dense(), atol=1e-8)


def test_with_more_neighbours_it_is_not() -> None:
    X = datasets.s_curve(300, random_state=0).X
    names = ("HessianLLE", "LTSA")
    hessian, ltsa = (getattr(lowfold, name)(2, n_neighbors=12).fit(X).kernel().dense() for name in names)
    assert np.linalg.norm(hessian - ltsa) > 0.1 * np.linalg.norm(ltsa)


@pytest.mark.parametrize("seed", range(3))
def test_flat_data_give_their_coordinates(seed: int) -> None:
    X, T = plane(250, seed=seed)
    model = lowfold.HessianLLE(2, n_neighbors=10).fit(X)
    assert nullity(model.kernel().dense()) == 3
    assert angle(model.embedding_, T - T.mean(axis=0)) < 1e-6
    assert model.local_errors_.max() < 1e-6


@pytest.mark.extra("tapkee")
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_tapkee(seed: int) -> None:
    tapkee = pytest.importorskip("tapkee")
    X = datasets.s_curve(600, random_state=seed).X
    theirs = np.asarray(tapkee.embed(np.asfortranarray(X.T), method="hlle", num_neighbors=12, target_dimension=2))
    theirs = theirs.T if theirs.shape[0] == 2 else theirs
    ours = lowfold.HessianLLE(2, n_neighbors=12, include_self=False).fit_transform(X)
    assert angle(ours, theirs - theirs.mean(axis=0)) < 1e-8


def test_one_dimension_works() -> None:
    for seed in range(3):
        t = np.sort(np.random.default_rng(seed).random(200)) * 4
        X = np.column_stack([np.cos(t), np.sin(t), t])
        Y = lowfold.HessianLLE(1, n_neighbors=12).fit_transform(X)
        assert abs(np.corrcoef(Y[:, 0], t)[0, 1]) > 0.9999


def test_too_few_neighbours_are_refused_in_words() -> None:
    X = np.random.default_rng(0).random((40, 3))
    with pytest.raises(ValueError, match="n_neighbors of HessianLLE must be at least 6 for n_components = 2; got 5"):
        lowfold.HessianLLE(2, n_neighbors=5).fit(X)
    assert lowfold.HessianLLE(4).fit(np.random.default_rng(0).random((60, 6))).n_neighbors_ == 15


def test_both_scales() -> None:
    curve = datasets.s_curve(400, random_state=0)
    plain = lowfold.HessianLLE(2, n_neighbors=12).fit(curve.X)
    assert np.allclose(plain.embedding_.T @ plain.embedding_, np.eye(2), atol=1e-8)
    near = lowfold.HessianLLE(2, n_neighbors=12, anchor=17).fit(curve.X)
    N0 = np.append(near.neighbors_.row(17)[0], 17)
    assert np.allclose(near.embedding_[N0].T @ near.embedding_[N0], np.eye(2), atol=1e-6)
    assert angle(plain.embedding_, near.embedding_) < 1e-8
    with pytest.raises(ValueError, match="anchor"):
        lowfold.HessianLLE(anchor=400).fit(curve.X)


@pytest.mark.parametrize("maker", [datasets.swiss_roll, datasets.swiss_hole])
def test_unrolls_also_around_a_hole(maker) -> None:
    for seed in range(2):
        data = maker(1000, random_state=seed)
        Y = lowfold.HessianLLE(2, n_neighbors=10).fit_transform(data.X)
        assert explained(data.coordinates, Y).min() > 0.99


def test_noise_takes_a_coordinate() -> None:
    clean, noisy = (datasets.swiss_roll(1000, noise=s, random_state=0) for s in (0.0, 0.4))
    scores = [
        explained(d.coordinates, lowfold.HessianLLE(2, n_neighbors=12).fit_transform(d.X)).min() for d in (clean, noisy)
    ]
    assert scores[0] > 0.99
    assert scores[1] < scores[0] - 0.05


def test_per_point_numbers_and_small_radius_neighbourhoods() -> None:
    curve = datasets.s_curve(500, random_state=0)
    k = np.random.default_rng(0).integers(8, 16, 500)
    assert explained(curve.coordinates, lowfold.HessianLLE(2, n_neighbors=k).fit_transform(curve.X)).min() > 0.98
    Y = lowfold.HessianLLE(2, radius=0.7).fit_transform(curve.X)
    assert np.isfinite(Y).all()


def test_new_points() -> None:
    curve, new = datasets.s_curve(800, random_state=0), datasets.s_curve(100, random_state=1)
    model = lowfold.HessianLLE(2, n_neighbors=12).fit(curve.X)
    assert explained(new.coordinates, model.transform(new.X)).min() > 0.98
