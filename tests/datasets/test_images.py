"""Image collections, and images as vectors."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

import lowfold.datasets as datasets
from lowfold._core.errors import InvalidInput
from lowfold.datasets import unvectorize, vectorize
from lowfold.datasets._images import binarize_invert


@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3), (1, 7), (2, 2, 1)])
def test_vectors_and_back(order, shape):
    images = np.random.default_rng(0).integers(0, 256, (6, *shape)).astype(np.uint8)
    rows = vectorize(images, order)
    assert rows.shape == (6, np.prod(shape))
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(unvectorize(rows, shape, order), images)


def test_orders_by_hand():
    image = np.array([[[1, 2, 3], [4, 5, 6]]])
    assert vectorize(image).tolist() == [[1, 2, 3, 4, 5, 6]]
    assert vectorize(image, "column").tolist() == [[1, 4, 2, 5, 3, 6]]
    colour = np.stack([image, 10 * image], axis=-1)
    assert vectorize(colour, "column").tolist() == [[1, 10, 4, 40, 2, 20, 5, 50, 3, 30, 6, 60]]
    assert vectorize(np.empty((0, 2, 3))).shape == (0, 6)


def test_wrong_shapes_are_refused_in_words():
    with pytest.raises(InvalidInput, match=r"image\[None\]"):
        vectorize(np.zeros((3, 4)))
    with pytest.raises(InvalidInput, match="order must be one of"):
        vectorize(np.zeros((1, 3, 4)), "diagonal")
    with pytest.raises(InvalidInput, match="have 12 entries"):
        unvectorize(np.zeros((2, 11)), (3, 4))
    with pytest.raises(InvalidInput, match="image_shape"):
        unvectorize(np.zeros((2, 12)), (12,))


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.float64, 1.0), (bool, True), (np.uint16, 65535)])
def test_ink_becomes_one(dtype, white):
    page = np.full((3, 8, 8), white, dtype=dtype)
    page[:, 2:4, 3:6] = 0
    negative = binarize_invert(page)
    assert np.count_nonzero(negative) == 3 * 6
    assert negative.mean() < 0.5
    np.testing.assert_array_equal(negative[:, 2:4, 3:6], 1)


def test_ink_threshold_and_bad_pixels():
    assert binarize_invert([[0.2, 0.6]], threshold=0.7).tolist() == [[1, 1]]
    with pytest.raises(InvalidInput, match="NaN"):
        binarize_invert([np.nan])
    with pytest.raises(InvalidInput, match="real numbers"):
        binarize_invert(["ink"])


def test_the_books_grid_of_words():
    words = datasets.word_images(1275, grid=(51, 25), image_shape=(15, 16))
    assert sorted(set(words.parameters[:, 0].round(9))) == list(range(-50, 51, 2))
    assert sorted(set(words.parameters[:, 1].round(9))) == list(range(-46, 51, 4))
    assert len(np.unique(words.parameters, axis=0)) == 1275
    assert datasets.word_images(2).image_shape == (75, 81)


@pytest.mark.parametrize("name", ["word_images", "rendered_object", "rotating_object", "occluded_disks"])
@pytest.mark.parametrize("seed", [0, 1])
def test_images_tell_their_parameters_apart(name, seed):
    """Nearest images have near parameters: the nearest neighbour is far closer than a random image."""
    data = getattr(datasets, name)(500, random_state=seed, image_shape=(20, 20))
    p = data.parameters
    if name == "rotating_object":  # -180 and 180 degrees are one view
        p = np.column_stack([np.cos(np.deg2rad(p[:, 0])), np.sin(np.deg2rad(p[:, 0]))])
    p = p / p.std(axis=0)
    d = cdist(data.X, data.X)
    np.fill_diagonal(d, np.inf)
    near = np.linalg.norm(p - p[d.argmin(axis=1)], axis=1)
    typical = np.median(np.linalg.norm(p[:, None] - p, axis=2))
    assert np.median(near) < 0.3 * typical
    assert near.max() < 0.8 * typical * (1.5 if name == "rendered_object" else 1)


def test_left_and_right_look_different():
    # Parallel projection of a flat word would show the same picture at alpha and -alpha.
    grid = datasets.word_images(9, grid=(3, 3), image_shape=(30, 32))
    images = dict(zip(map(tuple, grid.parameters.round(6)), grid.X, strict=True))
    assert np.linalg.norm(images[50, 2] - images[-50, 2]) > 0.2 * np.linalg.norm(images[0, 2])
    assert np.linalg.norm(images[0, 50] - images[0, -46]) > 0.2 * np.linalg.norm(images[0, 2])


def test_an_even_turn_is_a_closed_loop():
    turn = datasets.rotating_object(72, even=True)
    np.testing.assert_allclose(turn.parameters[:, 0], np.arange(-180, 180, 5))
    degrees = np.abs(turn.parameters - turn.parameters.T)
    degrees = np.minimum(degrees, 360 - degrees)
    d = cdist(turn.X, turn.X)
    # The next view is nearer than any from another side: the curve does not come back to itself.
    assert d[np.isclose(degrees, 5)].max() < 0.7 * d[degrees > 44].min()
    half = datasets.rotating_object(5, even=True, turn=180, image_shape=(24, 24))
    np.testing.assert_allclose(half.parameters[:, 0], [-90, -45, 0, 45, 90])


def test_a_turn_is_a_mirror_image_under_front_light():
    # The head is symmetric: with the light in front, looking left and looking right are mirror images.
    from lowfold.datasets import _render

    light = np.array([[0.0, 0.0, 1.0]] * 2)
    turn = _render.rotation(np.array([0.5, -0.5]), np.zeros(2))
    right, left = _render.render_balls(_render.FACE, turn, light, (24, 24))
    np.testing.assert_allclose(right, left[:, ::-1], atol=1e-9)
    assert np.abs(right - left).max() > 0.1


def test_light_from_the_right_brightens_the_right():
    data = datasets.rendered_object(400, random_state=0, image_shape=(16, 16), yaw=0, pitch=0)
    left, right = data.images[:, :, :8].sum(axis=(1, 2)), data.images[:, :, 8:].sum(axis=(1, 2))
    balance = (right - left) / (right + left)
    assert stats.spearmanr(balance, data.parameters[:, 2]).statistic > 0.999
    assert np.ptp(data.parameters[:, :2]) == 0


def test_disks_are_where_their_parameters_say():
    data = datasets.occluded_disks(50, random_state=0, image_shape=(60, 80), occluder=0)
    x = (np.arange(80) - 39.5) / 30
    y = (29.5 - np.arange(60)) / 30
    mass = data.images.sum(axis=(1, 2))
    found = np.column_stack([data.images.sum(axis=1) @ x, data.images.sum(axis=2) @ y]) / mass[:, None]
    np.testing.assert_allclose(found, data.parameters, atol=1e-2)
    np.testing.assert_allclose(mass / 900, np.pi * 0.16, rtol=0.02)
    hidden = datasets.occluded_disks(50, random_state=0, image_shape=(60, 80))
    assert (hidden.images[:, 29:31, 39:41] == 0).all()
    assert (hidden.X.max(axis=1) == 1).all()
