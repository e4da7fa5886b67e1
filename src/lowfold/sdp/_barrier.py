"""A dual barrier method for a few hundred points with many pairs, as data of many dimensions have; slack form.

    minimise s'w + ||w||^2 / (4 nu) - mu log det(L_w - I)   over the weights w, on the complement of the constant

for mu falling to 0. Every iterate is feasible, so its value is a proven bound. Newton's matrix,
I / (2 nu) + mu (d_e(Z^-1 L_f Z^-1))_ef with Z = L_w - I, has as many rows as there are pairs and is never formed:
conjugate gradients need products of n x n matrices only. They are preconditioned by its diagonal and by the r leading
eigenvectors of Z^-1, whose part is of rank r (r + 1) / 2 and grows with 1 / mu.
Benson, Ye & Zhang (2000), doi:10.1137/S1052623497328008.

K lives where Z is 0: the small program within the leading eigenvectors of Z^-1 gives it, and a few Newton steps on the
factor polish it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array

from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh, stacked_eigvalsh
from lowfold._core.types import Floats
from lowfold.sdp._interior import reach
from lowfold.sdp._newton import Penalty, minimise
from lowfold.sdp._program import RankOne, Unfolding, stress_laplacian
from lowfold.sdp._solution import (
    Callback,
    Solution,
    Step,
    dual_value,
    in_units,
    objective,
    ordered,
    relative_gap,
    rms,
)
from lowfold.sdp._springs import springs
from lowfold.sdp._svec import svec_rows

SHRINK = 0.15  # of mu, after a full step
SAFE = 0.8  # of the way to the boundary: points near it are far from the central path
LEADING, SHARE = 30, 0.03  # most directions in the preconditioner; those above this share of the largest
PRODUCTS = 150  # of one Newton system
SPAN = 44  # most directions among which K is sought
# Of the largest eigenvalue of Z^-1, which at the optimum is infinite along K's directions and finite elsewhere: K is
# sought among what is above this share. LEAST of them are taken in any case: early the two are not yet apart.
SPANNED, LEAST = 1e-3, 8
IDLE = 1e-5  # of the trace: directions that carry less only make Newton's steps on the factor longer
CG = 1e-2  # of the squared residual: a tenth of the right-hand side
# Of the factor's size, the gradient at which polishing ends: the value then errs by its square, well below `tol`.
POLISHED = 1e-5
SETTLED = 0.2  # of tol: K is looked for once an iteration lowers the bound by less
PAUSE, ATTEMPTS = 3, 4  # iterations between attempts, and how many


@dataclass(eq=False)
class _Dual:
    """Where the method is: weights, mu, Z and its inverse on the complement of the constant."""

    w: Floats
    mu: float
    Z: Floats
    inverse: Floats


def barrier(
    program: Unfolding,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    run: Run | None = None,
) -> Solution:
    """Solve the slack form; stops at a relative gap of `tol`. The answer of a callback may stop it at any iteration."""
    E = program.incidence()
    state = _start(program, E)
    best: Solution | None = None
    bound, wait, attempts = np.inf, 0, 0
    with (run or Run()).stage("unfolding") as progress:
        for iteration in range(1, max_iter + 1):
            full = _newton(program, E, state)
            former, bound = bound, dual_value(state.w, program.squared, "slack", program.nu)
            settled = 0 <= former - bound <= SETTLED * tol * bound
            wait -= 1
            if (settled and wait <= 0) or iteration == max_iter:
                attempts += 1
                best = _better(best, _found(program, E, state, best, bound, tol, iteration))
                wait = PAUSE
            stop = callback is not None and bool(callback(_told(program, state, best, iteration, bound)))
            progress(iteration / max_iter)
            if stop or attempts == ATTEMPTS or (best is not None and best.converged):
                break
            if full:
                state.mu *= SHRINK
    return in_units(program, best or _found(program, E, state, None, bound, tol, iteration), stopped=stop)


def _better(first: Solution | None, second: Solution) -> Solution:
    """The larger value, with the newer bound and its proof, which is the lower one."""
    if first is None or second.primal >= first.primal:
        return second
    gap = relative_gap(first.primal, second.bound)
    return replace(first, bound=second.bound, dual=second.dual, gap=gap, iterations=second.iterations)


def _start(program: Unfolding, E: csr_array) -> _Dual:
    """w a multiple of ones, well inside; mu such that barrier and value are of one size."""
    lowest = float(stacked_eigvalsh(stress_laplacian(E, np.ones(program.m)).toarray())[1])
    w = np.full(program.m, 3.0 / lowest)
    mu = dual_value(w, program.squared, "slack", program.nu) / program.n
    return _Dual(w, mu, *_slack(program, E, w))


def _slack(program: Unfolding, E: csr_array, w: Floats) -> tuple[Floats, Floats]:
    """Z = L_w - I + 2 11'/n, which has the constant as an eigenvector of value 1, and Z^-1 - 11'/n."""
    n = program.n
    Z = stress_laplacian(E, w).toarray() - np.eye(n) + 2.0 / n
    inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(Z, lower=True), np.eye(n))
    return Z, (inverse + inverse.T) / 2 - 1.0 / n


def _distances(program: Unfolding, K: Floats) -> Floats:
    """d_e(K) = K_ii + K_jj - 2 K_ij."""
    i, j = program.pairs.T
    d = np.diag(K)
    return np.asarray(d[i] + d[j] - 2.0 * K[i, j])


def _newton(program: Unfolding, E: csr_array, state: _Dual) -> bool:
    """One step, in place; whether it was a full one."""
    w, mu, inverse = state.w, state.mu, state.inverse
    soft = 1.0 / (2.0 * program.nu)
    gradient = program.squared + soft * w - mu * _distances(program, inverse)

    def product(x: Floats) -> Floats:
        return soft * x + mu * _distances(program, inverse @ (stress_laplacian(E, x) @ inverse))

    x = _conjugate_gradients(product, _preconditioner(program, inverse, mu, soft), -gradient)
    length = reach(state.Z, stress_laplacian(E, x).toarray())
    full = length == 1.0
    state.w = w + (1.0 if full else SAFE * length) * x
    state.Z, state.inverse = _slack(program, E, state.w)
    return full


def _preconditioner(program: Unfolding, inverse: Floats, mu: float, soft: float) -> Callable[[Floats], Floats]:
    """(D + mu A A')^-1 by the small matrix of A, whose rows are svec(b_e b_e') for b_e = b_i - b_j, B B' ~ Z^-1."""
    values, U = stacked_eigh(inverse)
    r = min(LEADING, max(1, int((values > SHARE * values[-1]).sum())))
    B = U[:, ::-1][:, :r] * np.sqrt(values[::-1][:r])
    b = B[program.pairs[:, 0]] - B[program.pairs[:, 1]]
    A = svec_rows(b)
    D = soft + mu * np.maximum(_distances(program, inverse) ** 2 - np.einsum("er,er->e", A, A), 0.0)
    small = scipy.linalg.cho_factor(np.eye(A.shape[1]) / mu + A.T @ (A / D[:, None]))

    def precondition(x: Floats) -> Floats:
        y = x / D
        return np.asarray(y - (A @ scipy.linalg.cho_solve(small, A.T @ y)) / D)

    return precondition


def _conjugate_gradients(
    product: Callable[[Floats], Floats], precondition: Callable[[Floats], Floats], rhs: Floats
) -> Floats:
    """To a tenth of the right-hand side: Newton's direction need not be exact."""
    x, R = np.zeros_like(rhs), rhs
    Y = precondition(R)
    P, first = Y.copy(), float(R @ Y)
    rz = first
    for _ in range(PRODUCTS):
        HP = product(P)
        alpha = rz / float(P @ HP)
        x, R = x + alpha * P, R - alpha * HP
        Y = precondition(R)
        new = float(R @ Y)
        if new <= CG * first:
            break
        P, rz = Y + (new / rz) * P, new
    return x


def _told(program: Unfolding, state: _Dual, best: Solution | None, iteration: int, bound: float) -> Step:
    """The best K so far; before there is one, mu Z^-1 in the size that is best for it."""
    if best is not None:
        gap = relative_gap(best.primal, bound)
        return Step("barrier", iteration, best.primal, bound, gap, best.violation, best.factor.shape[1])
    d, trace = _distances(program, state.inverse), float(np.trace(state.inverse))
    size = (trace / (2.0 * program.nu) + float(d @ program.squared)) / float(d @ d)
    excess = size * d - program.squared
    primal = objective(size * trace, excess, "slack", program.nu)
    return Step("barrier", iteration, primal, bound, relative_gap(primal, bound), rms(excess), program.n - 1)


def _found(
    program: Unfolding, E: csr_array, state: _Dual, best: Solution | None, bound: float, tol: float, iteration: int
) -> Solution:
    """The best K among the leading eigenvectors of Z^-1, then Newton steps on its factor; later, more of these."""
    Y = _spanned(program, E, state.inverse) if best is None else best.factor
    penalty = Penalty(np.zeros(program.m), 2.0 * program.nu)
    most = 300 if best is None else 600
    Et = csr_array(E.T)
    inner = minimise(E, Et, program.squared, Y, penalty, tol=POLISHED, max_steps=10, max_products=most)
    primal = objective(float(np.sum(inner.Y**2)), inner.c, "slack", program.nu)
    off = np.abs(inner.c)
    gap = relative_gap(primal, bound)
    largest = float(off.max(initial=0.0))
    return Solution(inner.Y, state.w, primal, bound, gap, rms(off), largest, 0, "barrier", iteration, abs(gap) <= tol)


def _spanned(program: Unfolding, E: csr_array, inverse: Floats) -> Floats:
    """Y with Y Y' the best K within the leading eigenvectors of Z^-1, without directions that carry next to nothing."""
    values, U = stacked_eigh(inverse)
    p = min(SPAN, program.n - 1, max(LEAST, int((values > SPANNED * values[-1]).sum())))
    Q = U[:, ::-1][:, :p] * np.sqrt(np.maximum(values[::-1][:p], SPANNED * values[-1]) / values[-1])
    sizes, W = stacked_eigh(springs(RankOne(Q.T @ Q, E @ Q, program.squared, "slack", program.nu)).L)
    Y = ordered(Q @ (W * np.sqrt(np.maximum(sizes, 0.0))))
    return Y[:, np.sum(Y**2, axis=0) > IDLE * float(np.sum(Y**2))]
