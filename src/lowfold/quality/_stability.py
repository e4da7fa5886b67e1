"""Does the same picture come out again? Fits to parts of the data, laid together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput, LowfoldError
from lowfold._core.limits import Choice, Int, Real, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.stacks import stacked_eigh, stacked_svd
from lowfold._core.types import Floats
from lowfold.graph._reading import read_samples
from lowfold.quality._score import Score

FLAT = 1e-9  # of the largest spread: a direction that the embedding does not have is not stretched to the others
ALIGN = ("rigid", "affine")


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Score):
    """How much the places of points differ from one part of the data to the next, as a `Score`.

    value      root mean square of `points`: 0 if every part gives the same picture, about 1 if they have nothing in
               common
    points     (n,) root mean square distance of a point's places from their mean; the picture has radius 1. NaN for a
               point that was in fewer than two parts
    mean       (n, d) the mean place
    places     (n_resamples, n, d), NaN where a point was not in the part
    agreement  (n_resamples,) root mean square distance of each picture from that of all data
    failed     what the fits that failed said
    """

    mean: Floats | None = None
    places: Floats | None = None
    agreement: Floats | None = None
    failed: tuple[str, ...] = ()


def stability(
    X: Any,
    model: Any,
    *,
    y: ArrayLike | None = None,
    n_resamples: int = 20,
    fraction: float = 0.8,
    align: str = "rigid",
    random_state: object = 0,
) -> Stability:
    """Fit `model` to all data and to random parts of them, lay the pictures together, and measure their spread.

    Each picture is centred, brought to a mean squared radius of 1, and turned (reflections included) onto the picture
    of all data over the points it shares with it: least squares over rotations, so that no picture shrinks to agree.

    Parameters
    ----------
    X : array (n, D), or a square matrix where the model takes one (metric="precomputed").
    model : an estimator with `fit_transform` and `get_params`: any method of lowfold, or of scikit-learn's kind. It is
        not changed.
    y : array (n,) or None, what the model's fit needs beside X, classes for example.
    n_resamples : int of at least 2, the number of parts.
    fraction : float in (0, 1), share of the points in each part. Points are drawn without repetition: a point twice
        would be its own neighbour.
    align : {"rigid", "affine"}, the pictures are compared as they are, or after whitening, for methods that find
        coordinates up to an affine map.
    random_state : for the parts.

    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(120, random_state=0)
    >>> stability(roll.X, lowfold.PCA(2), n_resamples=4).value < 0.3
    True
    """
    check_limits(
        "stability",
        {"n_resamples": n_resamples, "fraction": fraction, "align": align},
        {
            "n_resamples": (Int(2),),
            "fraction": (Real(0, 1, open_low=True, open_high=True),),
            "align": (Choice(ALIGN),),
        },
    )
    X, labels = _read(X, y)
    n = int(X.shape[0])
    m = round(fraction * n)
    if m < 3:
        raise InvalidInput(f"fraction * n must be at least 3 points; got {fraction:g} of {n}")
    rng = generator(random_state)
    whole = _fit(model, X, labels, None)
    everything = _standard(whole, align)
    places = np.full((n_resamples, n, whole.shape[1]), np.nan)
    failed = []
    for r in range(n_resamples):
        rows = np.sort(rng.choice(n, m, replace=False))
        try:
            part = _fit(model, X, labels, rows)
        except LowfoldError as error:
            failed.append(str(error))
            continue
        places[r, rows] = _laid(_standard(part, align), everything[rows])
    if n_resamples - len(failed) < 2:
        raise InvalidInput(f"{len(failed)} of {n_resamples} fits to parts of the data failed; the last: {failed[-1]}")
    return _spread(places, everything, tuple(failed))


def _read(X: Any, y: ArrayLike | None) -> tuple[Any, NDArray[Any] | None]:
    X = read_samples(
        X, "stability draws points, and a part of a graph is another graph: pass points or distances", sparse=True
    )
    labels = None if y is None else np.asarray(y)
    if labels is not None and len(labels) != X.shape[0]:
        raise InvalidInput(f"y must have one entry per point; got {len(labels)} for {X.shape[0]}")
    return X, labels


def _fit(model: Any, X: Any, labels: NDArray[Any] | None, rows: NDArray[np.int64] | None) -> Floats:
    """The picture of a part of the data, by a copy of the model; warnings of parts are not passed on."""
    from sklearn.base import clone

    part = X
    if rows is not None:
        part = X[rows]
        if _pairwise(model):
            part = part[:, rows]
    arguments = (part,) if labels is None else (part, labels if rows is None else labels[rows])
    with warnings.catch_warnings():
        if rows is not None:
            warnings.simplefilter("ignore")
        Y = np.asarray(clone(model).fit_transform(*arguments), dtype=np.float64)
    return Y[:, None] if Y.ndim == 1 else Y


def _pairwise(model: Any) -> bool:
    """Whether X is a square matrix of pairs."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.pairwise)


def _standard(Y: Floats, align: str) -> Floats:
    """Centred, with a mean squared radius of 1; for "affine" every direction has the same variance. NaN rows stay."""
    inside = np.isfinite(Y).all(axis=1)
    if inside.sum() < 2:
        raise InvalidInput("the model placed fewer than two points")
    A = Y - Y[inside].mean(axis=0)
    if align == "affine":
        values, V = stacked_eigh(A[inside].T @ A[inside] / inside.sum())
        root = np.sqrt(np.maximum(values, 0.0))
        kept = root > FLAT * root.max(initial=0.0)
        A = A @ (V[:, kept] / root[kept]) @ V[:, kept].T
    size = float(np.sqrt((A[inside] ** 2).sum() / inside.sum()))
    return np.asarray(A / size) if size > 0 else A


def _laid(Y: Floats, target: Floats) -> Floats:
    """Y turned and shifted so that it comes nearest to the target, over the rows that both have."""
    both = np.isfinite(Y).all(axis=1) & np.isfinite(target).all(axis=1)
    if both.sum() < 2:
        return np.full_like(Y, np.nan)
    a, b = Y[both].mean(axis=0), target[both].mean(axis=0)
    with single_threaded_blas():
        U, _, Vt = stacked_svd((Y[both] - a).T @ (target[both] - b))
    return np.asarray((Y - a) @ (U @ Vt) + b)


def _spread(places: Floats, everything: Floats, failed: tuple[str, ...]) -> Stability:
    there = np.asarray(np.isfinite(places).all(axis=2))
    count = there.sum(axis=0)
    known = np.where(there[:, :, None], places, 0.0)
    mean = known.sum(axis=0) / np.maximum(count, 1)[:, None]
    squares = np.where(there, ((known - mean) ** 2).sum(axis=2), 0.0)
    # Dividing by count - 1: the mean is that of the same few places.
    points = np.where(count > 1, np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1)), np.nan)
    off = np.where(there, ((known - np.nan_to_num(everything)) ** 2).sum(axis=2), 0.0).sum(axis=1)
    agreement = np.sqrt(off / np.maximum(there.sum(axis=1), 1))
    agreement[there.sum(axis=1) == 0] = np.nan
    value = float(np.sqrt(np.nanmean(points**2))) if (count > 1).any() else float("nan")
    mean[count == 0] = np.nan
    return Stability("instability under resampling", value, 0.0, points, mean, places, agreement, failed)
