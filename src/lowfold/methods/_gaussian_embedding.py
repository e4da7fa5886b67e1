"""What SNE and symmetric SNE share: a descent that begins along spectral directions.

P --Laplacian, factor--> directions --50 gradients--> Y --momentum--> Y
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda import active
from lowfold.methods._fit import Data
from lowfold.methods._neighbor_affinity import is_held
from lowfold.methods._neighbor_embedding import FEW, NeighborEmbedding
from lowfold.methods._stages import FLOAT, Stage, Stages
from lowfold.optimize._momentum import LOOK, Layout, Schedule, momentum_descent
from lowfold.optimize._neighbor import Affinities, DenseAffinities, GaussianCost
from lowfold.optimize._spectral_direction import spectral_descent

# What follows the spectral directions, which have settled the order of the points: gains from the first step on. Of
# eleven kinds of data the cost after 450 steps was lower by 0.3% at most (of noisy circles).
AFTER = Schedule(0.8, 0.8, 100)


def _stages(method: Any, data: Data) -> list[Stage]:
    """As those of all neighbour embeddings; spectral directions hold a factor beside P."""
    *before, descent = NeighborEmbedding.stages(method, data)
    if not method._directed(data.n) or method._most_steps(data.n) <= LOOK:
        return [*before, descent]
    factor = FLOAT * float(data.n) ** 2
    return [*before, Stage("spectral directions", f"a factor of {data.n} x {data.n}", factor), descent]


class GaussianEmbedding(NeighborEmbedding):
    """Base of SNE and SymmetricSNE.

    The spectral directions replace the first steps where nothing was said about these: momentum, learning rate, gains,
    exaggeration and start are the defaults, the points more than a few, and P is held.
    """

    stages: ClassVar[Stages] = _stages

    def _directed(self, n: int) -> bool:
        usual = self.momentum is None and self.learning_rate == "auto" and self.gains and self.early_exaggeration == 1
        random = isinstance(self.init, str) and self.init == "random"
        return bool(usual and random and n > FEW and is_held(n) and active(Run()) is None)

    def _most_steps(self, n: int) -> int:
        return LOOK + AFTER.max_iter if self.max_iter is None and self._directed(n) else super()._most_steps(n)

    def _descend(self, P: Affinities, first: Floats, rate: float, run: Run) -> Layout:
        steps = self._most_steps(len(first)) - LOOK
        if steps <= 0 or not (self._directed(len(first)) and isinstance(P, DenseAffinities)):
            return super()._descend(P, first, rate, run)
        cost, (whole, _) = self._cost(P, run), P.columns(slice(0, P.n))
        with run.stage("spectral directions") as progress:
            Y = spectral_descent(cost, first, whole, 2.0 if self.summed else 4.0, LOOK, progress)
        history = [(0, cost.value(first)), (LOOK, cost.value(Y))]
        if self.callback is not None and self.callback(*history[-1], Y.copy()) is True:
            return Layout(Y, history[-1][1], LOOK, np.array(history), "callback")
        layout = self._follow(cost, Y, steps, self._steps(rate, P)(1.0), run)
        later = layout.history + np.array([LOOK, 0.0])
        return replace(layout, n_iter=LOOK + layout.n_iter, history=np.vstack([history[:1], later]))

    def _follow(self, cost: GaussianCost, Y: Floats, steps: int, rate: float | Floats, run: Run) -> Layout:
        """The descent with momentum from where the spectral directions ended."""
        given = self.callback
        with run.stage("descent") as progress, np.errstate(over="ignore", invalid="ignore"):  # judged afterwards
            return momentum_descent(
                cost,
                Y,
                max_iter=steps,
                learning_rate=lambda _: rate,
                momentum=AFTER.momentum,
                min_grad_norm=self.min_grad_norm * (len(Y) if self.summed else 1),
                flat=self.min_grad_norm,
                patience=self.n_iter_without_progress,
                callback=None if given is None else lambda t, value, now: given(LOOK + t, value, now),
                progress=progress,
            )
