"""From `Neighbors` or `Graph` to an operator; pure functions that show their formula."""

from lowfold.kernels._alignment import Alignment, align, kernel_sum
from lowfold.kernels._barycentric import barycentric_weights
from lowfold.kernels._bridge_patches import bridge_alignment, laid_flat
from lowfold.kernels._diffusion import (
    SCALES,
    Admissible,
    Profile,
    SlopeScale,
    Walk,
    complete_weights,
    is_admissible,
    local_scales,
    markov,
    markov_dense,
    slope_scale,
    std_scale,
)
from lowfold.kernels._functions import KERNELS, Mercer, mercer_kernel, scale_from_width, squared_distances
from lowfold.kernels._gaussian import auto_scale, binary, decreasing, gaussian, scale_from_heat_time, scale_from_sigma
from lowfold.kernels._gram import centred_gram, centred_similarity
from lowfold.kernels._hessian import hessian_alignment, hessian_rows, quadratic_dimension
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.kernels._lle import (
    REG_WHEN,
    WEIGHTS,
    applied_reg,
    barycentric_coordinates,
    gram_weights,
    limit_weights,
    mean_value_coordinates,
    modified_alignment,
    multiple_weights,
    outlier_factors,
    reconstruction_alignment,
)
from lowfold.kernels._patches import Coordinates, Geometry, Lengths, Patches, geometry_of, twins
from lowfold.kernels._tangent import tangent_alignment, tangents

__all__ = [
    "KERNELS",
    "REG_WHEN",
    "SCALES",
    "WEIGHTS",
    "Admissible",
    "Alignment",
    "Coordinates",
    "Geometry",
    "KernelOperator",
    "Lengths",
    "Mercer",
    "Patches",
    "Profile",
    "SlopeScale",
    "Walk",
    "align",
    "applied_reg",
    "auto_scale",
    "barycentric_coordinates",
    "barycentric_weights",
    "binary",
    "bridge_alignment",
    "centred_gram",
    "centred_similarity",
    "complete_weights",
    "decreasing",
    "gaussian",
    "geometry_of",
    "gram_weights",
    "hessian_alignment",
    "hessian_rows",
    "is_admissible",
    "kernel_operator",
    "kernel_sum",
    "laid_flat",
    "limit_weights",
    "local_scales",
    "markov",
    "markov_dense",
    "mean_value_coordinates",
    "mercer_kernel",
    "modified_alignment",
    "multiple_weights",
    "outlier_factors",
    "quadratic_dimension",
    "reconstruction_alignment",
    "scale_from_heat_time",
    "scale_from_sigma",
    "scale_from_width",
    "slope_scale",
    "squared_distances",
    "std_scale",
    "tangent_alignment",
    "tangents",
    "twins",
]
