"""Robust principal components: projection pursuit, L1, covariance of signs, low rank plus sparse.

X --geometric median--> Xc --max MAD(w'x)--> W --rows near W and each other--> PCA of these --> V --> Xc V
X --geometric median--> Xc --max sum |w'x| | covariance of x/|x|--> V --> Xc V
X --min ||L||_* + penalty ||S||_1--> L + S --PCA of L--> V --L1 regression of each row on V--> y
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Null, Real
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import ROWED, block_slices
from lowfold._core.params import param
from lowfold._core.rows import Rows
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._source import Blocks
from lowfold.graph._types import Neighbors
from lowfold.lowrank._block_sums import BlockScatter, block_median, is_wide, jobs_of, wide_axes
from lowfold.lowrank._principal import principal_axes
from lowfold.lowrank._robust import (
    MAD,
    geometric_median,
    inliers,
    l1_directions,
    low_rank_plus_sparse,
    pursued_directions,
    sign_rows,
    sparse_regression,
    truncation,
)
from lowfold.methods._base import Check
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._linear_method import AffineMap, LinearMethod, project
from lowfold.methods._losses import Lowered, no_loss
from lowfold.methods._stages import Stages, copy_stages
from lowfold.spectral._doors import largest
from lowfold.spectral._types import ZERO, fix_signs

SHARPER = 0.1  # of `tol`, asked of the split: its axes, found afterwards, are to be good to `tol`
ROUNDS = 10  # of leaving out rows and looking again


def _fits_memory(model: Any, data: Data) -> None:
    if model.method != "low_rank" and model.penalty is not None:
        raise InvalidInput(f'penalty of RobustPCA belongs to method="low_rank"; got method={model.method!r}')
    if isinstance(data.source, Blocks):
        return
    n, D = data.points().X.shape
    require(8.0 * n * D * (8 if model.method == "low_rank" else 3), f"RobustPCA of {n} x {D} values", "use PCA")


def _by_signs(model: Any) -> str:
    return "" if model.method == "covariance" else 'method="covariance" is a sum over rows; the others hold all of them'


class RobustPCA(LinearMethod):
    """Principal components that outliers do not turn.

    method="pursuit" looks for the directions in which the median absolute deviation is largest, leaves out the rows far
    from the others in them or far from their span, and takes the components of the rest: up to half of the rows may be
    anywhere. "covariance" takes the eigenvectors of the covariance of the directions x / |x|, where no row counts more
    than another: outliers in one direction must be fewer than the rows that each wanted direction holds. "l1" maximises
    sum_i |w'x_i| in place of the sum of squares: a row counts by its distance, so that it stands a few outliers of
    moderate size only. All three are about a robust centre and project linearly. "low_rank" splits X into L + S of low
    rank and sparse, for errors in single entries: the axes are those of L, and the coordinates of a row fit it in the
    L1 sense, so that its wrong entries do not count.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    components_ : array (n_components, D), orthonormal rows; mean_ : array (D,), the centre
    eigenvalues_ : array (n_components,), robust variances along the components, descending: of the rows not left out,
        by the L1 norm, by the median absolute deviation, or of L
    outliers_ : bool array (n,), rows left out; for "pursuit" only
    sparse_ : sparse array (n, D), S; for "low_rank" only
    rank_ : int, of L; for "low_rank" only

    References
    ----------
    Croux & Ruiz-Gazen 2005, doi:10.1016/j.jmva.2004.08.002; Hubert, Rousseeuw & Vanden Branden 2005,
    doi:10.1198/004017004000000563; Kwak 2008, doi:10.1109/TPAMI.2008.114; Locantore et al. 1999,
    doi:10.1007/BF02595862; Candes, Li, Ma & Wright 2011, doi:10.1145/1970392.1970395

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.outer(np.linspace(-1, 1, 30), [3.0, 4.0]); X[0] = [-40.0, 30.0]
    >>> np.abs(lowfold.RobustPCA(1).fit(X).components_).round(1).tolist()
    [[0.6, 0.8]]
    """

    stages: ClassVar[Stages] = copy_stages(3, "robust directions")
    loss: ClassVar[Lowered] = no_loss(
        "it weighs the entries or directions of X, of which an embedding keeps no trace; use PCA's"
    )

    method: str = param(
        "pursuit",
        Choice(("pursuit", "covariance", "l1", "low_rank")),
        "How outliers are kept from counting, as said above.",
    )
    penalty: float | None = param(
        None,
        Real(0, open_low=True),
        Null("1 / sqrt(max(n, D))"),
        'Weight of |S|_1 against the sum of singular values of L, for "low_rank"; None is 1 / sqrt(max(n, D)).',
    )
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "Gap-relative residual at which the eigen-solver stops; it bounds the angle to the true eigenvectors.",
    )

    checks: ClassVar[tuple[Check, ...]] = (*LinearMethod.checks, _fits_memory)

    in_blocks: ClassVar[InBlocks] = _by_signs

    def _embed(self, data: Data, run: Run) -> Fit:
        if isinstance(data.source, Blocks):
            return self._signs_of_blocks(data.source.rows, run)
        X = data.points().X
        if self.method == "low_rank":
            return self._low_rank(X, run)
        return self._pursuit(X, run) if self.method == "pursuit" else self._directions(X, run)

    def _pursuit(self, X: NDArray[np.floating], run: Run) -> Fit:
        d = self.n_components
        center = geometric_median(X)
        V = pursued_directions(np.subtract(X, center, dtype=np.float64), d, rng=run.rng)
        kept = np.zeros(len(X), dtype=bool)
        for _ in range(ROUNDS):
            former, kept = kept, inliers(np.subtract(X, center, dtype=np.float64), V)
            if np.array_equal(kept, former):
                break
            center = X[kept].mean(axis=0, dtype=np.float64)
            axes = principal_axes(X[kept], center, d, run=replace(run, solver="auto"))
            V = axes.V
        there = AffineMap(center, V, V.T)
        extra = _attributes(center, V, axes.pairs.values / truncation(d), X) | {"outliers_": ~kept}
        return Fit(project(X, center, V, run), None, None, there, there, extra)

    def _directions(self, X: NDArray[np.floating], run: Run) -> Fit:
        center = geometric_median(X)
        Xc = np.subtract(X, center, dtype=np.float64)
        if self.method == "l1":
            V = l1_directions(Xc, self.n_components)
            spread = np.sqrt(np.pi / 2) * np.abs(Xc @ V).mean(axis=0)  # of a Gaussian: its standard deviation
        else:
            V = principal_axes(sign_rows(Xc), np.zeros(X.shape[1]), self.n_components, divisor=len(X), run=run).V
            spread = MAD * np.median(np.abs(Xc @ V), axis=0)
        order = np.argsort(-spread, kind="stable")
        V = fix_signs(V[:, order])
        there = AffineMap(center, V, V.T)
        return Fit(project(X, center, V, run), None, None, there, there, _attributes(center, V, spread[order] ** 2, X))

    def _signs_of_blocks(self, rows: Rows, run: Run) -> Fit:
        """The covariance of signs is a sum over blocks; the robust spread needs the coordinates of all rows."""
        n, D = rows.shape
        center = block_median(rows, run)
        scatter = BlockScatter(rows, center, n, signs=True, n_jobs=jobs_of(rows, run))
        if is_wide(D, self.n_components):
            V = wide_axes(scatter, self.n_components, run).V
        else:
            V = largest(DenseOperator(scatter.dense(), psd=True), self.n_components, negligible=ZERO, run=run).vectors
        spread = MAD * np.median(np.abs(np.concatenate(list(rows.map(_scores, center, V)))), axis=0)
        order = np.argsort(-spread, kind="stable")
        V = fix_signs(V[:, order])
        there = AffineMap(center, V, V.T)
        scores = np.concatenate(list(rows.map(_scores, center, V)))
        return Fit(scores, None, None, there, there, _attributes(center, V, spread[order] ** 2, rows), keeps_rows=False)

    def _low_rank(self, X: NDArray[np.floating], run: Run) -> Fit:
        middle = np.median(X, axis=0).astype(np.float64)
        with run.stage("low rank plus sparse"):
            split = low_rank_plus_sparse(X - middle, penalty=self.penalty, tol=SHARPER * self.tol, run=run)
        center = split.L.mean(axis=0)
        axes = principal_axes(split.L, center, self.n_components, run=run)
        there = SparseErrorRow(center + middle, axes.V)
        extra = _attributes(center + middle, axes.V, axes.pairs.values, X)
        extra |= {"sparse_": csr_array(split.S.astype(X.dtype)), "rank_": int(np.linalg.matrix_rank(split.L))}
        return Fit(there.rows(X), axes.pairs, None, there, there, extra)

    def _operator(self) -> DenseOperator:
        """sum_k lambda_k v_k v_k': the robust covariance that the fitted components span."""
        V = self.components_.astype(np.float64).T
        return DenseOperator((V * self.eigenvalues_) @ V.T, psd=True)


def _scores(block: AnyFloats, start: int, center: Floats, V: Floats) -> Floats:
    return np.asarray(np.subtract(block, center, dtype=np.float64) @ V)


def _attributes(center: Floats, V: Floats, variances: Floats, X: Any) -> dict[str, Any]:
    return {"mean_": center.astype(X.dtype), "components_": V.T.astype(X.dtype), "eigenvalues_": variances}


@dataclass(frozen=True, eq=False)
class SparseErrorRow(Extension):
    """y minimising |x - center - V y|_1: exact where x is center + V y with a few entries replaced by anything."""

    mean: Floats
    V: Floats
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return self.rows(feature_rows(queries))

    def rows(self, X: AnyFloats) -> Floats:
        """The coordinates of every row of X."""
        parts = block_slices(len(X), max(1, ROWED // len(self.mean)))
        rows = [np.subtract(X[part], self.mean, dtype=np.float64) for part in parts]
        return np.concatenate([sparse_regression(row, self.V) for row in rows])

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.V.T + self.mean)
