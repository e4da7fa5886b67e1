"""What cannot be points or distances is refused in words: sizes beyond float64, rows of several lengths, no tables."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput, InvalidType

X = np.random.default_rng(8).normal(size=(15, 3))
SEVERAL = ["WeightedMDS", "ReplicatedMDS"]
D = np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("size", [1e71, 1e100, 1e300, 1e-100])
@pytest.mark.parametrize(
    "name", ["ClassicalMDS", "MetricMDS", "NonmetricMDS", "Isomap", "WeightedMDS", "ReplicatedMDS"]
)
def test_distances_beyond_the_range_are_refused(name: str, size: float) -> None:
    model = getattr(lowfold, name)(2, metric="precomputed")
    with pytest.raises(InvalidInput, match=r"distances up to .* multiply X by a constant first"):
        model.fit(np.stack([D, D]) * size if name in SEVERAL else D * size)


def test_unmeasured_pairs_do_not_count() -> None:
    gaps = D.copy()
    gaps[0, 1] = gaps[1, 0] = np.nan
    Y = lowfold.MetricMDS(2, metric="precomputed").fit_transform(gaps * 1e60)
    assert np.isfinite(Y).all()


def test_what_is_no_table_is_said() -> None:
    with pytest.raises(InvalidInput, match="rows of different lengths"):
        lowfold.PCA(1).fit([[1, 2], [3], [4, 5, 6]])
    with pytest.raises(InvalidType, match=r"named fields \(a, b\)"):
        lowfold.Isomap(1).fit(np.zeros(9, dtype=[("a", float), ("b", float)]))
    for thing in ({1, 2}, {"a": [1, 2]}, (x for x in range(3)), int):
        with pytest.raises(InvalidType, match="must be a table of numbers"):
            lowfold.Isomap(1).fit(thing)


@pytest.mark.extra("pandas")
def test_columns_of_one_name_are_refused() -> None:
    import pandas as pd

    with pytest.raises(InvalidInput, match="several columns named 'a'; give each its own name"):
        lowfold.PCA(1).fit(pd.DataFrame(X, columns=["a", "b", "a"]))


@pytest.mark.parametrize("name", SEVERAL)
def test_complex_dissimilarities_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="complex numbers"):
        getattr(lowfold, name)(2).fit(np.stack([D, D]) + 0j)


def test_samples_without_values_are_refused() -> None:
    with pytest.raises(InvalidInput, match="a sample has no values"):
        lowfold.MultilinearPCA(1).fit(np.empty((9, 0, 2)))


@pytest.mark.filterwarnings("ignore:all .* rows of X are the same")
@pytest.mark.parametrize("size", [1e-300, 5e-324])
def test_the_smallest_numbers_are_taken_without_a_foreign_word(size: float) -> None:
    assert np.isfinite(lowfold.NMF(1).fit_transform(np.full((9, 3), size))).all()
    with pytest.warns(AccuracyWarning, match="known to"):  # points that coincide: any vector is one
        assert np.isfinite(lowfold.DiffusionMaps(1).fit_transform(np.full((30, 3), size))).all()
    with pytest.raises(InvalidInput, match="multiply X, or leave alpha_W"):
        lowfold.NMF(1, alpha_W=0.1).fit(np.full((9, 3), size))


def test_columns_near_the_limit_of_float32_are_looked_at_in_float64() -> None:
    lowfold.PCA(1).fit((X * 1e37).astype(np.float32))  # a warning of NumPy would end the test


@pytest.mark.parametrize("name", ["Isomap", "LocallyLinearIsomap", "LTSA", "LLE", "LaplacianEigenmaps", "LPP"])
def test_a_radius_that_joins_no_two_points_is_refused_with_one_that_does(name):
    X = lowfold.datasets.s_curve(60, random_state=34).X
    with pytest.raises(InvalidInput, match=r"radius = 1e-06 joins no two points: the nearest are 0\.\d+ apart"):
        getattr(lowfold, name)(2, radius=1e-6).fit(X)
