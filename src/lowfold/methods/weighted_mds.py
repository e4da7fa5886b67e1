"""Weighted MDS: several matrices, each with its own weights; INDSCAL, Carroll & Chang (1970), doi:10.1007/BF02310791.

D_1..D_m --centre--> B_k = -1/2 H (D_k o D_k) H --alternating least squares--> B_k ~ X diag(w_k) X'
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, Limits, Null, RealArray
from lowfold._core.memory import require
from lowfold._core.operators import CentredGram
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._source import Pairs
from lowfold.kernels._gram import centred_gram
from lowfold.methods._extend import Barycentric, GramRow, Impossible
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS
from lowfold.methods._several_matrices import MATRIX_KINDS, SeveralMatrices, Stack, aligned, merge
from lowfold.methods.classical_mds import ClassicalMDS
from lowfold.optimize._indscal import individual_scaling
from lowfold.spectral._doors import largest


class WeightedMDS(SeveralMatrices):
    """One space for several matrices of dissimilarities, whose axes weigh differently in each of them.

    With `weights=None` they are found: d_ij^k = sqrt(sum_a w_ka (x_ia - x_ja)^2) with a common space X and a weight per
    matrix and axis, by least squares on the centred Gram matrices B_k = X diag(w_k) X'. Unlike in other methods the
    axes are determined: turning X would spoil the fit. With weights given, each row g of them makes a matrix of its
    own, the root of the weighted mean of the squared distances, and its classical configuration.

    Parameters
    ----------
    {n_components}
    metric : {"precomputed", "precomputed_squared", "precomputed_similarity"}, default="precomputed"
        What X (matrices, n, n), or a list of n x n matrices, holds. Every pair must be measured.
    weights : None, array (matrices,) or (groups, matrices), default=None
        None finds one weight vector per matrix; else how much each matrix counts in each configuration, 0 or more.
    max_iter : int, default=500
        Rounds of the alternating least squares.
    tol : float in (0, 1), default=1e-10
        They end when a round explains less than this share more.
    {normalization}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components), the common space (weights found: mean weight 1 per axis); with weights given
        the configuration of their mean
    weights_ : array, (matrices, n_components) found, or (groups, matrices) as given, rows adding up to 1
    configurations_ : array (matrices, n, n_components), x_ia sqrt(w_ka); or (groups, n, n_components), turned to
        embedding_
    explained_ : array, share of ||B_k||^2 that each configuration explains
    n_matrices_ : int

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> weights = np.array([[1.5, 0.5], [0.5, 1.5], [1.0, 1.0]])
    >>> D = [np.sqrt((w * (X[:, None] - X) ** 2).sum(-1)) for w in weights]
    >>> found = lowfold.WeightedMDS(2).fit(D).weights_
    >>> bool(min(abs(found - weights).max(), abs(found[:, ::-1] - weights).max()) < 1e-6)
    True
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        **MATRIX_KINDS,
        "weights": (Null("they are found"), RealArray("an array of finite numbers, a column per matrix")),
        "max_iter": (Int(1),),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "precomputed",
        weights: Any = None,
        max_iter: int = 500,
        tol: float = 1e-10,
        normalization: str = "natural",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _given(self) -> Floats | None:
        """Weights of the matrices in each group, rows adding up to 1."""
        if self.weights is None:
            return None
        W = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        if W.ndim != 2 or W.shape[1] != self.n_matrices_ or (W < 0).any() or (W.sum(axis=1) == 0).any():
            raise InvalidInput(
                f"weights must have a column for each of the {self.n_matrices_} matrices, be 0 or more, and not all 0 "
                f"in a row; got shape {np.shape(self.weights)}"
            )
        return np.asarray(W / W.sum(axis=1, keepdims=True))

    def _merged(self, matrices: Floats) -> Floats:
        given = self._given()
        return merge(matrices, "rms", None if given is None else given.mean(axis=0))[0]

    def _check(self, data: Data) -> None:
        super()._check(data)
        assert isinstance(data, Stack)
        assert data.matrices is not None
        if not np.isfinite(data.matrices).all():
            k, i, j = np.argwhere(~np.isfinite(data.matrices))[0]
            raise InvalidInput(
                f"the dissimilarity of points {i} and {j} in matrix {k} is {data.matrices[k, i, j]}; WeightedMDS needs "
                'all pairs: use ReplicatedMDS(method="metric"), which leaves them out'
            )

    def _embed(self, data: Data, run: Run) -> Fit:
        assert isinstance(data, Stack)
        assert data.matrices is not None
        given = self._given()
        return self._find(data.matrices, run) if given is None else self._combine(data, given, run)

    def _find(self, matrices: Floats, run: Run) -> Fit:
        m, n, _ = matrices.shape
        require(3 * 8.0 * m * n * n, f"{m} Gram matrices of {n} points", "use ReplicatedMDS")
        B = np.stack([CentredGram(D).dense() for D in matrices])
        pairs = largest(self._gram(matrices), self.n_components, null=np.ones((n, 1)), negligible=1.0, run=run)
        with run.stage("alternating least squares"):
            rounding = 1e-14 * n * float((matrices**2).mean())
            start = pairs.vectors * np.sqrt(np.where(pairs.values > rounding, pairs.values, 0.0))
            found = individual_scaling(B, start, max_iter=self.max_iter, tol=self.tol)
        self._row_means = np.stack([(D**2).mean(axis=1) for D in matrices])
        return Fit(
            coordinates=found.X,
            pairs=None,
            graph=None,
            extend=Impossible("new points of WeightedMDS are placed by its own transform"),
            invert=Barycentric(),
            extra={
                "weights_": found.weights,
                "configurations_": found.X[None] * np.sqrt(found.weights)[:, None, :],
                "explained_": found.explained,
            },
        )

    def _combine(self, data: Stack, given: Floats, run: Run) -> Fit:
        assert data.matrices is not None
        model = ClassicalMDS(self.n_components, metric="precomputed")
        common = model._embed(Data(data.source), run)
        parts, explained = [], []
        for row in given:
            D = merge(data.matrices, "rms", row)[0]
            Y = aligned(model._embed(Data(Pairs(D)), run).coordinates, common.coordinates)
            B = CentredGram(D).dense()
            parts.append(Y)
            explained.append(1.0 - ((B - Y @ Y.T) ** 2).sum() / max(float((B**2).sum()), 1e-300))
        extra = {"weights_": given, "configurations_": np.stack(parts), "explained_": np.array(explained)}
        return Fit(common.coordinates, common.pairs, None, common.extend, Barycentric(), {**common.extra, **extra})

    def _gram(self, matrices: Floats) -> CentredGram:
        return CentredGram(self._merged(matrices))

    def _place(self, matrices: Floats, merged: Floats) -> Floats:
        if not np.isfinite(merged).all() or not np.isfinite(matrices).all():
            raise InvalidInput("new points need distances to all training points in every matrix; some are NaN or inf")
        if isinstance(self._extend, GramRow):
            return self._extend.place(self._trained, Pairs(merged), None, self._run())  # type: ignore[arg-type]
        X, W = self._trained.coordinates, self.weights_
        rows = 0.5 * (self._row_means[:, None, :] - matrices**2)  # Gram rows up to constants, which X'1 = 0 takes out
        right = np.einsum("kqj,ja,ka->qa", rows, X, W, optimize=True)
        gram = (X.T @ X) * (W.T @ W)
        return np.asarray(np.linalg.lstsq(gram, right.T, rcond=1e-12)[0].T)

    def kernel(self) -> CentredGram:
        """The centred Gram operator of the merged matrix, the mean of all: X X' where the model is exact."""
        return centred_gram(self._merged_distances(), run=self._run())
