"""What a spectral embedding can know about itself, said once, with the figure and the way out."""

from __future__ import annotations

import numpy as np

from lowfold._core import errors
from lowfold._core.errors import DependenceWarning
from lowfold._core.finite import finite_rows
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.methods._chart import LOST, PATCH, lost
from lowfold.methods._fit import Connected
from lowfold.methods._independent import dependence
from lowfold.spectral._held import ENOUGH_TO_TELL, FEW, held_columns
from lowfold.spectral._types import REPEATED

# What holds points that a coordinate of weights of distances tells from all others
WIDER = "weights='binary' or more n_neighbors hold them, and scale='auto' where another is given"


def told_dependence(
    name: str, Y: Floats, ways_out: tuple[str, str], pieces: Ints, run: Run, bound: float = REPEATED
) -> tuple[Floats, bool]:
    """`dependence_`, with a warning of coordinates that hold a few points, and of repeated ones; and whether any was
    given.

    `ways_out` says what to do about either; a coordinate of which the earlier ones tell more than `bound` is called
    repeated. `pieces` are the sizes of the pieces that were joined: coordinates tell
    them from each other first, and rightly, so that only points which are no piece of their own are told.
    """
    inside = finite_rows(Y)
    Y = Y if inside.all() else Y[inside]
    told = dependence(Y, run)
    if len(Y) < ENOUGH_TO_TELL or pieces.min() <= FEW:
        return told, False
    lonely = tell_few(name, Y, ways_out[0])
    if len(pieces) > 1:
        return told, len(lonely) > 0
    repeated = np.setdiff1d(np.flatnonzero(told > bound), lonely)
    if len(repeated):
        c = int(repeated[0])
        warn(
            f"coordinate {c + 1} of {name} is a function of the earlier ones ({told[c]:.0%} of its variance, "
            f"dependence_); {ways_out[1]}",
            DependenceWarning,
        )
    return told, len(lonely) + len(repeated) > 0


def tell_lost(name: str, Y: Floats, data: Connected) -> None:
    """Warn of an embedding that folds its data or loses a direction of theirs."""
    found = lost(Y, data)
    if found is None:
        return
    way_out = (
        f"use other n_neighbors or another method (lowfold.compare tries several), n_components={Y.shape[1] + 1} where "
        "the data close upon themselves or have more directions"
    )
    if found.share > LOST:
        warn(
            f"{name} does not show a part of the data as it is: {found.share:.0%} of the points lie elsewhere along "
            "the data than the points next to them in the embedding, which is folded there or has lost a direction; "
            + way_out,
            DependenceWarning,
        )
    elif found.square > found.usual:
        warn(
            f"{name} does not show a part of the data as it is: points lie {np.sqrt(found.square):.2g} of the size of "
            f"a neighbourhood of {PATCH} points (up to {np.sqrt(found.usual):.2g} where all is right) from where those "
            "next to them in the embedding say, which hardly shows a direction, such as the width of a long strip; "
            + way_out,
            DependenceWarning,
        )


def tell_few(name: str, Y: Floats, way_out: str) -> Ints:
    """The columns that a few points hold, with a warning of the first of them."""
    lonely = held_columns(Y)
    if len(lonely):
        squares = (Y[:, lonely[0]] - np.median(Y[:, lonely[0]])) ** 2
        held = np.sort(squares)[-FEW:].sum() / squares.sum()
        warn(
            f"coordinate {lonely[0] + 1} of {name} tells {FEW} points or fewer from all others (row "
            f"{squares.argmax()} first, {held:.0%} of its sum of squares); {way_out}",
            errors.AccuracyWarning,
        )
    return lonely
