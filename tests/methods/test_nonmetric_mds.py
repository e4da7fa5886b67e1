"""NonmetricMDS: only the order counts; agreement with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.manifold import smacof

from lowfold import NonmetricMDS
from lowfold._core.errors import InvalidInput

TIGHT = {"tol": 1e-13, "max_iter": 4000}


def distances(seed: int, n: int = 30, d: int = 2) -> np.ndarray:
    return cdist(*[np.random.default_rng(seed).normal(size=(n, d))] * 2)


@pytest.mark.parametrize("seed", range(3))
def test_exact_order_is_reached(seed: int) -> None:
    D = distances(seed)
    model = NonmetricMDS(2, metric="precomputed", tol=1e-10, max_iter=3000).fit(D)
    assert model.normalized_stress_ < 1e-3
    upper = np.triu_indices(30, 1)
    Y = model.embedding_
    assert spearmanr(D[upper], cdist(Y, Y)[upper])[0] > 0.9999
    assert (np.diff(model.stress_history_) <= 1e-12).all()


@pytest.mark.parametrize("function", [np.square, np.sqrt, np.expm1, lambda D: np.where(D > 0, D + 7, 0)])
def test_increasing_functions_change_nothing(function) -> None:
    D = distances(1, d=4)
    a, b = (NonmetricMDS(2, metric="precomputed").fit(M) for M in (D, function(D)))
    assert np.allclose(a.embedding_, b.embedding_)


def test_similarities_count_in_reverse() -> None:
    D = distances(2, d=4)
    a = NonmetricMDS(2, metric="precomputed").fit(D)
    b = NonmetricMDS(2, metric="precomputed_similarity").fit(5 - D)
    assert np.allclose(a.embedding_, b.embedding_)
    ranks = -D.ravel().argsort().argsort().reshape(D.shape).astype(float)
    ranks = (ranks + ranks.T) / 2
    assert NonmetricMDS(2, metric="precomputed_similarity").fit(ranks).normalized_stress_ < 0.3
    placed = b.transform(5 - D[:4])
    assert placed.shape == (4, 2)
    assert np.isfinite(placed).all()
    with pytest.raises(InvalidInput, match="square"):
        NonmetricMDS(2, metric="precomputed_similarity").fit(np.ones((3, 4)))
    with pytest.raises(InvalidInput, match="sparse"):
        NonmetricMDS(2, metric="precomputed_similarity").fit(csr_array(D))


@pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7),
    reason="its nonmetric MDS was wrong before 1.7",
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_as_scikit_learn() -> None:
    """scikit-learn has secondary ties; its stress is a tangent where Kruskal's, and ours, is the sine."""
    same = 0
    for seed in range(4):
        D = np.round(3 * distances(seed, d=4)) + 0.5
        np.fill_diagonal(D, 0)
        init = np.random.default_rng(seed).normal(size=(30, 2))
        settings = {"n_components": 2, "init": init, "n_init": 1, "max_iter": 2000, "eps": 1e-12}
        Z, stress = smacof(D, metric=False, normalized_stress=True, **settings)
        model = NonmetricMDS(2, metric="precomputed", ties="secondary", init=init, **TIGHT).fit(D)
        ours = float(np.tan(np.arcsin(model.normalized_stress_)))
        if procrustes(Z, model.embedding_)[2] < 1e-6:  # the same of the many local minima
            same += 1
            assert ours == pytest.approx(stress, rel=1e-3)
    assert same >= 1


def test_primary_ties_fit_better() -> None:
    D = np.round(2 * distances(0, d=4)) + 0.5
    np.fill_diagonal(D, 0)
    primary, secondary = (NonmetricMDS(2, metric="precomputed", ties=t).fit(D) for t in ("primary", "secondary"))
    assert primary.normalized_stress_ < secondary.normalized_stress_


def test_shepard_diagram() -> None:
    D = distances(3, d=4)
    model = NonmetricMDS(2, metric="precomputed").fit(D)
    shown = model.shepard()
    assert (np.diff(shown.dissimilarities) >= 0).all()
    assert (np.diff(shown.disparities) >= -1e-12).all()
    stress = ((shown.distances - shown.disparities) ** 2).sum()
    assert stress == pytest.approx(model.stress_, rel=1e-9)
    assert np.sqrt(stress / (shown.distances**2).sum()) == pytest.approx(model.normalized_stress_, rel=1e-6)
    assert model.point_stress_.sum() / 2 == pytest.approx(model.stress_)
    assert len(model.shepard(50).distances) == 50


def test_missing_pairs() -> None:
    D = distances(4, 40)
    hole = np.triu(np.random.default_rng(0).random(D.shape) < 0.4, 1)
    D[hole | hole.T] = np.nan
    model = NonmetricMDS(2, metric="precomputed", tol=1e-10, max_iter=2000).fit(D)
    assert model.normalized_stress_ < 2e-3
    known = np.isfinite(D) & ~np.eye(40, dtype=bool)
    Y = model.embedding_
    assert spearmanr(D[known], cdist(Y, Y)[known])[0] > 0.999


def test_new_points() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    model = NonmetricMDS(2, tol=1e-10, max_iter=2000).fit(X)
    new = X[:10] + 0.02 * rng.normal(size=(10, 2))
    scale = np.linalg.norm(model.embedding_) / np.linalg.norm(X - X.mean(axis=0))
    assert np.abs(model.transform(new) - model.embedding_[:10]).max() < 0.2 * scale


def test_the_last_step_stands_still() -> None:
    D = distances(5, d=4)
    model = NonmetricMDS(2, metric="precomputed", **TIGHT).fit(D)
    Y = model.embedding_
    step = model.kernel().dense() @ Y / 30
    scale = (step * Y).sum() / (Y * Y).sum()
    assert np.abs(step - scale * Y).max() < 1e-3 * np.abs(Y).max()
