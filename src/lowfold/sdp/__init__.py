"""Semidefinite embedding: exact and low-rank solvers with a certificate of optimality."""

from lowfold.sdp._certificate import certify
from lowfold.sdp._door import unfold
from lowfold.sdp._program import neighbor_pairs, unfolding
from lowfold.sdp._sdpa import write_sdpa

__all__ = [
    "certify",
    "neighbor_pairs",
    "unfold",
    "unfolding",
    "write_sdpa",
]
