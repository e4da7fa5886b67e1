"""A picture appears once in a notebook: as the result of its cell, or at the end of it."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.extra("matplotlib", "IPython", "matplotlib_inline")


def test_a_figure_is_shown_once(monkeypatch):
    import IPython.display
    from matplotlib import pyplot as plt

    from lowfold import viz

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    former = plt.get_backend()
    plt.switch_backend("module://matplotlib_inline.backend_inline")
    try:
        figure = viz.scatter(np.random.default_rng(0).random((20, 2)))
        assert plt.get_fignums() == [figure.number]
        figure._ipython_display_()  # as the result of the cell
        assert plt.get_fignums() == []  # nothing is left for the end of the cell
        assert len(shown) == 1
        assert shown[0].data[:4] == b"\x89PNG"
    finally:
        plt.close("all")
        plt.switch_backend(former)
