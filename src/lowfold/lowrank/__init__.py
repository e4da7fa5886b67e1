"""Data matrices of low rank: principal axes and their kin, linear maps, random projections, explicit features."""

from lowfold.lowrank._energy import explained_energy
from lowfold.lowrank._mercer import karhunen_loeve, mercer_expansion
from lowfold.lowrank._principal import principal_axes, select_route
from lowfold.lowrank._random_projection import jl_min_dim, random_matrix
from lowfold.lowrank._robust import low_rank_plus_sparse
from lowfold.lowrank._veronese import vanishing, veronese

__all__ = [
    "explained_energy",
    "jl_min_dim",
    "karhunen_loeve",
    "low_rank_plus_sparse",
    "mercer_expansion",
    "principal_axes",
    "random_matrix",
    "select_route",
    "vanishing",
    "veronese",
]
