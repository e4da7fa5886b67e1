"""The notebook's widget: what it is given, and what it refuses."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput

pytestmark = pytest.mark.extra("anywidget")


def test_it_holds_the_points_as_the_renderer_takes_them() -> None:
    Y = np.random.default_rng(0).normal(size=(50, 4))
    found = lowfold.viz.widget(Y, labels=np.arange(50) % 3)
    assert (found.n, len(found.axes), found.field["names"]) == (50, 3, ["0", "1", "2"])
    steps = np.frombuffer(base64.b64decode(found.axes[1]["steps"]), "<u2")
    back = found.axes[1]["low"] + steps / 65534 * (found.axes[1]["high"] - found.axes[1]["low"])
    assert np.abs(back - Y[:, 1]).max() < 1e-4 * np.ptp(Y[:, 1])
    assert "export class Scatter" in found._esm
    assert "export default" in found._esm
    found.chosen = [3, 4]
    assert found.chosen == [3, 4]


def test_bad_input_ends_in_words() -> None:
    with pytest.raises(InvalidInput, match="at least two columns"):
        lowfold.viz.widget(np.zeros((5, 1)))
    with pytest.raises(InvalidInput, match="not both"):
        lowfold.viz.widget(np.zeros((5, 2)), labels=np.zeros(5), color=np.zeros(5))
    with pytest.raises(InvalidInput, match="one value per point"):
        lowfold.viz.widget(np.zeros((5, 2)), color=np.zeros(4))


def test_a_fitted_model_is_drawn() -> None:
    model = lowfold.PCA(2).fit(np.random.default_rng(4).normal(size=(12, 3)))
    assert lowfold.viz.widget(model).axes == lowfold.viz.widget(model.embedding_).axes
