"""Volumes and integrals of functions: Wang (2012), Section 2.3.2 and Appendix A.2, doi:10.1007/978-3-642-27497-8.

int_M f dV = sum_j int_{U_j} phi_j f sqrt|G_j| du with a partition of unity phi_j. Functions take points of
R^m.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart, Manifold
from lowfold.geometry._curvature import volume_density
from lowfold.geometry._derivatives import Field
from lowfold.geometry._domain import DEFAULT_ORDER
from lowfold.geometry._operators import gradient_vector


def integrate(manifold: Manifold, f: Field, order: int = DEFAULT_ORDER) -> float:
    """int_M f dV for a function f of points, (n, m) -> (n,).

    >>> from lowfold.geometry._manifolds import sphere
    >>> print(round(integrate(sphere(), lambda x: x[:, 2] ** 2) / np.pi, 6))  # 4/3
    1.333333
    """
    return _integrate(manifold, lambda chart, u: f(chart.map(u)), order)


def volume(manifold: Manifold, order: int = DEFAULT_ORDER) -> float:
    """int_M 1 dV."""
    return _integrate(manifold, lambda _, u: np.ones(len(u)), order)


def inner_product(manifold: Manifold, f: Field, h: Field, order: int = DEFAULT_ORDER) -> float:
    """<f, h> = int_M f h dV."""
    return integrate(manifold, lambda x: f(x) * h(x), order)


def integrate_density(
    manifold: Manifold, density: Callable[[Chart, Floats], Floats], order: int = DEFAULT_ORDER
) -> float:
    """int_M of a quantity computed in charts, such as `gaussian_curvature`: density(chart, u) -> (n,)."""
    return _integrate(manifold, density, order)


def dirichlet_energy(manifold: Manifold, f: Field, h: Field | None = None, order: int = DEFAULT_ORDER) -> float:
    """int_M <grad f, grad h> dV; with h left out, int_M |grad f|^2 dV."""
    other = f if h is None else h

    def product(chart: Chart, u: Floats) -> Floats:
        first = gradient_vector(chart, chart.restrict(f), u)
        second = first if h is None else gradient_vector(chart, chart.restrict(other), u)
        return np.asarray(np.einsum("na,na->n", first, second))

    return _integrate(manifold, product, order)


def rayleigh_quotient(manifold: Manifold, f: Field, order: int = DEFAULT_ORDER) -> float:
    """int |grad f|^2 / int f^2: an upper bound of lambda_k when f is orthogonal to the eigenfunctions before it."""
    return dirichlet_energy(manifold, f, order=order) / inner_product(manifold, f, f, order)


def bump(x: Floats) -> Floats:
    """A smooth step from 0 (x <= 0) to 1 (x >= 1): s(x) / (s(x) + s(1 - x)) with s(x) = exp(-1 / x)."""

    def s(y: Floats) -> Floats:
        inside = y > 0
        return np.where(inside, np.exp(-1.0 / np.where(inside, y, 1.0)), 0.0)

    return np.asarray(s(x) / (s(x) + s(1.0 - x)))


def _integrate(manifold: Manifold, density: Callable[[Chart, Floats], Floats], order: int) -> float:
    total = 0.0
    for j, chart in enumerate(manifold.charts):
        u, weights = chart.domain.quadrature(order)
        share = manifold.weights(chart.points(u))[:, j]
        live = share > 0  # a chart may be singular where another one takes over
        u, weights = u[live], (weights * share)[live]
        total += float(np.sum(weights * density(chart, u) * volume_density(chart, u)))
    return total
