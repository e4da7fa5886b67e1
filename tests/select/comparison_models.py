"""Models that misbehave, for the tests of `compare`; in a module that another process can load."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class FirstTwo(BaseEstimator):
    """The first two columns; larger data are more than a warm-up, and only then does `misbehave` act."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        if len(X) > 1500:
            self.misbehave()
        return np.array(X[:, :2])

    def misbehave(self) -> None:
        """What this model does wrong."""


class Sleeper(FirstTwo):
    """Takes a minute, and says who it is."""

    def __init__(self, file: str | None = None) -> None:
        self.file = file

    def misbehave(self) -> None:
        if self.file is not None:
            Path(self.file).write_text(str(os.getpid()))
        time.sleep(60)


class Eater(FirstTwo):
    """Takes more and more memory."""

    def misbehave(self) -> None:
        kept = []
        for _ in range(100):
            kept.append(np.ones(5_000_000))
            time.sleep(0.03)


class Crasher(FirstTwo):
    """Takes the process with it."""

    def misbehave(self) -> None:
        os._exit(3)


class Complainer(FirstTwo):
    """Warns, and raises."""

    def misbehave(self) -> None:
        warnings.warn("the\n  weather", stacklevel=1)
        raise RuntimeError("no such file: /somewhere/of/mine/data.csv")


class Thrower(FirstTwo):
    """Cannot be sent anywhere."""

    def __reduce__(self) -> Any:
        raise TypeError("stays here")
