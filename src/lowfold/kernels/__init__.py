"""From `Neighbors` or `Graph` to an operator; pure functions that show their formula."""

from lowfold.kernels._alignment import Alignment, align, kernel_sum
from lowfold.kernels._barycentric import barycentric_weights
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
from lowfold.kernels._euclidean import configuration_dimension, is_euclidean, minimal_shift, shift_bound
from lowfold.kernels._functions import KERNELS, Mercer, mercer_kernel, scale_from_width, squared_distances
from lowfold.kernels._gaussian import auto_scale, binary, decreasing, gaussian, scale_from_heat_time, scale_from_sigma
from lowfold.kernels._gram import centred_gram, centred_similarity
from lowfold.kernels._hessian import hessian_alignment, hessian_rows, quadratic_dimension
from lowfold.kernels._independent import gaussian_mutual_information, spacing_entropy
from lowfold.kernels._kernel_operator import KernelOperator, kernel_operator
from lowfold.kernels._landmarks import LANDMARK_RULES, choose_landmarks
from lowfold.kernels._latent import Latent
from lowfold.kernels._linearised import Linearised, linearised
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
from lowfold.kernels._local_planes import linear_neighbors
from lowfold.kernels._mercer import MercerExpansion, karhunen_loeve, karhunen_loeve_coefficients, mercer_expansion
from lowfold.kernels._patches import Coordinates, Geometry, Lengths, Patches, geometry_of, twins
from lowfold.kernels._pixels import pixel_graph
from lowfold.kernels._random import (
    BOUNDS,
    RANDOM_KINDS,
    RandomEntries,
    jl_min_dim,
    jl_success_probability,
    lipschitz_constants,
    random_entries,
    random_matrix,
)
from lowfold.kernels._robust import (
    LowRankSparse,
    geometric_median,
    l1_directions,
    low_rank_plus_sparse,
    pursued_directions,
)
from lowfold.kernels._tangent import tangent_alignment, tangents
from lowfold.kernels._unfold import bridge_alignment, unfolded
from lowfold.kernels._veronese import Vanishing, monomial_exponents, vanishing, veronese

__all__ = [
    "BOUNDS",
    "KERNELS",
    "LANDMARK_RULES",
    "RANDOM_KINDS",
    "REG_WHEN",
    "SCALES",
    "WEIGHTS",
    "Admissible",
    "Alignment",
    "Coordinates",
    "Geometry",
    "KernelOperator",
    "Latent",
    "Lengths",
    "Linearised",
    "LowRankSparse",
    "Mercer",
    "MercerExpansion",
    "Patches",
    "Profile",
    "RandomEntries",
    "SlopeScale",
    "Vanishing",
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
    "choose_landmarks",
    "complete_weights",
    "configuration_dimension",
    "decreasing",
    "gaussian",
    "gaussian_mutual_information",
    "geometric_median",
    "geometry_of",
    "gram_weights",
    "hessian_alignment",
    "hessian_rows",
    "is_admissible",
    "is_euclidean",
    "jl_min_dim",
    "jl_success_probability",
    "karhunen_loeve",
    "karhunen_loeve_coefficients",
    "kernel_operator",
    "kernel_sum",
    "l1_directions",
    "limit_weights",
    "linear_neighbors",
    "linearised",
    "lipschitz_constants",
    "local_scales",
    "low_rank_plus_sparse",
    "markov",
    "markov_dense",
    "mean_value_coordinates",
    "mercer_expansion",
    "mercer_kernel",
    "minimal_shift",
    "modified_alignment",
    "monomial_exponents",
    "multiple_weights",
    "outlier_factors",
    "pixel_graph",
    "pursued_directions",
    "quadratic_dimension",
    "random_entries",
    "random_matrix",
    "reconstruction_alignment",
    "scale_from_heat_time",
    "scale_from_sigma",
    "scale_from_width",
    "shift_bound",
    "slope_scale",
    "spacing_entropy",
    "squared_distances",
    "std_scale",
    "tangent_alignment",
    "tangents",
    "twins",
    "unfolded",
    "vanishing",
    "veronese",
]
