"""The one door to N-sized eigenproblems."""

from lowfold.spectral._doors import largest, select_solver, smallest
from lowfold.spectral._euclidean import configuration_dimension, is_euclidean, minimal_shift
from lowfold.spectral._nystrom import nystrom
from lowfold.spectral._power import power_method

__all__ = [
    "configuration_dimension",
    "is_euclidean",
    "largest",
    "minimal_shift",
    "nystrom",
    "power_method",
    "select_solver",
    "smallest",
]
