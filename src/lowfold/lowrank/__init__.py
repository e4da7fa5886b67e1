"""Data matrices and kernels of low rank: principal axes and their kin, factorisations that reveal a rank, columns that
stand for all, random samples and projections, explicit features.
"""

from lowfold.lowrank._columns import greedy, nystrom_approximation, nystrom_orthogonal, optimal_weights, sample_kdpp
from lowfold.lowrank._energy import explained_energy
from lowfold.lowrank._errors import (
    approximation_error,
    error_bound,
    is_rank_revealing,
    subspace_distance,
)
from lowfold.lowrank._fat import as_max_kernel, deviation, fat
from lowfold.lowrank._interpolative import interpolative
from lowfold.lowrank._mercer import karhunen_loeve, mercer_expansion
from lowfold.lowrank._pivoted import pivoted_cholesky, rrlu, rrqr
from lowfold.lowrank._principal import principal_axes
from lowfold.lowrank._random_projection import jl_min_dim, random_matrix
from lowfold.lowrank._randomized import randomized_svd
from lowfold.lowrank._robust import low_rank_plus_sparse
from lowfold.lowrank._utv import lulv_cold, lulv_warm, ulv, urv
from lowfold.lowrank._veronese import vanishing, veronese
from lowfold.lowrank._vsv import vsv

__all__ = [
    "approximation_error",
    "as_max_kernel",
    "deviation",
    "error_bound",
    "explained_energy",
    "fat",
    "greedy",
    "interpolative",
    "is_rank_revealing",
    "jl_min_dim",
    "karhunen_loeve",
    "low_rank_plus_sparse",
    "lulv_cold",
    "lulv_warm",
    "mercer_expansion",
    "nystrom_approximation",
    "nystrom_orthogonal",
    "optimal_weights",
    "pivoted_cholesky",
    "principal_axes",
    "random_matrix",
    "randomized_svd",
    "rrlu",
    "rrqr",
    "sample_kdpp",
    "subspace_distance",
    "ulv",
    "urv",
    "vanishing",
    "veronese",
    "vsv",
]
