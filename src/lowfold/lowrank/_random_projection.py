"""Random projections: the matrices, the Johnson-Lindenstrauss bounds, and what a projection did to distances.

Wang (2012), Chapter 7, doi:10.1007/978-3-642-27497-8; Achlioptas (2003), doi:10.1016/S0022-0000(03)00025-4.
All entries are independent with mean 0 and variance 1, so that E |R x|^2 / k = |x|^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import TABLED, block_slices, run_blocks
from lowfold._core.random import generator
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats
from lowfold.kernels._functions import squared_distances

RANDOM_KINDS = ("gaussian", "sign", "sparse")  # types 1, 2, 3 of the text
BOUNDS = ("dasgupta_gupta", "frankl_maehara")
FEATURES = 1024  # rows of R' that one generator draws


@dataclass(frozen=True, eq=False)
class RandomEntries:
    """R' (D, k) as a rule: block b of 1,024 features is drawn by the generator seeded with (seed, b), again each time.

    gaussian  N(0, 1)
    sign      +1 or -1, each with probability 1/2
    sparse    +-1/sqrt(p) with probability p/2 each, 0 otherwise; p = density, 1/3 in the text
    """

    kind: str
    D: int
    k: int
    seed: tuple[int, ...]
    density: float = 1 / 3

    def block(self, number: int, dtype: Any = np.float64) -> NDArray[np.floating]:
        """Features 1024 b .. 1024 (b + 1) - 1 of R', dense."""
        rng, rows = self._draw(number)
        if self.kind == "gaussian":
            return rng.standard_normal((rows, self.k)).astype(dtype, copy=False)  # one matrix, whatever X is
        if self.kind == "sign":
            return np.asarray(2 * rng.integers(0, 2, size=(rows, self.k), dtype=np.int8) - 1, dtype=dtype)
        return self.sparse_block(number).toarray().astype(dtype)

    def sparse_block(self, number: int) -> csr_array:
        """The same of the kind "sparse", as a sparse matrix."""
        rng, rows = self._draw(number)
        size = rows * self.k
        count = int(rng.binomial(size, self.density))
        places = np.sort(rng.choice(size, count, replace=False, shuffle=False))
        signs = 2.0 * rng.integers(0, 2, size=count) - 1.0
        indptr = np.searchsorted(places, np.arange(rows + 1) * self.k)
        return csr_array((signs / math.sqrt(self.density), places % self.k, indptr), shape=(rows, self.k))

    def parts(self) -> list[slice]:
        """The features of each block."""
        return block_slices(self.D, FEATURES)

    def dense(self, dtype: Any = np.float64) -> NDArray[np.floating]:
        """All of R'."""
        return np.vstack([self.block(b, dtype) for b in range(len(self.parts()))])

    def sparse(self, *, n_jobs: int | None = 1) -> csr_array:
        """All of R' of the kind "sparse"."""
        from scipy.sparse import vstack

        blocks: list[Any] = [None] * len(self.parts())

        def work(b: int) -> None:
            blocks[b] = self.sparse_block(b)

        run_blocks(work, len(blocks), n_jobs=n_jobs)
        return csr_array(vstack(blocks, format="csr"))

    def _draw(self, number: int) -> tuple[np.random.Generator, int]:
        part = self.parts()[number]
        return np.random.default_rng([*self.seed, number]), part.stop - part.start


def random_entries(kind: str, k: int, D: int, *, density: float = 1 / 3, random_state: object = None) -> RandomEntries:
    """The rule of a k x D random matrix; nothing is drawn yet."""
    if kind not in RANDOM_KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(map(repr, RANDOM_KINDS))}; got {kind!r}")
    if not 0 < density <= 1:
        raise InvalidInput(
            f"density must be above 0 and at most 1, the share of entries that are not 0; got {density!r}"
        )
    rng = generator(random_state)
    return RandomEntries(kind, D, k, tuple(int(word) for word in rng.integers(0, 2**32, size=4)), density)


def random_matrix(
    kind: str, k: int, D: int, *, density: float = 1 / 3, random_state: object = None
) -> Floats | csr_array:
    """A k x D matrix R of the kind "gaussian", "sign" or "sparse" (sparse then), entries of mean 0 and variance 1.

    >>> R = random_matrix("sparse", 2, 300, random_state=0)
    >>> sorted(set(R.toarray().ravel().round(3).tolist()))
    [-1.732, 0.0, 1.732]
    """
    rule = random_entries(kind, k, D, density=density, random_state=random_state)
    return csr_array(rule.sparse().T) if kind == "sparse" else np.asarray(rule.dense().T, dtype=np.float64)


def jl_min_dim(n: int, eps: float, *, bound: str = "dasgupta_gupta", beta: float = 0.0) -> int:
    """Dimensions that keep all squared distances of n points within a factor 1 +- eps, whatever D is.

    "dasgupta_gupta": k >= (4 + 2 beta) ln n / (eps^2/2 - eps^3/3); a random projection then does with probability of at
    least 1 - n^-beta (1/n for beta = 0). "frankl_maehara": the older ceil(9 ln n / (eps^2 - 2 eps^3/3)) + 1, beta = 0.

    >>> jl_min_dim(1000, 0.1), jl_min_dim(1000, 0.1, bound="frankl_maehara")
    (5921, 6663)
    """
    _check_pair(n, eps)
    if bound not in BOUNDS:
        raise InvalidInput(f"bound must be {' or '.join(map(repr, BOUNDS))}; got {bound!r}")
    if beta < 0 or (bound == "frankl_maehara" and beta):
        raise InvalidInput(f'beta must be 0 or more, and 0 for "frankl_maehara"; got {beta!r}')
    if bound == "frankl_maehara":
        return math.ceil(9 * math.log(n) / (eps**2 - 2 * eps**3 / 3)) + 1
    return math.ceil((4 + 2 * beta) * math.log(n) / (eps**2 / 2 - eps**3 / 3))


def jl_success_probability(n: int, k: int, eps: float) -> float:
    """Lower bound of the probability that k dimensions keep all pairs within 1 +- eps: max(0, 1 - n^-beta),
    beta = k (eps^2/4 - eps^3/6) / ln n - 2; at the bound itself, where beta = 0, at least 1/n.

    >>> round(jl_success_probability(1000, 9000, 0.1), 4)
    0.9992
    """
    _check_pair(n, eps)
    beta = k * (eps**2 / 4 - eps**3 / 6) / math.log(n) - 2
    return max(1 / n if beta >= 0 else 0.0, 1 - n**-beta if beta > 0 else 0.0)


def lipschitz_constants(X: Any, Y: Any) -> tuple[float, float]:
    """The tightest A, B with A |x_i - x_j|^2 <= |y_i - y_j|^2 <= B |x_i - x_j|^2 for all pairs of rows.

    Coincident points say nothing and are left out. (1, 1) is an isometry; with no distinct pair at all it is that, too.
    """
    low, high = math.inf, -math.inf
    n = X.shape[0]
    sparse = hasattr(X, "tocsr")
    square = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse else None
    A: Any = X if sparse else np.asarray(X, dtype=np.float64) - np.mean(X, axis=0, dtype=np.float64)
    B = np.asarray(Y, dtype=np.float64)
    for part in block_slices(n, max(1, TABLED // n)):
        if square is None:
            before = squared_distances(A[part], A)
        else:
            before = np.maximum(square[part][:, None] + square[None, :] - 2 * (A[part] @ A.T).toarray(), 0.0)
        after = squared_distances(B[part], B)
        apart = before > ROUNDING * before.max(initial=0.0)
        apart[np.arange(part.stop - part.start), np.arange(part.start, part.stop)] = False
        if apart.any():
            ratio = after[apart] / before[apart]
            low, high = min(low, float(ratio.min())), max(high, float(ratio.max()))
    return (low, high) if high >= low else (1.0, 1.0)


def _check_pair(n: int, eps: float) -> None:
    if n < 2 or not 0 < eps < 1:
        raise InvalidInput(f"n must be at least 2 and eps between 0 and 1; got n = {n!r}, eps = {eps!r}")
