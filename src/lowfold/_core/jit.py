"""Numba on first use only: the compiled code goes to the user's cache folder and the wait is logged."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

log = logging.getLogger("lowfold")

SMALL = 2_000  # points; up to here NumPy takes less time than loading Numba and its loops, half a second warm
PATIENCE = 50  # small tasks after which loading loops that an earlier process compiled pays


def cache_dir() -> Path:
    """Where compiled code is kept: `LOWFOLD_CACHE`, else the platform's user cache folder."""
    if given := os.environ.get("LOWFOLD_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "lowfold"


class _Clock:
    """Hears when Numba compiles; what compiles inside another counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.registered = False
        self.threads: set[int] = set()  # that are compiling now
        self._depth = threading.local()

    def on_start(self, event: Any) -> None:
        depth = getattr(self._depth, "now", 0)
        if depth == 0:
            self.threads.add(threading.get_ident())
            self._depth.start = time.perf_counter()
        self._depth.now = depth + 1

    def on_end(self, event: Any) -> None:
        self._depth.now -= 1
        if self._depth.now == 0:
            self.threads.discard(threading.get_ident())
            self.seconds += time.perf_counter() - self._depth.start

    def notify(self, event: Any) -> None:
        """Called by Numba."""
        (self.on_start if event.is_start else self.on_end)(event)


class _Shield:
    """Holds Ctrl-C back while Numba compiles, loads or looks at the types of arguments, and hands it on afterwards.

    C code calls back into Python there and does not look for exceptions: one is lost, and the half-made function ends
    in an error of Numba or in a fault. Nothing is heard later for that: a loop could not be interrupted anyway.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._former: Any = None
        self._held: tuple[int, FrameType | None] | None = None

    def around(self, loop: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with Ctrl-C held back until it returns."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return loop(*args, **kwargs)
            self._enter()
            try:
                return loop(*args, **kwargs)
            finally:
                self._leave()

        return call

    def notify(self, event: Any) -> None:
        """Called by Numba, before its lock is taken and after it is given back; signals reach the main thread only."""
        if threading.current_thread() is threading.main_thread():
            self._enter() if event.is_start else self._leave()

    def _enter(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._former = signal.getsignal(signal.SIGINT)
            if callable(self._former):
                signal.signal(signal.SIGINT, self._hold)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._held is None:
            tell_compiling()
        self._held = number, frame

    def _leave(self) -> None:
        self._depth -= 1
        if self._depth == 0 and callable(self._former):
            signal.signal(signal.SIGINT, self._former)
            held, self._held = self._held, None
            if held is not None:
                self._former(*held)


_clock = _Clock()
_shield = _Shield()


def tell_compiling() -> None:
    """Why Ctrl-C is not answered at once, where some thread is compiling."""
    if _clock.threads:
        sys.stderr.write("lowfold: stops when what is being compiled is done, in a few seconds\n")


def compile_seconds() -> float:
    """Time that this process has spent compiling so far."""
    return _clock.seconds


def _listen() -> None:
    from numba.core import event

    if not _clock.registered:
        _clock.registered = True
        for kind, listener in {"numba:compile": _clock, "numba:compiler_lock": _shield}.items():
            event.Listener.register(type(listener))
            event.register(kind, listener)


class Loops:
    """The loops of a module, each called with Ctrl-C held back."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if hasattr(value, "py_func"):
            value = _shield.around(value)
        setattr(self, name, value)
        return value


_loaded: dict[str, Loops] = {}
_spared: Counter[str] = Counter()  # small tasks that were done without the loops


def ready(module: str) -> bool:
    """Whether loops of this module are loaded, or compiled by an earlier process: using them costs no wait then."""
    if module in sys.modules:
        return True
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_dir() / "numba")
    return any(folder.glob(f"*/{module.rpartition('.')[2]}.*.nbi"))


def compiled(module: str) -> Loops:
    """Import a module of Numba loops, with Numba's cache pointed at the user's cache folder.

    A user's own NUMBA_CACHE_DIR is respected. A read-only home is no error: Numba then compiles in every process.
    """
    if module in _loaded:
        return _loaded[module]
    start = time.perf_counter()
    import numba

    _listen()
    former = numba.config.CACHE_DIR
    try:
        if not former:
            folder = cache_dir() / "numba"
            folder.mkdir(parents=True, exist_ok=True)
            numba.config.CACHE_DIR = str(folder)  # read by numba when a function is decorated
    except OSError:
        log.info("the cache folder %s cannot be written; loops are compiled in every process", cache_dir())
    try:
        loaded = importlib.import_module(module)
    finally:
        numba.config.CACHE_DIR = former
    log.info("%s loaded in %.1f s; its loops compile on first use", module, time.perf_counter() - start)
    _loaded[module] = Loops(loaded)
    return _loaded[module]


def loops_for(module: str, n: int) -> Any:
    """`compiled(module)`, or where n is small its twin in NumPy, `_plain` for `_loops`, unless the loops are loaded.

    n counts points, or features where they are more. Both give the same results, to the bit: what was loaded before
    changes time alone.
    """
    if n <= SMALL and spares(module):
        return importlib.import_module(module.replace("_loops", "_plain"))
    return compiled(module)


def spares(module: str, patience: int = PATIENCE) -> bool:
    """Whether a small task does without these loops: they are not loaded, and it is among the first `patience` such.

    Always where they would have to be compiled.
    """
    if module in _loaded:
        return False
    _spared[module] += 1
    return _spared[module] <= patience or not ready(module)
