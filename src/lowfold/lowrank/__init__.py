"""Data matrices of low rank: principal axes and their kin, linear maps, random projections, explicit features."""

from lowfold.lowrank._bases import BASES, compression_error, orthonormal_basis
from lowfold.lowrank._em_pca import Latent
from lowfold.lowrank._energy import dimension_by_energy, dimension_by_gap, explained_energy
from lowfold.lowrank._independent import gaussian_mutual_information, spacing_entropy
from lowfold.lowrank._linearised import Linearised, linearised
from lowfold.lowrank._mercer import MercerExpansion, karhunen_loeve, karhunen_loeve_coefficients, mercer_expansion
from lowfold.lowrank._principal import ROUTES, Axes, principal_axes, range_basis, select_route
from lowfold.lowrank._random_projection import (
    BOUNDS,
    RANDOM_KINDS,
    RandomEntries,
    jl_min_dim,
    jl_success_probability,
    lipschitz_constants,
    random_entries,
    random_matrix,
)
from lowfold.lowrank._robust import (
    LowRankSparse,
    geometric_median,
    l1_directions,
    low_rank_plus_sparse,
    pursued_directions,
)
from lowfold.lowrank._scatter import Scatter, triangular_factor
from lowfold.lowrank._streaming import Moments
from lowfold.lowrank._veronese import Vanishing, monomial_exponents, vanishing, veronese

__all__ = [
    "BASES",
    "BOUNDS",
    "RANDOM_KINDS",
    "ROUTES",
    "Axes",
    "Latent",
    "Linearised",
    "LowRankSparse",
    "MercerExpansion",
    "Moments",
    "RandomEntries",
    "Scatter",
    "Vanishing",
    "compression_error",
    "dimension_by_energy",
    "dimension_by_gap",
    "explained_energy",
    "gaussian_mutual_information",
    "geometric_median",
    "jl_min_dim",
    "jl_success_probability",
    "karhunen_loeve",
    "karhunen_loeve_coefficients",
    "l1_directions",
    "linearised",
    "lipschitz_constants",
    "low_rank_plus_sparse",
    "mercer_expansion",
    "monomial_exponents",
    "orthonormal_basis",
    "principal_axes",
    "pursued_directions",
    "random_entries",
    "random_matrix",
    "range_basis",
    "select_route",
    "spacing_entropy",
    "triangular_factor",
    "vanishing",
    "veronese",
]
