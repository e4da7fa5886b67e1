"""Independent component analysis: FastICA, extended Infomax, and the least mutual information.

Hyvaerinen & Oja (2000), doi:10.1016/S0893-6080(00)00026-5; Lee, Girolami & Sejnowski (1999),
doi:10.1162/089976699300016719; Learned-Miller & Fisher (2003), JMLR 4:1271-1295.

X --PCA, whiten--> Z --rotation to independence--> W --> sources Z W'
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Null, Real
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import Progress
from lowfold._core.params import param, positional
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.lowrank._component_count import components_to_compute
from lowfold.lowrank._independent import fast_ica, infomax, least_dependent, spacing_entropy
from lowfold.lowrank._principal import principal_axes
from lowfold.lowrank._scatter import Scatter
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_method import AffineMap, LinearMethod, project
from lowfold.methods._losses import Lowered, independent
from lowfold.methods._parameters import AllComponents, Seeded
from lowfold.spectral._types import fix_signs

NO_VARIANCE = 1e-14  # of the largest variance: a direction that the data have by rounding alone cannot be whitened


class ICA(AllComponents, Seeded, LinearMethod):
    """Linear coordinates that are as independent of each other as can be, not only uncorrelated.

    The data are whitened by PCA to n_components and turned until the coordinates are least Gaussian: a sum of
    independent variables is more Gaussian than each of them. At most one source may be Gaussian itself. Sources come in
    the order of their energy in the data, with unit variance; their signs are arbitrary.

    Attributes
    ----------
    embedding_ : array (n, n_components), the sources
    components_ : array (n_components, D), unmixing; mixing_ : array (D, n_components), back; mean_ : array (D,)
    marginal_entropy_ : float, sum of the sources' entropies (nats): mutual information up to a constant of the data
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> S = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> Y = lowfold.ICA(2).fit_transform(S @ [[1.0, 0.5], [0.3, 1.0]])
    >>> C = np.abs(np.corrcoef(S.T, Y.T)[:2, 2:])
    >>> bool((C.max(axis=0) > 0.98).all())
    True
    """

    loss: ClassVar[Lowered] = Lowered(
        independent, "sum of the entropies of the columns of Y, whitened, in nats", "linear"
    )

    n_components: int | None = positional(  # type: ignore[assignment]
        default=2,
        limits=(Int(1), Null("all")),
        text="Number of output columns; at least 1. None is all directions that have variance.",
        kw_only=False,
    )
    algorithm: str = param(
        "fastica",
        Choice(("fastica", "infomax", "mutual_information")),
        "FastICA, all sources at once; extended Infomax by natural gradient, maximum likelihood "
        "for sources with heavy or light tails; or the least sum of marginal entropies over rotations "
        "of pairs, slow for many components.",
    )
    fun: str = param("logcosh", Choice(("logcosh", "exp", "cube")), 'Contrast of "fastica".')
    max_iter: int = param(
        1000,
        Int(1),
        "Steps at most.",
    )
    tol: float = param(
        1e-06,
        Real(0, 1, open_low=True, open_high=True),
        "Change in a step at which the rotation is at rest.",
    )
    random_state: Any = param(0, 'Start of "fastica".')

    by_size: ClassVar[bool] = False

    def _embed(self, data: Data, run: Run) -> Fit:
        X = data.points().X
        mean = X.mean(axis=0, dtype=np.float64)
        axes = principal_axes(X, mean, components_to_compute(self.n_components, *X.shape), divisor=len(X), run=run)
        values = axes.pairs.values
        found = int((values > NO_VARIANCE * values[0]).sum())
        if found == 0:
            raise InvalidInput("ICA needs directions with variance, and all rows of X are the same")
        if self.n_components is not None and found < len(values):
            raise InvalidInput(
                f"ICA needs n_components directions with variance, and X has only {found}; n_components={found} or "
                "None takes these"
            )
        V, values = axes.V[:, :found], values[:found]
        whiten = V / np.sqrt(values)
        with run.stage(f"rotation ({self.algorithm})") as progress:
            W, steps = self._rotation(project(X, mean, whiten, run), run, progress)
        unmix, mixing = whiten @ W.T, (V * np.sqrt(values)) @ np.linalg.inv(W)
        size = project(X, mean, unmix, run).std(axis=0)
        order = np.argsort(-np.linalg.norm(mixing * size, axis=0), kind="stable")
        unmix, mixing = (unmix / size)[:, order], (mixing * size)[:, order]
        signs = np.where((fix_signs(mixing) * mixing).sum(axis=0) < 0, -1.0, 1.0)
        there = AffineMap(mean, unmix * signs, (mixing * signs).T)
        Y = project(X, mean, there.W, run)
        extra = {
            "mean_": mean.astype(X.dtype),
            "components_": there.W.T.astype(X.dtype),
            "mixing_": there.B.T.astype(X.dtype),
            "marginal_entropy_": float(spacing_entropy(Y.T).sum()) if len(Y) >= 4 else float("nan"),
            "n_iter_": steps,
        }
        return Fit(Y, None, None, there, there, extra)

    def _rotation(self, Z: Floats, run: Run, progress: Progress) -> tuple[Floats, int]:
        if self.algorithm == "fastica":
            start = run.rng.standard_normal((Z.shape[1], Z.shape[1]))
            found = fast_ica(Z, start, self.fun, max_iter=self.max_iter, tol=self.tol, progress=progress)
        elif self.algorithm == "infomax":
            found = infomax(Z, max_iter=self.max_iter, tol=self.tol, progress=progress)
        else:
            found = least_dependent(Z, max_iter=self.max_iter, progress=progress)
        W, steps, rested = found
        if not rested:
            self._warn()
        return W, steps

    def _warn(self) -> None:
        warn(
            f"ICA ({self.algorithm}) had not come to rest after max_iter = {self.max_iter} steps: sources may be "
            "Gaussian, or too many are asked for; raise max_iter or tol, or take fewer n_components",
            errors.AccuracyWarning,
        )

    def _operator(self) -> DenseOperator:
        """The covariance (dividing by n) that the whitening starts from."""
        X = self._trained.points.X
        return DenseOperator(Scatter(X, self._extend.mean, divisor=len(X)).dense(), psd=True)
