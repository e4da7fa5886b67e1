"""What makes a value an X: methods, measures and commands take it as the rows that it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput


class AsX:
    """Length, shape and array of `X`."""

    X: Any

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of X."""
        return tuple(self.X.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if issparse(self.X):
            raise InvalidInput("the rows of this table are sparse: pass its X")
        return np.array(self.X, dtype=dtype, copy=copy) if copy else np.asarray(self.X, dtype=dtype)
