"""Random projection, Johnson & Lindenstrauss (1984); Achlioptas (2003), doi:10.1016/S0022-0000(03)00025-4.

(k, D, seed) --draw--> R --> y = R x / sqrt(k) [ --check all pairs--> keep, or draw again ] [ --SVD--> principal axes ]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lowfold._core.errors import InvalidInput, LowfoldWarning, SolverFailed
from lowfold._core.jit import compiled
from lowfold._core.limits import Choice, Flag, Int, Null, Real
from lowfold._core.memory import require
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.params import param, positional
from lowfold._core.rows import Rows as BlockRows
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._source import Blocks
from lowfold.graph._types import Neighbors
from lowfold.lowrank._block_sums import added, column_means, jobs_of
from lowfold.lowrank._random_projection import (
    FEATURES,
    RANDOM_KINDS,
    RandomEntries,
    jl_min_dim,
    lipschitz_constants,
    random_entries,
)
from lowfold.lowrank._scatter import Scatter, column_mean
from lowfold.methods._base import Check
from lowfold.methods._fit import Data, Extension, Fit, Looks, Trained
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._input import Reader, Rows
from lowfold.methods._linear_method import LinearMethod
from lowfold.methods._losses import Lowered, no_loss
from lowfold.methods._normalize import normal_map_of
from lowfold.methods._parameters import Seeded
from lowfold.methods._stages import Stages, projection_stages

SMALL = 4_000_000  # entries of R that a model keeps; above, they are drawn again in each pass
OUTPUT, LEAST_ROWS = 2**21, 256  # numbers of a block of the result, 16 MB, but so many rows at least
CHUNK = 2**23  # entries of R drawn at a time
# Rows that a very sparse matrix is applied to side by side, at least and at most; numbers of all their sums, 256 KB.
WIDTHS, SIDE_BY_SIDE = (16, 64), 2**16
THIN = 0.1  # below this density a loop over the entries beats a dense product


def _options_belong(method: Any, data: Data) -> None:
    auto = method.n_components == "auto"
    if method.eps is None and (auto or method.verify):
        raise InvalidInput(
            'eps of RandomProjection must be given with n_components="auto" or verify=True, as in eps=0.1; got None'
        )
    if method.eps is not None and not (auto or method.verify):
        raise InvalidInput('eps of RandomProjection is used with n_components="auto" or verify=True; set one of them')
    if method.kind != "sparse" and method.density != "auto":
        raise InvalidInput(f'density of RandomProjection belongs to kind="sparse"; got kind={method.kind!r}')


def _dimension_fits(method: Any, data: Data) -> None:
    D, k = data.shape[1], method._dimension(data)
    if k > D and method.n_components == "auto":
        raise InvalidInput(
            f"eps={method.eps:g} and n_samples={data.n} lead to {k} dimensions, more than n_features = {D}: the data "
            "are small enough as they are, or take a larger eps"
        )
    if k > D and method.orthogonalize:
        raise InvalidInput(f"n_components with orthogonalize=True must be at most n_features = {D}; got {k}")
    if k > D:
        warn(f"n_components = {k} is more than n_features = {D}: the data become larger, not smaller", LowfoldWarning)
    if method.orthogonalize:
        require(3 * 8.0 * k * D, f"an orthogonal {k} x {D} matrix", "use orthogonalize=False")


def _unverified(model: Any) -> str:
    return "verify=True measures all pairs of rows: leave it out" if model.verify else ""


class RandomProjection(Seeded, LinearMethod):
    """Project on random directions: all distances are kept within a factor 1 +- eps, with no regard to the data.

    y = R x / sqrt(k) with independent entries of mean 0 and variance 1, so that E |y|^2 = |x|^2. The number of
    dimensions needed depends on the number of points only, `lowfold.lowrank.jl_min_dim`. The matrix is a rule and a
    seed: above 4 million entries it is drawn again, block by block, in each pass. X may be a sparse matrix.

    Attributes
    ----------
    embedding_ : array (n, k)
    n_components_ : int, k
    lipschitz_ : (A, B), the extremes of |y_i - y_j|^2 / |x_i - x_j|^2 over all pairs; with verify=True only
    n_tries_ : int, matrices drawn
    singular_values_ : array (k,), of the output; with rotate=True only

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> X = np.random.default_rng(0).normal(size=(50, 3000))
    >>> model = lowfold.RandomProjection("auto", eps=0.5, verify=True).fit(X)
    >>> model.embedding_.shape, model.lipschitz_[0] > 0.5, model.lipschitz_[1] < 1.5
    ((50, 188), True, True)
    """

    stages: ClassVar[Stages] = projection_stages
    loss: ClassVar[Lowered] = no_loss(
        "it draws its directions and lowers nothing; use quality.stress for what it promises"
    )

    n_components: int | str = positional(  # type: ignore[assignment]
        default=2,
        limits=(
            Int(1),
            Choice(("auto",)),
        ),
        text='Number of output columns; "auto" is `jl_min_dim(n, eps)`.',
        kw_only=False,
    )
    kind: str = param(
        "gaussian", Choice(RANDOM_KINDS), "N(0, 1); +-1; or +-1/sqrt(p) with probability p/2 each and 0 otherwise."
    )
    density: float | str = param(
        "auto",
        Real(0, 1, open_low=True),
        Choice(("auto",)),
        'p of kind="sparse". "auto" is 1/3, the largest for which the moments stay below the '
        "Gaussian's. Li, Hastie & Church (2006) take 1 / sqrt(n_features), which is much faster.",
    )
    eps: float | None = param(
        None,
        Real(0, 1, open_low=True, open_high=True),
        Null("distances are not looked at"),
        'Squared distances may change by this share; needed for n_components="auto" and for verify=True.',
    )
    verify: bool = param(
        False,
        Flag(),
        "Measure all pairs of the training points and draw again until every one is within 1 +- eps: "
        "n^2 (D + k) operations.",
    )
    max_tries: int = param(10, Int(1), "Draws before verify=True gives up.")
    orthogonalize: bool = param(
        False, Flag(), "Make the rows of R orthonormal, times sqrt(n_features / k). The matrix is kept whole then."
    )
    rotate: bool = param(
        False, Flag(), "Turn the output to its principal axes, about the origin (SVD); distances do not change."
    )
    random_state: Any = param(
        0,
    )

    reader: ClassVar[Reader] = Rows(sparse=True, least=1)
    checks: ClassVar[tuple[Check, ...]] = (_options_belong, _dimension_fits)
    keeps_data: ClassVar[bool] = False
    own_dimension: ClassVar[str] = "the bound of Johnson and Lindenstrauss sets it (n_components='auto')"

    in_blocks: ClassVar[InBlocks] = _unverified

    def _embed(self, data: Data, run: Run) -> Fit:
        if isinstance(data.source, Blocks):
            return self._embed_blocks(data.source.rows, self._dimension(data), run)
        X = data.points().X
        projection, Y, extra = self._drawn(X, self._dimension(data), run)
        if self.rotate:
            values, turn = stacked_eigh(Y.T.astype(np.float64) @ Y)
            turn = turn[:, ::-1]
            projection = replace(projection, turn=turn)
            Y = Y @ turn
            extra["singular_values_"] = np.sqrt(np.maximum(values[::-1], 0.0))
        return Fit(Y, None, None, projection, projection, extra)  # type: ignore[arg-type] # float32 stays

    def _embed_blocks(self, rows: BlockRows, k: int, run: Run) -> Fit:
        """The matrix is drawn unseen; the mean serves the way back, and the products Y'Y the turn and the scales."""
        rule = random_entries(self.kind, k, rows.shape[1], density=self._density(), random_state=run.rng)
        projection = random_map(rule, column_means(rows), orthogonal=self.orthogonalize)
        extra: dict[str, Any] = {"n_components_": k, "n_tries_": 1}
        total, products = rows.fold(_projected_sums, added, projection, jobs_of(rows, run))
        if self.rotate:
            values, turn = stacked_eigh(products)
            projection = replace(projection, turn=turn[:, ::-1])
            extra["singular_values_"] = np.sqrt(np.maximum(values[::-1], 0.0))
            total, products = total @ turn[:, ::-1], np.diag(np.maximum(values[::-1], 0.0))
        normal = normal_map_of(total, products, rows.shape[0], self.normalization)
        return Fit(np.empty((0, k)), None, None, projection, projection, extra, normal=normal, keeps_rows=False)

    def _drawn(self, X: Any, k: int, run: Run) -> tuple[RandomMap, NDArray[np.floating], dict[str, Any]]:
        """A matrix and its output; with `verify` the first whose distortion is within eps."""
        found, eps = (1.0, 1.0), float(self.eps or 0.0)
        sparse = hasattr(X, "tocsr")
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if sparse else column_mean(X, run.n_jobs)
        for attempt in range(1, self.max_tries + 1):
            rule = random_entries(self.kind, k, X.shape[1], density=self._density(), random_state=run.rng)
            projection = random_map(rule, mean, orthogonal=self.orthogonalize)
            Y = projection.apply(X, run)
            if not self.verify:
                return projection, Y, {"n_components_": k, "n_tries_": 1}
            found = lipschitz_constants(X, Y)
            if 1 - eps <= found[0] and found[1] <= 1 + eps:
                return projection, Y, {"n_components_": k, "n_tries_": attempt, "lipschitz_": found}
        enough = jl_min_dim(max(X.shape[0], 2), eps)
        raise SolverFailed(
            f"none of {self.max_tries} random matrices with {k} rows kept all squared distances within 1 +- {eps:g} "
            f"(the last: {found[0]:.3f} to {found[1]:.3f}); {enough} rows are proven to do: raise n_components, eps or "
            "max_tries"
        )

    def _density(self) -> float:
        return 1 / 3 if self.density == "auto" else float(self.density)

    def _dimension(self, data: Data) -> int:
        return jl_min_dim(data.n, self.eps) if self.n_components == "auto" else int(self.n_components)  # type: ignore[arg-type]

    def _operator(self) -> Scatter:
        """P'P for the matrix P of the map y = P x."""
        P = self.components_
        return Scatter(P, np.zeros(P.shape[1]))

    @property
    def components_(self) -> NDArray[np.floating]:
        """P (k, D) of y = P x, made when asked for."""
        return np.asarray(self._extend.matrix(), dtype=self._dtype)

    @property
    def inverse_components_(self) -> NDArray[np.floating]:
        """P^+ (D, k) of the way back, made when asked for."""
        return np.asarray(np.linalg.pinv(self._extend.matrix()), dtype=self._dtype)


def _projected_sums(block: NDArray[np.floating], start: int, projection: RandomMap, jobs: int | None) -> Any:
    """Sum of the projected rows, and of their outer products."""
    Y = projection.apply(block, Run(n_jobs=jobs, stages=None)).astype(np.float64, copy=False)
    return Y.sum(axis=0), Y.T @ Y


@dataclass(frozen=True, eq=False)
class RandomMap(Extension):
    """y = x R' / sqrt(k), turned by `turn` where there is one. `kept` is R' / sqrt(k) where it is small or orthogonal.

    Back goes the x nearest to the mean of the training data that has these coordinates: x = mean + P^+ (y - P mean).
    """

    kind: str
    D: int
    k: int
    seed: tuple[int, ...]
    density: float
    kept: Floats | None
    mean: Floats
    turn: Floats | None = None
    looks: ClassVar[Looks] = "nowhere"

    def rule(self) -> RandomEntries:
        return RandomEntries(self.kind, self.D, self.k, self.seed, self.density)

    def matrix(self) -> Floats:
        """P (k, D)."""
        W = self.kept if self.kept is not None else self.rule().dense() / np.sqrt(self.k)
        return np.ascontiguousarray((W if self.turn is None else W @ self.turn).T, dtype=np.float64)

    def place(self, trained: Trained, queries: Any, found: Neighbors, run: Run) -> Floats:
        Y = self.apply(queries, run)
        return np.asarray(Y if self.turn is None else Y @ self.turn)

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        P = self.matrix()
        return np.asarray(self.mean + (coordinates - P @ self.mean) @ np.linalg.pinv(P).T)

    def apply(self, X: Any, run: Run) -> NDArray[np.floating]:
        """X R' / sqrt(k), in the precision of X."""
        if self.kept is None and self.kind == "sparse" and self.density < THIN:
            return self._thin(X, run)
        out = np.zeros((X.shape[0], self.k), dtype=X.dtype)
        rows = block_slices(X.shape[0], max(LEAST_ROWS, OUTPUT // max(self.k, 1)))
        loop = compiled("lowfold.lowrank._projection_loops").project_sparse_rows if issparse(X) else None
        for features in block_slices(self.D, FEATURES * max(1, CHUNK // (FEATURES * self.k))):
            R = self._rows(features, X.dtype, run)

            def work(i: int, features: slice = features, R: NDArray[np.floating] = R) -> None:
                part = rows[i]
                if loop is not None:
                    loop(X.indptr, X.indices, X.data, part.start, part.stop, R, features.start, out[part])
                elif features.start == 0:
                    np.matmul(X[part, features], R, out=out[part])
                else:
                    out[part] += X[part, features] @ R

            run_blocks(work, len(rows), n_jobs=run.n_jobs)
        return out

    def _rows(self, features: slice, dtype: Any, run: Run) -> NDArray[np.floating]:
        """Some features of R' / sqrt(k); `features` starts and ends where blocks of the rule do."""
        if self.kept is not None:
            return self.kept[features].astype(dtype, copy=False)
        rule, first = self.rule(), features.start // FEATURES
        parts = block_slices(features.stop - features.start, FEATURES)
        R = np.empty((features.stop - features.start, self.k), dtype=dtype)

        def work(b: int) -> None:
            np.multiply(rule.block(first + b, dtype), 1 / np.sqrt(self.k), out=R[parts[b]], casting="same_kind")

        run_blocks(work, len(parts), n_jobs=run.n_jobs)
        return R

    def _thin(self, X: Any, run: Run) -> NDArray[np.floating]:
        """The same for a very sparse R: its entries alone are touched."""
        R = self.rule().sparse(n_jobs=run.n_jobs)
        out = np.empty((X.shape[0], self.k), dtype=X.dtype)
        rows = block_slices(X.shape[0], 512)
        loops = compiled("lowfold.lowrank._projection_loops")
        size = X.dtype.type(1 / np.sqrt(self.k * self.density))
        signs = np.sign(R.data).astype(np.int8)
        entries = (*_only(R, signs > 0), *_only(R, signs < 0))
        width = int(np.clip(SIDE_BY_SIDE // self.k, *WIDTHS))
        sparse = hasattr(X, "tocsr")

        def work(i: int) -> None:
            part = rows[i]
            if sparse:
                given = (X.indptr, X.indices, X.data, part.start, part.stop)
                loops.project_sparse_signs(*given, R.indptr, R.indices, signs, size, out[part])
            else:
                loops.project_signs(X[part], *entries, self.k, size, width, out[part])

        run_blocks(work, len(rows), n_jobs=run.n_jobs)
        return out


def _only(R: csr_array, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Where the chosen entries of each row begin, and their columns."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    return before[R.indptr], R.indices[chosen]


def random_map(rule: RandomEntries, mean: Floats, *, orthogonal: bool) -> RandomMap:
    """The map of a rule; small matrices are drawn once and kept, orthogonal ones always."""
    kept = None
    if orthogonal:
        Q, _ = np.linalg.qr(np.asarray(rule.dense(), dtype=np.float64))
        kept = Q * np.sqrt(rule.D / rule.k)
    elif rule.D * rule.k <= SMALL and not (rule.kind == "sparse" and rule.density < THIN):
        kept = np.asarray(rule.dense(), dtype=np.float64) / np.sqrt(rule.k)
    return RandomMap(rule.kind, rule.D, rule.k, rule.seed, rule.density, kept, mean)
