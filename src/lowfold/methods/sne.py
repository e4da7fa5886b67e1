"""Stochastic neighbour embedding, Hinton & Roweis (2002), Advances in Neural Information Processing Systems 15.

X --perplexity--> p_{j|i} --sum_i KL(P_i || Q_i(Y)), momentum--> Y
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.limits import Choice, Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.methods._fit import Data
from lowfold.methods._gaussian_embedding import GaussianEmbedding
from lowfold.methods._losses import Lowered
from lowfold.methods._neighbor_affinity import dense_affinities
from lowfold.methods._neighbor_loss import row_divergence
from lowfold.optimize._neighbor import Affinities, GaussianCost

RATE = 0.1  # learning rate: the gradient of a sum over points does not shrink with n, as that of KL(P || Q) does


class SNE(GaussianEmbedding):
    """Keep each point's probabilities of choosing the others as its neighbours.

    p_{j|i} is proportional to exp(-||x_i - x_j||^2 / 2 sigma_i^2), q_{j|i} to exp(-||y_i - y_j||^2) (variance 1/2); the
    cost is sum_i KL(P_i || Q_i), its gradient 2 sum_j (p_{j|i} - q_{j|i} + p_{i|j} - q_{i|j}) (y_i - y_j). It prefers
    near points kept near; moderately far points crowd, which `TSNE` relieves. All pairs are computed in every
    iteration.

    Of 501 to 10,000 points the first 50 gradients go along spectral directions, Vladymyrov & Carreira-Perpinan (2012):
    divided by the Laplacian of P, they unfold a sheet that the text's descent leaves folded. They are left out where
    `init`, `learning_rate`, `momentum`, `gains` or `early_exaggeration` is given, on a device, and where P and its
    factor do not fit the memory budget.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred
    kl_divergence_ : float, the cost at the end, sum_i KL(P_i || Q_i)
    cost_history_ : array (looks, 2), iteration and cost
    n_iter_ : int
    stop_reason_ : "max_iter", "no progress", "gradient" or "callback"
    perplexity_, learning_rate_ : float, the values used

    Examples
    --------
    >>> import lowfold
    >>> blobs = lowfold.datasets.swiss_roll(60, random_state=0)
    >>> lowfold.SNE(2, perplexity=10, max_iter=100).fit_transform(blobs.X).shape
    (60, 2)
    """

    loss: ClassVar[Lowered] = Lowered(row_divergence, "sum_i KL(P_i || Q_i)", "local", fitted=False)

    learning_rate: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'eta in Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)). "auto" is 0.1 (0.3 beyond 500 points), for a '
        "gradient that sums over conditional probabilities, divided by the exaggeration while there is one; "
        "`learning_rate_` has it.",
    )

    student: ClassVar[bool] = False
    summed: ClassVar[bool] = True

    def _affinities(self, data: Data, perplexity: float, run: Run) -> Affinities:
        return dense_affinities(data, perplexity, "sum", run)

    def _cost(self, P: Affinities, run: Run) -> GaussianCost:
        return GaussianCost(P, joint=False, n_jobs=run.n_jobs, device=run.device)

    def _method(self, data: Data) -> str:
        return "exact"

    def _rate(self, n: int) -> float:
        return RATE
