"""What can be seen in a set of faces before anything is learned from it."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.warn import warn


def tell_same_pictures(X: NDArray[np.float64], names: NDArray[np.str_]) -> None:
    """Warn of pictures that stand under several names: by them nobody can be told from anybody."""
    who: dict[bytes, set[str]] = defaultdict(set)
    for row, name in zip(X, names.tolist(), strict=True):
        who[blake2b(row.tobytes(), digest_size=16).digest()].add(name)
    shared = [sorted(several) for several in who.values() if len(several) > 1]
    if shared:
        first = " and ".join(repr(name) for name in shared[0][:2])
        warn(
            f"the same picture stands under several names ({len(shared)} such, as under {first}): the limit beyond "
            "which a face is unknown is learned from them too; take them out, and look how the files were written",
            errors.AccuracyWarning,
        )
