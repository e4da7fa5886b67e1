"""Weighted MDS: several matrices, each with its own weights; INDSCAL, Carroll & Chang (1970), doi:10.1007/BF02310791.

D_1..D_m --centre--> B_k = -1/2 H (D_k o D_k) H --alternating least squares--> B_k ~ X diag(w_k) X'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Null, Real, RealArray
from lowfold._core.memory import require
from lowfold._core.operators import CentredGram
from lowfold._core.params import param
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._source import Pairs
from lowfold.graph._types import Neighbors
from lowfold.kernels._gram import centred_gram
from lowfold.methods._base import Check
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._losses import Loss, Lowered
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._several_matrices import MergedRow, SeveralMatrices, aligned, given_stack, merge
from lowfold.methods.classical_mds import ClassicalMDS
from lowfold.optimize._indscal import individual_scaling
from lowfold.optimize._loss_formulas import individual_loss, strain
from lowfold.spectral._doors import largest

SQUARES = 1e-14  # of n times the mean squared distance: rounding of an eigenvalue of a Gram matrix


def _all_measured(method: Any, data: Data) -> None:
    matrices = data.stack()
    if not np.isfinite(matrices).all():
        k, i, j = np.argwhere(~np.isfinite(matrices))[0]
        raise InvalidInput(
            f"the dissimilarity of points {i} and {j} in matrix {k} is {matrices[k, i, j]}; WeightedMDS needs all "
            'pairs: use ReplicatedMDS(method="metric"), which leaves them out'
        )


def _individual_loss(model: Any, data: Data, scaled: bool) -> Loss:
    """With given weights, classical MDS of their mean."""
    D = given_stack(data)
    if model.weights is not None:
        merged = CentredGram(merge(D, *model._merging(len(D)))[0])
        return lambda Y: strain(merged, Y, scaled)
    B = np.stack([CentredGram(part).dense() for part in D])
    return lambda Y: individual_loss(B, Y)


class WeightedMDS(SeveralMatrices):
    """One space for several matrices of dissimilarities, whose axes weigh differently in each of them.

    With `weights=None` they are found: d_ij^k = sqrt(sum_a w_ka (x_ia - x_ja)^2) with a common space X and a weight per
    matrix and axis, by least squares on the centred Gram matrices B_k = X diag(w_k) X'. Unlike in other methods the
    axes are determined: turning X would spoil the fit. With weights given, each row g of them makes a matrix of its
    own, the root of the weighted mean of the squared distances, and its classical configuration.

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

    loss: ClassVar[Lowered] = Lowered(
        _individual_loss, "min over w of sum_k ||B_k - Y diag(w_k) Y'||^2 / sum_k ||B_k||^2", "local"
    )

    metric: str = param(
        "precomputed",
        Choice(("precomputed", "precomputed_squared", "precomputed_similarity")),
        "What X (matrices, n, n), or a list of n x n matrices, holds. Every pair must be measured.",
    )
    weights: Any = param(
        None,
        Null("they are found"),
        RealArray("an array of finite numbers, a column per matrix"),
        "None finds one weight vector per matrix; else how much each matrix counts in each configuration, 0 or more.",
    )
    max_iter: int = param(500, Int(1), "Rounds of the alternating least squares.")
    tol: float = param(
        1e-10,
        Real(0, 1, open_low=True, open_high=True),
        "They end when a round explains less than this share more.",
    )

    checks: ClassVar[tuple[Check, ...]] = (*SeveralMatrices.checks, _all_measured)

    def _given(self, m: int) -> Floats | None:
        """Weights of the m matrices in each group, rows adding up to 1."""
        if self.weights is None:
            return None
        W = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        if W.ndim != 2 or W.shape[1] != m or (W < 0).any() or (W.sum(axis=1) == 0).any():
            raise InvalidInput(
                f"weights must have a column for each of the {m} matrices, be 0 or more, and not all 0 in a row; got "
                f"shape {np.shape(self.weights)}"
            )
        return np.asarray(W / W.sum(axis=1, keepdims=True))

    def _merging(self, m: int) -> tuple[str, Floats | None]:
        given = self._given(m)
        return "rms", None if given is None else given.mean(axis=0)

    def _embed(self, data: Data, run: Run) -> Fit:
        matrices = data.stack()
        given = self._given(len(matrices))
        return self._find(matrices, data, run) if given is None else self._combine(matrices, data, given, run)

    def _find(self, matrices: Floats, data: Data, run: Run) -> Fit:
        """The common space and the weights that explain all matrices."""
        m, n, _ = matrices.shape
        require(3 * 8.0 * m * n * n, f"{m} Gram matrices of {n} points", "use ReplicatedMDS")
        B = np.stack([CentredGram(D).dense() for D in matrices])
        merged = CentredGram(merge(matrices, "rms")[0])
        pairs = largest(merged, self.n_components, null=np.ones((n, 1)), negligible=1.0, run=run)
        with run.stage("alternating least squares"):
            rounding = SQUARES * n * float((matrices**2).mean())
            start = pairs.vectors * np.sqrt(np.where(pairs.values > rounding, pairs.values, 0.0))
            found = individual_scaling(B, start, max_iter=self.max_iter, tol=self.tol)
        return Fit(
            coordinates=found.X,
            pairs=None,
            graph=None,
            extend=WeightedRow(np.stack([(D**2).mean(axis=1) for D in matrices]), found.weights),
            invert=Barycentric(),
            extra={
                "weights_": found.weights,
                "configurations_": found.X[None] * np.sqrt(found.weights)[:, None, :],
                "explained_": found.explained,
            },
        )

    def _combine(self, matrices: Floats, data: Data, given: Floats, run: Run) -> Fit:
        """A configuration for each row of weights, turned towards that of all."""
        model = ClassicalMDS(self.n_components, metric="precomputed")
        common = model._embed(Data(data.source), run)
        parts, explained = [], []
        for row in given:
            D = merge(matrices, "rms", row)[0]
            Y = aligned(model._embed(Data(Pairs(D)), run).coordinates, common.coordinates)
            B = CentredGram(D).dense()
            parts.append(Y)
            explained.append(1.0 - ((B - Y @ Y.T) ** 2).sum() / max(float((B**2).sum()), NO_DIVISOR))
        extra = {"weights_": given, "configurations_": np.stack(parts), "explained_": np.array(explained)}
        there = MergedRow(*self._merging(len(matrices)), common.extend)
        return Fit(common.coordinates, common.pairs, None, there, Barycentric(), {**common.extra, **extra})

    def _operator(self) -> CentredGram:
        """The centred Gram operator of the merged matrix, the mean of all: X X' where the model is exact."""
        return centred_gram(self._merged_distances(), run=self._run())


@dataclass(frozen=True, eq=False)
class WeightedRow(Extension):
    """The x that explains a new point's Gram rows in all matrices best: sum_k |row_k - X diag(w_k) x|^2 is least."""

    row_means: Floats
    weights: Floats
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        matrices = np.asarray(feature_rows(queries), dtype=np.float64).transpose(1, 0, 2)
        if not np.isfinite(matrices).all():
            raise InvalidInput("new points need distances to all training points in every matrix; some are NaN or inf")
        X, W = trained.coordinates, self.weights
        rows = 0.5 * (self.row_means[:, None, :] - matrices**2)  # Gram rows up to constants, which X'1 = 0 takes out
        right = np.einsum("kqj,ja,ka->qa", rows, X, W, optimize=True)
        gram = (X.T @ X) * (W.T @ W)
        out = np.asarray(np.linalg.lstsq(gram, right.T, rcond=ROUNDING)[0].T)
        same = (matrices == 0).all(axis=0)
        known = same.any(axis=1)
        out[known] = X[np.argmax(same[known], axis=1)]
        return out
