"""Arrays that look as if they lived on a GPU, for tests without one."""

from __future__ import annotations

import numpy as np


class OnGpu:
    """What CuPy's arrays show of themselves to DLPack."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def __dlpack_device__(self):
        return 2, 0


class WithDlpack:
    """NumPy, and the function that takes an array of a GPU."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def from_dlpack(x):
        return x.array
