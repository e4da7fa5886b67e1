"""From `Neighbors` or `Graph` to an operator; pure functions that show their formula."""

from lowfold.kernels._barycentric import barycentric_weights
from lowfold.kernels._diffusion import is_admissible, markov
from lowfold.kernels._functions import mercer_kernel, scale_from_width
from lowfold.kernels._gaussian import gaussian, scale_from_heat_time, scale_from_sigma
from lowfold.kernels._gram import centred_gram
from lowfold.kernels._kernel_operator import kernel_operator

__all__ = [
    "barycentric_weights",
    "centred_gram",
    "gaussian",
    "is_admissible",
    "kernel_operator",
    "markov",
    "mercer_kernel",
    "scale_from_heat_time",
    "scale_from_sigma",
    "scale_from_width",
]
