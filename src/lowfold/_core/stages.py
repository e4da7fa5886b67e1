"""Stages kept by the content of their inputs: what was computed once is not computed again.

    with keeping(StageCache(folder)):
        model.fit(X)  # neighbours that the folder has are read, others are computed and written

A key is a hash of everything that the stage's result depends on. Files are pickles in a folder that only its owner may
read and write; nothing that came from elsewhere is ever put there.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

log = logging.getLogger("lowfold")
Value = TypeVar("Value")


@dataclass(frozen=True)
class StageCache:
    """Results by key in a folder of at most `limit` bytes; those not used for longest go first."""

    folder: Path
    limit: int = 4_000_000_000

    def get(self, key: str, make: Callable[[], Value]) -> Value:
        """What is kept under this key (see `stage_key`), else what `make` returns, which is kept from now on."""
        file = self.folder / f"{key}.pickle"
        with suppress(FileNotFoundError):
            kept: Value = pickle.loads(file.read_bytes())
            file.touch()
            log.debug("%s: kept", key, extra={"stage": key.partition("-")[0], "kept": True})
            return kept
        value = make()
        part = file.with_suffix(".part")
        with suppress(OSError):  # a full disk costs the next run its time, not this one its result
            part.write_bytes(pickle.dumps(value, protocol=5))
            part.replace(file)
        self._trim()
        return value

    def _trim(self) -> None:
        files = sorted(self.folder.glob("*.pickle"), key=lambda file: file.stat().st_mtime, reverse=True)
        held = 0
        for file in files:
            held += file.stat().st_size
            if held > self.limit:
                file.unlink(missing_ok=True)


def stage_key(name: str, *parts: Any) -> str:
    """The stage's name and a hash of the content of its inputs: arrays by their bytes, the rest as pickle has it.

    >>> stage_key("neighbours", np.zeros(3), 5) == stage_key("neighbours", np.zeros(3), 6)
    False
    """
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype.str}{part.shape}".encode())
            found.update(np.ascontiguousarray(part).data)
        else:
            found.update(pickle.dumps(part))
        found.update(b"/")
    return f"{name}-{found.hexdigest()}"


_current: ContextVar[StageCache | None] = ContextVar("stages", default=None)


def current_stages() -> StageCache | None:
    """The cache of the innermost `keeping`, or None."""
    return _current.get()


@contextmanager
def keeping(stages: StageCache) -> Iterator[None]:
    """Every `Run` that is made inside carries this cache."""
    token = _current.set(stages)
    try:
        yield
    finally:
        _current.reset(token)
