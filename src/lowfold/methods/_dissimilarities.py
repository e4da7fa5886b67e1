"""The matrix that scaling starts from, by scikit-learn's name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold.graph._source import Pairs, Points
from lowfold.methods._estimator import check_fitted
from lowfold.metrics._pairwise import pairwise


class HasDissimilarities:
    """Adds `dissimilarity_matrix_`."""

    _trained: Any

    @property
    def dissimilarity_matrix_(self) -> NDArray[np.floating]:
        """Dissimilarities of all pairs (n, n): as given, or the distances of the points, computed anew."""
        check_fitted(self)
        source = self._trained.source
        if isinstance(source, Pairs):
            return source.distances
        if not isinstance(source, Points):
            raise InvalidInput("not all pairs were measured, or rows are in blocks: there is no matrix of all pairs")
        require(8.0 * source.n**2, f"a {source.n} x {source.n} matrix", "use lowfold.metrics.pairwise for some rows")
        return pairwise(source.X, metric=source.metric)
