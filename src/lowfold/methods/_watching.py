"""A fit and who watches it: its own history, and scikit-learn's callbacks where they exist (version 1.9 and later).

Every stage is a task of the fit, every hundredth of a stage that reports its share a task of the stage. So a callback
can show a bar, and can end the fit: by raising, or by asking to stop, which leaves an unfitted model and `Stopped`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from lowfold._core.errors import MissingExtra, Stopped
from lowfold._core.parallel import Progress
from lowfold._core.watch import History, Watch

HUNDREDTHS = 100
Fitting = TypeVar("Fitting", bound=Callable[..., Any])


def callback_support() -> Any:
    """scikit-learn's own class of estimators with callbacks; its methods work on any estimator."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:
        raise MissingExtra("callbacks need scikit-learn 1.9 or newer: pip install -U scikit-learn") from None
    return CallbackSupportMixin


def with_callbacks(fit: Fitting) -> Fitting:
    """A fit that lets scikit-learn's callbacks go in the end, however it ends; without callbacks the fit itself."""

    @wraps(fit)
    def fitting(model: Any, *args: Any, **kwargs: Any) -> Any:
        if not _has_callbacks(model):
            return fit(model, *args, **kwargs)
        from sklearn.callback import with_callbacks as letting_go

        return letting_go(fit)(model, *args, **kwargs)

    return cast(Fitting, fitting)


def _has_callbacks(model: Any) -> bool:
    """Its own, or those of a pipeline around it."""
    return bool(getattr(model, "_skl_callbacks", None)) or hasattr(model, "_parent_callback_ctx")


@contextmanager
def watched(model: Any) -> Iterator[tuple[Watch, ...]]:
    """What watches the stages of a fit of `model`; afterwards the model's `_history` says what happened."""
    history, start = History(), time.perf_counter()
    with history.listening(), _callbacks(model) as tasks:
        yield (history, tasks) if tasks is not None else (history,)
    model._history = {
        "stages": history.stages,
        "warnings": history.warnings,
        "seconds": time.perf_counter() - start,
    }


@contextmanager
def _callbacks(model: Any) -> Iterator[Watch | None]:
    """scikit-learn's side, where there are callbacks."""
    if not _has_callbacks(model):
        yield None
        return
    fit = callback_support()._init_callback_context(model, max_subtasks=None)
    fit.call_on_fit_task_begin(estimator=model)
    yield _Tasks(model, fit)
    fit.call_on_fit_task_end(estimator=model)


class _Tasks:
    """A watch that makes every stage a task."""

    def __init__(self, model: Any, fit: Any) -> None:
        self.model = model
        self.fit = fit

    @contextmanager
    def __call__(self, name: str) -> Iterator[Progress]:
        stage = self.fit.subcontext(task_name=name, max_subtasks=HUNDREDTHS)
        stage.call_on_fit_task_begin(estimator=self.model)
        done = 0

        def progress(share: float) -> None:
            nonlocal done
            while done < min(int(share * HUNDREDTHS), HUNDREDTHS):
                done += 1
                part = stage.subcontext(task_name=name)
                part.call_on_fit_task_begin(estimator=self.model)
                self._end(part, name)

        yield progress
        self._end(stage, name)

    def _end(self, task: Any, name: str) -> None:
        if task.call_on_fit_task_end(estimator=self.model):
            raise Stopped(f"a callback asked to stop during the stage {name!r} of {type(self.model).__name__}")
