"""Who watches the stages of a run: a record of what happened, a bar on the screen.

A watch is called with the name of a stage and gives a context for its duration, which yields a function that hears the
finished share. `Run.stage` enters those of the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from lowfold._core.parallel import Progress

Watch = Callable[[str], AbstractContextManager[Progress]]

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)
_shown: ContextVar[bool] = ContextVar("shown", default=False)
_lowered: ContextVar[Callable[[float], None] | None] = ContextVar("lowered", default=None)


@dataclass(frozen=True)
class History:
    """What happened in a fit: stages with their seconds, in the order in which they ended, and what was warned of."""

    stages: list[tuple[str, float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def __call__(self, name: str) -> Iterator[Progress]:
        start = time.perf_counter()
        yield unheard
        self.stages.append((name, time.perf_counter() - start))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, `note` writes into `warnings`."""
        token = _heard.set(self.warnings)
        try:
            yield
        finally:
            _heard.reset(token)


def note(message: str) -> None:
    """Remember a warning in the history of the fit that is running, if one is."""
    heard = _heard.get()
    if heard is not None:
        heard.append(message)


def lowered(loss: float) -> None:
    """A descent says where it has come down to, for whoever shows it."""
    tell = _lowered.get()
    if tell is not None:
        tell(loss)


def unheard(share: float) -> None:
    """A stage that nobody watches."""


@contextmanager
def bar(name: str) -> Iterator[Progress]:
    """A bar by rich on standard error, in a terminal and in a notebook; one line with the time where nobody watches.

    Beside it the time that is left, by the share that is done, and of a descent the loss.

    A stage inside another has no bar of its own: two would overwrite each other.
    """
    if _shown.get():
        yield unheard
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("  {task.description:28s}"),
        BarColumn(24),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[loss]}"),
    )
    token = _shown.set(True)
    try:
        with Bars(*columns, console=_console()) as bars, _losses_to(lambda loss: bars.update(task, loss=loss)):
            task = bars.add_task(name, total=None, loss="")
            yield lambda share: bars.update(task, total=1.0, completed=share)
            bars.update(task, total=1.0, completed=1.0)
    finally:
        _shown.reset(token)


@contextmanager
def _losses_to(show: Callable[[str], None]) -> Iterator[None]:
    token = _lowered.set(lambda loss: show(f"loss {loss:.4g}"))
    try:
        yield
    finally:
        _lowered.reset(token)


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
