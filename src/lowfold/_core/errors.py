"""Every exception and warning of lowfold, one tree.

An error in words says which argument, what is allowed, what came, and what to do next. Errors that come from the user's
input are also `ValueError`, so that code written for scikit-learn keeps working.
"""

from __future__ import annotations

from typing import TYPE_CHECKING


class LowfoldError(Exception):
    """Base of everything lowfold raises on purpose."""


class InvalidInput(LowfoldError, ValueError):
    """An argument or a data set that cannot be used; the message names it and the way out."""


class InvalidType(LowfoldError, TypeError, ValueError):
    """An argument of a type that cannot be used at all."""


class Disconnected(InvalidInput, RuntimeError):
    """The neighbourhood graph falls into pieces and the caller asked to be told (`on_disconnected="raise"`)."""


class MemoryBudgetExceeded(LowfoldError, MemoryError, ValueError):
    """A step would need more memory than the budget; the message says how much and what fits."""


class SolverFailed(LowfoldError, ValueError):
    """No solver reached an answer; the message says which were tried and what to change."""


class Stopped(LowfoldError, RuntimeError):
    """A callback asked a fit to stop; the model is not fitted."""


class MissingExtra(LowfoldError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


class FileProblem(InvalidInput):
    """A file that cannot be read or written; the message names the file and, where it can, row and column."""


class LowfoldWarning(UserWarning):
    """Base of everything lowfold warns about."""


class DisconnectedWarning(LowfoldWarning):
    """The graph fell into pieces and was repaired, cut or embedded piecewise, as `on_disconnected` says."""


class ShortcutWarning(LowfoldWarning):
    """Edges of the neighbourhood graph join points that are far apart along the data."""


class DependenceWarning(LowfoldWarning):
    """A coordinate repeats the earlier ones instead of showing another direction, or all miss a part of the data."""


class ScaleWarning(LowfoldWarning):
    """Columns of a table differ in size so much that one of them decides all distances."""


class RepairWarning(LowfoldWarning):
    """Input was repaired in a way the documentation states (symmetrised, diagonal zeroed)."""


if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

    class AccuracyWarning(LowfoldWarning, ConvergenceWarning):  # type: ignore[misc] # scikit-learn has no types
        """An eigen-solve, or an embedding, is worth less than asked for; the message has the number.

        It is also scikit-learn's `ConvergenceWarning`.
        """


def __getattr__(name: str) -> type[Warning]:
    """`AccuracyWarning` on first use: its second base loads scikit-learn, which `import lowfold` does not."""
    if name != "AccuracyWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    text = "An eigen-solve, or an embedding, is worth less than asked for; the message has the number."
    made = type(name, (LowfoldWarning, ConvergenceWarning), {"__doc__": text, "__module__": __name__})
    globals()[name] = made
    return made
