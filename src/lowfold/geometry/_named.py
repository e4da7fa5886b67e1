"""Manifolds, their spectra and their heat kernels by name: what is known in closed form, and for which shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from lowfold._core.names import find_name
from lowfold._core.types import Floats
from lowfold.geometry import _heat, _manifolds, _spectra
from lowfold.geometry._chart import Manifold

MANIFOLDS: dict[str, Callable[..., Manifold]] = {
    "interval": _manifolds.interval,
    "plane": _manifolds.plane,
    "circle": _manifolds.circle,
    "circle_arc": _manifolds.circle_arc,
    "sphere": _manifolds.sphere,
    "ellipsoid": _manifolds.ellipsoid,
    "punched_sphere": _manifolds.punched_sphere,
    "torus": _manifolds.torus,
    "flat_torus": _manifolds.flat_torus,
    "clifford_torus": _manifolds.clifford_torus,
    "cylinder": _manifolds.cylinder,
    "swiss_roll": _manifolds.swiss_roll,
    "s_curve": _manifolds.s_curve,
    "saddle": _manifolds.saddle,
    "moebius": _manifolds.moebius,
}
EIGENVALUES: dict[str, Callable[..., Floats]] = {
    "interval": _spectra.interval_eigenvalues,
    "rectangle": _spectra.rectangle_eigenvalues,
    "circle": _spectra.circle_eigenvalues,
    "flat_torus": _spectra.flat_torus_eigenvalues,
    "sphere": _spectra.sphere_eigenvalues,
}
EIGENFUNCTIONS: dict[str, Callable[..., Floats]] = {
    "interval": _spectra.interval_eigenfunctions,
    "rectangle": _spectra.rectangle_eigenfunctions,
    "circle": _spectra.circle_eigenfunctions,
}
HEAT_KERNELS: dict[str, Callable[..., Floats]] = {
    "space": _heat.gaussian_heat_kernel,
    "interval": _heat.interval_heat_kernel,
    "rectangle": _heat.rectangle_heat_kernel,
    "circle": _heat.circle_heat_kernel,
    "flat_torus": _heat.flat_torus_heat_kernel,
    "sphere": _heat.sphere_heat_kernel,
}


def manifold(name: str, **parameters: Any) -> Manifold:
    """The manifold of that name: interval, plane, circle, circle_arc, sphere, ellipsoid, punched_sphere, torus,
    flat_torus, clifford_torus, cylinder, swiss_roll, s_curve, saddle, moebius. `parameters` are its lengths.

    >>> float(manifold("sphere", radius=2.0).distance([[2.0, 0.0, 0.0]], [[0.0, 2.0, 0.0]])[0])
    3.141592653589793
    """
    return MANIFOLDS[find_name(name, MANIFOLDS, "manifold")](**parameters)


def eigenvalues(name: str, n: int, **parameters: Any) -> Floats:
    """First n eigenvalues of -Delta, ascending, with multiplicities: interval and rectangle (`boundary`, `lengths`),
    circle, flat_torus, sphere.

    >>> print(eigenvalues("sphere", 6))
    [0. 2. 2. 2. 6. 6.]
    """
    return EIGENVALUES[find_name(name, EIGENVALUES, "spectrum of")](n, **parameters)


def eigenfunctions(name: str, where: ArrayLike, n: int, **parameters: Any) -> Floats:
    """First n eigenfunctions of -Delta at coordinates of the interval, the rectangle or the circle (angles), (len, n);
    orthonormal, in the order of `eigenvalues`.
    """
    return EIGENFUNCTIONS[find_name(name, EIGENFUNCTIONS, "eigenfunctions of")](where, n, **parameters)


def heat_kernel(name: str, *where: ArrayLike, t: float, **parameters: Any) -> Floats:
    """rho_t(x, y) at two points of space, interval, rectangle, circle or flat_torus (arc lengths), or at one geodesic
    distance of the sphere.

    >>> print(round(float(heat_kernel("circle", 0.0, 1.0, t=50.0)), 6))  # heat has spread evenly: 1 / (2 pi)
    0.159155
    """
    return HEAT_KERNELS[find_name(name, HEAT_KERNELS, "heat kernel of")](*where, t=t, **parameters)
