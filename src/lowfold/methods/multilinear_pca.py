"""Multilinear PCA, Lu, Plataniotis & Venetsanopoulos (2008), doi:10.1109/TNN.2007.901277.

tensors --centre--> T --U_1, ..., U_M in turn--> core --vectorise, PCA--> y
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, IntArray, Null, Real
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.lowrank._multilinear import mode_product, multilinear_axes
from lowfold.lowrank._principal import principal_axes
from lowfold.methods._base import Check
from lowfold.methods._fit import Data, Extension, Fit, Looks, Queries, Trained, feature_rows
from lowfold.methods._input import Reader, Rows
from lowfold.methods._linear_method import LinearMethod
from lowfold.methods._losses import VARIANCE, Lowered, principal
from lowfold.methods._stages import Stages, copy_stages

FINER = 1e-3  # of `tol`: the energy, which the iteration looks at, errs by the square of what the axes are off by


def _fits_memory(method: Any, data: Data) -> None:
    X = data.points().X
    require(8.0 * X.size * 4, f"MultilinearPCA of {X.shape}", "use fewer samples, or PCA.fit_blocks on flattened rows")


class MultilinearPCA(LinearMethod):
    """PCA of images, cubes and other arrays without flattening them: one set of directions for each axis.

    X has shape (n, I_1, ..., I_M). Orthonormal U_m (I_m, P_m) maximise the scatter of the small arrays
    X_i x_1 U_1' ... x_M U_M', found in turn until nothing is gained; the n_components principal components of these are
    the coordinates. sum_m I_m P_m numbers take the place of PCA's prod_m I_m for each component. With rows of features
    (M = 1) and all directions kept it is PCA.

    Attributes
    ----------
    embedding_ : array (n, n_components)
    modes_ : tuple of arrays (I_m, P_m), orthonormal columns; ranks_ : tuple, P_m; shape_ : tuple, I_m
    components_ : array (n_components, I_1, ..., I_M), orthonormal: the directions as arrays of the data's shape
    mean_ : array (I_1, ..., I_M)
    eigenvalues_ : array (n_components,), variances (dividing by n - 1), descending
    explained_variance_ratio_ : array (n_components,), their share of the total variance
    scatter_ : tuple, the scatter captured by the small arrays at the start and after each round
    n_iter_ : int, rounds

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> images = np.random.default_rng(0).normal(size=(30, 8, 6))
    >>> model = lowfold.MultilinearPCA(2, ranks=[3, 2]).fit(images)
    >>> model.embedding_.shape, [U.shape for U in model.modes_]
    ((30, 2), [(8, 3), (6, 2)])
    """

    stages: ClassVar[Stages] = copy_stages(3.5, "axes of each mode")
    loss: ClassVar[Lowered] = Lowered(principal, VARIANCE, "linear")

    ranks: list[int] | tuple[int, ...] | None = param(
        None,
        IntArray(1),
        Null("by energy"),
        "P_1, ..., P_M. None takes for each axis the fewest that keep the share `energy` of the scatter.",
    )
    energy: float = param(0.97, Real(0, 1, open_low=True), "For ranks=None.")
    max_iter: int = param(50, Int(1), "Rounds over all axes.")
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "Gap-relative residual at which the eigen-solver stops; it bounds the angle to the true eigenvectors.",
    )

    reader: ClassVar[Reader] = Rows(nd=True)
    checks: ClassVar[tuple[Check, ...]] = (_fits_memory,)

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        mean = X.mean(axis=0, dtype=np.float64)
        T = np.subtract(X, mean, dtype=np.float64)
        with run.stage("multilinear axes"):
            modes = multilinear_axes(
                T, self._ranks(T), energy=self.energy, max_iter=self.max_iter, tol=FINER * self.tol
            )
        core = mode_product(T, modes.matrices).reshape(len(T), -1)
        d = self.n_components
        if d > min(core.shape):
            raise InvalidInput(
                f"n_components of MultilinearPCA must be at most {min(core.shape)}, the size of the small arrays "
                f"or n_samples; got {d}; use larger ranks or more energy"
            )
        axes = principal_axes(core, np.zeros(core.shape[1]), d, run=run)
        there = MultilinearMap(mean, modes.matrices, axes.V)
        total = float(np.square(T).sum()) / max(len(T) - 1, 1)
        extra = {
            "modes_": tuple(U.astype(X.dtype) for U in modes.matrices),
            "ranks_": tuple(U.shape[1] for U in modes.matrices),
            "components_": there.directions().reshape(d, *X.shape[1:]).astype(X.dtype),
            "mean_": mean.astype(X.dtype),
            "explained_variance_ratio_": axes.pairs.values / total if total > 0 else np.zeros(d),
            "scatter_": modes.energies,
            "n_iter_": max(1, len(modes.energies) - 1),
        }
        return Fit(core @ axes.V, axes.pairs, None, there, there, extra)

    def _ranks(self, T: Floats) -> tuple[int, ...] | None:
        if self.ranks is None:
            if T.ndim == 2:
                return (min(T.shape),)
            return None
        ranks = tuple(int(rank) for rank in self.ranks)
        most = [min(size, T.size // size) for size in T.shape[1:]]  # vectors along an axis span no more
        if len(ranks) != T.ndim - 1 or any(rank > size for rank, size in zip(ranks, most, strict=False)):
            raise InvalidInput(
                f"ranks of MultilinearPCA must have one number for each axis, at most {most}; got {list(ranks)}"
            )
        return ranks

    def _operator(self) -> DenseOperator:
        """The covariance of the small arrays, vectorised."""
        T = np.subtract(self._trained.points.X, self._extend.mean, dtype=np.float64)
        core = mode_product(T, self._extend.modes).reshape(len(T), -1)
        return DenseOperator(core.T @ core / max(len(T) - 1, 1), psd=True)


@dataclass(frozen=True, eq=False)
class MultilinearMap(Extension):
    """y = V' vec((x - mean) x_1 U_1' ... x_M U_M'), and back the same way with the transposes."""

    mean: Floats
    modes: tuple[Floats, ...]
    V: Floats
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        T = np.subtract(feature_rows(queries), self.mean, dtype=np.float64)
        return np.asarray(mode_product(T, self.modes).reshape(len(T), -1) @ self.V)

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        core = (coordinates @ self.V.T).reshape(len(coordinates), *(U.shape[1] for U in self.modes))
        return np.asarray(mode_product(core, tuple(U.T for U in self.modes)) + self.mean)

    def directions(self) -> Floats:
        """Each component as an array of the data's shape, flattened."""
        core = self.V.T.reshape(self.V.shape[1], *(U.shape[1] for U in self.modes))
        return np.asarray(mode_product(core, tuple(U.T for U in self.modes)).reshape(self.V.shape[1], -1))
