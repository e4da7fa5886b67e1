"""Coordinates of a walk from its eigenpairs, and the distances that a complete walk starts from."""

from __future__ import annotations

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._source import Pairs, Points
from lowfold.kernels._diffusion import Walk
from lowfold.metrics._pairwise import pairwise
from lowfold.spectral._types import Eigenpairs


def all_distances(source: Points | Pairs, run: Run) -> AnyFloats:
    """The whole matrix of distances."""
    if isinstance(source, Pairs):
        return source.distances
    return pairwise(source.X, metric=source.metric, n_jobs=run.n_jobs)


def coordinates(walk: Walk, pairs: Eigenpairs, convention: str, t: float) -> Floats:
    """lambda^t psi, lambda^t D^-1/2 v or lambda^(t/2) v."""
    power = t / 2 if convention == "symmetric" else t
    if power != int(power) and pairs.values.min() < 0:
        raise InvalidInput(
            f"t = {t:g} needs a fractional power of the negative eigenvalue {pairs.values.min():.3g}; use a whole t"
            f"{' (even, for this convention)' if convention == 'symmetric' else ''}, fewer n_components, or the "
            "complete "
            "graph (threshold=0), whose kernel is positive"
        )
    factor = pairs.values**power
    if convention == "symmetric":
        return pairs.vectors * factor
    psi = walk.right(pairs.vectors) if convention == "markov" else pairs.vectors / np.sqrt(walk.degrees)[:, None]
    return np.asarray(psi * factor)


def faded(values: Floats, *, convention: str, t: float) -> Floats:
    """|lambda|^t, or its root: how much of an eigenvector is left in the coordinates."""
    return np.asarray(np.abs(values) ** (t / 2 if convention == "symmetric" else t))
