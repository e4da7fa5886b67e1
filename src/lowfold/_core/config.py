"""Settings of the process: the memory budget and the device. Fixed at import: `auto` gives the same answer all day.

`LOWFOLD_MEMORY` (environment), `lowfold.set_config(memory="8GB")` and the command line's `--memory` set the budget; the
default is half of what the process may use. `LOWFOLD_DEVICE`, `set_config(device="cuda")` and `--device` say where to
compute; the default is the CPU.
"""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lowfold._core.errors import InvalidInput

_UNITS = {"": 1} | {p: 1000**i for i, p in enumerate("kmgt", 1)} | {f"{p}i": 1024**i for i, p in enumerate("kmgt", 1)}
DEVICES = ("cpu", "cuda", "auto")  # "auto": a GPU where there is one and CuPy finds it, else the CPU


@dataclass(frozen=True)
class Config:
    """Settings in force. `memory` is the budget in bytes for one call; `device` is "cpu", "cuda" or "auto"."""

    memory: int
    device: str = "cpu"


def parse_bytes(value: object) -> int:
    """Bytes from an int, a float or a string such as "8GB", "512 MiB", "2e9"."""
    number, unit = value, ""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)(e[0-9]+)?\s*([kmgt]i?)?b?\s*", value.lower())
        if match:
            number, unit = float(match[1] + (match[2] or "")), match[3] or ""
    if not isinstance(number, bool) and isinstance(number, numbers.Real) and math.isfinite(number):
        n_bytes = int(float(number) * _UNITS[unit]) if not isinstance(number, numbers.Integral) else int(number)
        if n_bytes >= 1:
            return n_bytes
    raise InvalidInput(f'memory must be a positive number of bytes or a string such as "8GB"; got {value!r}')


def check_device(value: object) -> str:
    """One of `DEVICES`, or an error in words."""
    if isinstance(value, str) and value in DEVICES:
        return value
    raise InvalidInput(f"device must be one of {', '.join(map(repr, DEVICES))}; got {value!r}")


def _allowed_bytes() -> int:
    """What the process may use: physical memory, lowered by control groups and by the address-space limit."""
    limits = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(name).read_text()))
        except (OSError, ValueError):
            continue
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    except ImportError:  # not on Windows
        pass
    return min((limit for limit in limits if limit > 0), default=8 * 2**30)


def _initial() -> Config:
    given = os.environ.get("LOWFOLD_MEMORY")
    memory = parse_bytes(given) if given else _allowed_bytes() // 2
    return Config(memory=memory, device=check_device(os.environ.get("LOWFOLD_DEVICE") or "cpu"))


_config = _initial()


def get_config() -> Config:
    """The settings in force."""
    return _config


def set_config(*, memory: int | float | str | None = None, device: str | None = None) -> Config:
    """Change settings for this process and return the ones now in force.

    `memory` is bytes, or "8GB"; `device` is "cpu", "cuda" (extras `cuda12`, `cuda13`) or "auto".
    """
    global _config  # noqa: PLW0603 - the one piece of process-wide state, changed only on the user's word
    if memory is not None:
        _config = replace(_config, memory=parse_bytes(memory))
    if device is not None:
        _config = replace(_config, device=check_device(device))
    return _config


@contextmanager
def config_context(*, memory: int | float | str | None = None, device: str | None = None) -> Iterator[Config]:
    """The same inside a `with` block; the former settings return afterwards."""
    global _config  # noqa: PLW0603
    former = _config
    try:
        yield set_config(memory=memory, device=device)
    finally:
        _config = former
