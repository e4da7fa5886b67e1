"""Matrices of distances whose squares have no place in float64 are refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput

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
