"""The contract every method keeps. A method declares its parameters and facts and writes `_embed` and `_operator`.

fit: check parameters -> read X -> _embed -> normalise -> set fitted attributes -> cast -> check finite
transform: read X -> recognise training points -> extend -> normalise -> cast
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.finite import finite_rows
from lowfold._core.limits import check_limits
from lowfold._core.open_rows import as_rows
from lowfold._core.operators import Operator
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold.graph._reading import check_range, in_memory, is_precomputed
from lowfold.methods._elsewhere_parameters import VALUES
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import Data, Fit
from lowfold.methods._in_blocks import InBlocks, mapped_rows, never
from lowfold.methods._input import AnySource, Reader, answer_in_kind
from lowfold.methods._losses import Loss, Lowered, no_loss
from lowfold.methods._normalize import in_type, normal_map
from lowfold.methods._notebook import with_history
from lowfold.methods._parameters import Output
from lowfold.methods._placing.back import with_inverse
from lowfold.methods._placing.far import tell_far
from lowfold.methods._placing.place import place
from lowfold.methods._placing.trust import tell_uncertain
from lowfold.methods._stages import Stages
from lowfold.methods._watching import watched, with_callbacks
from lowfold.metrics._pairwise import pairwise

Check = Callable[[Any, Data], None]
"""What depends on the data and can be said before any work: raises, or passes."""

LearnedMetric = Callable[[Any, Any, Any], NDArray[np.floating]]
"""(model, A, B) -> distances between rows, B of A itself if None."""


def fewer_components_than_points(method: Any, data: Data) -> None:
    """n points span at most n - 1 directions."""
    if method.n_components > data.n - 1:
        raise InvalidInput(
            f"n_components of {type(method).__name__} must be at most {data.n - 1} for n_samples = {data.n}; got "
            f"{method.n_components}"
        )


class Method(Output):
    """Base of all estimators: validates, fits, normalises, casts, checks; places new points and leads back."""

    reader: ClassVar[Reader] = AnySource()
    checks: ClassVar[tuple[Check, ...]] = (fewer_components_than_points,)
    learned: ClassVar[Mapping[str, LearnedMetric]] = {}  # distances of the method's own, by kind
    supervised: ClassVar[bool] = False
    stages: ClassVar[Stages]  # (data) -> what the fit will do, with bytes
    by_size: ClassVar[bool] = True  # False: multiplying a column by a number changes nothing
    loss: ClassVar[Lowered] = no_loss("it declares none")
    tuned_on: ClassVar[int | None] = None  # the fit grows fast: `tune` tries it on at most so many points
    own_dimension: ClassVar[str] = ""  # why `tune` has no say in n_components
    in_blocks: ClassVar[InBlocks] = never  # whether a model, as it is set, fits rows in blocks
    keeps_data: ClassVar[bool] = True  # False: the map alone places new points, and the training rows are let go

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answer_in_kind(cls)

    # What a method writes -------------------------------------------------------------------------------------------

    @abstractmethod
    def _embed(self, data: Data, run: Run) -> Fit:
        """The recipe: one statement per stage."""

    @abstractmethod
    def _operator(self) -> Operator:
        """The operator from which the embedding can be recomputed, rebuilt from what the model keeps."""

    # scikit-learn's side --------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X. y is ignored, except by supervised methods."""
        check_limits(type(self).__name__, self.get_params(deep=False), self.limits, VALUES)
        data = self.reader.data(self, X, y if self.supervised else None)
        self._check(data)
        with single_threaded_blas(), watched(self) as watch:
            run = replace(self._run(), watch=watch)
            fit = self._embed(data, run)
            if self.keeps_data and data.source is not None:
                data = replace(data, source=data.source.owned(X, run.n_jobs))
            fit = with_inverse(fit, data.source if self.keeps_data else None, run)
            self._keep(fit, data)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.floating]:
        """Embed the rows of X and return a copy of `embedding_`, which the caller may change.

        Of rows in blocks that a linear map places, these blocks mapped, computed when they are asked for.
        """
        self.fit(X, y)
        return self.embedding_.copy() if hasattr(self, "embedding_") else self.transform(X)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Place new points. A point at distance exactly 0 from a training point is that point.

        Rows in blocks come back in blocks, computed when they are asked for; of Dask as an array of Dask.
        """
        check_fitted(self)
        rows = as_rows(X)
        if rows is not None:
            columns = self.n_features_in_, self._n_features_out
            return mapped_rows(rows, self, "transform", *columns)  # type: ignore[no-any-return]
        queries = self.reader.queries(self, X)
        with single_threaded_blas():
            placed = place(self._extend, self._trained, queries, self._run())
            tell_far(type(self).__name__, self._trained, placed.away, self._run())
        out = self._finish(placed.natural)
        known = placed.same >= 0
        if known.any():  # their very rows: a product of a few rows may differ from that of all in the last bit
            out[known] = self.embedding_[placed.same[known]]
        return out

    def inverse_transform(self, X: Any) -> NDArray[np.floating]:
        """Lead coordinates back to data space; in blocks as `transform` does."""
        check_fitted(self)
        rows = as_rows(X)
        if rows is not None:
            columns = self._n_features_out, self.n_features_in_
            return mapped_rows(rows, self, "inverse_transform", *columns)  # type: ignore[no-any-return]
        try:
            Y, d = np.asarray(X, dtype=np.float64), self._n_features_out
        except (TypeError, ValueError):
            raise InvalidInput("inverse_transform takes a table of numbers, the columns that transform gives") from None
        if Y.ndim != 2 or Y.shape[1] != d:
            raise InvalidInput(f"inverse_transform takes {d} columns, as transform gives; got shape {Y.shape}")
        if not np.isfinite(Y).all():
            raise InvalidInput("inverse_transform needs finite coordinates; X has NaN or inf")
        check_range(Y, fitted=self._output_type)
        if hasattr(self, "inverse_outliers_"):  # of a way back that was chosen, and not by a version before it
            worth = self.inverse_error_, self.inverse_error_range_, self.inverse_outliers_
            tell_uncertain(type(self).__name__, *worth)
        with single_threaded_blas():
            natural = np.asarray(np.linalg.solve(self._normal.T, Y.T).T, dtype=np.float64)
            restored = self._invert.restore(self._trained, natural, self._run())
        return in_type(np.asarray(restored), self._output_type)

    @final
    def operator(self) -> Operator:
        """The operator from which the embedding can be recomputed, rebuilt from what the model keeps."""
        check_fitted(self)
        return self._operator()

    def kernel(self) -> Operator:
        """The same as `operator()`; in KernelPCA and KernelLPP scikit-learn's parameter `kernel` has this name."""
        return self.operator()

    def distances(self, A: Any, B: Any = None, *, kind: str = "embedding") -> NDArray[np.floating]:
        """The learned metric: distances between rows of A and of B (of A itself if None), new or old points alike.

        kind="embedding" is Euclidean distance after `transform`, NaN where on_disconnected="largest" left a point out;
        other kinds are the method's own.
        """
        in_memory(A)
        in_memory(B)
        kinds = ("embedding", *self.learned)
        if kind not in kinds:
            raise InvalidInput(f"kind must be one of {', '.join(map(repr, kinds))}; got {kind!r}")
        if kind != "embedding":
            return self.learned[kind](self, A, B)
        first = self.transform(A)
        second = first if B is None else self.transform(B)
        rows, columns = (np.flatnonzero(np.isfinite(Y).all(axis=1)) for Y in (first, second))
        if len(rows) == len(first) and len(columns) == len(second):
            return pairwise(first, None if B is None else second)
        out = np.full((len(first), len(second)), np.nan)
        if len(rows) and len(columns):
            out[np.ix_(rows, columns)] = pairwise(first[rows], None if B is None else second[columns])
        return out

    def cite(self) -> str:
        """BibTeX of the publications that the method rests on."""
        from lowfold.methods.citations import cite

        return cite(self)

    def plot(self, color: Any = None, labels: Any = None, **options: Any) -> Any:
        """A first look, as `lowfold.viz.plot` draws it (extra `plot`)."""
        from importlib import import_module  # viz stands above methods: it is loaded when a picture is asked for

        return import_module("lowfold.viz").plot(self, color, labels, **options)

    def _repr_html_inner(self) -> str:
        return with_history(super()._repr_html_inner(), self)

    @property
    def _n_features_out(self) -> int:
        return int(self._normal.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_extend")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(getattr(self, "metric", None))
        tags.target_tags.required = self.supervised
        return self.reader.tags(self, tags)

    # The flow -------------------------------------------------------------------------------------------------------

    @property
    def _output_type(self) -> str:
        """That of the input; models of 0.1 say it by their embedding alone."""
        return self._dtype if hasattr(self, "_dtype") else self.embedding_.dtype.name

    @final
    def _run(self) -> Run:
        return Run(
            solver=getattr(self, "solver", "auto"),
            tol=getattr(self, "tol", Run.tol),
            rng=generator(getattr(self, "random_state", 0)),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    @final
    def _kept_data(self) -> Data:
        """The training data, as far as the fitted model keeps them."""
        return Data(self._trained.source, graph=self._trained.graph)

    @final
    def _loss(self, data: Data, *, scaled: bool = False) -> Loss:
        """What the method lowers at any embedding of the data; `scaled` takes the unit of it that suits best."""
        return self.loss.make(self, data, scaled)

    @final
    def _check(self, data: Data) -> None:
        for check in self.checks:
            check(self, data)

    @final
    def _keep(self, fit: Fit, data: Data) -> None:
        """Set every fitted attribute; nothing else does."""
        inside = finite_rows(fit.coordinates)
        if not inside.all() and getattr(self, "on_disconnected", None) != "largest":
            raise SolverFailed(
                f"{type(self).__name__} produced {int((~inside).sum())} rows that are not finite; "
                "look for values of very different size in X, or try another solver"
            )
        placed = fit.coordinates if inside.all() else fit.coordinates[inside]
        self._normal = normal_map(placed, self.normalization, fit.lengths) if fit.normal is None else fit.normal
        self._dtype = np.dtype(data.dtype).name
        kept = self.keeps_data and fit.keeps_rows
        self._trained = fit.trained(data.source) if kept else fit.without_rows()
        self._extend: Any = fit.extend  # the method's own kind, which it knows
        self._invert = fit.invert
        if fit.normal is None:
            self.embedding_ = self._finish(fit.coordinates)
        if fit.graph is not None:
            self.graph_ = fit.graph
        if fit.pairs is not None:
            self.eigenvalues_ = fit.pairs.values
            self.solver_, self.residual_, self.gap_ = fit.pairs.solver, fit.pairs.residual, fit.pairs.gap
        for name, value in {**data.kept, **fit.extra}.items():
            setattr(self, name, value)

    @final
    def _finish(self, natural: NDArray[np.floating]) -> NDArray[np.floating]:
        """The output's linear map, and the type of the input; the identity is not multiplied out."""
        mapped = natural if self.normalization == "natural" else natural @ self._normal
        return in_type(np.asarray(mapped), self._output_type)


answer_in_kind(Method)
