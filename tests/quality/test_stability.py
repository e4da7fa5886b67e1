"""Stability under resampling, and how much noise comes through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowfold
from lowfold import quality
from lowfold._core.errors import InvalidInput
from lowfold.quality._riemann import noise_bound


class Scattered(BaseEstimator):
    """Places that have nothing to do with the data."""

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        return np.random.default_rng(len(X) + int(1e6 * abs(X[0, 0]))).normal(size=(len(X), 2))


class Fragile(BaseEstimator):
    """Works on all data only."""

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        if len(X) < 60:
            raise InvalidInput("too few points")
        return np.asarray(X[:, :2])


def plane(seed: int, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_picture_again(seed: int) -> None:
    X = plane(seed)
    found = quality.stability(X, lowfold.PCA(2), n_resamples=6, random_state=seed)
    # PCA of a plane is the plane, whichever part is taken; only centre and size differ.
    assert found.value < 0.2
    assert quality.stability(X, lowfold.PCA(2, normalization="unit"), align="affine").value < 0.2
    assert found.points is not None
    assert found.points.shape == (60,)
    assert found.places is not None
    assert found.places.shape == (6, 60, 2)
    assert np.isfinite(found.places).all(axis=2).sum(axis=1).tolist() == [48] * 6
    again = quality.stability(X, lowfold.PCA(2), n_resamples=6, random_state=seed)
    assert again.value == found.value


def test_nothing_in_common() -> None:
    assert quality.stability(plane(0, 400), Scattered(), n_resamples=8).value == pytest.approx(1.0, abs=0.1)


def test_spread_by_hand() -> None:
    X = plane(0)
    found = quality.stability(X, lowfold.PCA(2), n_resamples=5)
    assert found.places is not None
    assert found.points is not None
    assert found.mean is not None
    i = int(np.flatnonzero(np.isfinite(found.places).all(axis=2).sum(axis=0) == 4)[0])
    here = found.places[np.isfinite(found.places[:, i]).all(axis=1), i]
    assert np.allclose(found.mean[i], here.mean(axis=0))
    assert found.points[i] == pytest.approx(np.sqrt(((here - here.mean(axis=0)) ** 2).sum() / 3))


def test_affine_freedom_is_taken_out() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1.0, 0.05]

    class Stretched(BaseEstimator):
        def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
            return np.asarray(X * [1.0, 1 + 200 * abs(X[0, 0])])

    assert quality.stability(X, Stretched(), align="affine").value < 0.1
    assert quality.stability(X, Stretched()).value > 0.15


def test_shortcuts_in_some_parts_show() -> None:
    sparse, dense = (lowfold.datasets.swiss_roll(n, random_state=1).X for n in (500, 900))
    model = lowfold.Isomap(2, n_neighbors=7)
    steady, shaky = (quality.stability(X, model, n_resamples=5) for X in (dense, sparse))
    assert steady.value < 0.1
    assert shaky.value > 0.3


def test_distances_labels_and_scikit_learn() -> None:
    from sklearn.manifold import Isomap

    X = plane(1)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    by_points = quality.stability(X, lowfold.Isomap(2, n_neighbors=8), n_resamples=3)
    by_matrix = quality.stability(D, lowfold.Isomap(2, n_neighbors=8, metric="precomputed"), n_resamples=3)
    assert by_matrix.value == pytest.approx(by_points.value, rel=1e-6)
    assert quality.stability(X, Isomap(n_neighbors=8), n_resamples=3).value == pytest.approx(by_points.value, rel=1e-4)


def test_labels_go_with_their_points() -> None:
    X = plane(1)

    class ByLabel(BaseEstimator):
        def fit_transform(self, X: Any, y: Any) -> np.ndarray:
            assert np.array_equal(y, X[:, 0] > 0)
            return np.asarray(X[:, :2] * np.where(y, 1.0, 3.0)[:, None])

    # Each part puts its points where all data put them, which only the right labels do; only centre and size differ.
    assert quality.stability(X, ByLabel(), y=X[:, 0] > 0, n_resamples=4).value < 0.2
    ignored, mixed = (
        quality.stability(X, lowfold.SupervisedLLE(2, supervision=s), y=X[:, 0] > 0, n_resamples=3).value
        for s in (0.0, 0.5)
    )
    assert ignored == pytest.approx(quality.stability(X, lowfold.LLE(2), n_resamples=3).value, rel=1e-6)
    assert mixed != pytest.approx(ignored, rel=1e-3)


def test_the_model_is_not_changed() -> None:
    model = lowfold.PCA(2)
    quality.stability(plane(0), model, n_resamples=2)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: quality.stability(X, lowfold.PCA(2), n_resamples=1), "n_resamples"),
        (lambda X: quality.stability(X, lowfold.PCA(2), fraction=1), "fraction"),
        (lambda X: quality.stability(X, lowfold.PCA(2), fraction=0.01), "at least 3 points"),
        (lambda X: quality.stability(X, lowfold.PCA(2), align="loose"), "align"),
        (lambda X: quality.stability(X, lowfold.PCA(2), y=[1, 2]), "one entry per point"),
        (lambda X: quality.stability(lowfold.graph.find_neighbors(X, 3), lowfold.Isomap(2)), "part of a graph"),
        (lambda X: quality.stability(X, Fragile()), "too few points"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call(plane(0))


def unrolled(X: np.ndarray, lengths: bool) -> np.ndarray:
    """h of the roll (t cos t, height, t sin t), off the surface too: angle or arc length from the radius, height."""
    t = np.hypot(X[:, 0], X[:, 2])
    return np.column_stack([(t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2 if lengths else t, X[:, 1]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lengths", [True, False])
def test_noise_stays_below_its_bound(seed: int, lengths: bool) -> None:
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(1500)), 21 * rng.random(1500)
    X = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    Y = unrolled(X, lengths)
    # The surface's own radius: sqrt(1 + t^2) of arc per turn, so that noise across it is told as noise along it.
    sigma = 0.01
    bound = noise_bound(X, Y, 2 * sigma**2, 8)
    assert bound.points is not None
    frame = np.stack([np.cos(t) - t * np.sin(t), np.zeros_like(t), np.sin(t) + t * np.cos(t)], axis=1)
    frame /= np.linalg.norm(frame, axis=1, keepdims=True)
    moved = np.zeros(1500)
    for _ in range(60):  # noise in the tangent plane, where the bound speaks: E|epsilon|^2 = 2 sigma^2
        step = sigma * rng.normal(size=(1500, 2))
        arc = step[:, :1] / np.sqrt(1 + t**2)[:, None]
        turned = t + arc[:, 0]
        noisy = np.column_stack([turned * np.cos(turned), height + step[:, 1], turned * np.sin(turned)])
        moved += ((unrolled(noisy, lengths) - Y) ** 2).sum(axis=1) / 60
    assert (moved < bound.points * 1.6).mean() > 0.97  # 60 draws scatter by 20%
    assert moved.mean() <= bound.value
    if lengths:  # an isometry: all the noise, and no more
        assert np.median(bound.points) == pytest.approx(2 * sigma**2, rel=0.1)
        assert moved.mean() == pytest.approx(2 * sigma**2, rel=0.05)
    assert bound.perfect == 2 * sigma**2
