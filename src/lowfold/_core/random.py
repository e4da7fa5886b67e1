"""One Generator per call, made from whatever the user passed as `random_state`."""

from __future__ import annotations

import numbers

import numpy as np

from lowfold._core.errors import InvalidInput

RandomState = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: object) -> np.random.Generator:
    """A Generator from None (fresh entropy), an int, a Generator (used as it is) or a legacy RandomState.

    A RandomState seeds the Generator with one draw, so that the same RandomState in the same state gives the same
    results and consecutive calls differ, as scikit-learn users expect.
    """
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise InvalidInput(
        "random_state must be None, a non-negative int, a numpy Generator or a RandomState; "
        f"got {random_state!r}; pass an int for repeatable results"
    )
