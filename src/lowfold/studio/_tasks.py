"""The tasks of a worker, by name; the module of each is loaded when it is asked for, or when there is nothing to do."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from lowfold.methods.registry import uncollected

TASKS = {
    "lowfold.studio._task_data": ("read",),
    "lowfold.studio._task_fit": ("catalogue", "fit", "measure", "plan", "steady", "tune"),
    "lowfold.studio._task_look": ("look", "near"),
    "lowfold.studio._task_home": ("export", "invert", "place", "reopen"),
}
MODULES = (*TASKS, "numba")  # half of the methods load the compiler at their first fit
_HOMES = {task: module for module, tasks in TASKS.items() for task in tasks}


def find(task: str) -> Callable[..., dict[str, Any]]:
    """The function of a task."""
    module = _HOMES[task]
    load(module)
    return getattr(sys.modules[module], task)  # type: ignore[no-any-return]


def load(module: str) -> None:
    """Import a module without looking for garbage among what it brings, now or ever: that took 0.7 s of a first fit."""
    if module in sys.modules:
        return
    with uncollected():
        import_module(module)
    gc.freeze()
