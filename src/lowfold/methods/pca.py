"""Principal component analysis, Pearson (1901), doi:10.1080/14786440109462720; Hotelling (1933), doi:10.1037/h0071325.

X --centre--> Xc --covariance | Gram | SVD | Krylov | power--> (lambda, V) --> Xc V
blocks --one pass--> (n, mean, R with R'R = Xc'Xc) --SVD of R--> (lambda, V)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Null, Real, check_limits
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import row_slices, single_threaded_blas
from lowfold._core.params import param, positional
from lowfold._core.rows import Rows
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.graph._source import Blocks
from lowfold.lowrank._block_sums import BlockScatter, block_moments, column_means, is_wide, jobs_of, wide_axes
from lowfold.lowrank._component_count import components_to_compute, components_to_keep, log_density, truncated
from lowfold.lowrank._principal import ROUTES, Axes, principal_axes
from lowfold.lowrank._scatter import Scatter, column_mean
from lowfold.lowrank._sparse_axes import SparseScatter, sparse_axes
from lowfold.lowrank._streaming import Moments
from lowfold.methods._blocks import row_blocks
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import Data, Fit, feature_rows
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._input import DenseOrSparseRows, Reader, read_points
from lowfold.methods._linear_method import AffineMap, LinearMethod, project
from lowfold.methods._losses import VARIANCE, Lowered, principal
from lowfold.methods._parameters import Solved

BLOCK_SOLVERS = ("auto", "svd", "covariance", "krylov")


def _block_solver(model: Any) -> str:
    return "" if model.solver in BLOCK_SOLVERS else f"its solver must be one of {', '.join(BLOCK_SOLVERS)}"


class PCA(Solved, LinearMethod):
    """Project linearly onto the directions of largest variance.

    Of all linear maps to `n_components` dimensions this keeps the most energy, equivalently reconstructs with the least
    squared error: y = V'(x - mean) with V the leading eigenvectors of the covariance C = Xc'Xc / (n - 1). Whitening is
    normalization="unit". Sparse rows are centred inside the products and never made dense. Rows that do not fit into
    memory are given in blocks, to `fit`, `fit_blocks` or `partial_fit`: one pass, no `embedding_` then.

    Attributes
    ----------
    embedding_ : array (n, n_components), the scores; not there after `fit_blocks` or `partial_fit`
    components_ : array (n_components, D), orthonormal rows
    mean_ : array (D,)
    eigenvalues_ : array (n_components,), variances along the components (dividing by n - 1), descending
    explained_variance_, singular_values_ : the same, and sqrt(eigenvalues_ (n - 1))
    explained_variance_ratio_ : array (n_components,), their share of the total variance
    n_components_, noise_variance_ : number of components, and the mean variance left out
    total_variance_ : float
    n_samples_seen_ : int
    residual_, gap_, solver_ : what the solve was worth, and which route was taken

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    >>> lowfold.PCA(1).fit_transform(X).round(3).ravel().tolist()
    [-2.236, 0.0, 2.236]
    >>> lowfold.PCA(1).fit_blocks([X[:2], X[2:]]).eigenvalues_.round(6).tolist()
    [5.0]
    """

    n_components: int | float | str | None = positional(  # type: ignore[assignment]
        default=2,
        limits=(Int(1), Real(0, 1, open_low=True, open_high=True), Choice(("mle",)), Null("all")),
        text="Number of output columns; a share of the variance, 0.95 say, takes the fewest that hold more than it; "
        '"mle" as many as Minka\'s evidence favours; None all, min(n, D).',
        kw_only=False,
    )

    loss: ClassVar[Lowered] = Lowered(principal, VARIANCE)
    solver: str = param(
        "auto",
        Choice(ROUTES),
        "Eigenvectors of the D x D covariance (few features), of the n x n Gram matrix (few points), "
        "the SVD of the centred data (all digits, also of directions below 1e-7 of the first), block "
        "Krylov on the data (many points and features, few components), or the power method with "
        'deflation. "auto" goes by the shape, and takes the SVD where '
        'the kept directions are that unequal. In blocks: "svd" (auto; a QR factor is updated) or '
        '"covariance" (faster, half the digits).',
    )

    reader: ClassVar[Reader] = DenseOrSparseRows()
    in_blocks: ClassVar[InBlocks] = _block_solver

    def _embed(self, data: Data, run: Run) -> Fit:
        if isinstance(data.source, Blocks):
            return self._embed_blocks(data.source.rows, run)
        X = data.points().X
        mean = X.mean(axis=0) if isinstance(X, SparseRows) else column_mean(X, run.n_jobs)
        k = components_to_compute(self.n_components, *X.shape)
        axes = self._chosen(_axes(X, mean, k, run), *X.shape)  # V, lambda, total variance
        to_axes = AffineMap(mean, axes.V, axes.V.T)
        return Fit(
            coordinates=project(X, mean, axes.V, run) if axes.scores is None else axes.scores,
            pairs=axes.pairs,
            graph=None,
            extend=to_axes,
            invert=to_axes,
            extra={**_attributes(axes, mean, len(X), X.dtype), "_moments": None},  # fitted whole, not by blocks
        )

    def _chosen(self, axes: Axes, n: int, D: int) -> Axes:
        return truncated(axes, components_to_keep(self.n_components, axes, n, D))

    @property
    def n_components_(self) -> int:
        """Number of output columns, as asked for or found."""
        check_fitted(self)
        return self._n_features_out

    @property
    def explained_variance_(self) -> Floats:
        """The same as `eigenvalues_`."""
        return np.asarray(self.eigenvalues_)

    @property
    def singular_values_(self) -> Floats:
        """Of the centred data, along the components."""
        return np.asarray(np.sqrt(self.eigenvalues_ * max(self.n_samples_seen_ - 1, 0)))

    @property
    def noise_variance_(self) -> float:
        """Mean variance of the directions left out, by probabilistic PCA; 0 where none is."""
        check_fitted(self)
        left = min(self.n_samples_seen_, self.n_features_in_) - self.n_components_
        return max(self.total_variance_ - float(self.eigenvalues_.sum()), 0.0) / left if left > 0 else 0.0

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of every row under probabilistic PCA: Gaussian, `noise_variance_` off the components."""
        check_fitted(self)
        rows: Any = feature_rows(self.reader.queries(self, X))
        mean, V = self._extend.mean, self._extend.W
        if isinstance(rows, SparseRows):
            squares = rows.squares() - 2 * (rows @ mean) + mean @ mean
        else:
            squares = np.square(np.subtract(rows, mean, dtype=np.float64)).sum(axis=1)
        scores = project(rows, mean, V, self._run())
        return log_density(scores, squares, self.eigenvalues_, self.noise_variance_, len(mean))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`: what cross-validation compares numbers of components by."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Floats:
        """V (L - s I) V' + s I, the covariance of the probabilistic model: s is `noise_variance_`."""
        V, s = np.asarray(self.components_, dtype=np.float64), float(self.noise_variance_)
        spread = np.maximum(np.asarray(self.explained_variance_, dtype=np.float64) - s, 0.0)
        return np.asarray((V.T * spread) @ V + s * np.eye(V.shape[1]))

    def get_precision(self) -> Floats:
        """The inverse of `get_covariance`: (I - V diag((L - s) / L) V') / s, or its pseudo-inverse where s is 0."""
        V, s = np.asarray(self.components_, dtype=np.float64), float(self.noise_variance_)
        L = np.asarray(self.explained_variance_, dtype=np.float64)
        if s > 0:
            return np.asarray((np.eye(V.shape[1]) - (V.T * np.maximum(1 - s / L, 0.0)) @ V) / s)
        return np.asarray((V.T * np.where(L > 0, 1 / np.where(L > 0, L, 1.0), 0.0)) @ V)

    @property
    def n_samples_(self) -> int:
        """Rows that the model was fitted to."""
        return int(self.n_samples_seen_)

    def _operator(self) -> DenseOperator:
        """The covariance matrix of the training data."""
        if self._moments is not None:
            return DenseOperator(self._moments.scatter() / max(self._moments.count - 1, 1), psd=True)
        X = self._trained.points.X
        if isinstance(X, SparseRows):
            return DenseOperator(SparseScatter(X, self._extend.mean, float(max(len(X) - 1, 1))).dense(), psd=True)
        return DenseOperator(Scatter(X, self._extend.mean, divisor=max(len(X) - 1, 1)).dense(), psd=True)

    def reconstruct(self, X: Any, n_components: int | None = None) -> NDArray[np.floating]:
        """X as its first `n_components` components tell it (all fitted ones if None): mean + V_d V_d'(x - mean)."""
        check_fitted(self)
        d = self._n_features_out if n_components is None else n_components
        if not 0 <= d <= self._n_features_out:
            raise InvalidInput(f"n_components of reconstruct must be from 0 to {self._n_features_out}; got {d}")
        V, mean = self._extend.W[:, :d], self._extend.mean
        with single_threaded_blas():
            return np.asarray(
                project(feature_rows(self.reader.queries(self, X)), mean, V, self._run()) @ V.T + mean,
                dtype=self._dtype,
            )

    # Blocks ---------------------------------------------------------------------------------------------------------

    def _embed_blocks(self, rows: Rows, run: Run) -> Fit:
        """One pass for the D x D factor; of very wide rows one pass for every product with their scatter matrix."""
        n, D = rows.shape
        k = components_to_compute(self.n_components, n, D)
        moments = None
        with run.stage("principal axes (blocks)"):
            if self.solver == "krylov" or (self.solver == "auto" and is_wide(D, k)):
                mean = column_means(rows)
                axes = wide_axes(BlockScatter(rows, mean, max(n - 1, 1), n_jobs=jobs_of(rows, run)), k, run)
            else:
                moments = block_moments(rows, squared=self.solver == "covariance", run=run)
                mean, axes = moments.mean, moments.axes(k, run=run)
        return self._streamed(self._chosen(axes, n, D), mean, n, rows.dtype, moments)

    def _streamed(self, axes: Axes, mean: Floats, n: int, dtype: Any, moments: Moments | None) -> Fit:
        there = AffineMap(mean, axes.V, axes.V.T)
        normal = _stream_map(axes.pairs.values * (n - 1), n, self.normalization)
        extra = {**_attributes(axes, mean, n, dtype), "_moments": moments}
        nowhere = np.empty((0, axes.V.shape[1]))
        return Fit(nowhere, axes.pairs, None, there, there, extra, normal=normal, keeps_rows=False)

    def fit_blocks(self, blocks: Iterable[Any] | Any) -> Self:
        """Fit in one pass over blocks of rows: an iterable of arrays, an array that can be sliced (memory map, Zarr,
        HDF5), or the path of a .npy, .parquet or .zarr file. Memory: one block and a D x D matrix.
        """
        self._start_stream()
        for block in row_blocks(blocks):
            if len(block):
                self._moments: Moments | None = self._seen(block)
        if self._moments is None:
            raise InvalidInput("fit_blocks was given no block; at least one with 2 rows is needed")
        self._finish_stream(final=True)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a block of rows to what was seen, by `fit` as well; the fitted attributes are up to date after each call.

        As long as fewer rows than n_components were seen, the model only collects and is not fitted yet.
        """
        if getattr(self, "_moments", None) is None:
            former = self._trained.points.X if hasattr(self, "_trained") else None
            self._start_stream()
            if former is not None:
                self._moments = self._seen(former)
        self._moments = self._seen(X)
        self._finish_stream(final=False)
        return self

    def _start_stream(self) -> None:
        check_limits(type(self).__name__, self.get_params(deep=False), self.limits)
        if self.solver not in ("auto", "svd", "covariance"):
            raise InvalidInput(f"blocks of rows take solver 'auto', 'svd' or 'covariance'; got {self.solver!r}")
        for name in [name for name in vars(self) if name.endswith("_") or name in ("_extend", "_trained")]:
            delattr(self, name)
        self._moments = None

    def _seen(self, block: Any) -> Moments:
        given = block.csr if isinstance(block, SparseRows) else block
        rows: Any = read_points(self, given, reset=self._moments is None, sparse=True)
        if self._moments is None:
            self._dtype = rows.dtype.name
            self._moments = Moments.none(rows.shape[1], squared=self.solver == "covariance")
        moments, sparse = self._moments, hasattr(rows, "tocsr")
        with single_threaded_blas():
            for part in row_slices(*rows.shape) if sparse else [slice(None)]:
                moments = moments.add(rows[part].toarray() if sparse else rows[part], run=self._run())
        return moments

    def _finish_stream(self, *, final: bool) -> None:
        assert self._moments is not None
        n, D = self._moments.count, len(self._moments.mean)
        d = components_to_compute(self.n_components, n, D)
        if d > D or (final and (n < 2 or d > n)):
            raise InvalidInput(
                f"n_components of PCA must be at most min(n_samples, n_features) = {min(n, D)} for n_samples = {n} and "
                f"n_features = {D}; got {d}; at least 2 samples are needed"
            )
        if n < max(2, d):
            return
        with single_threaded_blas():
            axes = self._chosen(self._moments.axes(d, run=self._run()), n, D)
        fit = self._streamed(axes, self._moments.mean, n, self._dtype, self._moments)
        self._keep(fit, Data(None, given=np.empty((0, D), dtype=self._dtype)))


def _axes(X: Any, mean: Floats, k: int, run: Run) -> Axes:
    if isinstance(X, SparseRows):
        return sparse_axes(X, mean, k, run=run)
    return principal_axes(X, mean, k, run=run)


def _attributes(axes: Axes, mean: Floats, n: int, dtype: Any) -> dict[str, Any]:
    values = axes.pairs.values
    return {
        "mean_": mean.astype(dtype),
        "components_": axes.V.T.astype(dtype),
        "explained_variance_ratio_": values / axes.total if axes.total > 0 else np.zeros_like(values),
        "total_variance_": axes.total,
        "n_samples_seen_": n,
    }


def _stream_map(energies: Floats, n: int, normalization: str) -> Floats:
    """The output's linear map from the columns' sums of squares: scores are centred and orthogonal."""
    if normalization == "natural":
        return np.eye(len(energies))
    size = np.sqrt(energies if normalization == "orthonormal" else energies / n)
    return np.diag(1.0 / np.where(size > 0, size, 1.0))
