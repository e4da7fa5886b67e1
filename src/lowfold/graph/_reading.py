"""The one reader of what a user passes as X: rows with a metric, a matrix of distances, samples for a model.

Functions of values, with errors in words. Everything that is read of X passes here (estimators add scikit-learn's
feature names in `methods/_input.py`), so that another form of rows has one place to enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.open_rows import as_rows
from lowfold._core.rounding import LARGEST, SMALLEST
from lowfold._core.rows import Rows, first_pass
from lowfold._core.sparse_rows import SparseRows, canonical
from lowfold._core.types import AnyFloats
from lowfold.graph._foreign import known_graph
from lowfold.graph._source import (
    AFFINITY,
    PRECOMPUTED,
    Blocks,
    Measured,
    Pairs,
    Points,
    Source,
    read_matrix,
)
from lowfold.graph._types import Graph, Neighbors
from lowfold.metrics._metric import Metric
from lowfold.metrics._points import as_points
from lowfold.metrics._resolve import resolve_metric
from lowfold.metrics._sparse import sparse_metric

MetricLike = str | Callable[..., Any] | Metric
Params = Mapping[str, Any] | None

FITTED = ("mahalanobis", "seuclidean")  # metrics whose parameters are those of all rows: of blocks they must be given

SMALLEST_SINGLE = 1e-35  # in float32: maps divide by the spread of most points, and must stay below 3e38
SHOWN = 64  # rows that show whether values differ


def is_precomputed(metric: object) -> TypeGuard[str]:
    """Whether X is a matrix of distances, squared distances or similarities."""
    return isinstance(metric, str) and metric in (*PRECOMPUTED, AFFINITY)


def check_range(X: AnyFloats, name: str = "X", *, fitted: str = "") -> None:
    """Refuse values whose distances cannot be squared and summed without overflow or underflow.

    `fitted`: the type a model was fitted on, where X are its queries; how far these are apart does not matter.
    """
    if X.size == 0:
        return
    size = float(max(X.max(), -X.min()))
    if X.dtype == np.float32 or fitted == "float32":
        _check_single(X, size, name)
    least = 0.0 if fitted else SMALLEST_SINGLE if X.dtype == np.float32 else SMALLEST
    # A few rows show nearly always that the values are spread; columns one by one take far longer than the whole.
    spread = float(np.ptp(X[:: max(1, len(X) // SHOWN)], axis=0).max())
    if spread < least:
        spread = float(np.ptp(X, axis=0).max())
    if size > LARGEST or 0.0 < spread < least:
        raise InvalidInput(
            f"{name} has values up to {size:.3g} and a spread of {spread:.3g}; between {least or SMALLEST:g} and "
            f"{LARGEST:g} squared distances can be summed; multiply {name} by a constant first"
        )


def _check_single(X: AnyFloats, size: float, name: str) -> None:
    """Refuse values whose distances float32 does not hold."""
    most = float(np.finfo(np.float32).max)
    if 2.0 * size * float(np.sqrt(X[0].size)) > most:
        way = f"pass {name}.astype(np.float64)" if X.dtype == np.float32 else "fit on float64"
        raise InvalidInput(
            f"{name} has values up to {size:.3g}, and float32 does not hold their distances (it ends at {most:.3g}); "
            f"{way}, or multiply {name} by a constant first"
        )


def in_memory(X: Any, name: str = "X") -> None:
    """Refuse rows that are in blocks, where nothing but an array will do: they are never gathered unasked."""
    if type(X).__name__ == "LazyFrame":
        raise InvalidInput(f"{name} is a LazyFrame, which has no rows yet; pass {name}.collect()")
    if as_rows(X) is not None:
        raise InvalidInput(
            f"{name} is in blocks, and this works on rows in memory; take a sample, "
            f"lowfold.datasets.read(path, blocks=True).X.take(rows), or bring all of them here by np.asarray({name})"
        )


def read_blocks(rows: Rows, metric: MetricLike, metric_params: Params, *, gaps: bool = False) -> Blocks:
    """Rows that stay in blocks: one pass checks that they are finite (`gaps`: or NaN) and within range."""
    if is_precomputed(metric):
        raise InvalidInput(f"metric={metric!r} takes a matrix in memory; X is in blocks, and its rows are points")
    some = None if isinstance(metric, str) and metric in FITTED else rows.take(np.arange(min(rows.shape[0], 2)))
    measure = resolve_metric(metric, metric_params, some)
    extent = first_pass(rows, gaps=gaps)
    empty = np.flatnonzero(np.isnan(extent.low))
    if len(empty):
        raise InvalidInput(f"feature {empty[0]} of X has no observed value ({len(empty)} such features); leave it out")
    check_range(np.vstack([extent.low, extent.high]))
    return Blocks(rows, measure, extent)


def read_rows(X: Any, name: str = "X", *, dtype: DTypeLike | None = None) -> AnyFloats:
    """Finite rows within range, contiguous; float32 is kept, all else becomes float64, unless `dtype` is asked for."""
    in_memory(X, name)
    rows = np.ascontiguousarray(as_points(X, name), dtype=dtype)
    check_range(rows, name)
    return rows


def read_points(
    X: Any, name: str, metric: MetricLike, metric_params: Params, *, dtype: DTypeLike | None = None
) -> Points:
    """Rows with their metric."""
    rows = read_rows(X, name, dtype=dtype)
    return Points(rows, resolve_metric(metric, metric_params, rows))


def read_sparse(X: Any, metric: object) -> Points:
    """Sparse rows of features, which stay sparse."""
    rows = canonical(X)
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if 0 in rows.shape:
        raise InvalidInput(f"X must have at least one row and one column; got shape {rows.shape}")
    bad = int((~np.isfinite(rows.data)).sum())
    if bad:
        raise InvalidInput(f"X holds {bad} values that are NaN or infinite; distances need finite numbers")
    check_range(rows.data[:, None])
    return Points(SparseRows(rows), sparse_metric(metric))  # type: ignore[arg-type]


def read_source(X: Any, metric: MetricLike, metric_params: Params, *, dtype: DTypeLike | None = None) -> Source:
    """Rows with their metric, in blocks or not, or a dense or sparse matrix of distances, some perhaps unmeasured."""
    rows = as_rows(X)
    if rows is not None:
        return read_blocks(rows, metric, metric_params)
    if is_precomputed(metric):
        return read_matrix(X if issparse(X) else np.asarray(X), metric)
    return read_points(X, "X", metric, metric_params, dtype=dtype)


def read_complete(
    X: Any, metric: MetricLike, metric_params: Params, *, way_out: str, dtype: DTypeLike | None = None
) -> Points | Pairs:
    """The same where every pair must have a distance; `way_out` says what to do about a matrix with gaps."""
    in_memory(X)
    source = read_source(X, metric, metric_params, dtype=dtype)
    assert not isinstance(source, Blocks)
    if isinstance(source, Measured) or (isinstance(source, Pairs) and not np.isfinite(source.distances).all()):
        raise InvalidInput(f"X must have a measured, finite distance for every pair; {way_out}")
    if isinstance(source, Pairs) and dtype is not None:
        return Pairs(source.distances.astype(dtype, copy=False))
    return source


def read_samples(X: Any, no_graph: str, *, sparse: bool = False) -> Any:
    """An array of numbers whose first axis counts samples: a model will read it by itself.

    `no_graph` says why a graph will not do; `sparse` matrices are let through where rows are all that is taken of them.
    """
    in_memory(X)
    if isinstance(known_graph(X), (Graph, Neighbors)):
        raise InvalidInput(no_graph)
    if issparse(X) and not sparse:
        raise InvalidInput("X is sparse; pass X.toarray()")
    samples: Any = X if issparse(X) else np.asarray(X)
    if samples.ndim < 2 or samples.shape[0] == 0 or samples.dtype.kind not in "fiub":
        raise InvalidInput(f"X must be an array of numbers, rows are points; got shape {samples.shape}")
    return samples
