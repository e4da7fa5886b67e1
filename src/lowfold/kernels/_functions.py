"""Mercer kernels k(x, y) = <phi(x), phi(y)>, by name or by function; Schoelkopf, Smola & Mueller (1998),
doi:10.1162/089976698300017467; Vidal, Ma & Sastry (2016), Section 4.1, doi:10.1007/978-0-387-87811-9.

The Gaussian's width has four conventions in the literature; all become `gamma = 1 / scale`:
exp(-gamma d^2), exp(-d^2 / scale), exp(-d^2 / (2 sigma^2)) (`scale_from_sigma`), exp(-d^2 / width^2)
(`scale_from_width`), exp(-d^2 / 2) (scale 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Int, Limits, Null, Real
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine")

KERNEL_LIMITS: Limits = {
    "kernel": (Choice((*KERNELS, "precomputed")), Function("f(x, y) -> number")),
    "gamma": (Real(0, open_low=True), Null("1 / n_features")),
    "degree": (Int(1),),
    "coef0": (Real(),),
}
"""Limits of the parameters that name a kernel; shared by KernelPCA and KernelLPP."""


def scale_from_width(width: float) -> float:
    """Scale of exp(-d^2 / width^2): width^2."""
    return width**2


@dataclass(frozen=True, eq=False)
class Mercer:
    """A kernel with its parameters.

    linear x'y; poly (gamma x'y + coef0)^degree; rbf exp(-gamma |x - y|^2); laplacian exp(-gamma |x - y|_1);
    sigmoid tanh(gamma x'y + coef0), which is not positive semidefinite in general; cosine x'y / |x| |y|;
    "callable": `function`(x, y) for each pair of rows.
    """

    name: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    function: Callable[[AnyFloats, AnyFloats], float] | None = None

    @property
    def psd(self) -> bool:
        """Whether every Gram matrix of this kernel is known to be positive semidefinite."""
        return self.name in ("linear", "rbf", "laplacian", "cosine") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def differences(self) -> bool:
        """Whether it sees differences of rows alone, so that a shift of all changes nothing."""
        return self.name in ("rbf", "laplacian")

    def __call__(self, A: AnyFloats, B: AnyFloats) -> Floats:
        """The matrix k(a_i, b_j) in float64."""
        if isinstance(A, SparseRows):
            return self._sparse(A, B)
        return self._matrix(np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64))

    def _matrix(self, A: Floats, B: Floats) -> Floats:
        if self.name == "callable":
            return self._pairs(A, B)
        if self.name == "rbf":
            U = squared_distances(A, B)
            U *= -self.gamma
            return np.asarray(np.exp(U, out=U))
        if self.name == "laplacian":
            from scipy.spatial.distance import cdist

            return np.asarray(np.exp(-self.gamma * cdist(A, B, "cityblock")))
        if self.name == "cosine":
            A, B = _unit_rows(A), _unit_rows(B)
        G = A @ B.T
        if self.name == "poly":
            return np.asarray((self.gamma * G + self.coef0) ** self.degree)
        return np.tanh(self.gamma * G + self.coef0) if self.name == "sigmoid" else G

    def diagonal(self, A: AnyFloats) -> Floats:
        """k(a_i, a_i)."""
        if self.name in ("rbf", "laplacian"):
            return np.ones(len(A))
        if isinstance(A, SparseRows):
            return self.of_products(A.squares(), A.squares(), A.squares())
        A = np.asarray(A, dtype=np.float64)
        if self.name == "callable":
            assert self.function is not None
            return np.array([self.function(a, a) for a in A], dtype=np.float64)
        square = np.asarray(np.square(A).sum(axis=1), dtype=np.float64)
        if self.name == "cosine":
            return (square > 0).astype(np.float64)
        if self.name == "poly":
            return np.asarray((self.gamma * square + self.coef0) ** self.degree)
        return np.tanh(self.gamma * square + self.coef0) if self.name == "sigmoid" else square

    def _sparse(self, A: SparseRows, B: SparseRows) -> Floats:
        """The matrix of sparse rows, from their products."""
        if self.name in ("laplacian", "callable"):
            raise InvalidInput(f"kernel {self.name!r} takes dense rows; sparse ones go with 'rbf', 'linear' or 'poly'")
        return self.of_products(A.products(B), A.squares()[:, None], B.squares()[None, :])

    def of_products(self, G: Floats, a: Floats, b: Floats) -> Floats:
        """From inner products and squared lengths, as arrays of any library; not for "laplacian" or a function."""
        if self.name == "rbf":
            return np.exp(-self.gamma * np.maximum(a + b - 2 * G, 0.0))
        if self.name == "cosine":
            size = np.sqrt(a) * np.sqrt(b)
            return G / np.where(size > 0, size, 1.0)
        if self.name == "poly":
            return (self.gamma * G + self.coef0) ** self.degree
        return np.tanh(self.gamma * G + self.coef0) if self.name == "sigmoid" else G

    def _pairs(self, A: AnyFloats, B: AnyFloats) -> Floats:
        assert self.function is not None
        out = np.array([[self.function(a, b) for b in B] for a in A], dtype=np.float64).reshape(len(A), len(B))
        if not np.isfinite(out).all():
            raise InvalidInput("kernel must give finite numbers f(x, y); it gave NaN or inf")
        return out


def mercer_kernel(
    kernel: str | Callable[[AnyFloats, AnyFloats], float],
    n_features: int,
    *,
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 1.0,
) -> Mercer:
    """The kernel that the parameters `kernel`, `gamma` (None: 1 / n_features), `degree`, `coef0` name."""
    if callable(kernel):
        return Mercer("callable", function=kernel)
    if kernel not in KERNELS:
        raise InvalidInput(
            f"kernel must be one of {', '.join(map(repr, KERNELS))} or a function f(x, y); got {kernel!r}"
        )
    return Mercer(kernel, 1.0 / n_features if gamma is None else float(gamma), int(degree), float(coef0))


MEDIAN_POINTS = 1000  # points between which the median distance is taken


def usual_gamma(kernel: object, X: AnyFloats, gamma: float | str | None) -> float | None:
    """The gamma to use: what was given; 1 / n_features (None here) on request and for products; else 1 over the median
    of |x - y|^2 or |x - y|_1 between different points.

    With 1 / n_features on raw pixels every point is its own direction: all distances are far beyond the scale.
    """
    if not isinstance(gamma, str) and gamma is not None:
        return float(gamma)
    if gamma == "features" or kernel not in ("rbf", "laplacian"):
        return None
    from scipy.spatial.distance import pdist

    rows = X[np.linspace(0, len(X) - 1, min(len(X), MEDIAN_POINTS)).astype(np.int64)].astype(np.float64)
    rows = rows.csr.toarray() if isinstance(rows, SparseRows) else rows  # a few hundred
    d = pdist(rows, "sqeuclidean" if kernel == "rbf" else "cityblock")
    d = d[d > 0]
    return float(1.0 / np.median(d)) if len(d) else None


def squared_distances(A: Floats, B: Floats) -> Floats:
    """|a|^2 + |b|^2 - 2 a'b, never negative. The caller centres the rows first: far from 0 digits cancel."""
    U = A @ B.T
    U *= -2.0
    U += np.square(A).sum(axis=1)[:, None]
    U += np.square(B).sum(axis=1)[None, :]
    return np.maximum(U, 0.0, out=U)


def _unit_rows(A: Floats) -> Floats:
    size = np.linalg.norm(A, axis=1, keepdims=True)
    return np.asarray(A / np.where(size > 0, size, 1.0))
