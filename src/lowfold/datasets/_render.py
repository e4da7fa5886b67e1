"""A small renderer in NumPy: shaded balls seen from afar, and glowing strokes in perspective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.types import Floats


@dataclass(frozen=True, eq=False)
class Balls:
    """Opaque balls: (k, 3) centres, (k,) radii, (k,) brightness of the surface. x right, y up, z to the viewer."""

    centers: Floats
    radii: Floats
    albedo: Floats


FACE = Balls(
    # head, hair, nose, two eyes, mouth in three, two ears: not the same from any two sides
    np.array(
        [
            [0.0, 0.0, 0.0],
            [0.0, 0.22, -0.16],
            [0.0, -0.05, 0.66],
            [-0.26, 0.16, 0.54],
            [0.26, 0.16, 0.54],
            [0.0, -0.36, 0.50],
            [-0.13, -0.33, 0.49],
            [0.13, -0.33, 0.49],
            [-0.66, 0.0, 0.0],
            [0.66, 0.0, 0.0],
        ]
    ),
    np.array([0.66, 0.64, 0.15, 0.11, 0.11, 0.09, 0.08, 0.08, 0.14, 0.14]),
    # Mild contrasts: small black spots on white would make images a few degrees apart as far apart as any two.
    np.array([0.8, 0.5, 0.9, 0.3, 0.3, 0.5, 0.5, 0.5, 0.75, 0.75]),
)


def rotation(yaw: Floats, pitch: Floats) -> Floats:
    """(m, 3, 3) rotations Rx(pitch) Ry(yaw), radians: turn (to the right of the picture), then nod (down)."""
    c, s, zero, one = np.cos(yaw), np.sin(yaw), np.zeros_like(yaw), np.ones_like(yaw)
    turn = np.stack([c, zero, s, zero, one, zero, -s, zero, c], axis=-1).reshape(-1, 3, 3)
    c, s = np.cos(pitch), np.sin(pitch)
    nod = np.stack([one, zero, zero, zero, c, -s, zero, s, c], axis=-1).reshape(-1, 3, 3)
    return np.asarray(nod @ turn)


def pixel_axes(shape: tuple[int, int], fine: int = 1) -> tuple[Floats, Floats]:
    """Coordinates of pixel columns (x, left to right) and rows (y, downwards), the shorter side being [-1, 1]."""
    height, width = shape
    unit = 2.0 / (fine * min(height, width))
    x = (np.arange(fine * width, dtype=np.float64) - (fine * width - 1) / 2) * unit
    y = ((fine * height - 1) / 2 - np.arange(fine * height, dtype=np.float64)) * unit
    return x, y


def render_balls(balls: Balls, turn: Floats, light: Floats, shape: tuple[int, int], fine: int = 2) -> Floats:
    """(m, height, width) images in [0, 1] of the balls turned by `turn` (m, 3, 3) under unit light vectors (m, 3).

    The nearest ball is seen at each point; its brightness is albedo (0.25 + 0.75 max(0, normal . light)). Each pixel is
    the mean of fine x fine points, so that edges move smoothly.
    """
    x, y = pixel_axes(shape, fine)
    images = np.empty((len(turn), *shape))
    # A few images at a time: the points of a block stay in the cache.
    block = max(1, 2**16 // (len(x) * len(y)))
    for start in range(0, len(turn), block):
        rows = slice(start, min(start + block, len(turn)))
        seen = _shade(balls, turn[rows], light[rows], x, y)
        images[rows] = seen.reshape(len(seen), shape[0], fine, shape[1], fine).mean(axis=(2, 4))
    return images


def _shade(balls: Balls, turn: Floats, light: Floats, x: Floats, y: Floats) -> Floats:
    centers = np.einsum("mij,kj->kmi", turn, balls.centers)
    nearest = np.full((len(turn), len(y), len(x)), -np.inf)
    image = np.zeros_like(nearest)
    for center, radius, albedo in zip(centers, balls.radii, balls.albedo, strict=True):
        dx = x[None, None, :] - center[:, 0, None, None]
        dy = y[None, :, None] - center[:, 1, None, None]
        square = radius**2 - dx**2 - dy**2
        dz = np.sqrt(np.maximum(square, 0))
        depth = np.where(square > 0, center[:, 2, None, None] + dz, -np.inf)
        facing = (dx * light[:, 0, None, None] + dy * light[:, 1, None, None] + dz * light[:, 2, None, None]) / radius
        in_front = depth > nearest
        image = np.where(in_front, albedo * (0.25 + 0.75 * np.maximum(facing, 0)), image)
        nearest = np.where(in_front, depth, nearest)
    return image


def word_3d(step: float = 0.04, depth: float = 0.12) -> tuple[Floats, Floats]:
    """The solid word "3D" as points on its strokes, (k, 3), and their brightness (k,): front bright, back dim."""
    strokes = [
        _arc((-0.42, 0.22), 0.26, 0.22, 150, -90, step),
        _arc((-0.42, -0.24), 0.30, 0.24, 90, -150, step),
        np.column_stack([np.full(20, 0.16), np.linspace(-0.46, 0.44, 20)]),
        _arc((0.16, -0.01), 0.46, 0.46, 90, -90, step),
    ]
    flat = np.vstack(strokes)
    layers = [(depth, 0.9), (0.0, 0.4), (-depth, 0.2)]
    points = np.vstack([np.column_stack([flat, np.full(len(flat), z)]) for z, _ in layers])
    return points, np.repeat([weight for _, weight in layers], len(flat))


def _arc(center: tuple[float, float], a: float, b: float, start: float, stop: float, step: float) -> Floats:
    count = max(3, round(abs(np.deg2rad(stop - start)) * max(a, b) / step))
    angle = np.deg2rad(np.linspace(start, stop, count))
    return np.column_stack([center[0] + a * np.cos(angle), center[1] + b * np.sin(angle)])


def render_strokes(
    points: Floats, weight: Floats, turn: Floats, shape: tuple[int, int], width: float = 0.06, distance: float = 3.0
) -> Floats:
    """(m, height, width) images in [0, 1]: 1 - exp(-light), light a sum of Gaussian spots at the projected points.

    The camera stands at `distance` on the z axis; perspective tells a turn to the left from one to the right. A sum of
    separable spots is one matrix product per image.
    """
    x, y = pixel_axes(shape)
    images = np.empty((len(turn), *shape))
    for i, matrix in enumerate(turn):
        p = points @ matrix.T
        scale = distance / (distance - p[:, 2])
        across = np.exp(-(((x[None, :] - (scale * p[:, 0])[:, None]) / width) ** 2) / 2)
        down = np.exp(-(((y[None, :] - (scale * p[:, 1])[:, None]) / width) ** 2) / 2)
        images[i] = 1 - np.exp(-((weight * scale)[:, None] * down).T @ across)
    return images
