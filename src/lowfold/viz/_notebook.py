"""A figure that a notebook shows once.

A cell ends with its result and with every open figure of pyplot's, so that a function that returns one shows it twice.
This one leaves pyplot's list when it is shown; where another backend than the inline one is used, nothing changes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lowfold._core.extras import load_extra


@cache
def shown_once() -> type:
    """The class, made when matplotlib is there."""
    base: Any = load_extra("matplotlib.figure", "plot", "a picture").Figure

    class ShownOnce(base):  # type: ignore[misc]
        """A figure of pyplot's, shown by a notebook where it is first met."""

        def _ipython_display_(self) -> None:
            from IPython.core.pylabtools import print_figure
            from IPython.display import Image, display

            load_extra("matplotlib.pyplot", "plot", "a picture").close(self)
            display(Image(print_figure(self, "png"), format="png"))  # type: ignore[no-untyped-call]

    return ShownOnce
