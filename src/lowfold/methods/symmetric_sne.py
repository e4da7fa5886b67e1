"""Symmetric SNE, Cook, Sutskever, Mnih & Hinton (2007), AISTATS; van der Maaten & Hinton (2008), Section 3.1.

X --perplexity--> p_ij --KL(P || Q(Y)), q_ij ~ exp(-||y_i - y_j||^2), momentum--> Y
"""

from __future__ import annotations

from typing import Any, ClassVar

from lowfold._core.limits import Limits
from lowfold._core.run import Run
from lowfold.methods._fit import Data
from lowfold.methods._neighbor_affinity import dense_affinities
from lowfold.methods._neighbor_embedding import NEIGHBOR_LIMITS, NeighborEmbedding
from lowfold.optimize._neighbor import Affinities, GaussianCost


class SymmetricSNE(NeighborEmbedding):
    """Keep the joint probabilities of pairs of neighbours, with Gaussian tails on both sides.

    q_ij = exp(-||y_i - y_j||^2) / sum_{k != l} exp(-||y_k - y_l||^2); the cost is KL(P || Q), its gradient
    4 sum_j (p_ij - q_ij) (y_i - y_j). Moderately far points crowd, which `TSNE` relieves. All pairs are computed in
    every iteration.

    Parameters
    ----------
    {n_components}
    perplexity : float of at least 1 or None, default=None
        Effective number of neighbours, 2^(entropy in bits) of each point's probabilities. None is min(30, (n - 1) / 3),
        at least 1; at most n - 1.
    {metric}
    {metric_params}
    affinities : {"conditional", "joint"}, default="conditional"
        p_ij = (p_{j|i} + p_{i|j}) / 2n, each point with a width of its own, which leaves no outlier without a pull; or
        exp(-d_ij^2 / 2 sigma^2) over its sum, one width for all, with 2^entropy = n perplexity.
    init : {"pca", "random"} or array (n, n_components), default="random"
        Y(0): N(0, 1e-4 I); principal components (classical MDS of given distances) with a spread of 1e-4; or a layout
        to go on from (with early_exaggeration=1, or it is torn apart again).
    early_exaggeration : float of at least 1, default=1
        P is multiplied by it for the first 250 iterations, so that clusters form early; 1 is the text's algorithm.
    learning_rate : float or "auto", default="auto"
        eta in Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)). "auto" is n / 10, for a gradient of the size 1/n,
        divided by the exaggeration while there is one; `learning_rate_` has it.
    momentum : float in [0, 1), callable or None, default=None
        alpha(t), a number or a function of the iteration. None is 0.5, from iteration 250 on 0.8.
    gains : bool, default=False
        Let every coordinate's step grow while its gradient keeps its sign and shrink when it turns.
    max_iter : int, default=1000
        Iterations at most.
    min_grad_norm : float, default=1e-7
        Stop below this norm of the gradient.
    n_iter_without_progress : int, default=300
        Stop after as many iterations without a lower cost. It is looked at every 50.
    callback : callable or None, default=None
        Called every 50 iterations as callback(iteration, cost, layout); returning True ends the descent.
    {normalization}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred
    kl_divergence_ : float, the cost at the end, KL(P || Q)
    cost_history_ : array (looks, 2), iteration and cost
    n_iter_ : int
    stop_reason_ : "max_iter", "no progress", "gradient" or "callback"
    perplexity_, learning_rate_ : float, the values used

    Examples
    --------
    >>> import lowfold
    >>> blobs = lowfold.datasets.swiss_roll(60, random_state=0)
    >>> lowfold.SymmetricSNE(2, perplexity=10, max_iter=100).fit_transform(blobs.X).shape
    (60, 2)
    """

    limits: ClassVar[Limits] = NEIGHBOR_LIMITS
    student: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        affinities: str = "conditional",
        init: Any = "random",
        early_exaggeration: float = 1.0,
        learning_rate: float | str = "auto",
        momentum: Any = None,
        gains: bool = False,
        max_iter: int = 1000,
        min_grad_norm: float = 1e-7,
        n_iter_without_progress: int = 300,
        callback: Any = None,
        normalization: str = "natural",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.metric = metric
        self.metric_params = metric_params
        self.affinities = affinities
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.gains = gains
        self.max_iter = max_iter
        self.min_grad_norm = min_grad_norm
        self.n_iter_without_progress = n_iter_without_progress
        self.callback = callback
        self.normalization = normalization
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _affinities(self, data: Data, perplexity: float, run: Run) -> Affinities:
        return dense_affinities(data, perplexity, self.affinities, run)

    def _cost(self, P: Affinities, run: Run) -> GaussianCost:
        return GaussianCost(P, joint=True, n_jobs=run.n_jobs)

    def _rate(self, n: int) -> float:
        return n / 10
