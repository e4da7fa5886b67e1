"""The one linear map between natural coordinates and the output."""

from __future__ import annotations

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import AnyFloats, Floats


def normal_map(Y: Floats, normalization: str) -> Floats:
    """T (d, d) with output Y T: the identity, Y'Y = I, or unit variance in every column.

    A column that is zero (a direction that the data do not have) stays zero.
    """
    if normalization == "natural":
        return np.eye(Y.shape[1])
    return _unit(Y.std(axis=0)) if normalization == "unit" else _orthonormal(Y.T @ Y)


def normal_map_of(total: Floats, gram: Floats, n: int, normalization: str) -> Floats:
    """The same from the sum of n rows and Y'Y, where Y itself is not held."""
    if normalization == "natural":
        return np.eye(len(total))
    if normalization == "unit":
        return _unit(np.sqrt(np.maximum(np.diag(gram) / n - np.square(total / n), 0.0)))
    return _orthonormal(gram)


def _unit(spread: Floats) -> Floats:
    return np.diag(1.0 / np.where(spread > 0, spread, 1.0))


def _orthonormal(gram: Floats) -> Floats:
    size = np.sqrt(np.diag(gram))
    size = np.where(size > 0, size, 1.0)
    correlation = gram / np.outer(size, size)
    if np.abs(correlation - np.diag(np.diag(correlation))).max(initial=0.0) < ROUNDING:
        return np.diag(1.0 / size)
    try:
        lower = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            "the columns of the embedding are linearly dependent and cannot be made orthonormal; use fewer "
            'n_components or normalization="natural"'
        ) from error
    return np.diag(1.0 / size) @ np.linalg.inv(lower).T


def in_type(values: AnyFloats, dtype: str) -> AnyFloats:
    """The values in the type of the input; what float32 cannot hold is said, not turned into infinity."""
    if dtype == "float32" and np.nanmax(np.abs(values), initial=0.0) > np.finfo(np.float32).max:
        raise InvalidInput(
            f"the result reaches {np.nanmax(np.abs(values)):.1e}, which float32 cannot hold; pass "
            "X.astype(np.float64), or divide X by its size"
        )
    return np.asarray(values).astype(dtype)
