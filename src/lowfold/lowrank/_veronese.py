"""The Veronese map: all monomials of one degree, and the polynomials that vanish on data.

Vidal, Ma & Sastry (2016), Section 4.1, doi:10.1007/978-0-387-87811-9. A conic in the plane becomes a plane of the
features (x1^2, x1 x2, x2^2), a union of n subspaces becomes one subspace of the features of degree n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats


def monomial_exponents(D: int, degree: int) -> NDArray[np.int64]:
    """Exponents of the C(degree + D - 1, degree) monomials in D variables, one row each, in degree-lexicographic order.

    >>> monomial_exponents(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    if D < 1 or degree < 1:
        raise InvalidInput(f"D and degree must be at least 1; got {D} and {degree}")
    rows = [np.bincount(chosen, minlength=D) for chosen in combinations_with_replacement(range(D), degree)]
    return np.array(rows, dtype=np.int64)


def veronese(X: ArrayLike, degree: int, *, weighted: bool = False) -> Floats:
    """All monomials of the given degree of each row, in degree-lexicographic order.

    `weighted` multiplies by the root of the multinomial coefficient, sqrt(degree! / (a_1! ... a_D!)): then
    <v(x), v(y)> = (x'y)^degree, the polynomial kernel.

    >>> veronese([[1.0, 2.0]], 2).tolist()
    [[1.0, 2.0, 4.0]]
    """
    A = np.asarray(X, dtype=np.float64)
    if A.ndim != 2:
        raise InvalidInput(f"X must have rows and columns; got {A.ndim} axes")
    n, D = A.shape
    M = _count(D, degree)
    require(8.0 * n * M * 2, f"{M} monomials of {n} points", 'use a lower degree, or KernelPCA(kernel="poly")')
    out = A.copy()
    for k in range(2, degree + 1):
        lower, out, at = out, np.empty((n, _count(D, k))), 0
        for i in range(D):
            tail = lower[:, -_count(D - i, k - 1) :]
            np.multiply(A[:, i : i + 1], tail, out=out[:, at : at + tail.shape[1]])
            at += tail.shape[1]
    return np.asarray(out * multinomial_roots(D, degree)) if weighted else out


def _count(D: int, degree: int) -> int:
    """Monomials of a degree in D variables. Those without the first variables are the last ones in their order."""
    return math.comb(degree + D - 1, degree)


def multinomial_roots(D: int, degree: int) -> Floats:
    """sqrt(degree! / (a_1! ... a_D!)) for each monomial."""
    power, factorials = np.ones(D), np.ones(D)  # of the first variable in each monomial; a_1! ... a_D!
    for k in range(2, degree + 1):
        powers, products = [], []
        for i in range(D):
            tail = slice(-_count(D - i, k - 1), None)
            raised = np.ones(len(power[tail]))
            same = _count(D - i, k - 2)  # of the tail begin with the variable that is multiplied with
            raised[:same] += power[tail][:same]
            powers.append(raised)
            products.append(factorials[tail] * raised)
        power, factorials = np.concatenate(powers), np.concatenate(products)
    return np.asarray(np.sqrt(math.factorial(degree) / factorials))


@dataclass(frozen=True, eq=False)
class Vanishing:
    """Functions c'phi(x) + constant that (nearly) vanish on the data.

    coefficients (p, M), orthonormal rows; constants (p,); energies (p,), mean squares on the data, ascending
    """

    coefficients: Floats
    constants: Floats
    energies: Floats


def vanishing(features: Floats, mean: Floats, *, tol: float = 1e-9) -> Vanishing:
    """The directions in which the features, about `mean`, have at most `tol` of the energy of the leading one."""
    A = features - mean
    M = A.shape[1]
    require(3 * 8.0 * M * M, f"the covariance of {M} features", "use a lower degree")
    values, V = stacked_eigh(A.T @ A / len(A))
    kept = values <= tol * max(float(values[-1]), np.finfo(float).tiny)
    C = V[:, kept].T
    return Vanishing(C, -C @ mean, np.maximum(values[kept], 0.0))
