"""The proof: weights on the pairs whose Laplacian is large enough bound the value of every feasible K.

L_w = sum_e w_e (e_i - e_j)(e_i - e_j)'. Where L_w - (I - 11'/n) is psd, tr K <= sum_e w_e s_e for every feasible K:
weak duality. Weights that come from a minimisation are not quite feasible. Two repairs make them so, and a second
eigen-solve confirms it:

- a direction v with v' L_w v = 1 - delta: send v as a flow f along the pairs, v = E'f. By Cauchy-Schwarz
  L_u - v v' is psd for u_e = |f_e| t / sqrt(s_e), t = sum_e |f_e| sqrt(s_e), at the price sum_e u_e s_e = t^2; so w +
  delta u repairs it. Cheap where v is local, as the rough directions are;
- what is left: w / mu, mu the smallest eigenvalue beyond the constant. Its price is (1 / mu - 1) of the whole value.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core import errors
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.sdp._program import Unfolding
from lowfold.sdp._solution import dual_value
from lowfold.spectral._doors import smallest

FLOWS = 0.3  # a direction is repaired by a flow where that costs less than this share of scaling all weights
REPAIRS = 3  # rounds of flows, where more directions are low than were looked for
CHEAP = 0.99  # lowest eigenvalue from which on scaling all weights costs a hundredth of the value at most
EIGEN_TOL = 1e-4  # of the eigenvectors: the residual is taken off the value, so the bound holds whatever it is
# In units of the mean squared distance: a pair nearer than a thousandth of the typical one would carry all the current.
SHORTEST = 1e-6
# Of the largest diagonal entry, added before a factor of a Laplacian: the constant is in its null space, where a pivot
# is rounding. Well above that rounding; an eigenvalue so little below 0 is shown by the eigen-solve that follows.
GROUND = 1e-9


@dataclass(frozen=True, eq=False)
class Certificate:
    """`bound` and the feasible `weights` that prove it (inf and the unrepaired ones where they are too far off).

    `directions` are the eigenvectors of L_w below 1, lowest first: K can grow there.
    """

    bound: float
    weights: Floats
    directions: Floats


def stress_laplacian(E: csr_array, w: Floats) -> csr_array:
    """L_w = E' diag(w) E for the incidence matrix E."""
    return csr_array(E.T @ (E.multiply(w[:, None])).tocsr())


def certify(program: Unfolding, E: csr_array, w: Floats, *, wanted: int = 16, run: Run | None = None) -> Certificate:
    """The bound that w gives after repair; directions that need one are looked for up to `wanted`."""
    values, vectors = _lowest(stress_laplacian(E, w), w, min(wanted, program.n - 1), run)
    directions = vectors[:, values < 1.0]
    for _ in range(REPAIRS):
        low = values < 1.0
        if not low.any():
            break
        whole = abs(dual_value(w, program.squared, program.form, program.nu))
        w = w + _flows(program, E, vectors[:, low], whole) @ (1.0 - values[low])
        values, vectors = _lowest(stress_laplacian(E, w), w, min(wanted, program.n - 1), run)
        if values.min() > CHEAP or not (values < 1.0).all():  # the rest is cheap, or was all there is
            break
    mu = float(values.min())
    if not mu > 0:
        return Certificate(float("inf"), w, directions)
    return Certificate(dual_value(w / mu, program.squared, program.form, program.nu), w / mu, directions)


def _lowest(L: csr_array, w: Floats, k: int, run: Run | None) -> tuple[Floats, Floats]:
    """The k lowest eigenpairs of L_w beyond the constant; values less their residuals, which makes them bounds."""
    jobs = None if run is None else run.n_jobs
    operator = SparseOperator(L, psd=_positive(L, w), laplacian=bool((w >= 0).all()))
    null = np.ones((L.shape[0], 1))
    with warnings.catch_warnings():  # multiple eigenvalues are the rule here: 1 has the rank of K as its multiplicity
        warnings.simplefilter("ignore", errors.AccuracyWarning)
        found = smallest(operator, k, null=null, run=Run(tol=EIGEN_TOL, n_jobs=jobs))
    residuals = np.linalg.norm(L @ found.vectors - found.vectors * found.values, axis=0)
    return found.values - residuals, found.vectors


def _flows(program: Unfolding, E: csr_array, V: Floats, whole: float) -> Floats:
    """u (m, p) with L_u - v v' psd for each column v of V, from its electric flow; 0 where scaling is cheaper."""
    from scipy.sparse.linalg import splu

    lengths = np.sqrt(np.maximum(program.squared, SHORTEST))
    n = program.n
    conductance = stress_laplacian(E, 1.0 / lengths)
    lu = splu(csc_array(conductance + GROUND * float(conductance.diagonal().max()) * eye_array(n, format="csr")))
    f = np.abs(E @ lu.solve(np.ascontiguousarray(V))) / lengths[:, None]
    price = lengths @ f
    return np.asarray(np.where(price**2 < FLOWS * whole, f * price / lengths[:, None], 0.0))


def _positive(L: csr_array, w: Floats) -> bool:
    """Whether L_w is psd: by its weights, or by the signs of the pivots of its factor."""
    if (w >= 0).all():
        return True
    from scipy.sparse.linalg import splu

    shift = GROUND * float(np.abs(L.diagonal()).max())
    try:
        lu = splu(
            csc_array(L + shift * eye_array(L.shape[0], format="csr")),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except (RuntimeError, MemoryError):
        return False
    return bool(np.array_equal(lu.perm_r, lu.perm_c) and (lu.U.diagonal() > 0).all())
