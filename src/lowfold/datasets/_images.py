"""Image collections with known parameters, and images as vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets import _render
from lowfold.datasets._sampling import (
    check_between,
    check_choice,
    check_count,
    check_counts,
    check_noise,
    check_positive,
    noisy,
    uniform,
)
from lowfold.datasets._types import Dataset

ALPHA = (-50.0, 50.0)
BETA = (-46.0, 50.0)


def rotating_object(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    image_shape: tuple[int, int] = (32, 32),
    turn: float = 360.0,
    even: bool = False,
) -> Dataset:
    """Images of one head that turns about its vertical axis: a closed curve in image space, d = 1.

    Parameters
    ----------
    n, noise, random_state : as in `swiss_roll`; images are in [0, 1] before noise.
    image_shape : (height, width) in pixels.
    turn : range of the angle in degrees, centred on the front view; below 360 the curve is open, as for a person who
        turns from one profile to the other (180).
    even : equally spaced angles in order, instead of random ones.

    `parameters` are the angle in degrees.
    """
    n, noise, shape = check_count(n), check_noise(noise), _check_shape(image_shape)
    turn = check_between(turn, "turn (degrees)", 1e-6, 360)
    rng = generator(random_state)
    closed = turn == 360
    # A closed turn must not show its first view twice.
    share = np.arange(n) / max(n if closed else n - 1, 1) if even else rng.random(n)
    angle = turn * (share - 0.5)
    light = np.broadcast_to(_light(np.array([20.0])), (n, 3))
    rotation = _render.rotation(np.deg2rad(angle), np.zeros(n))
    images = _render.render_balls(_render.FACE, rotation, light, shape)
    return _image_set("rotating_object", images, angle[:, None], noise, rng, is_simple=not closed)


def rendered_object(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    image_shape: tuple[int, int] = (32, 32),
    yaw: float = 45.0,
    pitch: float = 20.0,
    light: float = 75.0,
) -> Dataset:
    """Images of one head with three parameters: turn left or right, nod, and direction of the light; d = 3.

    Stands in for the face images of Tenenbaum, de Silva and Langford (2000), doi:10.1126/science.290.5500.2319 (698
    images of 64 x 64 pixels). Angles are uniform in [-yaw, yaw], [-pitch, pitch], [-light, light] degrees;
    `parameters` are (yaw, pitch, light) in degrees. Images are in [0, 1] before noise. The default ranges and the mild
    contrasts of the head were chosen so that some hundred images show all three parameters to Isomap; with a wide yaw
    and a narrow pitch (60, 15) the nod is easily lost.
    """
    n, noise, shape = check_count(n), check_noise(noise), _check_shape(image_shape)
    limits = [
        check_between(value, f"{name} (degrees)", 0, 90)
        for value, name in ((yaw, "yaw"), (pitch, "pitch"), (light, "light"))
    ]
    rng = generator(random_state)
    angles = uniform(rng, n, *((-limit, limit) for limit in limits))
    rotation = _render.rotation(np.deg2rad(angles[:, 0]), np.deg2rad(angles[:, 1]))
    images = _render.render_balls(_render.FACE, rotation, _light(angles[:, 2]), shape)
    return _image_set("rendered_object", images, angles, noise, rng)


def word_images(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    image_shape: tuple[int, int] = (75, 81),
    grid: tuple[int, int] | None = None,
) -> Dataset:
    """Images of the solid word "3D" turned by two angles, alpha about the vertical and beta about the horizontal axis.

    Wang (2012), Section 14.5.3, Figs. 14.16 and 14.17: alpha from -50 to 50 and beta from -46 to 50 degrees. The angles
    are uniform, or with grid=(a, b), a b = n, equally spaced with alpha running slowest: `word_images(1275,
    grid=(51, 25))` is the book's collection, in steps of 2 and 4 degrees. `parameters` are (alpha, beta).
    """
    n, noise, shape = check_count(n), check_noise(noise), _check_shape(image_shape)
    rng = generator(random_state)
    if grid is None:
        angles = uniform(rng, n, ALPHA, BETA)
    else:
        a, b = check_counts(grid, "grid", 1, 2)
        if a * b != n:
            raise InvalidInput(f"grid = ({a}, {b}) holds {a * b} images, but n = {n}; pass n = {a * b}")
        angles = np.stack(np.meshgrid(np.linspace(*ALPHA, a), np.linspace(*BETA, b), indexing="ij"), -1).reshape(n, 2)
    points, weight = _render.word_3d()
    alpha, beta = np.deg2rad(angles).T
    # Beta first, then alpha: the base line of the word stays level, as on a turntable.
    rotation = _render.rotation(alpha, np.zeros(n)) @ _render.rotation(np.zeros(n), beta)
    # The products are small: several BLAS threads would mostly wait for each other (ten times slower).
    with single_threaded_blas():
        images = _render.render_strokes(points, weight, rotation, shape)
    return _image_set("word_images", images, angles, noise, rng)


def occluded_disks(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    image_shape: tuple[int, int] = (20, 20),
    radius: float = 0.4,
    occluder: float = 0.2,
) -> Dataset:
    """Images of a bright disk that moves behind a fixed dark disk in the middle; d = 2.

    The centre is uniform in the disk where the moving disk stays in the picture, whose shorter side is [-1, 1].
    `parameters` are the centre (x, y). The moving disk is larger than the `occluder`, so part of it always shows.
    """
    n, noise, shape = check_count(n), check_noise(noise), _check_shape(image_shape)
    radius = check_between(check_positive(radius, "radius"), "radius", 0, 0.9)
    occluder = check_between(occluder, "occluder", 0, radius)
    rng = generator(random_state)
    angle, share = uniform(rng, n, (0.0, 2 * np.pi), (0.0, 1.0)).T
    reach = (1 - radius) * np.sqrt(share)
    centers = np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
    x, y = _render.pixel_axes(shape)
    moving = _disk(x, y, centers, radius)
    images = moving * (1 - _disk(x, y, np.zeros((1, 2)), occluder))
    return _image_set("occluded_disks", images, centers, noise, rng)


def vectorize(images: ArrayLike, order: str = "row") -> NDArray[np.generic]:
    """Images (k, height, width) or (k, height, width, channels) as k rows of pixels.

    The pixels of an image follow row by row, or column by column; the channels of a pixel stay together.

    >>> vectorize([[[1, 2], [3, 4]]], order="column")
    array([[1, 3, 2, 4]])
    """
    stack = np.asarray(images)
    check_choice(order, "order", ("row", "column"))
    if stack.ndim not in (3, 4):
        raise InvalidInput(
            "images must be a stack (k, height, width) or (k, height, width, channels); "
            f"got shape {stack.shape}; for one image pass image[None]"
        )
    turned = stack if order == "row" else stack.swapaxes(1, 2)
    return turned.reshape(len(stack), int(np.prod(stack.shape[1:])))


def unvectorize(rows: ArrayLike, image_shape: tuple[int, ...], order: str = "row") -> NDArray[np.generic]:
    """The images of which `rows` are `vectorize(images, order)`; image_shape is (height, width[, channels])."""
    matrix = np.asarray(rows)
    check_choice(order, "order", ("row", "column"))
    shape = tuple(check_counts(image_shape, "image_shape", 1))
    if len(shape) not in (2, 3):
        raise InvalidInput(f"image_shape must be (height, width) or (height, width, channels); got {image_shape!r}")
    if matrix.ndim != 2 or matrix.shape[1] != int(np.prod(shape)):
        raise InvalidInput(
            f"rows of images of shape {shape} have {int(np.prod(shape))} entries; got an array of shape {matrix.shape}"
        )
    if order == "row":
        return matrix.reshape(-1, *shape)
    return matrix.reshape(-1, shape[1], shape[0], *shape[2:]).swapaxes(1, 2)


def binarize_invert(images: ArrayLike, threshold: float | None = None) -> Floats:
    """The negative of scanned writing: 1.0 where a pixel is darker than `threshold` (ink), 0.0 elsewhere (paper).

    Most of a page is paper, so the result is sparse. threshold None means half of the full range: 1/2 for floats and
    booleans, half of the largest value of an integer type.
    """
    pixels = np.asarray(images)
    if not (np.issubdtype(pixels.dtype, np.number) or pixels.dtype == bool) or np.iscomplexobj(pixels):
        raise InvalidInput(f"images must hold real numbers; got dtype {pixels.dtype}")
    if np.issubdtype(pixels.dtype, np.floating) and np.isnan(pixels).any():
        raise InvalidInput("images hold NaN, which is neither ink nor paper; fill them first")
    if threshold is None:
        threshold = np.iinfo(pixels.dtype).max / 2 if np.issubdtype(pixels.dtype, np.integer) else 0.5
    return (pixels < threshold).astype(np.float64)


def _image_set(
    name: str, images: Floats, parameters: Floats, noise: float, rng: np.random.Generator, is_simple: bool = True
) -> Dataset:
    return Dataset(
        name=name,
        X=noisy(images.reshape(len(images), -1), noise, rng),
        parameters=parameters,
        color=parameters[:, 0],
        intrinsic_dim=parameters.shape[1],
        is_simple=is_simple,
        image_shape=images.shape[1:],
    )


def _light(angle: Floats) -> Floats:
    """Unit vectors to a light a little above the viewer, moved sideways by `angle` degrees."""
    side = np.deg2rad(angle)
    direction = np.column_stack([np.sin(side), np.full_like(side, 0.35), np.cos(side)])
    return np.asarray(direction / np.linalg.norm(direction, axis=1, keepdims=True))


def _disk(x: Floats, y: Floats, centers: Floats, radius: float) -> Floats:
    """(m, height, width) disks with an edge one pixel wide, so that images change smoothly with the centre."""
    away = np.hypot(x[None, None, :] - centers[:, 0, None, None], y[None, :, None] - centers[:, 1, None, None])
    pixel = float(x[1] - x[0])
    return np.clip(0.5 + (radius - away) / pixel, 0.0, 1.0)


def _check_shape(shape: tuple[int, int]) -> tuple[int, int]:
    height, width = check_counts(shape, "image_shape", 2, 2)
    return height, width
