"""What is drawn: edges, gaps, distances, images and strips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.graph import Graph
from lowfold.viz import filmstrip, graph_overlay, images_at, plot, quality_map, residual_curves, shepard, spectrum

pytestmark = pytest.mark.extra("matplotlib")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * [3.0, 2.0, 0.3]
MODEL = lowfold.Isomap(2, n_neighbors=8).fit(X)


@pytest.mark.parametrize("d", [2, 3])
def test_every_edge_is_drawn_between_its_points(d: int, tmp_path: Path) -> None:
    Y = X[:, :d]
    figure = graph_overlay(Y, MODEL.graph_, path=tmp_path / "g.png")
    lines = figure.axes[0].collections[0]
    segments = np.asarray(lines._segments3d if d == 3 else lines.get_segments())
    assert np.allclose(segments, Y[MODEL.graph_.edges()])
    assert f"{MODEL.graph_.n_edges} edges" in figure.axes[0].get_title()


def test_stretched_edges_have_their_factor_and_bridges_stand_out(tmp_path: Path) -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    G = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3], [3, 0]])
    figure = graph_overlay(square, G, stretch=True, bridges=[[0, 2]], path=tmp_path / "g.png")
    edges, bridge = figure.axes[0].collections[:2]
    true = np.array([np.linalg.norm(square[i] - square[j]) for i, j in G.edges()])
    factors = true / np.median(true)
    assert np.allclose(edges.get_array(), np.clip(factors, 1 / factors.max(), factors.max()), rtol=0.05)
    assert len(bridge.get_segments()) == 1
    assert "1 bridge" in figure.axes[0].get_title()


def test_the_gap_of_a_spectrum_is_told_and_marked(tmp_path: Path) -> None:
    figure = spectrum([5.0, 4.0, 0.5, 0.4], path=tmp_path / "s.png")
    assert figure.axes[0].get_title() == "gap after 2: 3.5"
    used, rest = figure.axes[0].lines[:2]
    assert used.get_ydata().tolist() == [5.0, 4.0]
    assert rest.get_ydata().tolist() == [0.5, 0.4]
    own = spectrum(MODEL, path=tmp_path / "m.png").axes[0]
    assert np.allclose(own.lines[1].get_ydata(), MODEL.eigenvalues_[-1] - MODEL.gap_)
    rising = lowfold.LaplacianEigenmaps(1, n_neighbors=8).fit(X)
    assert spectrum(rising, path=tmp_path / "r.png").axes[0].lines[1].get_ydata()[0] > rising.eigenvalues_[0]
    with pytest.raises(InvalidInput, match="not fitted"):
        spectrum(lowfold.Isomap())


def test_a_shepard_diagram_of_an_isometry_is_a_line(tmp_path: Path) -> None:
    turned = X @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    figure = shepard(X, 2 * turned, path=tmp_path / "s.png")
    x, y = figure.axes[0].lines[0].get_data()
    assert np.allclose(y, 2 * np.asarray(x))
    assert figure.axes[0].get_title() == "rank correlation 1.000"
    assert "geodesic" in shepard(MODEL.graph_, MODEL.embedding_, path=tmp_path / "g.png").axes[0].get_xlabel()


def test_residual_variance_falls_to_zero_at_the_dimension(tmp_path: Path) -> None:
    flat = np.column_stack([X[:, 0], X[:, 1], np.zeros(80)]) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    figure = residual_curves(flat, {"PCA": lowfold.PCA(3).fit_transform(flat)}, path=tmp_path / "r.png")
    values = figure.axes[0].lines[0].get_ydata()
    assert values[0] > 0.05
    assert values[1] < 1e-10


def test_images_stand_at_their_points_and_do_not_overlap(tmp_path: Path) -> None:
    Y = RNG.normal(size=(150, 2))
    pictures = RNG.random((150, 8, 6))
    ax = images_at(Y, pictures, n_images=60, path=tmp_path / "i.png").axes[0]
    boxes = np.array([image.get_extent() for image in ax.images])
    centres = np.column_stack([boxes[:, :2].mean(axis=1), boxes[:, 2:].mean(axis=1)])
    assert len(boxes) > 20
    distance = np.abs(centres[:, None] - Y[None]).sum(axis=2)
    assert distance.min(axis=1).max() < 1e-9
    shown = np.asarray(ax.images[0].get_array())
    assert np.allclose(shown, (pictures - pictures.min())[distance[0].argmin()] / np.ptp(pictures))
    width, height = boxes[:, 1] - boxes[:, 0], boxes[:, 3] - boxes[:, 2]
    assert np.allclose(width / height, 6 / 8)
    apart = np.abs(centres[:, None] - centres[None])
    clash = (apart[..., 0] < width[0]) & (apart[..., 1] < height[0])
    assert clash.sum() == len(boxes)  # each with itself only


def test_a_strip_has_the_images_in_order(tmp_path: Path) -> None:
    pictures = np.arange(5)[:, None, None] * np.ones((5, 4, 3))
    ax = filmstrip(pictures, [3, 1, 4], per_row=2, path=tmp_path / "f.png").axes[0]
    sheet = np.asarray(ax.images[0].get_array())
    assert sheet.shape == (10, 8)
    assert sheet[0, 0] == 3 / 4
    assert sheet[0, 5] == 1 / 4
    assert sheet[6, 0] == 1.0
    few = filmstrip(pictures, most=2, path=tmp_path / "g.png", numbers=True).axes[0]
    assert [text.get_text() for text in few.texts] == ["0", "4"]


def test_the_first_look_has_what_the_model_has(tmp_path: Path) -> None:
    assert len(MODEL.plot(color=X[:, 0], path=tmp_path / "a.png").axes) == 4  # points, their bar, spectrum, distances
    descent = lowfold.MetricMDS(2, max_iter=20).fit(X)
    assert len(plot(descent, path=tmp_path / "b.png").axes) == 2
    with pytest.raises(InvalidInput, match="no embedding"):
        plot(lowfold.PCA())


def test_quality_is_measured_and_drawn(tmp_path: Path) -> None:
    figure = quality_map(X, {"a": MODEL.embedding_, "b": X[:, :2]}, n_neighbors=5, path=tmp_path / "q.png")
    score = lowfold.quality.trustworthiness(X, MODEL.embedding_, 5)
    assert f"{score.value:.3g}" in figure.axes[0].get_title()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: graph_overlay(X[:5], MODEL.graph_), "as many rows"),
        (lambda: images_at(X[:, :2], np.zeros((3, 4, 4))), "one per point"),
        (lambda: images_at(X[:, :1], np.zeros((80, 4, 4))), "2 columns"),
        (lambda: filmstrip(np.zeros((3, 4, 4)), [7]), "row numbers"),
        (lambda: residual_curves(X, {}), "at least one"),
        (lambda: spectrum([np.nan]), "finite"),
    ],
)
def test_bad_input_ends_in_words(call: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()  # type: ignore[operator]
