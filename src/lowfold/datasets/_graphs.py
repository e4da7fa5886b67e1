"""Graphs whose Laplacian spectra are known in closed form: problems with known answers for the spectral code.

Every edge has weight 1. L = D - A, and the normalised Laplacian is I - D^(-1/2) A D^(-1/2), zero for an isolated
vertex. The Laplacian of a Cartesian product of graphs is a Kronecker sum, so its eigenvalues are the sums, and its
eigenvectors the Kronecker products, of those of the factors (Chung 1997, Spectral Graph Theory, Chapter 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats, Ints
from lowfold.datasets._sampling import check_count


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphExample:
    """An unweighted graph with a known spectrum: n vertices, and each edge once as a row (i, j), i < j, of `edges`."""

    name: str
    n: int
    edges: Ints
    laplacian_values: Floats = field(repr=False)
    normalized_values: Floats | None = field(repr=False)
    laplacian_basis: Callable[[], Floats] = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.edges, self.laplacian_values, self.normalized_values):
            if array is not None:
                array.setflags(write=False)

    def __repr__(self) -> str:
        return f"GraphExample({self.name!r}, {self.n} vertices, {len(self.edges)} edges)"

    def degrees(self) -> Ints:
        """(n,) number of edges at each vertex."""
        return np.bincount(self.edges.ravel(), minlength=self.n).astype(np.int64)

    def laplacian_eigenvalues(self) -> Floats:
        """(n,) eigenvalues of D - A, ascending, each as often as its multiplicity."""
        return np.sort(self.laplacian_values)

    def normalized_eigenvalues(self) -> Floats:
        """(n,) eigenvalues of I - D^(-1/2) A D^(-1/2), ascending, each as often as its multiplicity."""
        if self.normalized_values is None:
            raise InvalidInput(
                f"the normalised Laplacian of {self.name} has no closed-form spectrum, its degrees differ; "
                "use laplacian_eigenvalues(), or torus_graph, which has one degree"
            )
        return np.sort(self.normalized_values)

    def laplacian_eigenvectors(self) -> Floats:
        """(n, n) orthonormal eigenvectors of D - A as columns, in the order of `laplacian_eigenvalues`.

        Within a multiple eigenvalue any rotation is as good: compare the spaces, not the columns.
        """
        return self.laplacian_basis()[:, np.argsort(self.laplacian_values, kind="stable")]


def path_graph(n: int) -> GraphExample:
    """Path 0 - 1 - ... - n-1: L has 2 - 2 cos(pi k / n), the normalised Laplacian 1 - cos(pi k / (n - 1)), k < n.

    >>> path_graph(3).laplacian_eigenvalues().round(12)
    array([0., 1., 3.])
    """
    n = check_count(n)
    normalized = 1 - np.cos(np.pi * np.arange(n) / max(n - 1, 1))
    return _example(f"path_graph({n})", n, _path_edges(n), _path_values(n), normalized, partial(_path_vectors, n))


def ring_graph(n: int) -> GraphExample:
    """Ring of n >= 3 vertices: L has 2 - 2 cos(2 pi k / n), k < n; the normalised Laplacian half of that."""
    n = check_count(n, minimum=3)
    values = _ring_values(n)
    return _example(f"ring_graph({n})", n, _ring_edges(n), values, values / 2, partial(_ring_vectors, n))


def grid_graph(*sides: int) -> GraphExample:
    """Rectangular grid, the product of paths: L has the sums of the paths' eigenvalues. Vertices in C order.

    The normalised Laplacian has no closed form unless all sides but one are 1 (a path) or none exceeds 2 (one degree).
    """
    lengths = _check_sides(sides, 1)
    long = [side for side in lengths if side > 1]
    values = _sums([_path_values(side) for side in lengths])
    normalized: Floats | None = None
    if len(long) <= 1:
        normalized = path_graph(max(lengths)).normalized_values
    elif max(long) == 2:
        normalized = values / len(long)
    return _example(
        f"grid_graph({', '.join(map(str, lengths))})",
        int(np.prod(lengths)),
        _product_edges([_path_edges(side) for side in lengths], lengths),
        values,
        normalized,
        partial(_kronecker, _path_vectors, lengths),
    )


def torus_graph(*sides: int) -> GraphExample:
    """Discrete torus, the product of rings of at least 3: L has sums of the rings' eigenvalues. Vertices in C order."""
    lengths = _check_sides(sides, 3)
    values = _sums([_ring_values(side) for side in lengths])
    return _example(
        f"torus_graph({', '.join(map(str, lengths))})",
        int(np.prod(lengths)),
        _product_edges([_ring_edges(side) for side in lengths], lengths),
        values,
        values / (2 * len(lengths)),
        partial(_kronecker, _ring_vectors, lengths),
    )


def complete_graph(n: int) -> GraphExample:
    """All pairs joined: L has 0 and n (n - 1 times); the normalised Laplacian 0 and n / (n - 1)."""
    n = check_count(n)
    values = np.full(n, float(n))
    values[0] = 0.0
    edges = np.column_stack(np.triu_indices(n, 1)).astype(np.int64)
    return _example(f"complete_graph({n})", n, edges, values, values / max(n - 1, 1), partial(_helmert, n))


def star_graph(n: int) -> GraphExample:
    """Vertex 0 joined to n - 1 leaves: L has 0, 1 (n - 2 times) and n; the normalised Laplacian 0, 1 and 2."""
    n = check_count(n, minimum=2)
    values, normalized = np.ones(n), np.ones(n)
    values[0] = normalized[0] = 0.0
    values[-1], normalized[-1] = n, 2.0
    edges = np.column_stack([np.zeros(n - 1, dtype=np.int64), np.arange(1, n, dtype=np.int64)])
    return _example(f"star_graph({n})", n, edges, values, normalized, partial(_star_vectors, n))


def hypercube_graph(dim: int) -> GraphExample:
    """Hypercube of 2^dim vertices: L has 2 k, C(dim, k) times; the normalised Laplacian 2 k / dim.

    Vertices are joined where their numbers differ in one binary digit.
    """
    dim = check_count(dim, "dim")
    lengths = [2] * dim
    values = _sums([_path_values(2)] * dim).round()
    edges = _product_edges([_path_edges(2)] * dim, lengths)
    name = f"hypercube_graph({dim})"
    return _example(name, 2**dim, edges, values, values / dim, partial(_kronecker, _path_vectors, lengths))


def _example(
    name: str, n: int, edges: Ints, values: Floats, normalized: Floats | None, basis: Callable[[], Floats]
) -> GraphExample:
    return GraphExample(
        name=name, n=n, edges=edges, laplacian_values=values, normalized_values=normalized, laplacian_basis=basis
    )


def _check_sides(sides: Sequence[int], minimum: int) -> list[int]:
    if not sides:
        raise InvalidInput("give at least one side, such as (10, 20); got none")
    return [check_count(side, "each side", minimum) for side in sides]


def _path_edges(n: int) -> Ints:
    i = np.arange(n - 1, dtype=np.int64)
    return np.column_stack([i, i + 1])


def _path_values(n: int) -> Floats:
    # 4 sin^2 rather than 2 - 2 cos: no cancellation at the small end.
    return np.asarray(4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2)


def _path_vectors(n: int) -> Floats:
    """Column k is proportional to cos(pi k (j + 1/2) / n)."""
    j, k = np.arange(n)[:, None], np.arange(n)[None, :]
    vectors = np.sqrt(2.0 / n) * np.cos(np.pi * k * (j + 0.5) / n)
    vectors[:, 0] = np.sqrt(1.0 / n)
    return np.asarray(vectors)


def _ring_edges(n: int) -> Ints:
    return np.vstack([_path_edges(n), np.array([[0, n - 1]], dtype=np.int64)])


def _ring_frequencies(n: int) -> Ints:
    """0, 1, 1, 2, 2, ...: the frequency of each column, cosine before sine."""
    return (np.arange(n, dtype=np.int64) + 1) // 2


def _ring_values(n: int) -> Floats:
    return np.asarray(4 * np.sin(np.pi * _ring_frequencies(n) / n) ** 2)


def _ring_vectors(n: int) -> Floats:
    """Columns cos(2 pi k j / n) and sin(2 pi k j / n), normalised."""
    angle = 2 * np.pi * np.arange(n)[:, None] * _ring_frequencies(n)[None, :] / n
    vectors = np.sqrt(2.0 / n) * np.where(np.arange(n) % 2 == 1, np.cos(angle), np.sin(angle))
    vectors[:, 0] = np.sqrt(1.0 / n)
    if n % 2 == 0:
        vectors[:, -1] /= np.sqrt(2)
    return np.asarray(vectors)


def _product_edges(factors: Sequence[Ints], lengths: Sequence[int]) -> Ints:
    """Edges of the Cartesian product: along each axis the factor's edges, at every place of the other axes."""
    index = np.arange(int(np.prod(lengths)), dtype=np.int64).reshape(lengths)
    rows = []
    for axis, edges in enumerate(factors):
        ends = np.take(index, edges.ravel(), axis=axis)
        rows.append(np.moveaxis(ends, axis, -1).reshape(-1, 2))
    return np.sort(np.vstack(rows), axis=1)


def _sums(values: Sequence[Floats]) -> Floats:
    return np.asarray(reduce(lambda a, b: np.add.outer(a, b).ravel(), values))


def _kronecker(vectors: Callable[[int], Floats], lengths: Sequence[int]) -> Floats:
    def product(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.kron(a, b), dtype=np.float64)

    return reduce(product, [vectors(side) for side in lengths])


def _helmert(n: int) -> Floats:
    """Orthonormal columns, the first constant, column k proportional to (1, ..., 1, -k, 0, ...)."""
    k = np.arange(n)
    vectors = np.triu(np.ones((n, n)), 1) - np.diag(k.astype(np.float64))
    vectors[:, 0] = 1.0
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def _star_vectors(n: int) -> Floats:
    """Constant; contrasts among the leaves; the centre against all leaves."""
    vectors = np.zeros((n, n))
    vectors[:, 0] = np.sqrt(1.0 / n)
    if n > 2:
        vectors[1:, 1:-1] = _helmert(n - 1)[:, 1:]
    vectors[:, -1] = -1.0
    vectors[0, -1] = n - 1.0
    vectors[:, -1] /= np.linalg.norm(vectors[:, -1])
    return vectors
