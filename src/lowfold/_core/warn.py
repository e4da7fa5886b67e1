"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from lowfold._core.watch import note

# Packages between the user's line and ours: scikit-learn wraps `transform`, and calls the steps of a pipeline.
BETWEEN = frozenset({"lowfold", "sklearn", "joblib", "contextlib", "functools"})


def warn(message: str, category: type[Warning]) -> None:
    """Warn as if by the innermost line outside lowfold; by the outermost of all where every line is inside."""
    note(message)
    frame = _calling_frame()
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__", "<string>"),  # None, as of code that is run by `exec`, would silence it
        registry=frame.f_globals.setdefault("__warningregistry__", {}),  # "once per line" counts by the user's line
    )


def _calling_frame() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return frame
