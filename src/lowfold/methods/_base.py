"""The contract every method keeps. A method writes `__init__`, `limits` and `_embed`; everything else is here.

fit: check parameters -> read X -> _embed -> normalise -> set fitted attributes -> cast -> check finite
transform: read X -> recognise training points -> extend -> normalise -> cast
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.limits import Limits, check_limits
from lowfold._core.operators import Operator
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._neighborhoods import query_neighborhoods
from lowfold.graph._search import nearest
from lowfold.graph._source import PRECOMPUTED
from lowfold.methods._fit import Data, Fit, Trained
from lowfold.methods._input import check_range, read_data, read_queries
from lowfold.methods._normalize import normal_map
from lowfold.methods._parameters import LIMITS, splice
from lowfold.metrics._pairwise import pairwise


class Method(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators: validates, fits, normalises, casts, checks; places new points and leads back."""

    limits: ClassVar[Limits] = LIMITS

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__:
            cls.__doc__ = splice(inspect.cleandoc(cls.__doc__))

    # What a method writes -------------------------------------------------------------------------------------------

    @abstractmethod
    def _embed(self, data: Data, run: Run) -> Fit:
        """The recipe: one statement per stage."""

    @abstractmethod
    def kernel(self) -> Operator:
        """The operator from which the embedding can be recomputed, rebuilt from what the model keeps."""

    def operator(self) -> Operator:
        """`kernel()` under a name that every method has: KernelPCA and KernelLPP have scikit-learn's parameter `kernel`
        in its place.
        """
        check_is_fitted(self)
        return self.kernel()

    # scikit-learn's side --------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X. y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.floating]:
        """Embed the rows of X and return `embedding_`."""
        self._fit(X)
        return self.embedding_

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Place new points. A point at distance exactly 0 from a training point is that point."""
        check_is_fitted(self)
        queries = read_queries(self, X, getattr(self, "metric", None), self._trained.source)
        trained, run = self._trained, self._run()
        with single_threaded_blas():
            if not self._recognise:
                return self._finish(self._extend.place(trained, queries, None, run))  # type: ignore[arg-type]
            if self._extend.neighbors:
                found = query_neighborhoods(
                    trained.source,  # type: ignore[arg-type]
                    queries,
                    n_neighbors=trained.n_neighbors,
                    radius=trained.radius,
                    search=trained.search,
                    run=run,
                )
            else:
                found = nearest(trained.source, 1, queries=queries, search=trained.search, run=run)  # type: ignore[arg-type]
            first = found.indptr[:-1]
            known = found.distances[first] == 0
            out = np.empty((found.n, self.embedding_.shape[1]), dtype=self.embedding_.dtype)
            out[known] = self.embedding_[found.indices[first[known]]]
            new = np.flatnonzero(~known)
            if len(new):
                part = queries[new] if isinstance(queries, np.ndarray) else _rows(queries, new)
                out[new] = self._finish(self._extend.place(trained, part, found.take(new), run))
        return out

    def inverse_transform(self, X: Any) -> NDArray[np.floating]:
        """Lead coordinates back to data space."""
        check_is_fitted(self)
        Y = np.asarray(X, dtype=np.float64)
        if Y.ndim != 2 or Y.shape[1] != self.embedding_.shape[1]:
            raise InvalidInput(
                f"inverse_transform takes {self.embedding_.shape[1]} columns, as transform gives; got shape {Y.shape}"
            )
        if not np.isfinite(Y).all():
            raise InvalidInput("inverse_transform needs finite coordinates; X has NaN or inf")
        check_range(Y)
        with single_threaded_blas():
            natural = np.asarray(np.linalg.solve(self._normal.T, Y.T).T, dtype=np.float64)
            restored = self._invert.restore(self._trained, natural, self._run())
        return np.asarray(restored, dtype=self.embedding_.dtype)

    def distances(self, A: Any, B: Any = None, *, kind: str = "embedding") -> NDArray[np.floating]:
        """The learned metric: distances between rows of A and of B (of A itself if None), new or old points alike.

        kind="embedding" is Euclidean distance after `transform`.
        """
        if kind not in self._distance_kinds():
            raise InvalidInput(f"kind must be one of {', '.join(map(repr, self._distance_kinds()))}; got {kind!r}")
        first = self.transform(A)
        return pairwise(first, None if B is None else self.transform(B))

    def _distance_kinds(self) -> tuple[str, ...]:
        return ("embedding",)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = getattr(self, "metric", None)
        tags.input_tags.pairwise = isinstance(metric, str) and metric in PRECOMPUTED
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # The flow -------------------------------------------------------------------------------------------------------

    _recognise: ClassVar[bool] = True

    def _run(self) -> Run:
        return Run(
            solver=getattr(self, "solver", "auto"),
            tol=getattr(self, "tol", 1e-6),
            rng=generator(getattr(self, "random_state", 0)),
            n_jobs=getattr(self, "n_jobs", None),
            verbose=bool(getattr(self, "verbose", False)),
        )

    def _read(self, X: Any) -> Data:
        return read_data(self, X, getattr(self, "metric", "euclidean"), getattr(self, "metric_params", None))

    def _check(self, data: Data) -> None:
        """What depends on the data and can be said before any work."""
        d = self.n_components
        if d > data.n - 1:
            raise InvalidInput(
                f"n_components of {type(self).__name__} must be at most {data.n - 1} for n_samples = {data.n}; got {d}"
            )

    def _fit(self, X: Any) -> None:
        check_limits(type(self).__name__, self.get_params(deep=False), self.limits)
        data, run = self._read(X), self._run()
        self._check(data)
        with single_threaded_blas():
            fit = self._solve(data, run)
        self._keep(fit, data, data.dtype)

    def _solve(self, data: Data, run: Run) -> Fit:
        return self._embed(data, run)

    def _keep(self, fit: Fit, data: Data, dtype: np.dtype[Any]) -> None:
        inside = np.isfinite(fit.coordinates).all(axis=1)
        if not inside.all() and getattr(self, "on_disconnected", None) != "largest":
            raise SolverFailed(
                f"{type(self).__name__} produced {int((~inside).sum())} rows that are not finite; "
                "look for values of very different size in X, or try another solver"
            )
        self._normal = normal_map(fit.coordinates if inside.all() else fit.coordinates[inside], self.normalization)
        self._trained = Trained(
            data.source,
            fit.graph,
            fit.coordinates,
            self._query_neighbors(data),
            getattr(self, "radius", None),
            getattr(self, "search", "auto"),
        )
        self._extend, self._invert = fit.extend, fit.invert
        self.embedding_ = _mapped(fit.coordinates, self._normal, self.normalization).astype(dtype)
        if fit.graph is not None:
            self.graph_ = fit.graph
        if fit.pairs is not None:
            self.eigenvalues_ = fit.pairs.values
            self.solver_, self.residual_, self.gap_ = fit.pairs.solver, fit.pairs.residual, fit.pairs.gap
        for name, value in fit.extra.items():
            setattr(self, name, value)

    def _query_neighbors(self, data: Data) -> int | None:
        return None

    def _finish(self, natural: Floats) -> NDArray[np.floating]:
        return _mapped(natural, self._normal, self.normalization).astype(self.embedding_.dtype)


def _mapped(natural: Floats, normal: Floats, normalization: str) -> Floats:
    """The output's linear map; the identity is not multiplied out."""
    return natural if normalization == "natural" else np.asarray(natural @ normal)


def _rows(queries: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of precomputed queries."""
    kind = type(queries)
    return kind(queries.distances[rows]) if hasattr(queries, "distances") else kind(queries.pairs.take(rows))
