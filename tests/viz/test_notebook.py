"""A picture appears once in a notebook: as the result of its cell, or at the end of it."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.extra("matplotlib", "IPython", "matplotlib_inline")


def test_a_figure_is_shown_once(monkeypatch):
    import IPython.display
    from matplotlib import pyplot

    from lowfold import viz

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    former = pyplot.get_backend()
    pyplot.switch_backend("module://matplotlib_inline.backend_inline")
    try:
        figure = viz.scatter(np.random.default_rng(0).random((20, 2)))
        assert pyplot.get_fignums() == [figure.number]
        figure._ipython_display_()  # as the result of the cell
        assert pyplot.get_fignums() == []  # nothing is left for the end of the cell
        assert len(shown) == 1
        assert shown[0].data[:4] == b"\x89PNG"
    finally:
        pyplot.close("all")
        pyplot.switch_backend(former)
