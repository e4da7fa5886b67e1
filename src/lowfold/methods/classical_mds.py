"""Classical MDS, Torgerson (1952), doi:10.1007/BF02288916; Gower (1966), doi:10.1093/biomet/53.3-4.325.

D --square, double-centre--> G = -1/2 H (D o D) H --eigen--> (lambda, v) --> sqrt(lambda) v
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.limits import Choice, Flag
from lowfold._core.memory import require
from lowfold._core.operators import CentredGram
from lowfold._core.params import param
from lowfold._core.rounding import UNEVEN
from lowfold._core.run import Run
from lowfold._core.warn import warn
from lowfold.graph._source import Blocks, Measured, Pairs, Points
from lowfold.kernels._block_kernel import BlockKernel, DistanceTile
from lowfold.kernels._gram import centred_gram
from lowfold.lowrank._block_sums import jobs_of
from lowfold.lowrank._energy import share_held
from lowfold.methods._base import Method
from lowfold.methods._dissimilarities import HasDissimilarities
from lowfold.methods._fit import Data, Fit
from lowfold.methods._in_blocks import InBlocks
from lowfold.methods._losses import STRAIN, Lowered, strain
from lowfold.methods._parameters import Distances, Seeded, Solved
from lowfold.methods._placing.maps import Barycentric, GramRow, Impossible
from lowfold.methods._stages import Stages, pair_stages
from lowfold.metrics._dissimilarity import asymmetry
from lowfold.metrics._pairwise import pairwise
from lowfold.spectral._doors import largest
from lowfold.spectral._euclidean import minimal_shift, minimal_square_shift
from lowfold.spectral._types import NEGLIGIBLE, positive_values


def _without_constant(model: Any) -> str:
    return "additive_constant needs the matrix of all distances" if model.additive_constant else ""


class ClassicalMDS(HasDissimilarities, Distances, Seeded, Solved, Method):
    """Place points so that their Euclidean distances come close to the given dissimilarities.

    Minimises the strain sum_ij (d_ij^2 - ||y_i - y_j||^2) over projections of the exact configuration; the answer is
    Y = V sqrt(lambda) for the leading eigenpairs of G = -1/2 H (D o D) H. With Euclidean distances it equals PCA.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending; one that is negative or zero gives a column of zeros
    explained_ : float, the sum of the positive eigenvalues_ over the trace of G; above 1 where D is not Euclidean,
        1 where all points coincide
    strain_ : float, sum_ij (d_ij^2 - ||y_i - y_j||^2) = 2 n (sum of the eigenvalues left out)
    negative_energy_ : float, lower bound of the sum of the negative eigenvalues' sizes; above 0 D is not Euclidean
    shift_ : float, the additive constant used; of the squares with additive_constant="squares"
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> D = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> Y = lowfold.ClassicalMDS(2, metric="precomputed").fit_transform(D)
    >>> float(np.linalg.norm(Y[0] - Y[2]).round(6))
    5.0
    """

    stages: ClassVar[Stages] = pair_stages(1.38)  # the matrix, and a part of it while it is centred
    loss: ClassVar[Lowered] = Lowered(strain, STRAIN)

    additive_constant: bool | str = param(
        False,
        Flag(),
        Choice(("squares",)),
        'Add to all dissimilarities the smallest constant that makes them Euclidean (Cailliez), or with "squares" to '
        "their squares (Lingoes), which keeps the directions; `shift_` has it. New points cannot be placed then: their "
        "own constant is unknown.",
    )

    in_blocks: ClassVar[InBlocks] = _without_constant

    def _embed(self, data: Data, run: Run) -> Fit:
        G, shift = self._gram(data, run)
        pairs = largest(G, self.n_components, null=np.ones((data.n, 1)), negligible=NEGLIGIBLE, run=run)
        kept = positive_values(pairs.values, "the Gram matrix of the dissimilarities")
        total = G.trace()
        left_out = total - kept.sum()
        return Fit(
            coordinates=pairs.vectors * np.sqrt(kept),
            pairs=pairs,
            graph=None,
            extend=self._extension(G, kept, pairs.vectors, shift),
            invert=Barycentric(),
            extra={
                "explained_": share_held(kept.sum(), total),
                "strain_": float(2 * data.n * left_out),
                "negative_energy_": float(max(0.0, -left_out)),
                "shift_": float(shift),
            },
        )

    def _gram(self, data: Data, run: Run) -> tuple[Any, float]:
        """The operator, and the constant that was added to the dissimilarities."""
        if isinstance(data.source, Blocks):
            rows = data.source.rows
            return BlockKernel(rows, DistanceTile(data.source.metric), n_jobs=jobs_of(rows, run)), 0.0
        if run.device != "cpu" and not self.additive_constant and isinstance(data.source, Points):
            from lowfold.graph._on_device import pairs_on_device

            there: Any = pairs_on_device(data.source, data.source.X.dtype, run)
            if there is not None:
                return centred_gram(there, run=run), 0.0
        D = self._dissimilarities(data, run)
        rule = minimal_square_shift if self.additive_constant == "squares" else minimal_shift
        shift = rule(D, run=run) if self.additive_constant else 0.0
        return self._shifted(D, shift, run), shift

    def _shifted(self, D: NDArray[np.floating], shift: float, run: Run) -> Any:
        """The operator of the dissimilarities with the constant added, to them or to their squares."""
        if self.additive_constant != "squares":
            return centred_gram(D, shift=shift, run=run)
        D = np.sqrt(np.square(D, dtype=np.float64) + shift)
        np.fill_diagonal(D, 0.0)
        return centred_gram(D, run=run)

    def _extension(self, G: Any, values: Any, vectors: Any, shift: float) -> Any:
        if shift > 0:
            return Impossible("with an additive constant new points cannot be placed: it holds for these pairs only")
        means = G.row_means() * (-2 if isinstance(G, BlockKernel) else 1)  # of squared distances
        return GramRow(means, values, vectors)

    def _dissimilarities(self, data: Data, run: Run) -> NDArray[np.floating]:
        """The matrix D, repaired where the documentation says so."""
        source = data.source
        if isinstance(source, Points):
            need = source.X.dtype.itemsize * float(data.n) ** 2
            require(need, f"a {data.n} x {data.n} matrix of distances", "use PCA, or MetricMDS with landmarks")
            return pairwise(source.X, metric=source.metric, n_jobs=run.n_jobs)
        if isinstance(source, (Measured, Blocks)) or source is None:
            raise InvalidInput(
                "ClassicalMDS needs all pairs; a sparse matrix or a graph has unmeasured ones: use MetricMDS, which "
                "leaves them out, or Isomap, which fills them in by shortest paths"
            )
        return _repaired(source, run)

    def _operator(self) -> CentredGram | BlockKernel:
        """The centred Gram operator, rebuilt from the points or distances that the model keeps."""
        if isinstance(self._trained.source, Blocks):
            return self._gram(Data(self._trained.source), self._run())[0]  # type: ignore[no-any-return]
        run = self._run()
        G: CentredGram = self._shifted(self._dissimilarities(Data(self._trained.source), run), float(self.shift_), run)
        return G


def _repaired(source: Pairs, run: Run) -> NDArray[np.floating]:
    """Symmetric with a zero diagonal; a change is told once."""
    D = source.distances
    size = float(D.max(initial=0.0))  # not finite exactly when an entry is not, because none is negative
    if not np.isfinite(size):
        i, j = np.argwhere(~np.isfinite(D))[0]
        raise InvalidInput(
            f"the dissimilarity of points {i} and {j} is {D[i, j]}; ClassicalMDS needs all pairs: use MetricMDS, which "
            "leaves unmeasured ones out"
        )
    uneven = asymmetry(D, n_jobs=run.n_jobs)
    if uneven > UNEVEN * size:
        warn(
            f"the dissimilarities are not symmetric (up to {uneven:.3g}); the mean of both directions is used",
            RepairWarning,
        )
        D = (D + D.T) / 2
    if np.diagonal(D).any():
        warn("the dissimilarity of a point to itself is not zero; it is taken as zero", RepairWarning)
        D = D.copy()
        np.fill_diagonal(D, 0.0)
    return D
