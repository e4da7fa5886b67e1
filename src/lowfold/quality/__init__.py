"""How far an embedding can be trusted: ranks, distances, neighbourhoods, stretching, and known truth.

Every measure takes the data and any embedding of it and returns a `Score`: its value, what a perfect embedding would
have, and one number per point for colouring. Where X is a `Graph`, distances are geodesic.
"""

from lowfold.quality._diagnose import diagnose
from lowfold.quality._findings import Diagnosis, Finding, Rule
from lowfold.quality._local import angles, edge_lengths, local_isometry
from lowfold.quality._objective import Objective, objective
from lowfold.quality._pairs import (
    PairSums,
    nonmetric_stress,
    pair_sums,
    pearson,
    residual_variance,
    spearman,
    stress,
)
from lowfold.quality._ranks import (
    NeighborhoodCurve,
    NeighborRanks,
    continuity,
    lcmc,
    mrre,
    neighbor_ranks,
    neighborhood_preservation,
    trustworthiness,
)
from lowfold.quality._riemann import Distortion, noise_bound, orientation, riemannian_distortion
from lowfold.quality._score import Score
from lowfold.quality._stability import Stability, stability
from lowfold.quality._summary import Summary, summary
from lowfold.quality._truth import (
    Alignment,
    affine_r2,
    class_separation,
    color_mixing,
    misclassification,
    procrustes,
)

__all__ = [
    "Alignment",
    "Diagnosis",
    "Distortion",
    "Finding",
    "NeighborRanks",
    "NeighborhoodCurve",
    "Objective",
    "PairSums",
    "Rule",
    "Score",
    "Stability",
    "Summary",
    "affine_r2",
    "angles",
    "class_separation",
    "color_mixing",
    "continuity",
    "diagnose",
    "edge_lengths",
    "lcmc",
    "local_isometry",
    "misclassification",
    "mrre",
    "neighbor_ranks",
    "neighborhood_preservation",
    "noise_bound",
    "nonmetric_stress",
    "objective",
    "orientation",
    "pair_sums",
    "pearson",
    "procrustes",
    "residual_variance",
    "riemannian_distortion",
    "spearman",
    "stability",
    "stress",
    "summary",
    "trustworthiness",
]
