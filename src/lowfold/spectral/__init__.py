"""The one door to N-sized eigenproblems."""

from lowfold.spectral._bases import BASES, compression_error, orthonormal_basis
from lowfold.spectral._doors import largest, select_solver, smallest, top_singular
from lowfold.spectral._energy import dimension_by_energy, dimension_by_gap, explained_energy
from lowfold.spectral._factor import Fill, count_fill
from lowfold.spectral._nystrom import nystrom
from lowfold.spectral._power import power_method
from lowfold.spectral._principal import ROUTES, Axes, principal_axes, range_basis, select_route
from lowfold.spectral._scatter import Scatter, triangular_factor
from lowfold.spectral._streaming import Moments
from lowfold.spectral._types import Eigenpairs, fix_signs

__all__ = [
    "BASES",
    "ROUTES",
    "Axes",
    "Eigenpairs",
    "Fill",
    "Moments",
    "Scatter",
    "compression_error",
    "count_fill",
    "dimension_by_energy",
    "dimension_by_gap",
    "explained_energy",
    "fix_signs",
    "largest",
    "nystrom",
    "orthonormal_basis",
    "power_method",
    "principal_axes",
    "range_basis",
    "select_route",
    "select_solver",
    "smallest",
    "top_singular",
    "triangular_factor",
]
