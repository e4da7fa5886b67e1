"""The one door to N-sized eigenproblems."""

from lowfold.spectral._doors import largest, select_solver, smallest, top_singular
from lowfold.spectral._euclidean import configuration_dimension, is_euclidean, minimal_shift, shift_bound
from lowfold.spectral._factor import Fill, count_fill
from lowfold.spectral._nystrom import nystrom
from lowfold.spectral._power import power_method
from lowfold.spectral._types import Eigenpairs, fix_signs

__all__ = [
    "Eigenpairs",
    "Fill",
    "configuration_dimension",
    "count_fill",
    "fix_signs",
    "is_euclidean",
    "largest",
    "minimal_shift",
    "nystrom",
    "power_method",
    "select_solver",
    "shift_bound",
    "smallest",
    "top_singular",
]
