"""Nonnegative matrix factorisation, Lee & Seung (1999), doi:10.1038/44565; Ang & Gillis (2019),
doi:10.1162/neco_a_01157.

X >= 0 --coordinate descent--> H >= 0 --least squares with y >= 0 for each row--> x ~ y H
"""

from __future__ import annotations

from dataclasses import dataclass
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
from lowfold.lowrank._divergence_nmf import divergence, divergent_factors, divergent_rows
from lowfold.lowrank._nmf import Penalty, gradient_left, nonnegative_factors, swept
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

STILL = 0.2  # times tol the share by which an error may still fall: plateaus that end 1% lower fall by 1e-4 in a step
AT_REST = 100  # times tol, which is asked of a step, not of the gradient: the two differ by an unknown factor
ROWS, ENTRIES = 1024, 2**24  # rows of a block at most, and their numbers: sparse rows are made dense by blocks
BATCH = 10_000  # rows in blocks whose parts are the start for all
EXCHANGES = 10  # of every part between zero and above in a row's coordinates: then rounding goes round in circles
UPDATES = 200  # of a new row's coordinates, where no closed form is at hand
BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


def _beta(loss: str | float) -> float:
    return BETAS[loss] if isinstance(loss, str) else float(loss)


def _plain_squares(model: Any) -> str:
    plain = _beta(model.beta_loss) == 2 and model.alpha_W == 0 and model.alpha_H == 0
    return "" if plain else "beta_loss='frobenius' without penalties is a sum over rows; the others hold all of them"


class NMF(AllComponents, Seeded, LinearMethod):
    """Each row as a sum of parts: x ~ y H with y >= 0 and H >= 0, minimising ||X - Y H||_F.

    Parts can only be added, never subtracted, so they tend to be local (parts of faces, topics of texts).
    Coordinate descent, extrapolated, finds H from singular vectors; the coordinates of any row, old or new, are its
    least squares solution with y >= 0, which is unique up to H and found exactly. X must not be negative. Without
    penalties nothing says how long a part is: each has length 1, so that a coordinate counts as much as it moves a row.

    Attributes
    ----------
    embedding_ : array (n, n_components), y >= 0 (natural)
    components_ : array (n_components, D), H >= 0, rows of length 1 without penalties
    reconstruction_error_ : float, ||X - Y H||_F; reconstruction_err_ : float, as scikit-learn has it: the root of twice
    the divergence of `beta_loss`, of squares the same
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
        "What is minimised: squared errors, or a divergence, for counts and for spectra (X above 0), lowered by "
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
        "Five times the share of the squared error by which it still falls in a step when the descent stops. In "
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
        if steps >= self.max_iter and there.plain and self.alpha_H == 0:
            self._judge(X, Y, H)
        elif steps >= self.max_iter:
            self._tell("its loss still fell")
        beta = _beta(self.beta_loss)
        lost = error if beta == 2 else divergence(X.csr if isinstance(X, SparseRows) else X, Y, H, beta)
        extra = _attributes(H, (error, lost), steps, X.dtype)
        return Fit(Y, None, None, there, there, extra)

    def _embed_blocks(self, rows: BlockRows, run: Run) -> Fit:
        """Parts of a batch of rows, then passes over all until the gradient rests."""
        n = rows.shape[0]
        batch = rows.take(np.sort(np.random.default_rng(0).choice(n, min(n, BATCH), replace=False)))
        _, H, _ = self._parts(batch, run)
        with run.stage("nonnegative parts (blocks)"):
            H, steps, left = lowered(rows, H, tol=self.tol, max_iter=self.max_iter)
        if left > AT_REST * self.tol:
            self._tell(f"gradient {left:.1g}")
        there = NonnegativeRow(H / _lengths(H)[:, None])
        total, products, squares = rows.fold(_coordinate_sums, added, there, jobs_of(rows, run))
        extra = _attributes(there.H, (float(np.sqrt(squares)),) * 2, steps, rows.dtype)
        normal = normal_map_of(total, products, n, self.normalization)
        return Fit(np.empty((0, len(H))), None, None, there, there, extra, normal=normal, keeps_rows=False)

    def _parts(self, X: NDArray[np.floating], run: Run) -> tuple[Floats, Floats, int]:
        A: Any = X.csr if isinstance(X, SparseRows) else X
        beta, k = _beta(self.beta_loss), components_to_compute(self.n_components, *X.shape)
        if beta <= 0 and (zeros := int(np.prod(A.shape) - np.count_nonzero(A.data if X is not A else A))):
            raise InvalidInput(
                f"beta_loss={self.beta_loss!r} needs X above 0, and {zeros:,} of its values are 0; add a small "
                "constant, or use beta_loss='kullback-leibler'"
            )
        # The start and where the steps end are relative to it; nothing can be divided by what is smaller.
        size = max(largest, np.finfo(np.float64).tiny) if (largest := float(A.max())) > 0 else 1.0
        A = A.astype(np.float64) / size
        W, H = nonnegative_start(A, k, self.init, run)
        options: dict[str, Any] = {"max_iter": self.max_iter, "n_jobs": run.n_jobs}
        options["penalties"] = self._penalties(X.shape[0], X.shape[1], size)
        with run.stage("nonnegative parts") as progress:
            if beta == 2:
                W, H, steps = nonnegative_factors(A, W, H, tol=STILL * self.tol, progress=progress, **options)
            else:
                W, H, steps = divergent_factors(A, W, H, beta, tol=self.tol, progress=progress, **options)
        if self.alpha_W == 0 and self.alpha_H == 0:
            lengths = _lengths(H)
            return W * (lengths * size), H / lengths[:, None], steps
        self._tell_empty(H)
        return W * np.sqrt(size), H * np.sqrt(size), steps

    def _penalties(self, n: int, D: int, size: float) -> tuple[Penalty, Penalty]:
        """Of W and of H, as X / size has to have them, so that both factors times the root of `size` are those of X."""
        root, loss = np.sqrt(size), size ** _beta(self.beta_loss)  # by which the factors and the loss are smaller
        plain = _penalty(self.alpha_W * D, self.l1_ratio), _penalty(self.alpha_H * n, self.l1_ratio)
        if not loss > 0:
            if self.alpha_W or self.alpha_H:
                raise InvalidInput(
                    f"the largest value of X is {size:.3g}, whose loss is 0 in float64, so that penalties have nothing "
                    "to be weighed against; multiply X, or leave alpha_W and alpha_H at 0"
                )
            return plain
        of_W, of_H = (Penalty(p.l1 * root / loss, p.l2 * size / loss) for p in plain)
        return of_W, of_H

    def _tell_empty(self, H: Floats) -> None:
        empty = int((~H.any(axis=1)).sum())
        if empty:
            warn(
                f"alpha_W = {self.alpha_W:g} and alpha_H = {self.alpha_H:g} leave {empty} of {len(H)} parts of NMF "
                "empty, and their coordinates are 0; use smaller penalties, or X divided by its largest value",
                errors.AccuracyWarning,
            )

    def _judge(self, X: NDArray[np.floating], Y: Floats, H: Floats) -> None:
        """Warn where the gradient in H, as far as H >= 0 lets it act, is not small against Y'X."""
        YtX = (X.csr.T @ Y).T if isinstance(X, SparseRows) else Y.T @ X
        left = gradient_left(H, Y.T @ Y, YtX)
        if left > AT_REST * self.tol:
            self._tell(f"gradient {left:.1g}")

    def _tell(self, sign: str) -> None:
        warn(
            f"NMF had not come to rest after max_iter = {self.max_iter} steps ({sign}); raise max_iter or tol",
            errors.AccuracyWarning,
        )

    def _operator(self) -> DenseOperator:
        """The second moments X'X / n."""
        X = self._trained.points.X
        scatter = SparseScatter if isinstance(X, SparseRows) else Scatter
        return DenseOperator(scatter(X, np.zeros(X.shape[1]), divisor=len(X)).dense(), psd=True)


def _attributes(H: Floats, left: tuple[float, float], steps: int, dtype: Any) -> dict[str, Any]:
    return {
        "components_": H.astype(dtype),
        "n_components_": len(H),
        "reconstruction_error_": left[0],
        "reconstruction_err_": left[1],
        "n_iter_": steps,
    }


def _lengths(H: Floats) -> Floats:
    """Of the parts; 1 of an empty one."""
    lengths = np.linalg.norm(H, axis=1)
    return np.where(lengths > 0, lengths, 1.0)


def _coordinate_sums(block: AnyFloats, start: int, there: NonnegativeRow, jobs: int | None) -> Any:
    """Sums of the coordinates, of their products, and of squared errors."""
    Y = there.rows(block, Run(n_jobs=jobs, stages=None))
    return Y.sum(axis=0), Y.T @ Y, _distance(block, Y, there.H) ** 2


def _penalty(alpha: float, l1_ratio: float) -> Penalty:
    return Penalty(alpha * l1_ratio, alpha * (1 - l1_ratio))


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

    With another loss or a penalty the minimum is approached by a fixed number of updates.
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
            return self._updated(X, run)
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
        return _beta(self.loss) == 2 and self.alpha == 0.0

    def _updated(self, X: AnyFloats, run: Run) -> Floats:
        A: Any = (X.csr if isinstance(X, SparseRows) else X).astype(np.float64)
        penalty = _penalty(self.alpha * X.shape[1], self.l1_ratio)
        if _beta(self.loss) != 2:
            options: dict[str, Any] = {"penalty": penalty, "steps": UPDATES, "n_jobs": run.n_jobs}
            return divergent_rows(A, self.H, _beta(self.loss), **options)
        R = np.ascontiguousarray(np.asarray(A @ self.H.T).T) - penalty.l1
        return swept(np.zeros_like(R), penalty.square(self.H @ self.H.T), R, UPDATES).T

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        return np.asarray(coordinates @ self.H)
