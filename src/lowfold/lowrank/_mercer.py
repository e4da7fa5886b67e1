"""Mercer's theorem by quadrature, and the Karhunen-Loeve expansion of a random process.

integral k(x, y) psi(y) dy = lambda psi(x): with nodes x_i and weights w_i the symmetric matrix sqrt(w_i) k(x_i, x_j)
sqrt(w_j) has the eigenvalues lambda and eigenvectors sqrt(w_i) psi(x_i). Vidal, Ma & Sastry (2016), Section 4.1 and
exercises 4.2, 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.rounding import ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.spectral._types import fix_signs

Gram = Callable[[Floats, Floats], Floats]

ASYMMETRY = 1e-9  # of the largest value: a kernel written as a formula gives k(x, y) and k(y, x) equal to rounding


@dataclass(frozen=True, eq=False)
class MercerExpansion:
    """k(x, y) = sum_i lambda_i psi_i(x) psi_i(y) on a domain with nodes and weights.

    values     lambda, descending; negative ones mean that k is not positive semidefinite
    functions  psi_i at the nodes, one column each, orthonormal: sum_n w_n psi_i psi_j = delta_ij
    trace      integral k(x, x) dx, which the values add up to
    """

    values: Floats
    functions: Floats
    nodes: Floats
    weights: Floats
    trace: float
    kernel: Gram

    def is_psd(self, *, tol: float = 1e-9) -> bool:
        """Whether no eigenvalue is below -tol times the largest: Mercer's condition, on these nodes."""
        return bool(self.values[-1] >= -tol * max(float(self.values[0]), np.finfo(float).tiny))

    def reconstruct(self, terms: int | None = None) -> Floats:
        """The first terms of the series at the nodes; all of them give back k itself."""
        part = slice(terms)
        return np.asarray((self.functions[:, part] * self.values[part]) @ self.functions[:, part].T)

    def features(self, X: ArrayLike, terms: int) -> Floats:
        """The feature map phi_i(x) = sqrt(lambda_i) psi_i(x) at new points, psi by Nystrom."""
        if self.values[terms - 1] <= ROUNDING * self.values[0]:
            raise InvalidInput(
                f"only eigenvalues above 0 give features; the first {terms} include {self.values[terms - 1]:g}"
            )
        rows = self.kernel(_points(X), self.nodes) * self.weights
        return np.asarray(rows @ self.functions[:, :terms] / np.sqrt(self.values[:terms]))


def mercer_expansion(kernel: Gram, domain: Sequence[tuple[float, float]], *, n_nodes: int = 20) -> MercerExpansion:
    """The Mercer expansion of `kernel`(A, B) -> matrix on a box, by Gauss-Legendre with n_nodes in each direction.

    >>> from lowfold.kernels._functions import Mercer
    >>> square = mercer_expansion(Mercer("poly", gamma=1.0, degree=2, coef0=0.0), [(-1, 1), (-1, 1)], n_nodes=5)
    >>> (45 * square.values[:4]).round(6).tolist()
    [56.0, 40.0, 16.0, 0.0]
    """
    x, w = np.polynomial.legendre.leggauss(n_nodes)
    axes = [(0.5 * (b - a) * x + 0.5 * (a + b), 0.5 * (b - a) * w) for a, b in domain]
    if any(b <= a for a, b in domain):
        raise InvalidInput(f"domain must be a list of intervals (a, b) with a < b; got {list(domain)}")
    size = n_nodes ** len(axes)
    require(4 * 8.0 * size * size, f"a quadrature with {size} nodes", "use a smaller n_nodes")
    nodes = np.stack(np.meshgrid(*[axis for axis, _ in axes], indexing="ij"), axis=-1).reshape(-1, len(axes))
    weights = np.ones(1)
    for _, part in axes:
        weights = np.outer(weights, part).ravel()
    return _expand(kernel, nodes, weights)


def karhunen_loeve(covariance: Callable[[Floats, Floats], Floats] | ArrayLike, grid: ArrayLike) -> MercerExpansion:
    """The Karhunen-Loeve expansion x(t) = sum_i x_i psi_i(t) of a zero-mean process on a grid of times.

    `covariance` is K(s, t) as a function of two arrays that broadcast, or the matrix on the grid. The coefficients
    x_i = integral x psi_i are uncorrelated with variances lambda_i. Trapezoidal weights, so that the grid may be
    uneven.

    >>> t = np.linspace(0, 1, 400)
    >>> brownian = karhunen_loeve(np.minimum, t)
    >>> (1 / np.sqrt(brownian.values[:3]) / np.pi).round(3).tolist()
    [0.5, 1.5, 2.5]
    """
    t = np.asarray(grid, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or np.any(np.diff(t) <= 0):
        raise InvalidInput("grid must be an increasing list of at least 2 times")
    gaps = np.diff(t)
    weights = 0.5 * (np.concatenate([gaps, [0.0]]) + np.concatenate([[0.0], gaps]))
    if callable(covariance):
        function = covariance

        def gram(A: Floats, B: Floats) -> Floats:
            return np.asarray(function(A[:, 0][:, None], B[:, 0][None, :]), dtype=np.float64)
    else:
        matrix = np.asarray(covariance, dtype=np.float64)
        if matrix.shape != (len(t), len(t)):
            raise InvalidInput(
                f"a covariance matrix needs one row and column per time of the grid; got shape {matrix.shape}"
            )

        def gram(A: Floats, B: Floats) -> Floats:
            return matrix

    return _expand(gram, t[:, None], weights)


def karhunen_loeve_coefficients(expansion: MercerExpansion, paths: ArrayLike, terms: int) -> Floats:
    """x_i = integral x(t) psi_i(t) dt of each path (one per row, at the nodes)."""
    rows = np.atleast_2d(np.asarray(paths, dtype=np.float64))
    return np.asarray((rows * expansion.weights) @ expansion.functions[:, :terms])


def _expand(kernel: Gram, nodes: Floats, weights: Floats) -> MercerExpansion:
    root = np.sqrt(weights)
    K = np.asarray(kernel(nodes, nodes), dtype=np.float64)
    if np.abs(K - K.T).max() > ASYMMETRY * max(float(np.abs(K).max()), np.finfo(float).tiny):
        raise InvalidInput("a kernel must be symmetric, k(x, y) = k(y, x); this one is not")
    with single_threaded_blas():
        values, vectors = stacked_eigh(root[:, None] * K * root[None, :])
    safe = np.where(root > 0, root, 1.0)
    functions = fix_signs(vectors[:, ::-1]) / safe[:, None]
    return MercerExpansion(values[::-1], functions, nodes, weights, float((np.diagonal(K) * weights).sum()), kernel)


def _points(X: ArrayLike) -> Floats:
    array = np.asarray(X, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
