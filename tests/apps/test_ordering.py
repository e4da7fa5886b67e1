"""Shuffled collections in order, and two parameters revealed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold.apps import order_collection, reveal
from lowfold.datasets import occluded_disks, rotating_object, word_images


def around(angles: np.ndarray, order: np.ndarray) -> tuple[float, float]:
    """Turns made along a closed order, and the share of steps that go the same way."""
    steps = np.diff(np.concatenate([angles[order], angles[order[:1]]]))
    steps = (steps + 180) % 360 - 180
    return abs(steps.sum()) / 360, max((steps > 0).mean(), (steps < 0).mean())


def degrees(angles: np.ndarray) -> np.ndarray:
    return angles if angles.max() > 7 else np.degrees(angles)


@pytest.mark.parametrize("seed", [31, 32])
def test_an_object_that_turns_all_the_way_is_put_on_a_ring(seed: int) -> None:
    head = rotating_object(90, random_state=seed)
    found = order_collection(head.X)
    turns, same = around(degrees(head.parameters[:, 0]), found.order)
    assert found.closed
    assert turns == pytest.approx(1.0)
    assert same > 0.9
    assert len(found.steps) == 90
    assert found.linked > 0.9


@pytest.mark.parametrize("method", ["DiffusionMaps", "Isomap", "LLE", "LaplacianEigenmaps"])
def test_half_a_turn_is_an_open_sequence_in_its_order(method: str) -> None:
    head = rotating_object(120, random_state=33)
    angle = degrees(head.parameters[:, 0])
    half = (angle - angle.min()) < 170
    found = order_collection(head.X[half], method)
    assert not found.closed
    assert abs(spearmanr(found.place, angle[half]).statistic) > 0.99
    assert sorted(found.order.tolist()) == list(range(half.sum()))
    assert np.all(np.diff(found.place[found.order]) >= 0)


def test_places_are_in_proportion_to_the_way_however_dense_the_sample() -> None:
    rng = np.random.default_rng(0)
    s = np.sort(np.concatenate([rng.uniform(0, 0.3, 300), rng.uniform(0.3, 1, 100)]))
    X = np.column_stack([np.cos(2 * s), np.sin(2 * s), s])
    place = order_collection(X, n_neighbors=12).place
    place = place if place[-1] > place[0] else 1 - place
    assert np.abs(place - (s - s[0]) / (s[-1] - s[0])).max() < 0.01


def test_what_is_no_sequence_is_said() -> None:
    words = word_images(300, random_state=3)
    with pytest.warns(AccuracyWarning, match="does not depend on one parameter"):
        order_collection(words.X)


@pytest.mark.parametrize(("method", "parameters"), [("DiffusionMaps", {"alpha": 0}), ("Isomap", {})])
def test_two_angles_of_a_word_are_revealed(method: str, parameters: dict[str, float]) -> None:
    words = word_images(600, random_state=41)
    found = reveal(words.X, method, known=words.parameters, n_neighbors=8, **parameters)
    assert sorted(found.matches.tolist()) == [0, 1]
    assert np.all(found.correlation > 0.9)


@pytest.mark.slow
def test_the_word_of_the_book_at_its_size() -> None:
    """Wang (2012), Figs. 14.16 and 14.17: 1275 images, 8 neighbours; each coordinate follows one angle."""
    words = word_images(1275, random_state=42)
    found = reveal(words.X, "DiffusionMaps", known=words.parameters, n_neighbors=8, alpha=0)
    assert np.all(found.correlation > 0.9)


def test_bad_input_ends_in_words() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InvalidInput, match="at least 4 rows"):
        order_collection(X[:3])
    with pytest.raises(InvalidInput, match="closed"):
        order_collection(X, closed="maybe")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no parameter"):
        reveal(X, "PCA", n_neighbors=3)
    with pytest.raises(InvalidInput, match="one row per point"):
        reveal(X, "PCA", known=np.ones(4))
    with pytest.raises(InvalidInput, match="as many components"):
        reveal(X, "PCA", known=np.ones((20, 3)))
    with pytest.raises(InvalidInput, match="name of a method or a model"):
        reveal(X, 7)


def test_a_model_may_be_given_and_stays_as_it_is() -> None:
    import lowfold

    disks = occluded_disks(150, random_state=1)
    model = lowfold.Isomap(3, n_neighbors=8)
    found = reveal(disks.X, model)
    assert found.coordinates.shape == (150, 2)
    assert not hasattr(model, "embedding_")
    assert model.n_components == 3
