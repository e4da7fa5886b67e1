"""Gradient, divergence, Hessian and Laplace-Beltrami operator in the coordinates of a chart.

Functions are given in coordinates; `chart.restrict(f)` makes one from a function of R^m. The sign of the Laplacian
is that of analysis, Delta = div grad, so that -Delta has the eigenvalues 0 <= lambda_1 <= ...
Wang (2012), Section 2.3.2 and Appendix A.3, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart
from lowfold.geometry._curvature import connection, metric_tensor, tangent_basis
from lowfold.geometry._derivatives import Field, as_rows, jacobian, jet


def gradient(chart: Chart, f: Field, u: ArrayLike) -> Floats:
    """(grad f)^i = G^ij d_j f, coordinates of shape (n, k)."""
    rows = as_rows("u", u, chart.dim)
    slope = jacobian(f, rows, chart.step)
    return np.asarray(np.linalg.solve(metric_tensor(chart, rows), slope[:, :, None])[:, :, 0])


def gradient_vector(chart: Chart, f: Field, u: ArrayLike) -> Floats:
    """grad f as a vector of R^m, shape (n, m)."""
    return np.asarray(np.einsum("nai,ni->na", tangent_basis(chart, u), gradient(chart, f, u)))


def divergence(chart: Chart, field: Field, u: ArrayLike) -> Floats:
    """|G|^(-1/2) d_i (|G|^(1/2) X^i) = d_i X^i + Gamma^j_ij X^i, where `field` gives the coordinates X^i, (n, k)."""
    rows = as_rows("u", u, chart.dim)
    spread = np.einsum("nii->n", jacobian(field, rows, chart.step))
    return np.asarray(spread + np.einsum("njij,ni->n", connection(chart, rows).gamma, field(rows)))


def hessian(chart: Chart, f: Field, u: ArrayLike) -> Floats:
    """Covariant Hessian (n, k, k): d_i d_j f - Gamma^c_ij d_c f."""
    rows = as_rows("u", u, chart.dim)
    at = jet(f, rows, chart.step)
    return np.asarray(at.second - np.einsum("ncij,nc->nij", connection(chart, rows).gamma, at.first))


def laplace_beltrami(chart: Chart, f: Field, u: ArrayLike) -> Floats:
    """|G|^(-1/2) d_i (|G|^(1/2) G^ij d_j f) = G^ij Hess_ij f.

    >>> from lowfold.geometry._manifolds import sphere
    >>> chart = sphere().chart
    >>> height = chart.restrict(lambda x: x[:, 2])
    >>> u = np.array([[0.3, -0.4]])
    >>> print(np.round(laplace_beltrami(chart, height, u) / height(u), 6))  # -Delta z = 2 z on the unit sphere
    [-2.]
    """
    rows = as_rows("u", u, chart.dim)
    return np.asarray(np.einsum("nij,nij->n", np.linalg.inv(metric_tensor(chart, rows)), hessian(chart, f, rows)))
