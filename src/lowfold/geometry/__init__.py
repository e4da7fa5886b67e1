"""Parametrised manifolds and their calculus: the ground truth that the rest of lowfold is tested against.

A `Chart` maps coordinates to points, a `Manifold` is covered by charts. Rows are points; tangent vectors are given by
their coordinates in the chart unless a name says `vector` or `map`. Lengths, volumes, curvature, geodesics, operators
and forms come from the charts; distances, spectra and heat kernels in closed form where there is one.
"""

from lowfold.geometry._chart import Chart, Manifold
from lowfold.geometry._closed import chord_bounds
from lowfold.geometry._curvature import (
    gaussian_curvature,
    mean_curvature_vector,
    metric_tensor,
    principal_curvatures,
    second_fundamental_form,
    sectional_curvature,
)
from lowfold.geometry._differential_forms import DifferentialForm, boundary_integral, integrate_form
from lowfold.geometry._domain import Box
from lowfold.geometry._geodesics import exponential, geodesic_distance, logarithm, transport
from lowfold.geometry._integrals import integrate, volume
from lowfold.geometry._manifolds import graph_surface
from lowfold.geometry._named import eigenfunctions, eigenvalues, heat_kernel, manifold
from lowfold.geometry._operators import divergence, gradient, hessian, laplace_beltrami
from lowfold.geometry._reach import branch_separation, min_radius_of_curvature

__all__ = [
    "Box",
    "Chart",
    "DifferentialForm",
    "Manifold",
    "boundary_integral",
    "branch_separation",
    "chord_bounds",
    "divergence",
    "eigenfunctions",
    "eigenvalues",
    "exponential",
    "gaussian_curvature",
    "geodesic_distance",
    "gradient",
    "graph_surface",
    "heat_kernel",
    "hessian",
    "integrate",
    "integrate_form",
    "laplace_beltrami",
    "logarithm",
    "manifold",
    "mean_curvature_vector",
    "metric_tensor",
    "min_radius_of_curvature",
    "principal_curvatures",
    "second_fundamental_form",
    "sectional_curvature",
    "transport",
    "volume",
]


def __getattr__(name: str) -> object:
    """Answer the classes of megaman's module of this name."""
    if name in ("Geometry", "RiemannMetric"):
        raise ImportError(
            f"{name} is megaman's and stands for parameters here: `from lowfold import {name}` tells them"
        )
    raise AttributeError(f"module 'lowfold.geometry' has no attribute {name!r}")
