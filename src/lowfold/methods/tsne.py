"""t-SNE, van der Maaten & Hinton (2008), Journal of Machine Learning Research 9; openTSNE, Policar et al. (2024),
doi:10.18637/jss.v109.i03.

X --perplexity--> p_ij --KL(P || Q(Y)), q_ij ~ 1 / (1 + ||y_i - y_j||^2), momentum--> Y
"""

from __future__ import annotations

from typing import Any, ClassVar

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.limits import Choice, Limits
from lowfold._core.run import Run
from lowfold.methods._fit import Data, Fit
from lowfold.methods._neighbor_affinity import HELD, dense_affinities, measured_only, neighbor_affinities
from lowfold.methods._neighbor_embedding import NEIGHBOR_LIMITS, NeighborEmbedding
from lowfold.optimize._neighbor import Affinities, FFTCost, SparseAffinities, TSNECost

METHODS = ("auto", "exact", "neighbors", "fft")


class TSNE(NeighborEmbedding):
    """Keep the joint probabilities of pairs of neighbours, with heavy tails in the layout, so that clusters part.

    q_ij = (1 + ||y_i - y_j||^2)^-1 / sum_{k != l} (1 + ||y_k - y_l||^2)^-1; the cost is KL(P || Q), its gradient
    4 sum_j (p_ij - q_ij) (1 + ||y_i - y_j||^2)^-1 (y_i - y_j). Distances between clusters and their sizes mean little.

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
    method : {"auto", "exact", "neighbors", "fft"}, default="auto"
        "exact": all pairs in P and in the repulsion. "neighbors": P of the 3 perplexity nearest neighbours only,
        repulsion over all pairs. "fft": the same P, repulsion interpolated on a grid by openTSNE (extra `tsne`), for
        many points; at most 2 components. "auto" is exact up to 4,096 points, then "neighbors"; the latter also for
        sparse distances.
    init : {"pca", "random"} or array (n, n_components), default="pca"
        Y(0): N(0, 1e-4 I); principal components (classical MDS of given distances) with a spread of 1e-4; or a layout
        to go on from (with early_exaggeration=1, or it is torn apart again).
    early_exaggeration : float of at least 1, default=12
        P is multiplied by it for the first 250 iterations, so that clusters form early; 1 is the text's algorithm (with
        init="random", gains=False).
    learning_rate : float or "auto", default="auto"
        eta in Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)). "auto" is n / 4, for a gradient of the size 1/n,
        divided by the exaggeration while there is one; `learning_rate_` has it.
    momentum : float in [0, 1), callable or None, default=None
        alpha(t), a number or a function of the iteration. None is 0.5, from iteration 250 on 0.8.
    gains : bool, default=True
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
    method_ : str, what was used

    Examples
    --------
    >>> import lowfold
    >>> blobs = lowfold.datasets.swiss_roll(60, random_state=0)
    >>> lowfold.TSNE(2, perplexity=10, max_iter=100).fit_transform(blobs.X).shape
    (60, 2)
    """

    limits: ClassVar[Limits] = {**NEIGHBOR_LIMITS, "method": (Choice(METHODS),)}
    student: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        affinities: str = "conditional",
        method: str = "auto",
        init: Any = "pca",
        early_exaggeration: float = 12.0,
        learning_rate: float | str = "auto",
        momentum: Any = None,
        gains: bool = True,
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
        self.method = method
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

    def _check(self, data: Data) -> None:
        super()._check(data)
        method = self._method(data)
        if method == "fft":
            load_extra("openTSNE", "tsne", 'method="fft"')
            if self.n_components > 2:
                raise InvalidInput(
                    f'method="fft" gives 1 or 2 columns; got {self.n_components}; use method="neighbors"'
                )
        if method != "exact" and self.affinities == "joint":
            raise InvalidInput(f'affinities="joint" needs all pairs, method="exact"; method is {method!r} here')
        if method == "exact" and measured_only(data):
            raise InvalidInput('method="exact" needs all pairs; a sparse matrix has gaps: use method="neighbors"')

    def _method(self, data: Data) -> str:
        if self.method != "auto":
            return str(self.method)
        return "neighbors" if data.n > HELD or measured_only(data) else "exact"

    def _embed(self, data: Data, run: Run) -> Fit:
        fit = super()._embed(data, run)
        fit.extra["method_"] = self._method(data)
        return fit

    def _affinities(self, data: Data, perplexity: float, run: Run) -> Affinities:
        if self._method(data) == "exact":
            return dense_affinities(data, perplexity, self.affinities, run)
        return neighbor_affinities(data, perplexity, run)

    def _cost(self, P: Affinities, run: Run) -> TSNECost | FFTCost:
        if self.method == "fft":
            assert isinstance(P, SparseAffinities)
            return FFTCost(P, run.n_jobs)
        return TSNECost(P, run.n_jobs)

    def _rate(self, n: int) -> float:
        return n / 4
