"""Descents that can be told where to start in the call itself, as scikit-learn's MDS can."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowfold.methods._base import Method


class GivenStart(Method):
    """A method with the parameter `init`, which `fit(X, init=layout)` takes the place of for this fit."""

    init: Any

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self:
        """Embed X, from the layout `init` where one is given here."""
        if init is None:
            return super().fit(X, y)
        asked, self.init = self.init, np.asarray(init, dtype=np.float64)
        try:
            return super().fit(X, y)
        finally:
            self.init = asked

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> NDArray[np.floating]:
        """Embed X and return a copy of `embedding_`."""
        return self.fit(X, y, init).embedding_.copy()

    def get_metadata_routing(self) -> Any:
        """That `fit` takes `init` where `set_fit_request` asked for it."""
        asked = vars(self).get("_metadata_request")
        request = super().get_metadata_routing() if asked is None else asked
        if asked is None:
            request.fit.add_request(param="init", alias=None)
        return request

    def set_fit_request(self, *, init: bool | str | None) -> Self:
        """Let pipelines hand `init` on to `fit`, or not; of scikit-learn's metadata routing."""
        request = self.get_metadata_routing()
        request.fit.add_request(param="init", alias=init)
        self._metadata_request = request
        return self
