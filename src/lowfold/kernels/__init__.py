"""From `Neighbors` or `Graph` to an operator; pure functions that show their formula."""

from lowfold.kernels._gaussian import auto_scale, binary, decreasing, gaussian, scale_from_heat_time, scale_from_sigma
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
from lowfold.kernels._gram import centred_gram, centred_similarity
from lowfold.kernels._landmarks import LANDMARK_RULES, choose_landmarks

__all__ = [
    "LANDMARK_RULES",
    "SCALES",
    "Admissible",
    "Profile",
    "SlopeScale",
    "Walk",
    "auto_scale",
    "barycentric_weights",
    "binary",
    "centred_gram",
    "centred_similarity",
    "choose_landmarks",
    "complete_weights",
    "configuration_dimension",
    "decreasing",
    "gaussian",
    "is_admissible",
    "is_euclidean",
    "local_scales",
    "markov",
    "markov_dense",
    "minimal_shift",
    "scale_from_heat_time",
    "scale_from_sigma",
    "shift_bound",
    "slope_scale",
    "std_scale",
]
