"""What corrects the weights of a walk beside their own row sums: a given density, a target measure, a varying width.

Banisch, Trstanova, Bittracher, Klus & Koltai (2020), doi:10.1016/j.acha.2018.05.001, lead a walk to a measure of the
user's; Berry & Harlim (2016), doi:10.1016/j.acha.2015.01.001, let the width of the kernel vary with the density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import LARGEST_EXPONENT
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors


@dataclass(frozen=True, eq=False)
class Measure:
    """How the factors a of K~_ij = a_i K_ij a_j come from the row sums of K, and how fast the walk leaves a point.

    density  q, given; else the row sums K 1, over rho^d where the width varies
    target   pi, up to a factor: a = sqrt(pi) q^-alpha leads the walk to pi where alpha = 1
    width    rho of the kernel h(|x - y|^2 / (scale rho_x rho_y)), whose chain P makes steps of size rho: the walk takes
             one with probability (min rho / rho_x)^2 and waits else, so that time runs evenly everywhere
    d        the dimension of the data, for the width
    """

    density: Floats | None = None
    target: Floats | None = None
    width: Floats | None = None
    d: float = 0.0

    def densities(self, sums: Floats) -> Floats:
        """q, up to a factor."""
        if self.density is not None:
            return self.density
        return sums if self.width is None else np.asarray(sums / self.width**self.d)

    def factors(self, densities: Floats, alpha: float) -> Floats:
        """a = q^-alpha sqrt(pi)."""
        check_power(densities, alpha)
        a = densities**-alpha
        return a if self.target is None else np.asarray(a * np.sqrt(self.target))

    def pace(self) -> Floats | None:
        """The probability of a step, 1 where the width is least; None where it is 1 everywhere."""
        return None if self.width is None else np.asarray((self.width.min() / self.width) ** 2)


def check_power(densities: Floats, alpha: float) -> None:
    """Refuse a power whose square, which weights are multiplied by, float64 does not hold."""
    reach = 2 * abs(alpha) * float(np.abs(np.log(densities)).max(initial=0.0))
    if reach > LARGEST_EXPONENT / 2:
        raise InvalidInput(
            f"alpha = {alpha:g} takes the density of the points to a power beyond the range of float64; use a number "
            "between 0 (density matters) and 1 (it cancels)"
        )


def power(alpha: float, bandwidth: float, d: float) -> float:
    """The power of the density for which a kernel of width rho = q^bandwidth has the generator of `alpha`.

    Its generator is Lap f + c grad log q . grad f with c = 2 - 2 a + d bandwidth + 2 bandwidth at the power a, Berry &
    Harlim (2016), Theorem 1; `alpha` stands for c = 2 - 2 alpha, whatever the width.

    >>> power(1.0, 0.0, 3), power(1.0, -0.5, 2), power(0.5, -0.5, 2)
    (1.0, 0.0, -0.5)
    """
    return alpha + bandwidth * (1 + d / 2)


def averaged(near: Neighbors, values: Floats, own: Floats | None = None) -> Floats:
    """Values averaged over neighbours with weights 1 - (d / t)^2, t the distance of the last one, which has none.

    So a neighbour comes and goes without a jump. `own` are the values of the rows themselves, at distance 0.
    """
    k = int(near.counts[0])
    distances = near.distances.reshape(-1, k)
    t = distances[:, -1:]
    w = np.where(t > 0, 1.0 - (distances / np.where(t > 0, t, 1.0)) ** 2, 1.0)
    total = (w * values[near.indices.reshape(-1, k)]).sum(axis=1)
    return np.asarray(total / w.sum(axis=1) if own is None else (total + own) / (w.sum(axis=1) + 1.0))


def neighbor_dimension(near: Neighbors) -> int:
    """The likeliest dimension by the growth of neighbours with distance, Levina & Bickel (2004), averaged as by MacKay
    & Ghahramani; a whole number of at least 1.
    """
    k = int(near.counts[0])
    distances = near.distances.reshape(-1, k)
    known = (distances[:, 0] > 0) & (distances[:, -1] > distances[:, 0])
    if k < 3 or not known.any():
        return 1
    logs = np.log(distances[known, -1:] / distances[known, :-1])
    return max(1, round(float((k - 2) * known.sum() / logs.sum())))
