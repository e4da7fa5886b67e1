"""Kinds of errors and warnings, for `except` and for filters.

>>> import warnings
>>> from lowfold.errors import ShortcutWarning
>>> warnings.filterwarnings("ignore", category=ShortcutWarning)
"""

from __future__ import annotations

from lowfold._core.errors import (
    AccuracyWarning,
    DependenceWarning,
    Disconnected,
    DisconnectedWarning,
    FileProblem,
    InvalidInput,
    InvalidType,
    LowfoldError,
    LowfoldWarning,
    MemoryBudgetExceeded,
    MissingExtra,
    RepairWarning,
    ScaleWarning,
    ShortcutWarning,
    SolverFailed,
    Stopped,
)

__all__ = [
    "AccuracyWarning",
    "DependenceWarning",
    "Disconnected",
    "DisconnectedWarning",
    "FileProblem",
    "InvalidInput",
    "InvalidType",
    "LowfoldError",
    "LowfoldWarning",
    "MemoryBudgetExceeded",
    "MissingExtra",
    "RepairWarning",
    "ScaleWarning",
    "ShortcutWarning",
    "SolverFailed",
    "Stopped",
]
