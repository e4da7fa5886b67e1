"""Pictures: what is on the axes, not only that a file appears."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.viz import scatter, side_by_side
from lowfold.viz._colors import MARKERS, MORE_CLASSES, SHOWN, groups

pytestmark = pytest.mark.extra("matplotlib")


def cloud(n: int = 50, d: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def offsets(figure: object) -> np.ndarray:
    """All points of a 2-D picture, in order of drawing."""
    axes = figure.axes[0]  # type: ignore[attr-defined]
    return np.concatenate([np.asarray(c.get_offsets()) for c in axes.collections])


def test_points_are_where_they_should_be(tmp_path: Path) -> None:
    Y = cloud()
    figure = scatter(Y, path=tmp_path / "a.png", title="T")
    assert np.allclose(offsets(figure), Y)
    assert figure.axes[0].get_title() == "T"
    assert figure.axes[0].get_aspect() == 1.0
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_one_two_three_and_more_columns(d: int, tmp_path: Path) -> None:
    figure = scatter(cloud(d=d), color=np.arange(50), path=tmp_path / "a.png", legend="time")
    axes, bar = figure.axes
    assert axes.name == ("3d" if d == 3 else "rectilinear")
    assert bar.get_ylabel() == "time"
    assert axes.get_xlabel() == ("coordinate 1 of 5" if d == 5 else "coordinate 1")


def test_chosen_columns(tmp_path: Path) -> None:
    Y = cloud(d=6)
    assert np.allclose(offsets(scatter(Y, columns=(4, 1), path=tmp_path / "a.png")), Y[:, [4, 1]])
    with pytest.raises(InvalidInput, match=r"columns must name .* 0\.\.5"):
        scatter(Y, columns=(6,))


def test_classes_have_a_legend_in_order(tmp_path: Path) -> None:
    labels = np.array(["b", "a", "c"])[np.arange(50) % 3]
    figure = scatter(cloud(), labels=labels, path=tmp_path / "a.svg", legend="kind")
    legend = figure.axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    assert legend.get_title().get_text() == "kind"
    assert np.allclose(np.asarray(figure.axes[0].collections[0].get_offsets()), cloud()[labels == "a"])


@pytest.mark.parametrize("classes", [2, 8, 9, 10, 30, 50])
def test_classes_differ_in_colour_or_marker(classes: int) -> None:
    parts = groups(classes, None, np.arange(classes))
    assert len({(part.color, part.marker) for part in parts}) == classes
    if classes <= len(MORE_CLASSES):
        assert len({part.color for part in parts}) == classes


def test_very_many_classes_use_the_scale() -> None:
    (part,) = groups(200, None, np.arange(200))
    assert np.array_equal(part.color, np.arange(200))
    assert len(MORE_CLASSES) * len(MARKERS) < 200


def test_a_long_legend_is_left_out(tmp_path: Path) -> None:
    figure = scatter(cloud(), labels=np.arange(50) % (SHOWN + 1), path=tmp_path / "a.png")
    assert figure.axes[0].get_legend() is None


def test_rows_without_a_place_are_counted(tmp_path: Path) -> None:
    Y = cloud()
    Y[:7] = np.nan
    figure = scatter(Y, color=np.arange(50), path=tmp_path / "a.png", title="T")
    assert len(offsets(figure)) == 43
    assert figure.axes[0].get_title() == "T\n(7 points have no place)"


def test_elongated_embeddings_fill_the_frame(tmp_path: Path) -> None:
    assert scatter(cloud() * [100, 1], path=tmp_path / "a.png").axes[0].get_aspect() == "auto"
    assert scatter(np.ones((4, 2)), path=tmp_path / "b.png").axes[0].get_aspect() == "auto"


def test_side_by_side(tmp_path: Path) -> None:
    many = {f"m{i}": cloud(seed=i) for i in range(5)} | {"space": cloud(d=3)}
    figure = side_by_side(many, labels=np.arange(50) % 4, path=tmp_path / "a.png", per_row=3, title="All")
    assert [axes.get_title() for axes in figure.axes] == list(many)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2", "3"]
    figure = side_by_side({"a": cloud()}, color=np.arange(50), path=tmp_path / "b.png")
    assert len(figure.axes) == 2


def test_own_axes() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, axes = plt.subplots()
    assert scatter(cloud(), ax=axes) is figure
    assert len(axes.collections) == 1
    plt.close(figure)
    figure = scatter(cloud())
    assert figure.number in plt.get_fignums()
    plt.close(figure)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"color": np.arange(3)}, "color must have one value per point"),
        ({"labels": np.arange(3)}, "labels must have one value per point"),
        ({"color": np.arange(50), "labels": np.arange(50)}, "not both"),
        ({"path": "picture.gif"}, "picture.gif: pictures are written as"),
    ],
)
def test_bad_requests_in_words(arguments: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=words):
        scatter(cloud(), **{"path": tmp_path / "a.png", **arguments})
    with pytest.raises(InvalidInput, match="matrix"):
        scatter(np.zeros((2, 2, 2)))
    with pytest.raises(InvalidInput, match="at least one"):
        side_by_side({})


def test_saving_needs_no_display_and_no_pyplot(tmp_path: Path) -> None:
    code = (
        "import sys, numpy; from lowfold.viz import scatter; "
        f"scatter(numpy.zeros((3, 2)), path={str(tmp_path / 'a.png')!r}); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_model_is_drawn_by_its_embedding_and_text_is_a_label(tmp_path) -> None:
    model = lowfold.PCA(2).fit(np.random.default_rng(0).normal(size=(30, 4)))
    kinds = np.array(["a", "b", "c"] * 10, dtype=object)
    figure = scatter(model, color=kinds, path=tmp_path / "picture.png")
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["a", "b", "c"]
    offsets = np.vstack([part.get_offsets() for part in figure.axes[0].collections])
    assert np.allclose(np.sort(offsets[:, 0]), np.sort(model.embedding_[:, 0]))
