"""Metric, connection and curvature of a chart.

With tangent vectors t_i = d_i g and second derivatives t_ij = d_i d_j g of an embedded chart, everything needs no third
derivative: G_ij = <t_i, t_j>, Gamma^c_ij = G^cl <t_l, t_ij>, II_ij = normal part of t_ij, and the curvature tensor
comes from II by the equation of Gauss. Tangent vectors are given by their k coordinates: X = sum_i x^i t_i.
Wang (2012), Sections 2.2.2-2.2.4, doi:10.1007/978-3-642-27497-8; do Carmo (1992), Riemannian Geometry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart
from lowfold.geometry._derivatives import Field, as_rows, jacobian


class Connection(NamedTuple):
    """Metric G (n, k, k), its inverse, and Gamma^c_ij (n, k, k, k) with the upper index first."""

    metric: Floats
    inverse: Floats
    gamma: Floats


def tangent_basis(chart: Chart, u: ArrayLike) -> Floats:
    """Columns d g / d u^i that span the tangent space, shape (n, m, k)."""
    return chart.jet(u).first


def tangent_projector(chart: Chart, u: ArrayLike) -> Floats:
    """Orthogonal projector on the tangent space, shape (n, m, m)."""
    q = np.linalg.qr(tangent_basis(chart, u))[0]
    return np.asarray(q @ np.swapaxes(q, 1, 2))


def metric_tensor(chart: Chart, u: ArrayLike) -> Floats:
    """G = (dg/du)' (dg/du), shape (n, k, k); the identity when the coordinates are isometric.

    >>> from lowfold.geometry._manifolds import swiss_roll
    >>> roll = swiss_roll(coordinates="arclength")
    >>> print(np.round(metric_tensor(roll.chart, [[30.0, 5.0]])[0], 9))
    [[1. 0.]
     [0. 1.]]
    """
    t = tangent_basis(chart, u)
    return np.asarray(np.einsum("nai,naj->nij", t, t))


def volume_density(chart: Chart, u: ArrayLike) -> Floats:
    """sqrt |G|, the volume of the parallelepiped of the tangent basis."""
    return np.asarray(np.sqrt(np.linalg.det(metric_tensor(chart, u))))


def orthonormal_frame(chart: Chart, u: ArrayLike) -> Floats:
    """Coordinates of an orthonormal tangent frame in columns, shape (n, k, k): E' G E = I, first column along t_1."""
    lower = np.linalg.cholesky(metric_tensor(chart, u))
    return np.asarray(np.swapaxes(np.linalg.inv(lower), 1, 2))


def connection(chart: Chart, u: ArrayLike) -> Connection:
    """Levi-Civita connection: Gamma^c_ij = G^cl <t_l, t_ij>."""
    at = chart.jet(u)
    metric = np.einsum("nai,naj->nij", at.first, at.first)
    inverse = np.linalg.inv(metric)
    gamma = np.einsum("ncl,nal,naij->ncij", inverse, at.first, at.second, optimize=True)
    return Connection(metric, inverse, gamma)


def christoffel(chart: Chart, u: ArrayLike) -> Floats:
    """Christoffel symbols, entry [n, c, i, j] is Gamma^c_ij."""
    return connection(chart, u).gamma


def second_fundamental_form(chart: Chart, u: ArrayLike) -> Floats:
    """II_ij, the normal part of d_i d_j g, as vectors of R^m: shape (n, m, k, k)."""
    at = chart.jet(u)
    q = np.linalg.qr(at.first)[0]
    tangent = np.einsum("nab,ncb,ncij->naij", q, q, at.second, optimize=True)
    return np.asarray(at.second - tangent)


def normal_curvature(chart: Chart, u: ArrayLike, v: ArrayLike) -> Floats:
    """|II(v, v)| / |v|^2, the curvature in R^m of the geodesic that leaves u in the direction v."""
    rows, direction = as_rows("u", u, chart.dim), as_rows("v", v, chart.dim)
    bend = np.einsum("naij,ni,nj->na", second_fundamental_form(chart, rows), direction, direction)
    squared = np.einsum("nij,ni,nj->n", metric_tensor(chart, rows), direction, direction)
    return np.asarray(np.linalg.norm(bend, axis=1) / squared)


def riemann_tensor(chart: Chart, u: ArrayLike) -> Floats:
    """R_ijkl = <II_ik, II_jl> - <II_il, II_jk> (Gauss), so that R(x, y, x, y) > 0 on a sphere."""
    ii = second_fundamental_form(chart, u)
    product = np.einsum("naik,najl->nijkl", ii, ii, optimize=True)
    return np.asarray(product - np.swapaxes(product, 3, 4))


def sectional_curvature(chart: Chart, u: ArrayLike, x: ArrayLike, y: ArrayLike) -> Floats:
    """Curvature of the plane of two tangent vectors: R(x, y, x, y) / (|x|^2 |y|^2 - <x, y>^2)."""
    a, b = as_rows("x", x, chart.dim), as_rows("y", y, chart.dim)
    metric = metric_tensor(chart, u)
    xx, yy, xy = (np.einsum("nij,ni,nj->n", metric, s, t) for s, t in ((a, a), (b, b), (a, b)))
    upper = np.einsum("nijkl,ni,nj,nk,nl->n", riemann_tensor(chart, u), a, b, a, b, optimize=True)
    return np.asarray(upper / (xx * yy - xy**2))


def gaussian_curvature(chart: Chart, u: ArrayLike) -> Floats:
    """R_1212 / |G| of a surface."""
    if chart.dim != 2:
        raise InvalidInput(
            f"chart must be a surface (dim 2) to have a Gaussian curvature; got dim {chart.dim}; "
            "use sectional_curvature or scalar_curvature"
        )
    return np.asarray(riemann_tensor(chart, u)[:, 0, 1, 0, 1] / np.linalg.det(metric_tensor(chart, u)))


def ricci_tensor(chart: Chart, u: ArrayLike) -> Floats:
    """Ric_jl = G^ik R_ijkl, shape (n, k, k)."""
    inverse = np.linalg.inv(metric_tensor(chart, u))
    return np.asarray(np.einsum("nik,nijkl->njl", inverse, riemann_tensor(chart, u)))


def scalar_curvature(chart: Chart, u: ArrayLike) -> Floats:
    """G^jl Ric_jl; twice the Gaussian curvature of a surface."""
    inverse = np.linalg.inv(metric_tensor(chart, u))
    return np.asarray(np.einsum("njl,njl->n", inverse, ricci_tensor(chart, u)))


def mean_curvature_vector(chart: Chart, u: ArrayLike) -> Floats:
    """G^ij II_ij / k, a normal vector of R^m, shape (n, m); k times it is the Laplacian of the embedding."""
    inverse = np.linalg.inv(metric_tensor(chart, u))
    return np.asarray(np.einsum("nij,naij->na", inverse, second_fundamental_form(chart, u)) / chart.dim)


def principal_curvatures(chart: Chart, u: ArrayLike) -> Floats:
    """Smallest and largest normal curvature of a surface of R^3, shape (n, 2); their product is the Gaussian curvature.

    With b = <normal, II> in an orthonormal frame: (b_11 + b_22) / 2 -+ sqrt((b_11 - b_22)^2 / 4 + b_12^2). The normal
    makes (t_1, t_2, normal) right-handed.
    """
    t = tangent_basis(chart, u)
    if t.shape[1:] != (3, 2):
        raise InvalidInput(
            f"chart must be a surface of R^3 to have principal curvatures; got dim {chart.dim} in R^{t.shape[1]}; "
            "use second_fundamental_form"
        )
    normal = np.cross(t[:, :, 0], t[:, :, 1])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    frame = orthonormal_frame(chart, u)
    b = np.einsum("na,naij,nip,njq->npq", normal, second_fundamental_form(chart, u), frame, frame, optimize=True)
    middle, half = 0.5 * (b[:, 0, 0] + b[:, 1, 1]), np.hypot(0.5 * (b[:, 0, 0] - b[:, 1, 1]), b[:, 0, 1])
    return np.column_stack([middle - half, middle + half])


def directional_derivative(chart: Chart, f: Field, u: ArrayLike, alpha: ArrayLike) -> Floats:
    """Derivative of a function of R^m along X = (dg/du) alpha: sum_i alpha^i d_i (f o g), shape (n,)."""
    rows, a = as_rows("u", u, chart.dim), as_rows("alpha", alpha, chart.dim)
    return np.asarray(np.einsum("ni,ni->n", jacobian(chart.restrict(f), rows, chart.step), a))
