"""Nonnegative matrix factorisation, Lee & Seung (1999), doi:10.1038/44565; Ang & Gillis (2019),
doi:10.1162/neco_a_01157.

X >= 0 --coordinate descent--> H >= 0 --least squares with y >= 0 for each row--> x ~ y H
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Real
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.params import param
from lowfold._core.rows import Rows as BlockRows
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats
from lowfold._core.warn import warn
from lowfold.graph._source import Blocks
from lowfold.graph._types import Neighbors
from lowfold.lowrank._block_nmf import lowered
from lowfold.lowrank._block_sums import added, jobs_of
from lowfold.lowrank._component_count import components_to_compute
from lowfold.lowrank._nmf import gradient_left, nonnegative_factors
from lowfold.lowrank._nmf_start import nonnegative_start
from lowfold.lowrank._nonnegative_rows import nonnegative_rows
from lowfold.lowrank._scatter import Scatter
from lowfold.lowrank._sparse_axes import SparseScatter
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._input import DenseOrSparseRows, Reader
from lowfold.methods._linear_method import LinearMethod
from lowfold.methods._losses import Lowered, nonnegative
from lowfold.methods._normalize import normal_map_of
from lowfold.methods._parameters import AllComponents, Seeded
from lowfold.methods._stages import Stages, copy_stages

STILL = 2  # times tol the share by which an error may still fall: on images within 0.2% of where it ends
AT_REST = 100  # times tol, which is asked of a step, not of the gradient: the two differ by an unknown factor
ROWS, ENTRIES = 1024, 2**24  # rows of a block at most, and their numbers: sparse rows are made dense by blocks
BATCH = 10_000  # rows in blocks whose parts are the start for all
EXCHANGES = 10  # of every part between zero and above in a row's coordinates: then rounding goes round in circles
UPDATES = 200  # of a new row's coordinates, where no closed form is at hand


def _plain_squares(model: Any) -> str:
    plain = model.beta_loss == "frobenius" and model.alpha_W == 0 and model.alpha_H == 0
    return "" if plain else "beta_loss='frobenius' without penalties is a sum over rows; the others hold all of them"


class NMF(AllComponents, Seeded, LinearMethod):
    """Each row as a sum of parts: x ~ y H with y >= 0 and H >= 0, minimising ||X - Y H||_F.

    Parts can only be added, never subtracted, so they tend to be local (parts of faces, topics of texts).
    Coordinate descent, extrapolated, finds H from scikit-learn's start; the coordinates of any row, old or new, are its
    least squares solution with y >= 0, which is unique up to H and found exactly. X must not be negative.

    Attributes
    ----------
    embedding_ : array (n, n_components), y >= 0 (natural)
    components_ : array (n_components, D), H >= 0
    reconstruction_error_ : float, ||X - Y H||_F
    n_components_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [2.0, 3.0, 4.0]])
    >>> model = lowfold.NMF(2).fit(X)
    >>> float(np.abs(model.inverse_transform(model.embedding_) - X).max().round(3))
    0.0
    """

    stages: ClassVar[Stages] = copy_stages(3, "coordinate descent")
    loss: ClassVar[Lowered] = Lowered(nonnegative, "min over H >= 0 of ||X - YH|| / ||X||", "local")

    init: str = param("nndsvda", Choice(("nndsvda", "nndsvd", "random")), "Start, as in scikit-learn.")
    beta_loss: str | float = param(
        "frobenius",
        Choice(("frobenius", "kullback-leibler", "itakura-saito")),
        Real(),
        "What is minimised: squared errors, or a divergence, for counts and for spectra (X above 0); lowered by "
        "multiplicative updates then. A number is the beta of its family, in which these are 2, 1 and 0.",
    )
    alpha_W: float = param(0.0, Real(0), "Penalty of the coordinates, times the number of features.")  # noqa: N815
    alpha_H: float = param(0.0, Real(0), "Penalty of the parts, times the number of points.")  # noqa: N815
    l1_ratio: float = param(0.0, Real(0, 1), "Share of the penalties that counts sizes (1) instead of squares (0).")
    max_iter: int = param(
        1000,
        Int(1),
        "Steps at most.",
    )
    tol: float = param(
        0.0001,
        Real(0, 1, open_low=True, open_high=True),
        "Half of the share of the squared error by which it still falls in a step when the descent stops. In "
        "blocks, the gradient relative to Y'X; with penalties or another loss, scikit-learn's rule.",
    )
    random_state: Any = param(0, 'For init="random", and for the order of the updates.')

    reader: ClassVar[Reader] = DenseOrSparseRows(positive=True)

    in_blocks: ClassVar[InBlocks] = _plain_squares

    def _embed(self, data: Data, run: Run) -> Fit:
        if isinstance(data.source, Blocks):
            return self._embed_blocks(data.source.rows, run)
        X = data.points().X
        W, H, steps = self._parts(X, run)
        there = NonnegativeRow(H, self.beta_loss, float(self.alpha_W), float(self.l1_ratio))
        Y = there.rows(X, run, W)
        error = _distance(X, Y, H)
        if there.plain and self.alpha_H == 0 and steps >= self.max_iter:
            self._judge(X, Y, H)
        extra = _attributes(H, error, steps, X.dtype)
        return Fit(Y, None, None, there, there, extra)

    def _embed_blocks(self, rows: BlockRows, run: Run) -> Fit:
        """Parts of a batch of rows, then passes over all until the gradient rests."""
        n = rows.shape[0]
        batch = rows.take(np.sort(np.random.default_rng(0).choice(n, min(n, BATCH), replace=False)))
        _, H, _ = self._parts(batch, run)
        with run.stage("nonnegative parts (blocks)"):
            H, steps, left = lowered(rows, H, tol=self.tol, max_iter=self.max_iter)
        if left > AT_REST * self.tol:
            self._tell(left)
        there = NonnegativeRow(H)
        total, products, squares = rows.fold(_coordinate_sums, added, there, jobs_of(rows, run))
        extra = _attributes(H, float(np.sqrt(squares)), steps, rows.dtype)
        normal = normal_map_of(total, products, n, self.normalization)
        return Fit(np.empty((0, len(H))), None, None, there, there, extra, normal=normal, keeps_rows=False)

    def _parts(self, X: NDArray[np.floating], run: Run) -> tuple[Floats, Floats, int]:
        A: Any = X.csr if isinstance(X, SparseRows) else X
        # the start is filled with the mean of X, which is far from the parts where values are near 10,000
        size = float(A.max()) or 1.0
        k = components_to_compute(self.n_components, *X.shape)
        A = A.astype(np.float64) / size
        if self.beta_loss != "frobenius" or self.alpha_W != 0 or self.alpha_H != 0:
            W, H, steps = self._updated(A, k, run)
            return W, H * size, steps
        with run.stage("nonnegative parts") as progress:
            rows = SparseRows(A) if isinstance(X, SparseRows) else A
            W, H = nonnegative_start(rows, k, self.init, replace(run, solver="auto", verbose=False))
            tol, jobs = STILL * self.tol, run.n_jobs
            W, H, steps = nonnegative_factors(A, W, H, tol=tol, max_iter=self.max_iter, n_jobs=jobs, progress=progress)
        return W, H * size, steps

    def _updated(self, A: Any, k: int, run: Run) -> tuple[Floats, Floats, int]:
        """Other losses and penalties, by scikit-learn's updates."""
        from sklearn import decomposition

        model = decomposition.NMF(
            k,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            beta_loss=self.beta_loss,
            solver=_solver(self.beta_loss),
            alpha_W=self.alpha_W,
            alpha_H=self.alpha_H,
            l1_ratio=self.l1_ratio,
            random_state=int(run.rng.integers(0, 2**31)),
        )
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # its test divides by the first step, which may be zero: see _judge
            W = model.fit_transform(A)
        return W, np.asarray(model.components_, dtype=np.float64), int(model.n_iter_)

    def _judge(self, X: NDArray[np.floating], Y: Floats, H: Floats) -> None:
        """Warn where the gradient in H, as far as H >= 0 lets it act, is not small against Y'X."""
        YtX = (X.csr.T @ Y).T if isinstance(X, SparseRows) else Y.T @ X
        left = gradient_left(H, Y.T @ Y, YtX)
        if left > AT_REST * self.tol:
            self._tell(left)

    def _tell(self, left: float) -> None:
        warn(
            f"NMF had not come to rest after max_iter = {self.max_iter} steps (gradient {left:.1g}); raise "
            "max_iter or tol",
            errors.AccuracyWarning,
        )

    @property
    def reconstruction_err_(self) -> float:
        """The same as `reconstruction_error_`."""
        return float(self.reconstruction_error_)

    def _operator(self) -> DenseOperator:
        """The second moments X'X / n."""
        X = self._trained.points.X
        scatter = SparseScatter if isinstance(X, SparseRows) else Scatter
        return DenseOperator(scatter(X, np.zeros(X.shape[1]), divisor=len(X)).dense(), psd=True)


def _attributes(H: Floats, error: float, steps: int, dtype: Any) -> dict[str, Any]:
    return {
        "components_": H.astype(dtype),
        "n_components_": len(H),
        "reconstruction_error_": error,
        "n_iter_": steps,
    }


def _coordinate_sums(block: AnyFloats, start: int, there: NonnegativeRow, jobs: int | None) -> Any:
    """Sums of the coordinates, of their products, and of squared errors."""
    Y = there.rows(block, Run(n_jobs=jobs, stages=None))
    return Y.sum(axis=0), Y.T @ Y, _distance(block, Y, there.H) ** 2


def _solver(loss: str | float) -> str:
    return "cd" if loss == "frobenius" else "mu"


def _distance(X: Any, Y: Floats, H: Floats) -> float:
    """|X - Y H|; of sparse rows from products, so that Y H is never made."""
    if not isinstance(X, SparseRows):
        return float(np.linalg.norm(X - Y @ H))
    across = float((X @ H.T * Y).sum())
    return float(np.sqrt(max(X.squares().sum() - 2 * across + ((Y.T @ Y) * (H @ H.T)).sum(), 0.0)))


def _active_set(A: Floats, b: Floats) -> Any:
    """y >= 0 minimising |A y - b| where parts are nearly dependent: Lawson & Hanson's, or bounded least squares."""
    from scipy.optimize import lsq_linear, nnls

    try:
        return nnls(A, b)[0]
    except RuntimeError:  # as of a table whose columns differ much in size
        return lsq_linear(A, b, bounds=(0, np.inf), method="bvls", max_iter=EXCHANGES * len(b)).x


@dataclass(frozen=True, eq=False)
class NonnegativeRow(Extension):
    """y >= 0 minimising |x - y H|, exactly (an active set), row by row; back x = y H.

    With another loss or a penalty the minimum is approached by a fixed number of scikit-learn's updates.
    """

    H: Floats
    loss: str | float = "frobenius"
    alpha: float = 0.0
    l1_ratio: float = 0.0
    looks: ClassVar[Looks] = "nowhere"

    def __post_init__(self) -> None:
        if self.H.ndim != 2 or not self.H.size:  # from a damaged file: SciPy's nnls writes out of bounds
            raise InvalidInput(f"the components must be a matrix with entries; got shape {self.H.shape}")

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return self.rows(feature_rows(queries), run)

    def rows(self, X: AnyFloats, run: Run, W: Floats | None = None) -> Floats:
        """The coordinates of every row of X; W has them nearly, where a descent found them."""
        if not self.plain:
            return self._updated(X)
        out = np.empty((len(X), len(self.H)))
        parts = block_slices(len(X), max(1, min(ROWS, ENTRIES // X.shape[1])))
        # H' = Q R: the same minimum of |Q'x - R y|, in as many rows as there are parts instead of features
        Q, R = np.linalg.qr(self.H.T) if X.shape[1] > len(self.H) else (np.eye(X.shape[1]), self.H.T)
        QT, A = np.ascontiguousarray(Q.T), np.ascontiguousarray(R)

        def work(b: int) -> None:
            rows = X[parts[b]].csr.toarray() if isinstance(X, SparseRows) else X[parts[b]]
            settled = np.zeros(len(rows), dtype=np.bool_)
            if W is not None:
                out[parts[b]], settled = nonnegative_rows(A, rows @ Q, W[parts[b]] > 0)
            for i in np.flatnonzero(~settled):
                out[parts[b].start + i] = _active_set(A, QT @ rows[i].astype(np.float64))

        run_blocks(work, len(parts), n_jobs=run.n_jobs)
        return out

    @property
    def plain(self) -> bool:
        """Least squares without a penalty."""
        return self.loss == "frobenius" and self.alpha == 0.0

    def _updated(self, X: AnyFloats) -> Floats:
        from sklearn.decomposition import non_negative_factorization

        A: Any = X.csr if isinstance(X, SparseRows) else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tol=0 is asked for: no row's answer depends on the others
            return np.asarray(
                non_negative_factorization(
                    A.astype(np.float64),
                    H=self.H,
                    n_components=len(self.H),
                    update_H=False,
                    beta_loss=self.loss,
                    solver=_solver(self.loss),
                    alpha_W=self.alpha,
                    l1_ratio=self.l1_ratio,
                    tol=0.0,
                    max_iter=UPDATES,
                )[0]
            )

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.H)
