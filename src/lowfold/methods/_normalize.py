"""The one linear map between natural coordinates and the output."""

from __future__ import annotations

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import ROUNDING
from lowfold._core.stacks import singular_values, stacked_eigh
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._edge_map import edge_map
from lowfold.graph._types import Graph
from lowfold.spectral._types import fix_signs

LENGTHS = "lengths"  # the normalization that only a graph has
SHORT = 1e-3  # of the longest direction: what is shorter is noise of the fit, and the way back would enlarge it


def normal_map(Y: Floats, normalization: str, lengths: Floats | None = None) -> Floats:
    """T (d, d) with output Y T: the identity, Y'Y = I, unit variance in every column, or `lengths`, the map in which
    edges have their lengths, turned so that the longest axis comes first.

    A column that is zero (a direction that the data do not have) stays zero.
    """
    if lengths is not None:
        spread = np.cov(Y @ lengths, rowvar=False).reshape(lengths.shape)
        return np.asarray(lengths @ fix_signs(stacked_eigh(spread)[1][:, ::-1]))
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


def length_map(Y: Floats, graph: Graph) -> Floats:
    """The map in which edges have their lengths; refused where a coordinate has no part in them."""
    T = edge_map(Y, graph)
    spread = singular_values(T * np.nanstd(Y, axis=0)[:, None])
    kept = int((spread > SHORT * spread[0]).sum())
    if kept < len(T):
        raise InvalidInput(
            f"normalization={LENGTHS!r} is not possible: the edges of the graph give {len(T) - kept} of {len(T)} "
            "directions no length (a coordinate repeats another, or is noise); use fewer n_components, "
            "select='independent' where the method has it, or normalization='natural'"
        )
    return T


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
