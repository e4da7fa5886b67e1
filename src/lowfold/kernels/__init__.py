"""From `Neighbors` or `Graph` to an operator; pure functions that show their formula."""

from lowfold.kernels._gaussian import auto_scale, binary, decreasing, gaussian, scale_from_heat_time, scale_from_sigma
from lowfold.kernels._barycentric import barycentric_weights
from lowfold.kernels._euclidean import configuration_dimension, is_euclidean, minimal_shift, shift_bound
from lowfold.kernels._gram import centred_gram, centred_similarity

__all__ = [
    "auto_scale",
    "barycentric_weights",
    "binary",
    "centred_gram",
    "centred_similarity",
    "configuration_dimension",
    "decreasing",
    "gaussian",
    "is_euclidean",
    "minimal_shift",
    "scale_from_heat_time",
    "scale_from_sigma",
    "shift_bound",
]
