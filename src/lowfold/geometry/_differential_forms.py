"""Differential forms in coordinates: Wang (2012), Appendix A, doi:10.1007/978-3-642-27497-8.

A form of degree p on R^k is sum_I a_I(u) du^I over increasing index lists I = (i_1 < ... < i_p), in the order of
`itertools.combinations`; its coefficients are one function (n, k) -> (n, C(k, p)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart, Manifold, oriented
from lowfold.geometry._curvature import volume_density
from lowfold.geometry._derivatives import DEFAULT_STEP, Field, as_rows, jacobian
from lowfold.geometry._domain import DEFAULT_ORDER, Domain


@dataclass(frozen=True, eq=False)
class DifferentialForm:
    """A form of degree `degree` on R^`dim`; `a + b`, `c * a` (number or function), `a ^ b` (wedge), `a.d()`, `-a`.

    >>> u, v = coordinate_forms(2)
    >>> print(((u ^ v) + (v ^ u))([[0.0, 0.0]]))
    [[0.]]
    """

    degree: int
    dim: int
    coefficients: Field
    step: float = DEFAULT_STEP

    def __post_init__(self) -> None:
        if self.degree < 0 or self.dim < 0:
            raise InvalidInput(f"degree and dim must not be negative; got degree {self.degree} and dim {self.dim}")

    @property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The index lists I, in the order of the coefficients; none when the degree exceeds the dimension."""
        return tuple(itertools.combinations(range(self.dim), self.degree))

    def __call__(self, u: ArrayLike) -> Floats:
        """Coefficients at the rows of u, shape (n, C(k, p))."""
        rows = as_rows("u", u, self.dim)
        values = np.asarray(self.coefficients(rows), dtype=np.float64)
        shape = (len(rows), math.comb(self.dim, self.degree))
        if values.shape == shape[:1] and shape[1] == 1:
            values = values[:, None]
        if values.shape != shape:
            raise InvalidInput(f"coefficients must return shape {shape}, one column per index list; got {values.shape}")
        return values

    def __add__(self, other: DifferentialForm) -> DifferentialForm:
        if (self.degree, self.dim) != (other.degree, other.dim):
            raise InvalidInput(
                "forms must have the same degree and dim to be added; "
                f"got {(self.degree, self.dim)} and {(other.degree, other.dim)}"
            )
        return DifferentialForm(self.degree, self.dim, lambda u: self(u) + other(u), self.step)

    def __neg__(self) -> DifferentialForm:
        return -1.0 * self

    def __sub__(self, other: DifferentialForm) -> DifferentialForm:
        return self + (-other)

    def __rmul__(self, factor: float | Field) -> DifferentialForm:
        if callable(factor):
            return DifferentialForm(
                self.degree, self.dim, lambda u: np.reshape(factor(u), (-1, 1)) * self(u), self.step
            )
        return DifferentialForm(self.degree, self.dim, lambda u: factor * self(u), self.step)

    def __xor__(self, other: DifferentialForm) -> DifferentialForm:
        return wedge(self, other)

    def d(self) -> DifferentialForm:
        """Exterior derivative: (d a)_I = sum_r (-1)^r d_{i_r} a_{I without i_r}; d d a = 0."""
        place = {index: j for j, index in enumerate(self.indices)}
        result = tuple(itertools.combinations(range(self.dim), self.degree + 1))

        def coefficients(u: Floats) -> Floats:
            slope = jacobian(self, u, self.step)
            out = np.zeros((len(u), len(result)))
            for j, index in enumerate(result):
                for r, i in enumerate(index):
                    out[:, j] += (-1) ** r * slope[:, place[index[:r] + index[r + 1 :]], i]
            return out

        return DifferentialForm(self.degree + 1, self.dim, coefficients, self.step)

    def pullback(self, mu: Field, dim: int) -> DifferentialForm:
        """mu* a for mu: R^dim -> R^k: coefficients a_I(mu(y)) times the minors of d mu.

        For a 1-form this is the change of coordinates a = (dv/du)' b.
        """
        if self.degree == 0:
            return DifferentialForm(0, dim, lambda y: self(mu(y)), self.step)
        result = tuple(itertools.combinations(range(dim), self.degree))

        def coefficients(y: Floats) -> Floats:
            change = jacobian(mu, y, self.step)
            values = self(mu(y))
            out = np.zeros((len(y), len(result)))
            for j, columns in enumerate(result):
                for c, rows in enumerate(self.indices):
                    out[:, j] += values[:, c] * np.linalg.det(change[:, list(rows)][:, :, list(columns)])
            return out

        return DifferentialForm(self.degree, dim, coefficients, self.step)


def scalar_form(f: Field, dim: int) -> DifferentialForm:
    """A function as a form of degree 0."""
    return DifferentialForm(0, dim, f)


def coordinate_forms(dim: int) -> tuple[DifferentialForm, ...]:
    """du^1, ..., du^k."""
    return tuple(_constant_form(1, dim, np.eye(dim)[i]) for i in range(dim))


def one_form(components: Sequence[Field]) -> DifferentialForm:
    """sum_i a_i du^i from the functions a_i."""
    return DifferentialForm(
        1, len(components), lambda u: np.column_stack([np.broadcast_to(a(u), len(u)) for a in components])
    )


def wedge(a: DifferentialForm, b: DifferentialForm) -> DifferentialForm:
    """a ^ b: on index lists I and J without a common index, a_I b_J with the sign of sorting (I, J)."""
    if a.dim != b.dim:
        raise InvalidInput(f"forms must live on the same space; got dim {a.dim} and {b.dim}")
    result = {index: j for j, index in enumerate(itertools.combinations(range(a.dim), a.degree + b.degree))}
    terms = [
        (result[tuple(sorted(i + j))], p, q, _sorting_sign(i + j))
        for p, i in enumerate(a.indices)
        for q, j in enumerate(b.indices)
        if not set(i) & set(j)
    ]

    def coefficients(u: Floats) -> Floats:
        left, right = a(u), b(u)
        out = np.zeros((len(u), len(result)))
        for place, p, q, sign in terms:
            out[:, place] += sign * left[:, p] * right[:, q]
        return out

    return DifferentialForm(a.degree + b.degree, a.dim, coefficients, a.step)


def volume_form(chart: Chart) -> DifferentialForm:
    """sqrt|G| du^1 ^ ... ^ du^k."""
    return DifferentialForm(chart.dim, chart.dim, lambda u: volume_density(chart, u))


def integrate_form(form: DifferentialForm, region: Domain | Manifold, order: int = DEFAULT_ORDER) -> float:
    """Integral of a form of top degree over a domain, or of a form of R^m over a manifold given the right orientation.

    Over a manifold: sum_j int phi_j g_j* w, with charts flipped where needed so that they agree with the first chart.
    """
    if form.degree != region.dim:
        raise InvalidInput(f"form must have the degree of the region, {region.dim}; got degree {form.degree}")
    if not isinstance(region, Manifold):
        u, weights = region.quadrature(order)
        return float(weights @ form(u)[:, 0])
    whole = oriented(region) if len(region.charts) > 1 else region
    total = 0.0
    for j, chart in enumerate(whole.charts):
        u, weights = chart.domain.quadrature(order)
        share = whole.weights(chart.points(u))[:, j]
        live = share > 0
        total += float((weights * share)[live] @ form.pullback(chart.map, chart.dim)(u[live])[:, 0])
    return total


def boundary_integral(form: DifferentialForm, domain: Domain, order: int = DEFAULT_ORDER) -> float:
    """int over the boundary of `domain`, outward vector first; equals int_domain d(form) by Stokes' theorem."""
    return math.fsum(
        face.sign * integrate_form(form.pullback(face.embed, face.domain.dim), face.domain, order)
        for face in domain.faces()
    )


def orientation_sign(basis: ArrayLike, other: ArrayLike) -> int:
    """Sign of the determinant of the change between two bases, given in columns: +1 when they have the same hand."""
    change = np.linalg.lstsq(np.asarray(basis, dtype=np.float64), np.asarray(other, dtype=np.float64), rcond=None)[0]
    return int(np.sign(np.linalg.det(change)))


def _constant_form(degree: int, dim: int, values: Floats) -> DifferentialForm:
    return DifferentialForm(degree, dim, lambda u: np.broadcast_to(values, (len(u), len(values))))


def _sorting_sign(items: tuple[int, ...]) -> int:
    inversions = sum(a > b for a, b in itertools.combinations(items, 2))
    return -1 if inversions % 2 else 1
