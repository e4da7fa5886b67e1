"""The spectral family on a GPU: array-level twins of what the doors do, on CuPy with kernels compiled at first use.

Nothing here knows a `Graph` or a method: functions take and give arrays of the device. The doors of `graph`, `kernels`
and `spectral` ask `active(run)` and call these. Kernel sources in `kernels/` also compile as C++ (`emulate.h`), so
that every one of them runs, thread by thread, where there is no GPU.
"""

from lowfold._cuda._device import Device, active, arrived, departing, refusals_in_words

__all__ = ["Device", "active", "arrived", "departing", "refusals_in_words"]
