"""From what the user passes as X to `Data`, with errors in words. A method declares its reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import column_or_1d, validate_data

from lowfold._core.errors import InvalidInput
from lowfold._cuda import arrived
from lowfold.graph._foreign import known_graph
from lowfold.graph._reading import check_range, is_precomputed
from lowfold.graph._source import Measured, Pairs, Points, read_matrix
from lowfold.graph._types import Graph, Neighbors
from lowfold.methods._fit import Data, Queries
from lowfold.metrics._resolve import resolve_metric

FLOATS = [np.float64, np.float32]


ANSWERING = ("fit", "fit_transform", "transform", "inverse_transform")


def answer_in_kind(cls: type) -> None:
    """Let the methods that a class defines take arrays of a GPU and answer with such."""
    for name in ANSWERING:
        if name in cls.__dict__:
            setattr(cls, name, _answering(cls.__dict__[name]))


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method for arrays of either side; `set_output` overrules the kind of the answer."""

    @wraps(method)
    def answering(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        host, back = arrived(X)
        result = method(self, host, *args, **kwargs)
        if host is X or result is self:
            return result
        return back(result) if _get_output_config("transform", self)["dense"] == "default" else result

    return answering


class Reader(Protocol):
    """How a method reads its data and its queries, and what it tells scikit-learn of them."""

    def data(self, method: Any, X: Any, y: Any) -> Data: ...

    def queries(self, method: Any, X: Any) -> Queries: ...

    def tags(self, method: Any, tags: Any) -> Any: ...


def read_points(
    estimator: Any, X: Any, *, reset: bool, least: int = 1, gaps: bool = False, sparse: bool = False, nd: bool = False
) -> NDArray[np.floating]:
    """A finite float32 or float64 array with rows as points; float32 is kept, whatever is not float becomes float64.

    `gaps` allows NaN, `sparse` CSR rows, `nd` samples of several axes.
    """
    checked: Any = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=FLOATS,
        order="C",
        accept_sparse="csr" if sparse else False,
        allow_nd=nd,
        ensure_min_samples=least,
        ensure_all_finite="allow-nan" if gaps else True,
    )
    if hasattr(checked, "tocsr"):
        check_range(checked.data[:, None])
        return checked  # type: ignore[no-any-return]
    check_range(np.nan_to_num(checked) if gaps else checked.reshape(len(checked), -1))
    return np.asarray(checked)


def euclidean(X: NDArray[np.floating]) -> Points:
    """Rows as points of Euclidean space."""
    return Points(X, resolve_metric("euclidean", None, None))


# What methods read ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnySource:
    """Points, a matrix of distances or a ready graph; with y where the method is supervised."""

    def data(self, method: Any, X: Any, y: Any) -> Data:
        labels = _labels(method, y) if method.supervised else None
        kept = {} if labels is None else {"classes_": np.unique(labels)}
        X = known_graph(X)
        if isinstance(X, (Graph, Neighbors)):
            X.check()
            method.n_features_in_ = X.n
            if X.n < 2:
                raise InvalidInput(f"a graph of {X.n} sample cannot be embedded; at least 2 are needed")
            given = {"neighbors": X} if isinstance(X, Neighbors) else {"graph": X}
            return Data(None, labels=labels, kept=kept, **given)
        metric = getattr(method, "metric", "euclidean")
        if is_precomputed(metric):
            return Data(_read_matrix(method, X, metric, reset=True), labels=labels, kept=kept)
        if issparse(X):
            raise InvalidInput(
                "X is sparse; a sparse matrix is used with metric='precomputed' (distances) only. Reduce sparse "
                "features first (RandomProjection takes sparse input), or pass X.toarray()"
            )
        points = read_points(method, X, reset=True, least=2)
        params = getattr(method, "metric_params", None)
        return Data(Points(points, resolve_metric(metric, params, points)), labels=labels, kept=kept)

    def queries(self, method: Any, X: Any) -> Queries:
        trained, metric = method._trained.source, getattr(method, "metric", None)
        if trained is None:
            raise InvalidInput(
                f"{type(method).__name__} was fitted on a graph, which says nothing about new points; fit it on points "
                "or on a matrix of distances"
            )
        if is_precomputed(metric):
            return _as_trained(_read_matrix(method, X, metric, reset=False), trained)
        if issparse(X):
            raise InvalidInput("X is sparse; pass X.toarray()")
        return read_points(method, X, reset=False)

    def tags(self, method: Any, tags: Any) -> Any:
        return tags


@dataclass(frozen=True)
class Rows:
    """Rows of features alone: with gaps (NaN), sparse, of several axes, or none negative, as the method allows."""

    gaps: bool = False
    sparse: bool = False
    nd: bool = False
    positive: bool = False

    def data(self, method: Any, X: Any, y: Any) -> Data:
        if isinstance(known_graph(X), (Graph, Neighbors)):
            raise InvalidInput("this needs the points themselves; the input was a matrix of distances or a graph")
        rows = self.read(method, X, reset=True)
        empty = np.flatnonzero(np.isnan(rows).all(axis=0)) if self.gaps else np.empty(0)
        if len(empty):
            raise InvalidInput(
                f"feature {empty[0]} of X has no observed value ({len(empty)} such features); leave it out"
            )
        return Data(euclidean(rows), kept={"shape_": rows.shape[1:]} if self.nd else {})

    def queries(self, method: Any, X: Any) -> Queries:
        rows = self.read(method, X, reset=False)
        if self.nd and rows.shape[1:] != method.shape_:
            raise InvalidInput(
                f"X has samples of shape {rows.shape[1:]}, but {type(method).__name__} was fitted on {method.shape_}"
            )
        return rows

    def read(self, method: Any, X: Any, *, reset: bool) -> NDArray[np.floating]:
        """The rows, checked."""
        if issparse(X) and not self.sparse:
            raise InvalidInput(
                f"X is sparse, and {type(method).__name__} takes dense rows; RandomProjection takes sparse ones, or "
                "pass X.toarray()"
            )
        least = 2 if reset and not self.sparse else 1
        rows = read_points(method, X, reset=reset, least=least, gaps=self.gaps, sparse=self.sparse, nd=self.nd)
        if self.positive and rows.min(initial=0.0) < 0:
            raise InvalidInput(
                f"Negative values in data passed to {type(method).__name__}: X must be 0 or more, its smallest is "
                f"{rows.min():g}"
            )
        return rows

    def tags(self, method: Any, tags: Any) -> Any:
        tags.input_tags.pairwise = False
        tags.input_tags.allow_nan = self.gaps
        tags.input_tags.sparse = self.sparse
        tags.input_tags.three_d_array = self.nd
        tags.input_tags.positive_only = self.positive
        return tags


def _labels(method: Any, y: Any) -> NDArray[Any]:
    if y is None:
        raise InvalidInput(
            f"{type(method).__name__} requires y to be passed, but the target y is None; use LLE where there are no "
            "labels"
        )
    return np.asarray(column_or_1d(np.asarray(y), warn=True))


def _read_matrix(estimator: Any, X: Any, metric: str, *, reset: bool) -> Pairs | Measured:
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=FLOATS,
        order="C",
        ensure_min_samples=2 if reset else 1,
        ensure_all_finite=False,
    )
    return read_matrix(checked, metric, square=reset)


def _as_trained(queries: Pairs | Measured, trained: Any) -> Pairs | Measured:
    """Rows of distances in the form of the training matrix: sparse for sparse, dense (NaN is unmeasured) for dense."""
    if isinstance(trained, Measured) and isinstance(queries, Pairs):
        D = queries.distances
        rows, columns = np.nonzero(np.isfinite(D))
        order = np.lexsort((columns, D[rows, columns], rows))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(D)))])
        return Measured(Neighbors(indptr, columns[order], D[rows, columns][order].astype(np.float64), int(D.shape[1])))
    if isinstance(trained, Pairs) and isinstance(queries, Measured):
        pairs = queries.pairs
        D = np.full((pairs.n, pairs.n_points), np.nan)
        D[pairs.rows(), pairs.indices] = pairs.distances
        return Pairs(D)
    return queries
