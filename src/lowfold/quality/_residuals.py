"""How much of a matrix of distances a few coordinates hold."""

from __future__ import annotations

import numpy as np

from lowfold._core.operators import CentredGram
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.spectral._doors import largest


def classical(D: Floats, d: int, run: Run) -> tuple[Floats, float]:
    """Classical MDS in d dimensions, and the share of the trace of the Gram matrix that is left out."""
    gram = CentredGram(D)
    pairs = largest(gram, min(d, len(D) - 1), null=np.ones((len(D), 1)), negligible=1.0, run=run)
    values = np.maximum(pairs.values, 0.0)
    return pairs.vectors * np.sqrt(values), float(1 - values.sum() / max(gram.trace(), np.finfo(np.float64).tiny))


def between(Y: Floats) -> Floats:
    """Euclidean distances among rows."""
    return np.asarray(np.sqrt(sum(np.subtract.outer(y, y) ** 2 for y in Y.T)))


def residual(D: Floats, E: Floats) -> float:
    """1 - R^2 between two matrices of distances."""
    upper = np.triu_indices(len(D), 1)
    a, b = D[upper] - D[upper].mean(), E[upper] - E[upper].mean()
    size = float((a @ a) * (b @ b))
    return 1.0 - float(a @ b) ** 2 / size if size > 0 else 1.0
