"""Semidefinite embedding: exact and low-rank solvers with a certificate of optimality."""

from lowfold.sdp._barrier import barrier
from lowfold.sdp._certificate import Certificate, certify, stress_laplacian
from lowfold.sdp._conic import Conic, conic, conic_sdp
from lowfold.sdp._door import SOLVERS, select_unfolding_solver, solve_rank_one, unfold
from lowfold.sdp._face import Face, cliques, face, solve_on_face
from lowfold.sdp._interior import Interior, interior
from lowfold.sdp._landmarks import landmark_program, landmark_transform, reconstruction_weights, unreached
from lowfold.sdp._laplacian import laplacian_form, small_slack
from lowfold.sdp._lowrank import lowrank
from lowfold.sdp._program import (
    FORMS,
    RankOne,
    Unfolding,
    auto_penalty,
    complement,
    neighbor_pairs,
    path_variance,
    unfolding,
    unfolding_in,
    variance_bound,
)
from lowfold.sdp._refine import Refined, local_loss, refine
from lowfold.sdp._solution import Callback, Solution, Step

__all__ = [
    "FORMS",
    "SOLVERS",
    "Callback",
    "Certificate",
    "Conic",
    "Face",
    "Interior",
    "RankOne",
    "Refined",
    "Solution",
    "Step",
    "Unfolding",
    "auto_penalty",
    "barrier",
    "certify",
    "cliques",
    "complement",
    "conic",
    "conic_sdp",
    "face",
    "interior",
    "landmark_program",
    "landmark_transform",
    "laplacian_form",
    "local_loss",
    "lowrank",
    "neighbor_pairs",
    "path_variance",
    "reconstruction_weights",
    "refine",
    "select_unfolding_solver",
    "small_slack",
    "solve_on_face",
    "solve_rank_one",
    "stress_laplacian",
    "unfold",
    "unfolding",
    "unfolding_in",
    "unreached",
    "variance_bound",
]
