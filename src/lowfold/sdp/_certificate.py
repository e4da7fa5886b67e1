"""The proof: a lower bound of the smallest eigenvalue of the stress Laplacian makes any weights a bound of the optimum.

L_w = sum_e w_e (e_i - e_j)(e_i - e_j)'. Where L_w - (I - 11'/n) is psd, tr K <= sum_e w_e s_e for every feasible K: weak
duality. With mu, the smallest eigenvalue of L_w beyond the constant, above 0, the weights w / mu always are feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.sdp._program import Unfolding
from lowfold.sdp._solution import dual_value
from lowfold.spectral import smallest

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Certificate:
    """`bound` (inf where mu <= 0), `mu`, and the eigenvectors below 1, in which K can still grow."""

    bound: float
    mu: float
    directions: Floats


def stress_laplacian(E: csr_array, w: Floats) -> csr_array:
    """L_w = E' diag(w) E for the incidence matrix E."""
    return csr_array(E.T @ (E.multiply(w[:, None])).tocsr())


def certify(program: Unfolding, E: csr_array, w: Floats, *, wanted: int = 6, run: Run | None = None) -> Certificate:
    """The bound that w / mu gives, and up to `wanted` directions with eigenvalue below 1."""
    L = stress_laplacian(E, w)
    n = program.n
    operator = SparseOperator(L, psd=_positive(L, w), laplacian=bool((w >= 0).all()))
    jobs = None if run is None else run.n_jobs
    found = smallest(
        operator, min(wanted, n - 1), null=np.ones((n, 1)), negligible=np.inf, run=Run(tol=1e-3, n_jobs=jobs)
    )
    # The distance from theta to the spectrum is at most the norm of its residual.
    product = L @ found.vectors
    residuals = np.linalg.norm(product - found.vectors * found.values, axis=0)
    mu = float((found.values - residuals).min())
    bound = dual_value(w / mu, program.squared, program.form, program.nu) if mu > 0 else float("inf")
    return Certificate(bound, mu, found.vectors[:, found.values < 1.0])


def _positive(L: csr_array, w: Floats) -> bool:
    """Whether L_w is psd: by its weights, or by the signs of the pivots of its factor."""
    if (w >= 0).all():
        return True
    from scipy.sparse.linalg import splu

    shift = 1e-9 * float(np.abs(L.diagonal()).max())
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
