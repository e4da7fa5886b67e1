"""K-means: as good as scikit-learn's, the same bits for any number of threads, and no cluster without rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from lowfold.lowrank._k_means import k_means


def blobs(seed: int, n: int = 600, k: int = 6, apart: float = 6.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 100.0 + apart * rng.normal(size=(k, 4))[rng.integers(k, size=n)] + rng.normal(size=(n, 4))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("apart", [0.5, 6.0])
def test_as_low_as_scikit_learns(seed: int, apart: float) -> None:
    X = blobs(seed, apart=apart)
    found = k_means(X, 6, n_init=10, rng=np.random.default_rng(seed))
    assert found.inertia <= 1.02 * KMeans(6, n_init=10, random_state=seed).fit(X).inertia_
    assert np.isclose(np.square(X - found.centers[found.labels]).sum(), found.inertia)
    assert set(found.labels) == set(range(6))


def test_threads_do_not_change_a_bit() -> None:
    X = blobs(5, n=40_000)
    one, two = (k_means(X, 6, n_init=1, rng=np.random.default_rng(0), n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.centers, two.centers)


def test_an_empty_cluster_starts_again() -> None:
    """A start at two rows of one blob, and one far from all: its cluster is empty after the first step."""
    from lowfold.lowrank._k_means import _Rows

    X = np.vstack([np.zeros((20, 1)), np.full((20, 1), 10.0), np.full((3, 1), 20.0)])
    X = X + 0.01 * np.random.default_rng(6).normal(size=X.shape)
    found = _Rows(X, None).lowered(np.array([[0.0], [10.0], [1e3]]))
    assert sorted(np.bincount(found.labels)) == [3, 20, 20]


def test_fewer_distinct_rows_than_clusters_leave_some_empty() -> None:
    X = np.repeat(np.array([[0.0, 1.0], [2.0, 3.0]]), 5, axis=0)
    found = k_means(X, 4, n_init=2, rng=np.random.default_rng(0))
    assert found.inertia == 0
    assert len(np.unique(found.labels)) == 2
    assert np.isfinite(found.centers).all()
