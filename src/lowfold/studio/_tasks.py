"""The tasks of a worker, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowfold.studio._task_data import look, near, read
from lowfold.studio._task_fit import catalogue, fit, measure, plan, steady, tune
from lowfold.studio._task_home import export, invert, place, reopen

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task
    for task in (catalogue, export, fit, invert, look, measure, near, place, plan, read, reopen, steady, tune)
}
