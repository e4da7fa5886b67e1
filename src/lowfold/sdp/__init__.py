"""Semidefinite embedding: exact and low-rank solvers with a certificate of optimality."""

from lowfold.sdp._certificate import certify
from lowfold.sdp._door import unfold

__all__ = [
    "certify",
    "unfold",
]
