"""Metrics by SciPy's names give SciPy's distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.graph import find_neighbors
from lowfold.metrics import METRICS, pairwise
from lowfold.metrics._resolve import resolve_metric

BOOLEAN = ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
NAMES = {"manhattan": "cityblock", "l1": "cityblock"} | {
    name: name
    for name in (
        *("braycurtis", "canberra", "chebyshev", "cityblock", "hamming", "jaccard", "jensenshannon", "matching"),
        *("seuclidean", "sqeuclidean", "correlation", "cosine", "euclidean", *BOOLEAN),
    )
}


def data(name: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(40, 9)).astype(float)
    X[:, 0] += 1  # no row is empty
    return (X > 1).astype(float) if name in BOOLEAN else X


@pytest.mark.parametrize("name", sorted(NAMES))
def test_distances_are_scipys(name: str) -> None:
    X = data(name)
    rows = X.astype(bool) if name in BOOLEAN else X
    variances = {"V": X.var(axis=0, ddof=1)} if name == "seuclidean" else {}  # SciPy takes those of both sets together
    theirs = np.nan_to_num(cdist(rows, rows, NAMES[name], **variances))
    np.fill_diagonal(theirs, 0.0)  # russellrao of a row and itself is not
    assert np.allclose(pairwise(X, metric=name), theirs, atol=1e-7)
    metric = resolve_metric(name, None, X)
    assert np.allclose(metric.rowwise(X[:20], X[20:]), np.diagonal(theirs[:20, 20:]), atol=1e-7)
    found = find_neighbors(X, 5, metric=name)
    nearest = np.sort(theirs + np.diag(np.full(40, np.inf)), axis=1)[:, :5]
    assert np.allclose(found.distances.reshape(40, 5), nearest, atol=1e-7)


@pytest.mark.parametrize("name", ["manhattan", "canberra", "chebyshev"])
def test_methods_take_them(name: str) -> None:
    X = np.random.default_rng(0).uniform(1, 2, size=(60, 3)).round(1)
    model = lowfold.ClassicalMDS(2, metric=name).fit(X)
    given = lowfold.ClassicalMDS(2, metric="precomputed").fit(cdist(X, X, NAMES[name]))
    assert np.allclose(np.abs(model.embedding_), np.abs(given.embedding_), atol=1e-6)
    assert np.allclose(model.transform(X[:3]), model.embedding_[:3])


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"jensenshannon.*0 or more"):
        pairwise(np.array([[-1.0, 2.0], [1.0, 1.0]]), metric="jensenshannon")
    with pytest.raises(InvalidInput, match="one variance per column"):
        pairwise(np.eye(3), metric="seuclidean", metric_params={"V": [1.0]})
    assert set(NAMES) <= set(METRICS)
