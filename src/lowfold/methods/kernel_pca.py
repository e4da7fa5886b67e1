"""Kernel PCA, Schoelkopf, Smola & Mueller (1998), doi:10.1162/089976698300017467.

X --kernel--> K --centre--> H K H --eigen--> (lambda, v) --> sqrt(lambda) v
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Flag, Int, Null, Real
from lowfold._core.operators import CentredGram, DenseOperator
from lowfold._core.params import param, positional
from lowfold._core.rounding import UNEVEN
from lowfold._core.rows import Rows
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._reading import check_range, in_memory
from lowfold.graph._source import Blocks, Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._block_kernel import BlockKernel, MercerTile, block_products
from lowfold.kernels._functions import MEDIAN_POINTS, Mercer, mercer_kernel, usual_gamma
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.kernels._tiles_on_device import placed_on_device
from lowfold.lowrank._block_sums import column_means, jobs_of
from lowfold.methods._base import Check, Method, fewer_components_than_points
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import AsNew, Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._in_blocks import InBlocks, always
from lowfold.methods._input import AnySource, Reader
from lowfold.methods._landmarks import NO_LANDMARKS, Landmarked, chooser, landmark_stages, through_landmarks
from lowfold.methods._losses import Lowered, kernel_variance
from lowfold.methods._parameters import MercerKernel, Solved
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.preimages import FixedPoint, RidgePreimage, over_kernel_rows, without_themselves
from lowfold.methods._reading_rows import read_rows
from lowfold.methods._stages import Stages, tile_stages
from lowfold.methods._telling import tell_few
from lowfold.spectral._doors import largest
from lowfold.spectral._held import ENOUGH_TO_TELL, FEW
from lowfold.spectral._solvers import LAST_RESORT
from lowfold.spectral._types import NEGLIGIBLE, Eigenpairs, existing_values, positive_values

PREIMAGES = ("barycentric", "fixed_point", "ridge")


@dataclass(frozen=True)
class KernelOrPoints(AnySource):
    """Points, or with kernel="precomputed" the matrix of the kernel, used in the fit and not kept."""

    def data(self, method: Any, X: Any, y: Any) -> Data:
        if not _precomputed(method):
            return super().data(method, X, y)
        in_memory(X)
        K = np.asarray(read_rows(method, X, reset=True, least=2))
        check_range(K)
        if K.shape[0] != K.shape[1]:
            raise InvalidInput(f"a precomputed kernel must be square; got {K.shape[0]} rows and {K.shape[1]} columns")
        if np.abs(K - K.T).max() > UNEVEN * max(float(np.abs(K).max()), np.finfo(float).tiny):
            raise InvalidInput("a precomputed kernel must be symmetric; this one is not: pass (K + K.T) / 2")
        return Data(None, given=K)

    def queries(self, method: Any, X: Any) -> Queries:
        if not _precomputed(method):
            return super().queries(method, X)
        K = np.asarray(read_rows(method, X, reset=False))
        check_range(K, fitted=method._dtype)
        return K

    def tags(self, method: Any, tags: Any) -> Any:
        tags.input_tags.pairwise = _precomputed(method)
        tags.input_tags.sparse = not _precomputed(method)
        return tags


def _precomputed(method: Any) -> bool:
    return isinstance(method.kernel, str) and method.kernel == "precomputed"


def _components_exist(method: Any, data: Data) -> None:
    if method.n_components is not None:
        fewer_components_than_points(method, data)
    elif data.n > LAST_RESORT and method.landmarks is None:
        raise InvalidInput(
            f"n_components=None computes all eigenvectors, of up to {LAST_RESORT} points; got {data.n}: give a number, "
            "or set landmarks"
        )


class KernelPCA(MercerKernel, Landmarked, Solved, Method):  # type: ignore[misc] # `kernel` is scikit-learn's name
    """PCA of the feature vectors phi(x) that a kernel k(x, y) = <phi(x), phi(y)> implies, without computing them.

    The coordinates are Y = V sqrt(lambda) for the leading eigenpairs of the centred Gram matrix H K H: the projections
    of the centred phi(x_i) on their principal directions. Up to n - 1 components exist, whatever the number of
    features. With the linear kernel it is PCA; with -1/2 times squared distances as a precomputed kernel, classical
    MDS, or Isomap. The Gram matrix is never held in one piece: the upper triangle in tiles of float32, or computed anew
    in each pass.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), of H K H, descending: n times the variances; one that is not positive gives
    zeros
    explained_variance_ratio_ : array (n_components,), their share of the trace
    gamma_ : float, the gamma used
    landmarks_ : array of indices, or None; with m landmarks eigenvalues_ are theirs, about m / n of those of all points
    landmark_error_ : float or None; half of the landmarks, placed by a model of the others: how far off, relative
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> rings = lowfold.datasets.concentric_circles(200, random_state=0)
    >>> lowfold.KernelPCA(2, gamma=1.0).fit_transform(rings.X).shape
    (200, 2)
    """

    stages: ClassVar[Stages] = landmark_stages(tile_stages)
    loss: ClassVar[Lowered] = Lowered(
        kernel_variance, "share of the variance of the kernel's features that Y does not explain"
    )

    n_components: int | None = positional(  # type: ignore[assignment]
        default=2,
        limits=(Int(1), Null("all")),
        text="Number of output columns; at least 1. None is all whose eigenvalue is above 0.",
        kw_only=False,
    )
    center: bool = param(
        True, Flag(), "Centre the feature vectors. False takes K as it is (Vidal, Ma & Sastry, Algorithm 4.1)."
    )
    preimage: str = param(
        "barycentric",
        Choice(PREIMAGES),
        "How `inverse_transform` leads back to data: barycentric weights of the nearest embedded "
        "points; the fixed point z = sum c_i k(z, x_i) x_i / sum c_i k(z, x_i), which minimises the "
        'distance to the point in feature space ("rbf" only; Mika et al. 1999); or kernel ridge '
        "regression of x on y (Bakir, Weston & Schoelkopf 2004).",
    )
    alpha: float = param(0.01, Real(0, open_low=True), "Penalty of the ridge regression.")

    landmark_rule: str = param("random")  # what is solved is an integral over the density: keep it

    checks: ClassVar[tuple[Check, ...]] = (_components_exist,)
    reader: ClassVar[Reader] = KernelOrPoints()
    in_blocks: ClassVar[InBlocks] = always

    def _embed(self, data: Data, run: Run) -> Fit:
        choose = chooser(self)
        if choose is not None:
            return through_landmarks(data, choose, self._solved, self._check, run)
        return self._solved(data, run)

    def _solved(self, data: Data, run: Run) -> Fit:
        k = self._mercer(data)
        with run.stage("kernel matrix"):
            K = self._gram_of(data, k, run)
        ones = np.ones((data.n, 1)) if self.center else None
        d = data.n - self.center if self.n_components is None else self.n_components
        pairs = largest(K, d, null=ones, negligible=NEGLIGIBLE, run=run)
        pairs = _existing(pairs) if self.n_components is None else pairs
        kept = positive_values(pairs.values, "the kernel matrix")
        means = K.row_means() if self.center else np.zeros(data.n)
        trace = K.trace(means)
        way_out = "leave these rows out, or use a smaller gamma where the kernel is local"
        lonely = tell_few("KernelPCA", pairs.vectors, way_out)
        if k.differences and not len(lonely):
            _tell_narrow(k.gamma, float(pairs.values[0]), trace / data.n, data.n)
        return Fit(
            coordinates=pairs.vectors * np.sqrt(kept),
            pairs=pairs,
            graph=None,
            extend=KernelRow(k, means, kept, pairs.vectors, self.center),
            invert=self._inverse(k, means, kept, pairs.vectors),
            extra={
                **NO_LANDMARKS,
                "explained_variance_ratio_": pairs.values / trace if trace > 0 else np.zeros_like(pairs.values),
                "gamma_": k.gamma,
            },
        )

    def _mercer(self, data: Data) -> Mercer:
        if data.given is not None:
            return Mercer("precomputed")
        X = _spread_rows(data)
        gamma = usual_gamma(self.kernel, X, self.gamma)
        return mercer_kernel(self.kernel, X.shape[1], gamma=gamma, degree=self.degree, coef0=self.coef0)

    def _gram_of(self, data: Data, k: Mercer, run: Run) -> Any:
        if data.given is not None:
            return GivenGram(data.given, gram=True, n_jobs=run.n_jobs) if self.center else GivenMatrix(data.given)
        if isinstance(data.source, Blocks):
            rows = data.source.rows
            tile = MercerTile(k, column_means(rows) if k.differences else np.zeros(rows.shape[1]))
            return BlockKernel(rows, tile, self.center, k.psd, n_jobs=jobs_of(rows, run))
        return kernel_operator(data.points().X, k, center=self.center, run=run)

    def _inverse(self, k: Mercer, means: Floats, values: Floats, vectors: Floats) -> Any:
        if self.preimage == "fixed_point":
            if k.name != "rbf":
                raise InvalidInput(f'preimage="fixed_point" needs kernel="rbf"; got {self.kernel!r}; use "ridge"')
            return FixedPoint(k.gamma, values, vectors, self.center)
        return RidgePreimage(float(self.alpha)) if self.preimage == "ridge" else Barycentric()

    @property
    def eigenvectors_(self) -> Floats:
        """Of the centred kernel matrix, one column each, of length 1."""
        check_fitted(self)
        return np.asarray(self._extend.vectors)

    def gram(self) -> KernelOperator:
        """The operator H K H (K where `center` is False) of the training points, or the landmarks, rebuilt."""
        check_fitted(self)
        if self._trained.source is None:
            raise InvalidInput("a precomputed kernel matrix is not kept; its operator cannot be rebuilt")
        if isinstance(self._trained.source, Blocks):
            data = Data(self._trained.source)
            return self._gram_of(data, self._mercer(data), self._run())  # type: ignore[no-any-return]
        X = self._trained.points.X if self.landmarks_ is None else self._trained.points.X[self.landmarks_]
        row = self._extend if self.landmarks_ is None else self._extend.extend
        return kernel_operator(X, row.kernel, center=self.center, run=self._run())

    def _operator(self) -> KernelOperator:
        return self.gram()


def _tell_narrow(gamma: float, first: float, own: float, n: int) -> None:
    """Say that no coordinate is shared by more than a few points: the first eigenvalue is hardly that of one."""
    if n >= ENOUGH_TO_TELL and first < FEW * own:
        warn(
            f"the kernel of KernelPCA has next to nothing off its diagonal (gamma = {gamma:.3g}; its first eigenvalue "
            f"is that of {first / own:.1f} points), so that every point is a direction of its own; use a smaller "
            "gamma, as the default, which is that of the median distance",
            errors.AccuracyWarning,
        )


def _existing(pairs: Eigenpairs) -> Eigenpairs:
    """Those with a value above rounding, at least one."""
    kept = max(1, int((existing_values(pairs.values) > 0).sum()))
    return replace(pairs, values=pairs.values[:kept], vectors=pairs.vectors[:, :kept])


def _spread_rows(data: Data) -> AnyFloats:
    """The points, or of blocks the few rows that set the width of a kernel."""
    if not isinstance(data.source, Blocks):
        return data.points().X
    n = data.n
    return data.source.rows.take(np.linspace(0, n - 1, min(n, MEDIAN_POINTS)).astype(np.int64))


class GivenGram(CentredGram):
    """H K H for a given matrix K."""

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues."""
        return super().trace()


class GivenMatrix(DenseOperator):
    """A given matrix K, uncentred."""

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues."""
        return float(np.diagonal(self.matrix).astype(np.float64).sum())


@dataclass(frozen=True, eq=False)
class KernelRow(Extension):
    """y_k = sum_i v_ik k~(x, x_i) / sqrt(lambda_k), k~ centred with the stored means of the training points.

    k~(x, x_i) = k(x, x_i) - mean_j k(x, x_j) - mean_i + grand mean; the last two drop out against centred eigenvectors
    only together, so they are all there. Directions with lambda <= 0 do not exist; their coordinate is 0.
    """

    kernel: Mercer
    row_means: Floats
    values: Floats
    vectors: Floats
    center: bool

    @property
    def looks(self) -> Looks:  # type: ignore[override]
        """Rows of a given kernel do not say which training point a new one is."""
        return "nowhere" if self.kernel.name == "precomputed" else "nearest"

    def coordinates(self, rows: Floats) -> Floats:
        """From k(x, .), which is centred in place."""
        if self.center:
            rows -= rows.mean(axis=1, keepdims=True)
            rows -= self.row_means - self.row_means.mean()
        return self._scaled(rows @ self.vectors)

    def _scaled(self, products: Floats) -> Floats:
        alive = self.values > 0
        return np.asarray(products * np.where(alive, 1 / np.sqrt(np.where(alive, self.values, 1.0)), 0.0))

    def _over_blocks(self, rows: Rows, Q: AnyFloats) -> Floats:
        """The same, k(x, .) V and the mean of k(x, .) summed up block by block."""
        mean = column_means(rows) if self.kernel.differences else np.zeros(rows.shape[1])
        return self._from_sums(*block_products(rows, Q, MercerTile(self.kernel, mean), self.vectors))

    def _from_sums(self, products: Floats, sums: Floats) -> Floats:
        """Coordinates from k(x, .) V and the sum of k(x, .)."""
        if self.center:
            level = self.row_means.mean() - sums / len(self.vectors)
            products = products + np.outer(level, self.vectors.sum(axis=0)) - self.row_means @ self.vectors
        return self._scaled(products)

    def as_new(self, coordinates: Floats, rows: Ints, points: Points, run: Run) -> AsNew:
        nowhere = self._from_sums(np.zeros((1, self.vectors.shape[1])), np.zeros(1))[0]
        return without_themselves(self.kernel, nowhere, coordinates, rows, points, run)

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        Q = feature_rows(queries)
        if self.kernel.name == "precomputed":
            return self.coordinates(Q.astype(np.float64))
        if isinstance(trained.source, Blocks):
            return self._over_blocks(trained.source.rows, Q)
        summed = placed_on_device(self.kernel, Q, trained.points.X, self.vectors, run) if run.device != "cpu" else None
        if summed is not None:
            return self._from_sums(*summed)
        out = np.empty((len(Q), len(self.values)))

        def work(part: slice, rows: Floats) -> None:
            out[part] = self.coordinates(rows)

        over_kernel_rows(self.kernel, Q, trained.points.X, work, run)
        return out
