"""t-SNE, van der Maaten & Hinton (2008), Journal of Machine Learning Research 9; openTSNE, Policar et al. (2024),
doi:10.18637/jss.v109.i03.

X --perplexity--> p_ij --KL(P || Q(Y)), q_ij ~ 1 / (1 + ||y_i - y_j||^2), momentum--> Y
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.limits import Choice, Int, Null, Real, RealArray
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.graph._source import AFFINITY
from lowfold.methods._base import Check
from lowfold.methods._fit import Data
from lowfold.methods._neighbor_affinity import (
    EXACT,
    dense_affinities,
    given_affinities,
    measured_only,
    neighbor_affinities,
    several_dense,
)
from lowfold.methods._neighbor_embedding import NeighborEmbedding
from lowfold.methods._parameters import Affinities as WeightsOrDistances
from lowfold.optimize._momentum import OF_THE_TEXT, Schedule
from lowfold.optimize._neighbor import Affinities, FFTCost, SparseAffinities, TSNECost

# Under exaggeration most layouts come to rest within 75 iterations, and a high momentum after its fall makes up for few
# steps: on 24 sets of fresh seeds (rolls, rings, clouds, tails, digits, cancer; 570 to 3,000 points) the divergence
# after 400 iterations is 0.996 of that after 750 with momenta of 0.8 and 0.9 in the mean, 0.94 to 1.011 in single ones.
MANY = Schedule(0.85, 0.97, 400, switch=280, pace=2.0, early=75)
METHODS = ("auto", "exact", "neighbors", "fft")


def _method_fits(model: Any, data: Data) -> None:
    method = model._method(data)
    if method == "fft":
        load_extra("openTSNE", "tsne", 'method="fft"')
        if model.n_components > 2:
            raise InvalidInput(f'method="fft" gives 1 or 2 columns; got {model.n_components}; use method="neighbors"')
        if model.dof != 1:
            raise InvalidInput(f'method="fft" has one degree of freedom; got dof = {model.dof:g}: use "neighbors"')
    if method != "exact" and model.affinities == "joint":
        raise InvalidInput(f'affinities="joint" needs all pairs, method="exact"; method is {method!r} here')
    if method == "exact" and measured_only(data):
        raise InvalidInput('method="exact" needs all pairs; a sparse matrix has gaps: use method="neighbors"')


class TSNE(WeightsOrDistances, NeighborEmbedding):
    """Keep the joint probabilities of pairs of neighbours, with heavy tails in the layout, so that clusters part.

    q_ij = (1 + ||y_i - y_j||^2)^-1 / sum_{k != l} (1 + ||y_k - y_l||^2)^-1; the cost is KL(P || Q), its gradient
    4 sum_j (p_ij - q_ij) (1 + ||y_i - y_j||^2)^-1 (y_i - y_j). Distances between clusters and their sizes mean little.
    `metric="precomputed_affinity"` takes P itself (dense or sparse; made symmetric, of sum 1).

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred
    kl_divergence_ : float, the cost at the end, KL(P || Q)
    cost_history_ : array (looks, 2), iteration and cost
    n_iter_ : int
    stop_reason_ : "max_iter", "no progress", "gradient" or "callback"
    perplexity_, learning_rate_ : float, the values used
    method_ : str, what was used

    Examples
    --------
    >>> import lowfold
    >>> blobs = lowfold.datasets.swiss_roll(60, random_state=0)
    >>> lowfold.TSNE(2, perplexity=10, max_iter=100).fit_transform(blobs.X).shape
    (60, 2)
    """

    tuned_on: ClassVar[int | None] = 300

    perplexity: Any = param(
        None,
        Real(0, open_low=True),
        RealArray("several of them"),
        Null("min(30, (n - 1) / 3)"),
        "Effective number of neighbours, 2^(entropy in bits) of each point's probabilities. None is min(30, (n - 1) "
        "/ 3), at least 1; at most n - 1. A list of several takes the mean of their P, which holds near and far "
        "neighbours.",
    )
    dof: float = param(
        1.0,
        Real(0, open_low=True),
        "Degrees of freedom v of the layout's Student's t, w = (1 + d^2 / v)^-(v + 1)/2: below 1 heavier tails, "
        "clusters fall into smaller ones; large v is a Gaussian, as in symmetric SNE.",
    )
    affinities: str = param(
        "conditional",
        Choice(("conditional", "joint")),
        "p_ij = (p_{j|i} + p_{i|j}) / 2n, each point with a width of its own, which leaves no outlier "
        "without a pull; or exp(-d_ij^2 / 2 sigma^2) over its sum, one width for all, with 2^entropy "
        "= n perplexity.",
    )
    method: str = param(
        "auto",
        Choice(METHODS),
        '"exact": all pairs in P and in the repulsion. "neighbors": P of the 3 perplexity nearest '
        'neighbours only, repulsion over all pairs. "fft": the same P, repulsion interpolated on a '
        'grid by openTSNE (extra `tsne`), for many points; at most 2 components. "auto" is exact up '
        'to 1,000 points, then "neighbors"; the latter also for sparse distances.',
    )
    init: Any = param(
        "pca",
        Choice(("pca", "random")),
        RealArray("an array with a row per point"),
        "Y(0): N(0, 1e-4 I); principal components (classical MDS of given distances) with a spread of "
        "1e-4; or a layout to go on from (with early_exaggeration=1, or it is torn apart again).",
    )
    early_exaggeration: float = param(
        12.0,
        Real(1),
        "P is multiplied by it for the first iterations, so that clusters form early; then it falls to 1 in 100 more, "
        'so that sheets unfold. 1 is the text\'s algorithm (with init="random", gains=False, momentum=lambda t: 0.5 if '
        "t < 250 else 0.8, max_iter=1000).",
    )
    early_exaggeration_iter: int | None = param(
        None,
        Int(0),
        Null("250, beyond 500 points 75, of few iterations fewer"),
        "Iterations with all of the early exaggeration. None is 250, beyond 500 points 75; where max_iter is small, so "
        "many fewer (and of the 100 in which it falls to 1) that half of all iterations are without it.",
    )
    learning_rate: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'eta in Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)). "auto" is n / 4 (n / 2 beyond '
        "500 points), for a gradient of the size 1/n, divided by the exaggeration while there is one, but 50 at least; "
        "`learning_rate_` has the last.",
    )

    student: ClassVar[bool] = True
    few: ClassVar[Schedule] = OF_THE_TEXT
    many: ClassVar[Schedule] = MANY

    checks: ClassVar[tuple[Check, ...]] = (*NeighborEmbedding.checks, _method_fits)

    def _method(self, data: Data) -> str:
        if self.method != "auto":
            return str(self.method)
        return "neighbors" if data.n > EXACT or measured_only(data) else "exact"

    def _affinities(self, data: Data, perplexity: Any, run: Run) -> Affinities:
        if self.metric == AFFINITY:
            return given_affinities(data, run)
        if self._method(data) == "exact":
            make = dense_affinities if np.ndim(perplexity) == 0 else several_dense
            return make(data, perplexity, self.affinities, run)
        return neighbor_affinities(data, perplexity, run)

    def _cost(self, P: Affinities, run: Run) -> TSNECost | FFTCost:
        if self.method == "fft":
            assert isinstance(P, SparseAffinities)
            return FFTCost(P, run.n_jobs)
        many = isinstance(P, SparseAffinities) and P.n > EXACT  # few take no time, and all digits are theirs
        return TSNECost(P, run.n_jobs, run.device, float(self.dof), single=many)

    def _rate(self, n: int) -> float:
        return n / 4
