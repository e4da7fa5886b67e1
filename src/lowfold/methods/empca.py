"""EM for PCA, Roweis (1998), and probabilistic PCA, Tipping & Bishop (1999), doi:10.1111/1467-9868.00196.

X with gaps --E: p(z | observed)--> z --M: least squares--> (W, mean, s) -- ... --> axes V of W
    --> E[V'(x - mean) | observed]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Real
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import block_slices, single_threaded_blas
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh, stacked_svd
from lowfold._core.types import AnyFloats, Floats
from lowfold._core.warn import warn
from lowfold.graph._source import Blocks
from lowfold.graph._types import Neighbors
from lowfold.lowrank._block_sums import BlockScatter, added, column_means, is_wide, jobs_of
from lowfold.lowrank._em_pca import (
    FLOOR,
    Latent,
    Sums,
    closed_form,
    complete_em_step,
    expected_sums,
    filled,
    maximised,
    posterior,
)
from lowfold.lowrank._scatter import Scatter
from lowfold.lowrank._streaming import Moments
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._in_blocks import InBlocks as TakesBlocks
from lowfold.methods._in_blocks import always
from lowfold.methods._input import Reader, Rows
from lowfold.methods._linear_method import LinearMethod
from lowfold.methods._losses import VARIANCE, Lowered, principal
from lowfold.methods._normalize import normal_map_of
from lowfold.methods._parameters import Seeded
from lowfold.methods._stages import Stages, copy_stages
from lowfold.spectral._types import fix_signs

FILLED = 2**22  # numbers of a block of rows whose missing values are filled: 32 MB


class EMPCA(Seeded, LinearMethod):
    """PCA by expectation maximisation, with a density for the data and with missing values (NaN) where they are.

    The model is x = mean + W z + noise with z ~ N(0, I) and noise ~ N(0, s I). Each step raises the likelihood of what
    was observed; nothing is filled in beforehand. The coordinates are E[V'(x - mean) | observed part of x], V the
    principal axes of W; with nothing missing they are those of `PCA`. One step costs n D d: neither covariance nor Gram
    matrix is formed.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    components_ : array (n_components, D), orthonormal rows; mean_ : array (D,)
    eigenvalues_ : array (n_components,), variances of the model along the components (dividing by n - 1), descending
    noise_variance_ : float, s, by maximum likelihood (dividing by n); 0 for noise="none"
    log_likelihood_ : float, of the observed values under the model; NaN for noise="none"
    n_iter_ : int, steps taken

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.outer(np.arange(8.0), [1.0, 2.0, -1.0])
    >>> gaps = X.copy(); gaps[2, 1] = gaps[5, 0] = np.nan
    >>> float(np.abs(lowfold.EMPCA(1).fit(gaps).impute(gaps) - X).max().round(3))
    0.0
    """

    stages: ClassVar[Stages] = copy_stages(2, "expectation maximisation")
    loss: ClassVar[Lowered] = Lowered(principal, VARIANCE)

    noise: str = param(
        "isotropic",
        Choice(("isotropic", "none")),
        'Probabilistic ("sensible") PCA, or the limit of no noise, plain PCA: each step is then a '
        'least squares fit of z, and one of W. With many values missing "none" overfits.',
    )
    max_iter: int = param(
        1000,
        Int(1),
        "Steps at most.",
    )
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "Stop when a step turns the subspace by less than this angle (with gaps also: changes W and s "
        "by less than this share).",
    )
    random_state: Any = param(
        0,
        "Start of W. The answer depends on it only where two eigenvalues coincide, or where gaps leave several optima.",
    )

    reader: ClassVar[Reader] = Rows(gaps=True)

    in_blocks: ClassVar[TakesBlocks] = always

    def _embed(self, data: Data, run: Run) -> Fit:
        blocks = data.source if isinstance(data.source, Blocks) else None
        X: Observed = InMemory(data.points().X, run) if blocks is None else InBlocks(blocks, run)
        with run.stage("expectation maximisation"):
            model, steps, likelihood = self._maximise(X, run)
        to_scores = _oriented(model, X)
        n = X.shape[0]
        extra = {
            "mean_": model.mean.astype(data.dtype),
            "components_": to_scores.V.T.astype(data.dtype),
            "eigenvalues_": _variances(to_scores, X) * n / max(n - 1, 1),
            "noise_variance_": model.noise,
            "log_likelihood_": likelihood,
            "n_iter_": steps,
        }
        if blocks is None:
            return Fit(to_scores.rows(data.points().X), None, None, to_scores, to_scores, extra)
        total, products = X.score_sums(to_scores)
        normal = normal_map_of(total, products, n, self.normalization)
        nowhere = np.empty((0, len(total)))
        return Fit(nowhere, None, None, to_scores, to_scores, extra, normal=normal, keeps_rows=False)

    def _maximise(self, X: Observed, run: Run) -> tuple[Latent, int, float]:
        """EM until the subspace rests; the log-likelihood of the last model."""
        n, D = X.shape
        gaps, mean = X.gaps, X.mean()
        total = X.squares(mean) / n
        variance = total / D or 1.0
        # more features than points, none missing: all happens in the span of the rows, whose coordinates are few
        span = X.span(mean) if n < D and not gaps else None
        width = D if span is None else n
        start = run.rng.normal(size=(width, self.n_components)) * np.sqrt(variance / self.n_components)
        model = Latent(mean, start, variance if self.noise == "isotropic" else 0.0)
        S = X.scatter(mean) if span is None else Scatter(span[1].T, np.zeros(n), divisor=n, n_jobs=run.n_jobs)
        turned, step = np.inf, 0
        while turned > self.tol and step < self.max_iter:
            floor = FLOOR * variance
            new = maximised(model, X.sums(model), floor) if gaps else complete_em_step(model, S, total, floor)[0]
            turned, model, step = _change(model, new, scaled=gaps), new, step + 1
        model = model if span is None else replace(model, W=span[0] @ model.W)
        if turned > self.tol:
            warn(
                f"EM had not come to rest after max_iter = {self.max_iter} steps (last change {turned:.1g}); raise it, "
                "or ask for another n_components: the next eigenvalue may be nearly as large",
                errors.AccuracyWarning,
            )
        if self.noise == "none":
            return model, step, float("nan")
        if not gaps:
            model = _settled(model, X.scatter(mean), total)
        return model, step, X.log_likelihood(model)

    def _operator(self) -> DenseOperator:
        """The model's covariance W W' + s I."""
        W = self._extend.W
        return DenseOperator(W @ W.T + self.noise_variance_ * np.eye(len(W)), psd=True)

    def impute(self, X: Any) -> NDArray[np.floating]:
        """X with every missing value replaced by its expectation given the rest of its row; observed values stay."""
        check_fitted(self)
        rows = feature_rows(self.reader.queries(self, X))
        with single_threaded_blas():
            return filled(self._extend.model(), rows).astype(self._dtype)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-density of the observed part of each row under N(mean, W W' + s I)."""
        check_fitted(self)
        if self.noise_variance_ == 0:
            raise InvalidInput('without noise the model has no density; fit with noise="isotropic"')
        rows = feature_rows(self.reader.queries(self, X))
        with single_threaded_blas():
            return posterior(self._extend.model(), rows).log_likelihood

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())


@dataclass(frozen=True, eq=False)
class ConditionalScores(Extension):
    """E[V'(x - mean) | observed part of x] under x ~ N(mean, W W' + s I); linear where nothing is missing."""

    mean: Floats
    V: Floats
    W: Floats
    noise: float
    looks: ClassVar[Looks] = "nowhere"

    def model(self) -> Latent:
        return Latent(self.mean, self.W, self.noise)

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return self.rows(feature_rows(queries))

    def rows(self, X: AnyFloats) -> Floats:
        """The scores of every row of X."""
        out = np.empty((len(X), self.V.shape[1]))
        for part in block_slices(len(X), max(1, FILLED // len(self.mean))):
            rows = X[part]
            known = rows if not np.isnan(rows).any() else filled(self.model(), rows)
            out[part] = np.subtract(known, self.mean, dtype=np.float64) @ self.V
        return out

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.V.T + self.mean)


def _change(old: Latent, new: Latent, *, scaled: bool) -> float:
    """Sine of the largest angle between the spans of W; `scaled`: also the relative change of W and of the noise."""
    Q, _ = np.linalg.qr(new.W)
    P, _ = np.linalg.qr(old.W)
    angle = float(np.linalg.norm(P - Q @ (Q.T @ P), 2))
    if not scaled or new.noise == 0.0:
        return angle
    moved = float(np.linalg.norm(new.W - old.W) / max(np.linalg.norm(new.W), np.finfo(float).tiny))
    return max(angle, moved, abs(new.noise - old.noise) / new.noise)


def _settled(model: Latent, S: Product, total: float) -> Latent:
    """With nothing missing the subspace is all that EM has to find: inside it, scale and noise have a closed form."""
    Q, _ = np.linalg.qr(model.W)
    values, turn = stacked_eigh(Q.T @ S.apply(Q))
    return closed_form(values[::-1], Q @ turn[:, ::-1], total, model.mean)


def _oriented(model: Latent, X: Observed) -> ConditionalScores:
    """The model turned to its principal axes: of W W', or without noise, where W is any basis, of the scores."""
    U, s, _ = stacked_svd(model.W)
    if model.noise == 0.0:
        free = ConditionalScores(model.mean, U, U, 0.0)
        _, turn = stacked_eigh(X.score_scatter(free))
        V = fix_signs(U @ turn[:, ::-1])
        return ConditionalScores(model.mean, V, V, 0.0)
    V = fix_signs(U)
    return ConditionalScores(model.mean, V, V * s, model.noise)


def _variances(scores: ConditionalScores, X: Observed) -> Floats:
    """Variances along the axes, dividing by n: of the model, or of the scores where there is no noise."""
    if scores.noise > 0:
        return np.asarray(np.square(scores.W).sum(axis=0) + scores.noise)
    return np.asarray(np.diag(X.score_scatter(scores)) / X.shape[0])


# Rows, in memory or in blocks, as expectation maximisation asks for them ----------------------------------------------


Product = Scatter | BlockScatter | DenseOperator
"""The scatter matrix over n, as what is multiplied with W."""


class Observed(Protocol):
    """Sums over rows of which some values may be missing."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def gaps(self) -> bool: ...

    def mean(self) -> Floats: ...

    def squares(self, mean: Floats) -> float: ...

    def scatter(self, mean: Floats) -> Product: ...

    def span(self, mean: Floats) -> tuple[Floats, Floats] | None: ...

    def sums(self, model: Latent) -> Sums: ...

    def log_likelihood(self, model: Latent) -> float: ...

    def score_sums(self, scores: ConditionalScores) -> tuple[Floats, Floats]: ...

    def score_scatter(self, scores: ConditionalScores) -> Floats: ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """The rows of an array."""

    X: AnyFloats
    run: Run

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @cached_property
    def gaps(self) -> bool:
        return bool(np.isnan(self.X).any())

    def mean(self) -> Floats:
        return np.asarray(np.nanmean(self.X, axis=0, dtype=np.float64))

    def squares(self, mean: Floats) -> float:
        return _squares(self.X, 0, mean)

    def span(self, mean: Floats) -> tuple[Floats, Floats]:
        """An orthonormal basis of the centred rows, and their coordinates in it."""
        Q, R = np.linalg.qr(np.subtract(self.X, mean, dtype=np.float64).T)
        return Q, R

    def scatter(self, mean: Floats) -> Scatter:
        return Scatter(self.X, mean, divisor=len(self.X), n_jobs=self.run.n_jobs)

    def sums(self, model: Latent) -> Sums:
        return expected_sums(model, self.X, self.run)

    def log_likelihood(self, model: Latent) -> float:
        return _log_likelihood(self.X, 0, model)

    def score_sums(self, scores: ConditionalScores) -> tuple[Floats, Floats]:
        return _score_sums(self.X, 0, scores)

    def score_scatter(self, scores: ConditionalScores) -> Floats:
        return _score_moments(self.X, 0, scores).scatter()


@dataclass(frozen=True, eq=False)
class InBlocks:
    """Rows in blocks: every sum is one pass."""

    blocks: Blocks
    run: Run

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks.rows.shape

    @property
    def gaps(self) -> bool:
        return self.blocks.extent.gaps

    def mean(self) -> Floats:
        return column_means(self.blocks.rows)

    def squares(self, mean: Floats) -> float:
        return float(self.blocks.rows.fold(_squares, add, mean))

    def span(self, mean: Floats) -> None:
        """Wide rows in blocks are multiplied as they are."""

    def scatter(self, mean: Floats) -> BlockScatter | DenseOperator:
        """One pass for the matrix; for every product another one where the rows are very wide."""
        rows = self.blocks.rows
        products = BlockScatter(rows, mean, divisor=rows.shape[0], n_jobs=jobs_of(rows, self.run))
        if self.gaps or is_wide(rows.shape[1], 1):
            return products
        return DenseOperator(products.dense(), psd=True)

    def sums(self, model: Latent) -> Sums:
        found: Sums = self.blocks.rows.fold(_sums, added, model, jobs_of(self.blocks.rows, self.run))
        return found

    def log_likelihood(self, model: Latent) -> float:
        return float(self.blocks.rows.fold(_log_likelihood, add, model))

    def score_sums(self, scores: ConditionalScores) -> tuple[Floats, Floats]:
        found: tuple[Floats, Floats] = self.blocks.rows.fold(_score_sums, added, scores)
        return found

    def score_scatter(self, scores: ConditionalScores) -> Floats:
        moments: Moments = self.blocks.rows.fold(_score_moments, Moments.joined, scores)
        return moments.scatter()


def _squares(block: AnyFloats, start: int, mean: Floats) -> float:
    return float(np.nansum(np.square(np.subtract(block, mean, dtype=np.float64))))


def _sums(block: AnyFloats, start: int, model: Latent, jobs: int | None) -> Sums:
    return expected_sums(model, block, Run(n_jobs=jobs, stages=None))


def _log_likelihood(block: AnyFloats, start: int, model: Latent) -> float:
    return float(sum(posterior(model, block[part]).log_likelihood.sum() for part in block_slices(len(block), 4096)))


def _score_sums(block: AnyFloats, start: int, scores: ConditionalScores) -> tuple[Floats, Floats]:
    Y = scores.rows(block)
    return Y.sum(axis=0), Y.T @ Y


def _score_moments(block: AnyFloats, start: int, scores: ConditionalScores) -> Moments:
    return Moments.none(scores.V.shape[1], squared=True).add(scores.rows(block))
