"""Swiss rolls and the S-curve: sheets bent in one direction, so arc length and height are isometric coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets._sampling import (
    check_choice,
    check_count,
    check_noise,
    check_numbers,
    check_positive,
    euclidean,
    noisy,
)
from lowfold.datasets._types import Dataset
from lowfold.geometry._closed import SWISS_ROLL_ANGLES, swiss_roll_angle, swiss_roll_arclength


def swiss_roll(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    height: float = 21.0,
    density: str = "parameter",
    power: float = 2.0,
    hole: bool | Sequence[float] = False,
) -> Dataset:
    """Swiss roll: (theta cos theta, s, theta sin theta), theta = (3 pi / 2)(1 + 2 u), u in [0, 1], 0 <= s <= height.

    Wang (2012), Section 1.5.4, eq. (1.5), doi:10.1007/978-3-642-27497-8; u runs over [0, 1], because the roll over the
    printed range |t| <= 1 crosses itself. scikit-learn's `make_swiss_roll` is the same map. The sheet is developable:
    `coordinates` are (S(theta), s) with S the arc length, 89.37 from end to end; `parameters` are (theta, s).

    Parameters
    ----------
    n : number of points.
    noise : standard deviation of Gaussian noise added to X.
    random_state : None, int, Generator or RandomState.
    height : width of the sheet, the book's length; its figures use 21, 51 and 81.
    density : "parameter", u uniform, which thins the points outwards by a factor of three; "area", uniform on the
        sheet; "uneven", both coordinates the fraction u^power of their range.
    power : thinning of "uneven"; 1 is uniform in area.
    hole : False; True for the middle ninth of the (theta, s) rectangle, as in scikit-learn; or the limits
        (theta_low, theta_high, s_low, s_high) of an open rectangle left out. Geodesics go around it.

    Examples
    --------
    >>> roll = swiss_roll(500, random_state=0)
    >>> roll.X.shape, roll.coordinates.shape
    ((500, 3), (500, 2))
    """
    n, noise, height = check_count(n), check_noise(noise), check_positive(height, "height")
    check_choice(density, "density", ("parameter", "area", "uneven"))
    power = check_positive(power, "power")
    box = _hole(hole, height)
    rng = generator(random_state)
    rows = [np.empty((0, 2))]
    while (missing := n - sum(map(len, rows))) > 0:
        drawn = _roll_parameters(rng.random((missing, 2)), height, density, power)
        rows.append(drawn if box is None else drawn[~_inside(drawn, box)])
    parameters = np.concatenate(rows)
    theta, s = parameters.T
    clean = np.column_stack([theta * np.cos(theta), s, theta * np.sin(theta)])
    return Dataset(
        name="swiss_roll",
        X=noisy(clean, noise, rng),
        parameters=parameters,
        color=theta,
        intrinsic_dim=2,
        coordinates=np.column_stack([swiss_roll_arclength(theta), s]),
        distance=euclidean if box is None else partial(around_box, box=_flat(box)),
    )


def swiss_hole(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, height: float = 21.0, density: str = "parameter"
) -> Dataset:
    """Swiss roll with the middle ninth of its parameter rectangle left out: flat, but not convex."""
    roll = swiss_roll(n, noise=noise, random_state=random_state, height=height, density=density, hole=True)
    return replace(roll, name="swiss_hole")


def uneven_swiss_roll(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, height: float = 21.0, power: float = 2.0
) -> Dataset:
    """Swiss roll crowded at the inner end of one edge: both coordinates are the fraction u^power of their range."""
    roll = swiss_roll(n, noise=noise, random_state=random_state, height=height, density="uneven", power=power)
    return replace(roll, name="uneven_swiss_roll")


def s_curve(n: int, *, noise: float = 0.0, random_state: RandomState = None, height: float = 5.0) -> Dataset:
    """S-curve: two arcs of the unit circle, (-cos a, s, -sin a) and then (-cos a, s, 2 + sin a), a = 3 pi t / 2.

    Wang (2012), Section 1.5.4, eq. (1.6): t in [0, 1] on the first arc, (1, 2] on the second, 0 <= s <= height, uniform
    on the sheet. `parameters` are (t, s), `coordinates` (3 pi t / 2, s), the arc length being 3 pi from end to end.
    The figures use heights (the book's lengths) 5, 10 and 30.
    """
    n, noise, height = check_count(n), check_noise(noise), check_positive(height, "height")
    rng = generator(random_state)
    t, s = (rng.random((n, 2)) * [2.0, height]).T
    angle = 1.5 * np.pi * t
    z = np.where(t <= 1, -np.sin(angle), 2 + np.sin(angle))
    return Dataset(
        name="s_curve",
        X=noisy(np.column_stack([-np.cos(angle), s, z]), noise, rng),
        parameters=np.column_stack([t, s]),
        color=t,
        intrinsic_dim=2,
        coordinates=np.column_stack([angle, s]),
        distance=euclidean,
    )


def around_box(a: Floats, b: Floats, box: tuple[float, float, float, float]) -> Floats:
    """Length of the shortest path in the plane from rows of a to rows of b that stays out of the open rectangle `box`.

    A straight segment where that is free; else through one corner, or two at the ends of a side.
    """
    x0, x1, y0, y1 = box
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    # Along the rectangle's rim the distance between two corners is |dx| + |dy|.
    along = np.abs(corners[:, None] - corners[None, :]).sum(axis=2)
    straight = np.where(_crosses(a, b, box), np.inf, euclidean(a, b))
    to_a, to_b = (
        np.stack([np.where(_crosses(p, c, box), np.inf, euclidean(p, np.broadcast_to(c, p.shape))) for c in corners])
        for p in (a, b)
    )
    detour = (to_a[:, None, :] + along[:, :, None] + to_b[None, :, :]).min(axis=(0, 1))
    return np.asarray(np.minimum(straight, detour))


def _crosses(a: Floats, b: Floats, box: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    """Whether the segment from a to b meets the open rectangle: clip a + t (b - a), 0 <= t <= 1, against each side."""
    step = b - a
    enter, leave = np.zeros(len(a)), np.ones(len(a))
    for axis, (low, high) in enumerate((box[:2], box[2:])):
        # Touching a side is allowed: the rectangle is open, so it is shrunk by a rounding error.
        slack = 1e-12 * (abs(low) + abs(high))
        low, high = low + slack, high - slack
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (low - a[:, axis]) / step[:, axis], (high - a[:, axis]) / step[:, axis]
        still = step[:, axis] == 0
        between = (a[:, axis] > low) & (a[:, axis] < high)
        first = np.where(still, np.where(between, -np.inf, np.inf), first)
        second = np.where(still, np.where(between, np.inf, -np.inf), second)
        moving_back = ~still & (step[:, axis] < 0)
        first, second = np.where(moving_back, second, first), np.where(moving_back, first, second)
        enter, leave = np.maximum(enter, first), np.minimum(leave, second)
    return np.asarray(enter < leave)


def _roll_parameters(uv: Floats, height: float, density: str, power: float) -> Floats:
    low, high = SWISS_ROLL_ANGLES
    if density == "parameter":
        return np.column_stack([low + (high - low) * uv[:, 0], height * uv[:, 1]])
    w = uv if density == "area" else uv**power
    start, end = swiss_roll_arclength(np.array(SWISS_ROLL_ANGLES))
    return np.column_stack([swiss_roll_angle(start + (end - start) * w[:, 0]), height * w[:, 1]])


def _hole(hole: bool | Sequence[float], height: float) -> tuple[float, float, float, float] | None:
    low, high = SWISS_ROLL_ANGLES
    if hole is False:
        return None
    if hole is True:
        return low + (high - low) / 3, high - (high - low) / 3, height / 3, 2 * height / 3
    limits = check_numbers(hole, "hole")
    words = "hole must be False, True or four numbers (theta_low, theta_high, s_low, s_high), each low below its high"
    if limits.shape != (4,) or limits[0] >= limits[1] or limits[2] >= limits[3]:
        raise InvalidInput(f"{words}; got {hole!r}")
    if limits[0] <= low or limits[1] >= high or limits[2] <= 0 or limits[3] >= height:
        raise InvalidInput(
            f"{words}, inside theta from {low:.4g} to {high:.4g} and s from 0 to {height:g}, so that one sheet "
            f"is left; got {hole!r}"
        )
    t0, t1, s0, s1 = limits.tolist()
    return t0, t1, s0, s1


def _inside(parameters: Floats, box: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    theta, s = parameters.T
    return np.asarray((theta > box[0]) & (theta < box[1]) & (s > box[2]) & (s < box[3]))


def _flat(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    start, end = swiss_roll_arclength(np.array(box[:2]))
    return float(start), float(end), box[2], box[3]
