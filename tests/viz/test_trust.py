"""Ellipses of the push-forward metric, and maps of trust."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold import quality, viz
from lowfold._core.errors import InvalidInput
from lowfold.quality._local import angles, edge_lengths
from lowfold.quality._score import Score

pytestmark = pytest.mark.extra("matplotlib")


def case(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    T = np.random.default_rng(0).random((n, 2))
    return T @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 2)))[0].T, T * [1.0, 3.0]


def test_ellipses_are_images_of_discs(tmp_path: Path) -> None:
    X, Y = case()
    found = quality.riemannian_distortion(X, Y, 8)
    figure = viz.ellipses(Y, found, n_ellipses=30, radius=0.05, path=tmp_path / "e.png")
    assert (tmp_path / "e.png").stat().st_size > 5_000
    drawn = figure.axes[0].collections[-1]
    assert len(drawn.get_offsets()) == 30
    assert np.allclose(2 * drawn._widths, 0.3)  # 2 * radius * 3 across, kept by matplotlib as half axes
    assert np.allclose(2 * drawn._heights, 0.1)
    assert np.allclose(np.abs(np.sin(drawn._angles)), 1)  # the long axis is the second coordinate's
    assert np.allclose(np.sort(np.asarray(drawn.get_array())), np.exp(found.points[:30].max()), rtol=0.2)  # type: ignore[index]


def test_ellipses_stay_apart_by_themselves() -> None:
    import matplotlib.pyplot as plt

    X, Y = case(400)
    found = quality.riemannian_distortion(X, Y, 8, scaled=True)
    axes = plt.figure().add_subplot()
    viz.ellipses(Y, found, n_ellipses=60, ax=axes, bar=False, title="mine")
    drawn = axes.collections[-1]
    centres = np.asarray(drawn.get_offsets())
    gap = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 1e9 * np.eye(60)
    assert np.quantile(drawn._widths, 0.8) <= 0.55 * np.median(gap.min(axis=1))
    assert axes.get_title() == "mine"
    assert len(axes.figure.axes) == 1
    plt.close("all")


def test_trust_map_shares_one_scale(tmp_path: Path) -> None:
    X, Y = case()
    noisy = Y + np.random.default_rng(2).normal(size=Y.shape)
    pairs = {name: (A, quality.trustworthiness(X, A, 6)) for name, A in (("good", Y), ("bad", noisy))}
    figure = viz.trust_map(pairs, path=tmp_path / "t.png", title="trust")
    assert (tmp_path / "t.png").stat().st_size > 5_000
    first, second = (ax.collections[-1] for ax in figure.axes[:2])
    assert first.get_clim() == second.get_clim()
    assert first.get_clim()[1] == 1.0
    values = np.asarray(second.get_array())
    assert np.all(np.diff(values) <= 0)  # the worst are drawn last
    errors = {"bad": (noisy, edge_lengths(X, noisy, 6))}
    drawn = viz.trust_map(errors, path=tmp_path / "l.png").axes[0].collections[-1]
    assert drawn.get_clim()[0] == 0.0
    assert drawn.get_cmap().name == "viridis_r"


def test_points_without_a_value_are_grey(tmp_path: Path) -> None:
    X, Y = case()
    score = quality.summary(X, Y, max_points=50)["continuity"]
    figure = viz.trust_map({"some": (Y, score)}, path=tmp_path / "s.png")
    grey, known = figure.axes[0].collections
    assert len(grey.get_offsets()) == 70
    assert len(known.get_offsets()) == 50


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, Y, d: viz.ellipses(X, d), "2 columns"),
        (lambda X, Y, d: viz.ellipses(Y[:-1], d), "own distortion"),
        (lambda X, Y, d: viz.ellipses(Y, d, n_ellipses=0), "n_ellipses"),
        (lambda X, Y, d: viz.ellipses(Y, d, radius=0.0), "radius"),
        (lambda X, Y, d: viz.trust_map({}), "at least one"),
        (lambda X, Y, d: viz.trust_map({"a": (Y, d)}, per_row=0), "per_row"),
        (lambda X, Y, d: viz.trust_map({"a": (Y, Score("x", 1.0, 1.0))}), "value per point"),
        (lambda X, Y, d: viz.trust_map({"a": (Y, d), "b": (Y, angles(X, Y))}), "one measure"),
        (lambda X, Y, d: viz.trust_map({"a": (Y[:-1], d)}), "rows"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    import matplotlib.pyplot as plt

    X, Y = case()
    with pytest.raises(InvalidInput, match=words):
        call(X, Y, quality.riemannian_distortion(X, Y, 8))
    plt.close("all")
