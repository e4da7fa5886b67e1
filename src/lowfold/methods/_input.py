"""From what the user passes as X to `Data`, with errors in words. A method declares its reader."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.open_rows import as_rows
from lowfold._core.parallel import row_slices, run_blocks
from lowfold._core.sparse_rows import SparseRows, canonical
from lowfold._cuda import arrived, refusals_in_words
from lowfold.graph._foreign import is_networkx, known_graph
from lowfold.graph._networkx import affinities
from lowfold.graph._reading import check_range, in_memory, is_precomputed
from lowfold.graph._source import AFFINITY, Measured, Pairs, Points, read_matrix
from lowfold.graph._types import Graph, Neighbors
from lowfold.methods._elsewhere import ARGUMENTS
from lowfold.methods._estimator import in_container, output_kind
from lowfold.methods._file_checks import told_as_damage
from lowfold.methods._fit import NEEDS_POINTS, Data, Queries
from lowfold.methods._in_blocks import read_for
from lowfold.methods._known_rows import with_own
from lowfold.methods._looks_like import (
    refuse_condensed,
    refuse_no_class,
    refuse_two_orders,
    tell_affinity,
    tell_classes,
    tell_distances,
    tell_graph,
    tell_one_point,
    tell_scales,
)
from lowfold.methods._reading_rows import FLOATS, read_rows
from lowfold.methods._refusals import negative
from lowfold.metrics._resolve import resolve_metric
from lowfold.metrics._scales import BY_SIZE
from lowfold.metrics._sparse import sparse_metric
from lowfold.metrics._unmapped import tell_function

LARGE = 2**22  # values that are looked at by several threads
TABLES = ("transform", "fit_transform")  # whose answers `set_output` makes tables
FITTING = ("fit", "fit_transform", "fit_predict")
MISSING = object()  # stands for an X that was not given
ANSWERING = (*FITTING, "transform", "inverse_transform", "predict", "score_samples", "score")


def answer_in_kind(cls: type) -> None:
    """Let the methods that a class defines itself take arrays of a GPU and answer with such."""
    for name in ANSWERING:
        if name in cls.__dict__:
            setattr(cls, name, _answering(cls.__dict__[name]))


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method for arrays of either side; `set_output` overrules the kind of the answer."""

    @wraps(method)
    def answering(self: Any, X: Any = MISSING, *args: Any, **kwargs: Any) -> Any:
        if X is MISSING:
            _check_arguments(self, method, kwargs)
            raise TypeError(f"{type(self).__name__}.{method.__name__}() missing 1 required positional argument: 'X'")
        with told_as_damage(self), refusals_in_words():
            _check_arguments(self, method, kwargs)
            host, back = arrived(X)
            result = method(self, host, *args, **kwargs)
            result = in_container(self, result, host) if method.__name__ in TABLES else result
        if host is X or not isinstance(result, np.ndarray):
            return result
        return back(result) if output_kind(self) == "default" else result

    return answering


def _check_arguments(model: Any, method: Callable[..., Any], given: dict[str, Any]) -> None:
    """Refuse arguments that `fit` and its like have elsewhere, with what to do instead."""
    for name in given.keys() - inspect.signature(method).parameters.keys() if given else ():
        advice = ARGUMENTS.get(name, "parameters are those of the constructor")
        where = f"{type(model).__name__}.{method.__name__}"
        raise TypeError(f"{where}() got an unexpected keyword argument {name!r}: {advice}")


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
    in_memory(X)
    finite = "allow-nan" if gaps else not _sums_up(X, getattr(estimator, "n_jobs", None))
    checked = read_rows(estimator, X, reset=reset, least=least, finite=finite, sparse=sparse, nd=nd)
    fitted = "" if reset else getattr(estimator, "_dtype", "float64")
    if hasattr(checked, "tocsr"):
        checked = canonical(checked)
        check_range(checked.data[:, None], fitted=fitted)
        return checked  # type: ignore[return-value] # stands for an array
    check_range(np.nan_to_num(checked) if gaps else checked.reshape(len(checked), -1), fitted=fitted)
    if reset and len(checked) > 1:
        tell_one_point(checked)
    return np.asarray(checked)


def _sums_up(X: Any, n_jobs: int | None) -> bool:
    """Whether X is a large array that needs no further look for NaN: its sum, taken by several threads, is finite."""
    if not isinstance(X, np.ndarray) or X.dtype not in FLOATS or X.size < LARGE or X.ndim < 2:
        return False
    parts = row_slices(len(X), X.size // len(X))
    sums = np.zeros(len(parts))

    def work(i: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums[i] = X[parts[i]].sum()

    run_blocks(work, len(parts), n_jobs=n_jobs)
    return bool(np.isfinite(sums).all())


def euclidean(X: NDArray[np.floating]) -> Points:
    """Rows as points of Euclidean space."""
    return Points(X, resolve_metric("euclidean", None, None))


# What methods read ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnySource:
    """Points, a matrix of distances or a ready graph; with y where the method is supervised.

    `sparse`: rows may be sparse; what the method asks of points are distances alone.
    """

    sparse: bool = True

    def data(self, method: Any, X: Any, y: Any) -> Data:
        labels = _labels(method, y) if method.supervised else None
        kept = {} if labels is None else {"classes_": np.unique(labels)}
        metric = getattr(method, "metric", "euclidean")
        rows = as_rows(X)
        if rows is not None:
            return Data(read_for(method, rows, metric=metric), labels=labels, kept=kept)
        X = affinities(X) if is_networkx(X) and metric == AFFINITY else known_graph(X)
        if isinstance(X, (Graph, Neighbors)):
            X.check()
            method.n_features_in_ = X.n
            if X.n < 2:
                raise InvalidInput(f"a graph of {X.n} sample cannot be embedded; at least 2 are needed")
            given = {"neighbors": X} if isinstance(X, Neighbors) else {"graph": X}
            return Data(None, labels=labels, kept=kept, **given)
        if is_precomputed(metric):
            return Data(_read_matrix(method, X, metric, reset=True), labels=labels, kept=kept)
        if issparse(X):
            return Data(_sparse_points(method, X, metric, self.sparse), labels=labels, kept=kept)
        points = read_points(method, X, reset=True, least=2)
        if metric in BY_SIZE:
            tell_scales(method, points)
        tell_distances(method, points)
        resolved = resolve_metric(metric, getattr(method, "metric_params", None), points)
        if callable(metric):
            tell_function(resolved.block.keywords["function"], points)  # type: ignore[union-attr]
        return Data(Points(points, resolved), labels=labels, kept=kept)

    def queries(self, method: Any, X: Any) -> Queries:
        trained, metric = method._trained.source, getattr(method, "metric", None)
        if trained is None and hasattr(method._extend, "trained"):  # of rows in blocks the landmarks alone are kept
            trained = method._extend.trained.source
        if trained is None:
            raise InvalidInput(
                f"{type(method).__name__} was fitted on a graph, which says nothing about new points; fit it on points "
                "or on a matrix of distances"
            )
        if is_precomputed(metric):
            read = _read_matrix(method, X, metric, reset=False)
            return _as_trained(read if metric == AFFINITY else with_own(read, trained), trained)
        if issparse(X) or isinstance(getattr(trained, "X", None), SparseRows):
            return cast("Queries", as_trained_rows(method, X, trained.X))
        return read_points(method, X, reset=False)

    def tags(self, method: Any, tags: Any) -> Any:
        tags.input_tags.sparse = self.sparse
        return tags


@dataclass(frozen=True)
class Rows:
    """Rows of features alone: with gaps (NaN), sparse, of several axes, or none negative, as the method allows."""

    gaps: bool = False
    sparse: bool = False
    nd: bool = False
    positive: bool = False
    least: int = 2  # rows to fit

    def data(self, method: Any, X: Any, y: Any) -> Data:
        blocks = as_rows(X)
        if blocks is not None:
            return Data(read_for(method, blocks, gaps=self.gaps, positive=self.positive, least=self.least))
        if isinstance(known_graph(X), (Graph, Neighbors)):
            raise InvalidInput(NEEDS_POINTS)
        rows = self.read(method, X, reset=True)
        if not self.nd and not issparse(rows) and isinstance(rows, np.ndarray):
            tell_scales(method, rows)
            tell_distances(method, rows)
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
                f"X is sparse, and {type(method).__name__} takes dense rows: reduce them first by lowfold.PCA(50), "
                "which takes sparse ones, or pass X.toarray()"
            )
        rows = read_points(
            method, X, reset=reset, least=self.least if reset else 1, gaps=self.gaps, sparse=self.sparse, nd=self.nd
        )
        if self.positive and rows.min() < 0:
            raise negative(method, rows.min())
        return rows

    def tags(self, method: Any, tags: Any) -> Any:
        tags.input_tags.pairwise = False
        tags.input_tags.allow_nan = self.gaps
        tags.input_tags.sparse = self.sparse
        tags.input_tags.three_d_array = self.nd
        tags.input_tags.positive_only = self.positive
        return tags


@dataclass(frozen=True)
class DenseOrSparseRows(Rows):
    """Rows of features; CSR ones as `SparseRows`."""

    sparse: bool = True

    def read(self, method: Any, X: Any, *, reset: bool) -> Any:
        rows = super().read(method, X, reset=reset)
        return SparseRows(csr_array(rows)) if issparse(rows) else rows


def _sparse_points(method: Any, X: Any, metric: Any, allowed: bool) -> Points:
    if not allowed:
        raise InvalidInput(
            f"X is sparse, and {type(method).__name__} takes dense rows: reduce them first by lowfold.PCA(50), which "
            "takes sparse ones, or pass X.toarray(). A sparse matrix of distances needs metric='precomputed'"
        )
    rows = SparseRows(csr_array(read_points(method, X, reset=True, least=2, sparse=True)))
    tell_graph(rows.csr)
    return Points(rows, sparse_metric(metric))  # type: ignore[arg-type]


def as_trained_rows(method: Any, X: Any, trained: Any) -> Any:
    """New rows, sparse or dense as those of the fit are."""
    if not isinstance(trained, SparseRows):
        raise InvalidInput(f"X is sparse, but {type(method).__name__} was fitted on dense rows; pass X.toarray()")
    rows = read_points(method, X, reset=False, sparse=True)
    return SparseRows(csr_array(rows))


def _labels(method: Any, y: Any) -> NDArray[Any]:
    if y is None:
        raise InvalidInput(
            f"{type(method).__name__} requires y to be passed, but the target y is None; use LLE where there are no "
            "labels"
        )
    labels = np.asarray(y)
    if labels.ndim != 1:
        from sklearn.utils.validation import column_or_1d

        return np.asarray(column_or_1d(labels, warn=True))
    refuse_no_class(labels)
    tell_classes(method, labels)
    return labels


def _read_matrix(estimator: Any, X: Any, metric: str, *, reset: bool) -> Pairs | Measured:
    in_memory(X)
    refuse_condensed(X)
    if reset:
        refuse_two_orders(X)
    checked = read_rows(estimator, X, reset=reset, least=2 if reset else 1, finite=False, sparse=True)
    read = read_matrix(checked, metric, square=reset)
    weights = getattr(estimator, "weights", None)  # a matrix of weights has its largest values there too
    given = isinstance(weights, str) and weights == metric
    if reset and metric in ("precomputed", "precomputed_squared") and not given:
        tell_affinity(checked, read)
    return read


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
