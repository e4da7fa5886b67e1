"""How far an embedding can be trusted: ranks, distances, neighbourhoods, stretching, and known truth.

Every measure takes the data and any embedding of it and returns a `Score`: its value, what a perfect embedding would
have, and one number per point for colouring. Where X is a `Graph`, distances are geodesic.
"""

from lowfold.quality._diagnose import diagnose
from lowfold.quality._local import local_isometry
from lowfold.quality._objective import objective
from lowfold.quality._pairs import nonmetric_stress, residual_variance, spearman, stress
from lowfold.quality._ranks import continuity, lcmc, mrre, neighborhood_preservation, trustworthiness
from lowfold.quality._riemann import orientation, riemannian_distortion
from lowfold.quality._stability import stability
from lowfold.quality._summary import summary
from lowfold.quality._truth import affine_r2, class_separation, misclassification, procrustes

__all__ = [
    "affine_r2",
    "class_separation",
    "continuity",
    "diagnose",
    "lcmc",
    "local_isometry",
    "misclassification",
    "mrre",
    "neighborhood_preservation",
    "nonmetric_stress",
    "objective",
    "orientation",
    "procrustes",
    "residual_variance",
    "riemannian_distortion",
    "spearman",
    "stability",
    "stress",
    "summary",
    "trustworthiness",
]
