"""Sensor localisation: positions from a few noisy distances between near sensors. Wang (2012), Section 9.3.

distances --graph--> pairs --variance-regularised program--> K --leading eigenvectors--> plane --conjugate
gradients--> positions

    maximise tr K - nu sum_(i ~ j) (K_ii - 2 K_ij + K_jj - d_ij^2)^2,   K psd

Without the variance, distances alone leave K of high rank, and what lies beyond the leading eigenvectors is lost;
`relaxation="fit"` shows it (9.17). Printed as "minimise", the program above must be maximised. Anchors,
sensors of known position, give absolute coordinates: their mutual distances join the pairs, the solution is moved
rigidly onto them, and they stay where they are in the refinement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.brief import brief
from lowfold._core.errors import Disconnected, InvalidInput
from lowfold._core.limits import Choice, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import Floats
from lowfold.graph._components import components
from lowfold.graph._foreign import known_graph
from lowfold.graph._source import Measured, read_matrix
from lowfold.graph._types import Graph
from lowfold.sdp._door import unfold
from lowfold.sdp._program import unfolding
from lowfold.sdp._refine import refine as refine_locally

ON_LINE = 1e-9  # of the longest spread of the anchors: the shortest is rounding, and they lie in fewer dimensions
FITTED = 2000  # steps of conjugate gradients on the distances alone


@dataclass(frozen=True, eq=False)
class Located:
    """Positions, and how they came about.

    positions    (n, d): absolute with anchors, else centred on the principal axes, up to rotation and reflection
    relaxed      (n, d): before the refinement
    loss         sum over pairs of (||y_i - y_j||^2 - d_ij^2)^2 at `positions`; relaxed_loss at `relaxed`
    spectrum     eigenvalues of K: d large ones mean that the distances fit into d dimensions
    gap          relative duality gap of the program; inf where eigenvectors carried the solve and no bound is known
    anchors      rows that were given
    """

    positions: Floats
    relaxed: Floats
    loss: float
    relaxed_loss: float
    spectrum: Floats
    gap: float
    anchors: NDArray[np.int64]

    __repr__ = brief


def locate(
    distances: Any,
    anchors: Mapping[int, ArrayLike] | None = None,
    *,
    n_components: int = 2,
    relaxation: Literal["variance", "fit"] = "variance",
    nu: float | Literal["auto"] = "auto",
    solver: str = "factorized",
    n_eigenvectors: int = 10,
    tol: float = 1e-3,
    refine: bool = True,
    max_iter: int = 2000,
    n_jobs: int | None = None,
) -> Located:
    """Positions of n sensors in `n_components` dimensions.

    Parameters
    ----------
    distances : square matrix or `Graph`
        Dense with NaN, or sparse with absent entries, where a pair was not measured. Where both directions were
        measured, their mean counts.
    anchors : mapping from row number to position, or None
        At least n_components + 1 of them, not on one line (plane), fix the position; fewer are an error.
    relaxation : "variance" or "fit"
        The program above, or the distances alone, min sum (K_ii - 2 K_ij + K_jj - d_ij^2)^2 over psd K (9.17), for
        comparison: its K has as many dimensions as the noise, and far sensors come too near. `nu`, `solver`, `tol`
        and `n_eigenvectors` are of the first alone; `gap` of the second is NaN.
    nu : float above 0 or "auto"
        Weight of the distances against the variance, in units of the mean squared distance. "auto" is a tenth of MVU's:
        distances that carry noise are not to be met exactly.
    solver, n_eigenvectors, tol : as in MVU
    refine : bool
        Correct the positions by conjugate gradients on the measured distances, at most `max_iter` steps.

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    >>> D = np.linalg.norm(grid[:, None] - grid[None], axis=2)
    >>> D[D > 2.3] = np.nan  # only near sensors hear each other
    >>> found = locate(D, {0: grid[0], 4: grid[4], 20: grid[20]})
    >>> float(np.abs(found.positions - grid).max().round(2))
    0.0
    """
    check_limits("locate", {"relaxation": relaxation}, {"relaxation": (Choice(("variance", "fit")),)})
    n, pairs, lengths = _measured_pairs(distances)
    rows, known = _anchors(anchors, n, n_components)
    near = Graph.from_edges(n, pairs, lengths)
    labels = components(near)
    if labels.max() > 0 and not len(rows):
        raise Disconnected(
            f"the measured pairs leave {labels.max() + 1} groups of sensors, of {np.bincount(labels)[0]} and fewer; no "
            "position of one group relative to another is determined: measure pairs between, or give anchors in each"
        )
    pairs, squared = _with_anchor_pairs(pairs, lengths**2, rows, known)
    with single_threaded_blas():
        if relaxation == "fit":
            factor, gap = _fitted_alone(n, pairs, squared), float("nan")
        else:
            program = unfolding(n, pairs, squared, form="slack", nu=nu)
            if isinstance(nu, str):
                program = program.with_form("slack", program.nu / 10)
            solution = unfold(program, solver=solver, tol=tol, n_eigenvectors=n_eigenvectors, run=Run(n_jobs=n_jobs))
            factor, gap = solution.factor, solution.gap
        Y = np.zeros((n, n_components))
        count = min(n_components, factor.shape[1])
        Y[:, :count] = factor[:, :count]
        if len(rows):
            Y = aligned(Y, known, rows)
        fixed = np.zeros(n, dtype=bool)
        fixed[rows] = True
        start = Y.copy()
        start[rows] = known
        result = refine_locally(start, pairs, squared, fixed=fixed, max_iter=max_iter if refine else 0)
        before = refine_locally(Y, pairs, squared, max_iter=0).before
    positions = result.Y if refine else start
    return Located(positions, Y, result.after, before, np.sum(factor**2, axis=0), gap, rows)


def _fitted_alone(n: int, pairs: NDArray[np.int64], squared: Floats) -> Floats:
    """A factor F of K = F F^T that minimises (9.17), columns on the principal axes, largest first.

    With r (r + 1) / 2 above the number of pairs, F of r columns reaches what K does (Barvinok 1995, Pataki 1998), and a
    start at random has no local minimum to stay in (Boumal, Voroninski & Bandeira 2016).
    """
    r = min(n - 1, int(np.ceil(np.sqrt(2 * len(pairs)))) + 1)
    start = np.random.default_rng(0).normal(size=(n, r)) * np.sqrt(squared.mean() / (2 * r))
    F = refine_locally(start, pairs, squared, max_iter=FITTED).Y
    U, s, _ = stacked_svd(F - F.mean(axis=0))
    return np.asarray(U * s)


def aligned(Y: Floats, target: Floats, rows: NDArray[np.int64] | None = None) -> Floats:
    """Y moved rigidly (rotation, reflection, translation) so that Y[rows] comes nearest to `target`."""
    part = Y if rows is None else Y[rows]
    centre, goal = part.mean(axis=0), target.mean(axis=0)
    U, _, Vt = stacked_svd((part - centre).T @ (target - goal))
    return np.asarray((Y - centre) @ (U @ Vt) + goal)


def position_error(Y: Floats, truth: Floats, *, align: bool = True) -> float:
    """Root mean square distance between positions and truth, after rigid alignment unless both are absolute."""
    moved = aligned(Y, truth) if align else Y
    return float(np.sqrt(np.mean(np.sum((moved - truth) ** 2, axis=1))))


def _measured_pairs(distances: Any) -> tuple[int, NDArray[np.int64], Floats]:
    """n, pairs i < j, and the mean of what was measured in the two directions."""
    distances = known_graph(distances)
    if isinstance(distances, Graph):
        kept = distances.rows() < distances.indices
        return distances.n, distances.edges(), distances.lengths[kept]
    matrix = distances if hasattr(distances, "tocsr") else np.asarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"distances must be a square matrix or a Graph; got shape {matrix.shape}")
    source = read_matrix(matrix.tocsr() if hasattr(matrix, "tocsr") else matrix, "precomputed")
    n = source.n
    if isinstance(source, Measured):
        i, j, d = source.pairs.rows(), source.pairs.indices.astype(np.int64), source.pairs.distances
    else:
        i, j = np.nonzero(np.isfinite(source.distances))
        d = source.distances[i, j].astype(np.float64)
    kept = i != j
    low, high, d = np.minimum(i, j)[kept], np.maximum(i, j)[kept], d[kept]
    keys, place = np.unique(low * n + high, return_inverse=True)
    mean = np.bincount(place, d) / np.bincount(place) if len(keys) else np.empty(0)
    return n, np.column_stack([keys // n, keys % n]), mean


def _anchors(anchors: Mapping[int, ArrayLike] | None, n: int, d: int) -> tuple[NDArray[np.int64], Floats]:
    if not anchors:
        return np.empty(0, dtype=np.int64), np.empty((0, d))
    rows = np.array(sorted(anchors), dtype=np.int64)
    known = np.array([np.asarray(anchors[int(row)], dtype=np.float64).ravel() for row in rows])
    if rows.min() < 0 or rows.max() >= n:
        raise InvalidInput(f"anchors must be row numbers from 0 to {n - 1}; got {rows.min()}..{rows.max()}")
    if known.ndim != 2 or known.shape[1] != d or not np.isfinite(known).all():
        raise InvalidInput(f"every anchor needs {d} finite coordinates")
    spread = stacked_svd(known - known.mean(axis=0))[1]
    if len(rows) < d + 1 or spread[-1] <= ON_LINE * max(spread[0], NO_DIVISOR):
        raise InvalidInput(
            f"{d + 1} anchors that do not lie on one {'line' if d == 2 else 'hyperplane'} are needed to fix "
            f"positions in {d} dimensions; got {len(rows)}"
        )
    return rows, known


def _with_anchor_pairs(
    pairs: NDArray[np.int64], squared: Floats, rows: NDArray[np.int64], known: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """All pairs of anchors with their true distance, which replaces a measured one."""
    if not len(rows):
        return pairs, squared
    a, b = np.triu_indices(len(rows), 1)
    exact = np.column_stack([rows[a], rows[b]])
    every = np.concatenate([exact, pairs])
    values = np.concatenate([np.sum((known[a] - known[b]) ** 2, axis=1), squared])
    first = np.unique(every, axis=0, return_index=True)[1]
    return every[first], values[first]
