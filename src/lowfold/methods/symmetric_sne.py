"""Symmetric SNE, Cook, Sutskever, Mnih & Hinton (2007), AISTATS; van der Maaten & Hinton (2008), Section 3.1.

X --perplexity--> p_ij --KL(P || Q(Y)), q_ij ~ exp(-||y_i - y_j||^2), momentum--> Y
"""

from __future__ import annotations

from typing import ClassVar

from lowfold._core.limits import Choice, Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold.methods._fit import Data
from lowfold.methods._gaussian_embedding import GaussianEmbedding
from lowfold.methods._neighbor_affinity import dense_affinities
from lowfold.optimize._neighbor import Affinities, GaussianCost


class SymmetricSNE(GaussianEmbedding):
    """Keep the joint probabilities of pairs of neighbours, with Gaussian tails on both sides.

    q_ij = exp(-||y_i - y_j||^2) / sum_{k != l} exp(-||y_k - y_l||^2); the cost is KL(P || Q), its gradient
    4 sum_j (p_ij - q_ij) (y_i - y_j). Moderately far points crowd, which `TSNE` relieves. All pairs are computed in
    every iteration.

    Of 501 to 10,000 points the first 50 gradients go along spectral directions, Vladymyrov & Carreira-Perpinan (2012):
    divided by the Laplacian of P, they unfold a sheet that the text's descent leaves folded. They are left out where
    `init`, `learning_rate`, `momentum`, `gains` or `early_exaggeration` is given, on a device, and where P and its
    factor do not fit the memory budget.

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

    affinities: str = param(
        "conditional",
        Choice(("conditional", "joint")),
        "p_ij = (p_{j|i} + p_{i|j}) / 2n, each point with a width of its own, which leaves no outlier "
        "without a pull; or exp(-d_ij^2 / 2 sigma^2) over its sum, one width for all, with 2^entropy "
        "= n perplexity.",
    )
    learning_rate: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'eta in Y(t) = Y(t-1) - eta dC/dY + alpha(t) (Y(t-1) - Y(t-2)). "auto" is n / 10 (0.3 n beyond 500 points), '
        "for a gradient of the size 1/n, divided by the exaggeration while there is one; `learning_rate_` "
        "has it.",
    )

    student: ClassVar[bool] = False

    def _affinities(self, data: Data, perplexity: float, run: Run) -> Affinities:
        return dense_affinities(data, perplexity, self.affinities, run)

    def _cost(self, P: Affinities, run: Run) -> GaussianCost:
        return GaussianCost(P, joint=True, n_jobs=run.n_jobs, device=run.device)

    def _method(self, data: Data) -> str:
        return "exact"

    def _rate(self, n: int) -> float:
        return n / 10
