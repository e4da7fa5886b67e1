"""The one door to N-sized eigenproblems."""

from lowfold.spectral._doors import largest, select_solver, smallest, top_singular
from lowfold.spectral._factor import Fill, count_fill
from lowfold.spectral._nystrom import nystrom
from lowfold.spectral._principal import Axes, principal_axes
from lowfold.spectral._types import Eigenpairs, fix_signs

__all__ = ["Axes", "Eigenpairs", "Fill", "count_fill", "fix_signs", "largest", "nystrom", "principal_axes", "select_solver", "smallest", "top_singular"]
