"""Eigenfaces: faces as points near a plane of low dimension. Turk & Pentland (1991), doi:10.1162/jocn.1991.3.1.71;
Wang (2012), Sections 5.3.2 and 7.4.1.

images --light--> rows --centre--> Xc --basis F--> weights y = F (x - mean)
new image --> distance to the plane --> "not a face" | --> distance to the known weights --> a name | "unknown"

The two limits are not guessed: parts of the training set are left out, once whole persons and once images of every
person, and the distances of what was left out say where to draw the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core import errors
from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Limits, Real, check_limits
from lowfold._core.random import generator
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.apps._faces_check import tell_same_pictures
from lowfold.apps._faces_file import read_model, write_model
from lowfold.apps._light import LIGHTS, even_light
from lowfold.lowrank._random_projection import random_matrix
from lowfold.methods.pca import PCA
from lowfold.metrics._pairwise import pairwise

Names = NDArray[np.str_]

UNKNOWN, NO_FACE = "unknown", "not a face"
FOLDS = 5  # parts left out in turn when the limits are learned; fewer where there are fewer persons
BASES = ("pca", "pixels", "samples")
METRICS = ("euclidean", "mahalanobis", "cosine")
RULES = ("neighbor", "class")

LIMITS: Limits = {
    "n_components": (Int(1), Real(0, 1, open_low=True, open_high=True)),
    "basis": (Choice(BASES),),
    "kind": (Choice(("gaussian", "sign", "sparse")),),
    "light": (Choice(LIGHTS),),
    "skip": (Int(0),),
    "metric": (Choice(METRICS),),
    "rule": (Choice(RULES),),
    "keep": (Real(0, 1, open_low=True, open_high=True),),
}


@dataclass(frozen=True, eq=False)
class Recognition:
    """What was seen in each image.

    names             a person, "unknown" (a face, but of nobody known) or "not a face"
    nearest           the nearest person, whatever the distances say
    face_distance     distance of the image to the plane of faces
    person_distance   distance of its weights to those of the nearest person
    """

    names: Names
    nearest: Names
    face_distance: Floats
    person_distance: Floats

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Eigenfaces:
    """A plane of faces with the persons known on it. Made by `Eigenfaces.fit`, or read by `Eigenfaces.load`.

    mean            (D,) the average face
    basis           (d, D) orthonormal rows; of basis="pca" the eigenfaces
    variances       (d,) of the weights, descending for "pca"; `total` is that of the images
    weights         (n, d) of the training images
    persons         (n,) their names
    image_shape     of an image
    face_limit      an image farther from the plane than this is not a face
    person_limit    a face farther than this from everybody is unknown; inf where it could not be learned
    skip            leading components, mostly of the light, that recognition leaves out
    light, metric, rule : as given to `fit`
    """

    mean: Floats
    basis: Floats
    variances: Floats
    total: float
    weights: Floats
    persons: Names
    image_shape: tuple[int, ...]
    face_limit: float
    person_limit: float
    skip: int
    light: str
    metric: str
    rule: str

    __repr__ = brief

    @classmethod
    def fit(
        cls,
        images: ArrayLike,
        persons: Sequence[Any] | NDArray[Any],
        *,
        n_components: int | float = 50,
        basis: str = "pca",
        kind: str = "gaussian",
        light: str = "as_is",
        skip: int = 0,
        metric: str = "euclidean",
        rule: str = "neighbor",
        keep: float = 0.99,
        image_shape: tuple[int, ...] | None = None,
        random_state: Any = 0,
    ) -> Eigenfaces:
        """Learn the plane, the persons' places on it, and the two limits.

        Parameters
        ----------
        images : array (n, height, width[, channels]), or rows of pixels (n, D) with `image_shape`.
        persons : n names.
        n_components : int, or a share of the variance (below 1; basis="pca" only)
            Dimension of the plane, at most n - 1; 40 to 60 is usual.
        basis : {"pca", "pixels", "samples"}
            Eigenfaces; random directions in the space of pixels, made orthonormal; or random mixtures of the training
            images, made orthonormal. A random plane of pixels is as good for telling persons apart, and says nothing
            about what is a face.
        kind : {"gaussian", "sign", "sparse"}, the random entries of the other two bases.
        light : {"as_is", "contrast", "histogram", "quotient", "wavelet", "variation"}
            Images as they are; each brought to mean 0 and variance 1; or to equally many pixels of every grey. The
            last three leave out what changes slowly from place to place, as light does: by the blurred image, by the
            coarse wavelets (extra `wavelets`), or by total variation.
        skip : int
            So many leading components are left out when persons are compared: under changing light they hold the light.
        metric : {"euclidean", "mahalanobis", "cosine"}, of weights; "mahalanobis" divides them by their deviations.
        rule : {"neighbor", "class"}, the person of the nearest image, or of the nearest mean of a person's images.
        keep : share of new faces that `face_limit` lets pass, learned from persons left out.
        random_state : of the random bases and of which images are left out in turn.

        Examples
        --------
        >>> import numpy as np, lowfold
        >>> heads = lowfold.datasets.rendered_object(60, random_state=0).images
        >>> who = np.where(np.arange(60) % 2, "dark", "bright")
        >>> heads = heads * np.where(who == "dark", 0.5, 1.0)[:, None, None]
        >>> faces = lowfold.apps.Eigenfaces.fit(heads[:40], who[:40], n_components=20)
        >>> bool((faces.recognise(heads[40:]).nearest == who[40:]).all())
        True
        """
        given = {"n_components": n_components, "basis": basis, "kind": kind, "light": light, "skip": skip}
        check_limits("Eigenfaces", given | {"metric": metric, "rule": rule, "keep": keep}, LIMITS)
        X, shape = _rows(images, image_shape)
        names = _names(persons, len(X))
        tell_same_pictures(X, names)
        X = even_light(X, light, shape)
        rng = generator(random_state)
        plane = _plane(X, n_components, basis, kind, rng)
        d = len(plane[1])
        if skip >= d:
            raise InvalidInput(f"skip leaves no component: it is {skip} of {d}; at most {d - 1}")
        seed = int(rng.integers(2**31))
        made = cls(*plane, (X - plane[0]) @ plane[1].T, names, shape, np.inf, np.inf, skip, light, metric, rule)
        held = [
            _left_out(made, X, names, train, basis, kind, np.random.default_rng(seed))
            for train in _folds(names, np.random.default_rng(seed))
        ]
        return replace(made, face_limit=_face_limit(held, keep), person_limit=_person_limit(held))

    # What an image is ---------------------------------------------------------------------------------------------

    def project(self, images: ArrayLike) -> Floats:
        """Weights y = F (x - mean), one row per image."""
        return np.asarray((self._read(images) - self.mean) @ self.basis.T)

    def face_distance(self, images: ArrayLike) -> Floats:
        """Distance of each image to the plane of faces, ||x - mean - F'F (x - mean)||."""
        return _off_plane(self._read(images) - self.mean, self.basis)

    def recognise(self, images: ArrayLike) -> Recognition:
        """Who is seen in each image, by the two limits."""
        Xc = self._read(images) - self.mean
        off = _off_plane(Xc, self.basis)
        nearest, distance = self._nearest(Xc @ self.basis.T, self.weights, self.persons)
        seen = np.where(distance <= self.person_limit, nearest, UNKNOWN)
        return Recognition(np.where(off <= self.face_limit, seen, NO_FACE), nearest, off, distance)

    def summed_distance(self, images: ArrayLike) -> Floats:
        """Wang (2012), Section 5.3.2, step 3 as printed: sum_i ||z - y_i||^2 over all training weights.

        The weights sum to zero, so that this is n ||z||^2 and a constant: how far a face is from the average, and
        nothing about who it is. For comparison only; `recognise` takes the nearest.
        """
        Z = self.project(images)
        return np.asarray(len(self.weights) * np.sum(Z**2, axis=1) + np.sum(self.weights**2))

    def reconstruct(self, images: ArrayLike, n_components: Sequence[int] | None = None) -> Floats:
        """Images as the first components tell them: (len(n_components), n, *image_shape); None is all of them.

        With any other light than "as_is" these are the evened images.
        """
        Z = self.project(images)
        counts = [len(self.basis)] if n_components is None else list(n_components)
        if any(not 0 <= d <= len(self.basis) for d in counts):
            raise InvalidInput(f"n_components of reconstruct must be from 0 to {len(self.basis)}; got {counts}")
        made = [self.mean + Z[:, :d] @ self.basis[:d] for d in counts]
        return np.asarray(made).reshape(len(counts), len(Z), *self.image_shape)

    def variance_curve(self) -> Floats:
        """Share of the images' variance that the first 1, 2, ..., d components hold."""
        return np.asarray(np.cumsum(self.variances) / (self.total or 1.0))

    @property
    def faces(self) -> Floats:
        """The basis as images, (d, *image_shape)."""
        return self.basis.reshape(-1, *self.image_shape)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as one .npz file of plain arrays."""
        write_model(path, self, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Eigenfaces:
        """Read what `save` wrote."""
        return cls(**read_model(path, cls))

    # Inside -------------------------------------------------------------------------------------------------------

    def _read(self, images: ArrayLike) -> Floats:
        return even_light(_rows(images, self.image_shape)[0], self.light, self.image_shape)

    def _nearest(self, Z: Floats, weights: Floats, persons: Names) -> tuple[Names, Floats]:
        """The nearest person to each row of weights, and the distance."""
        if self.rule == "class":
            persons, place = np.unique(persons, return_inverse=True)
            weights = _class_means(weights, place)
        D = pairwise(self._compared(Z), self._compared(weights))
        best = np.argmin(D, axis=1)
        return persons[best], D[np.arange(len(D)), best]

    def _compared(self, weights: Floats) -> Floats:
        """Weights in the coordinates in which Euclidean distance is the metric asked for."""
        Y = weights[:, self.skip :]
        if self.metric == "euclidean":
            return Y
        Y = Y / np.sqrt(np.where(self.variances > 0, self.variances, 1.0))[self.skip :]
        if self.metric == "mahalanobis":
            return Y
        length = np.linalg.norm(Y, axis=1, keepdims=True)
        return np.asarray(Y / np.where(length > 0, length, 1.0))


@dataclass(frozen=True, eq=False)
class _Held:
    """Distances of images that a model did not see: to its plane, to the nearest of the own and of other persons."""

    person_unseen: bool
    off: Floats
    own: Floats
    other: Floats


def _rows(images: ArrayLike, image_shape: tuple[int, ...] | None) -> tuple[Floats, tuple[int, ...]]:
    """Rows of pixels, and the shape of an image."""
    array = np.asarray(images, dtype=np.float64)
    shape = tuple(image_shape) if image_shape is not None else array.shape[1:]
    if array.ndim >= 3 and array.shape[1:] == shape:
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or len(shape) < 2 or array.shape[1] != int(np.prod(shape)) or not len(array):
        words = f"images must have shape (n, height, width), or rows of pixels with image_shape; got {np.shape(images)}"
        raise InvalidInput(words + (f" for images of {shape}" if image_shape is not None else ""))
    if not np.isfinite(array).all():
        raise InvalidInput("images must be finite; they hold NaN or inf")
    return array, shape


def _names(persons: Sequence[Any] | NDArray[Any], n: int) -> Names:
    names = np.asarray(persons).astype(np.str_)
    if names.shape != (n,):
        raise InvalidInput(f"persons must have one name per image, {n}; got shape {names.shape}")
    if n < 3:
        raise InvalidInput(f"at least 3 images are needed; got {n}")
    taken = sorted({UNKNOWN, NO_FACE} & set(names.tolist()))
    if taken:
        raise InvalidInput(f"persons cannot be called {taken[0]!r}; that is an answer of recognise")
    return names


def _plane(
    X: Floats, n_components: int | float, basis: str, kind: str, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, float]:
    """Mean, orthonormal basis, variances along it, and the variance of the images."""
    n, D = X.shape
    most = min(n - 1, D)
    share = not isinstance(n_components, (int, np.integer))
    if share and basis != "pca":
        raise InvalidInput(f"a share of the variance, n_components = {n_components}, needs basis='pca'; give a number")
    d = most if share else min(int(n_components), most)
    mean = X.mean(axis=0)
    if basis == "pca":
        model = PCA(d).fit(X)
        F, variances = np.asarray(model.components_, dtype=np.float64), np.asarray(model.eigenvalues_)
        if share:
            held = np.cumsum(variances) / (model.total_variance_ or 1.0)
            d = min(int(np.searchsorted(held, n_components)) + 1, most)
        return mean, F[:d], variances[:d], float(model.total_variance_)
    R = random_matrix(kind, d, D if basis == "pixels" else n, random_state=rng)
    R = np.asarray(R.toarray() if hasattr(R, "toarray") else R)
    F = np.linalg.qr((R if basis == "pixels" else R @ (X - mean)).T)[0].T
    return mean, F, np.var((X - mean) @ F.T, axis=0, ddof=1), float(np.var(X, axis=0, ddof=1).sum())


def _off_plane(Xc: Floats, F: Floats) -> Floats:
    return np.asarray(np.linalg.norm(Xc - (Xc @ F.T) @ F, axis=1))


def _class_means(weights: Floats, place: NDArray[np.intp]) -> Floats:
    sums = np.zeros((int(place.max()) + 1, weights.shape[1]))
    np.add.at(sums, place, weights)
    return np.asarray(sums / np.bincount(place)[:, None])


# Limits from what was left out --------------------------------------------------------------------------------------


def _folds(names: Names, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Which images to train on: first with whole persons left out, then with a part of every person's images."""
    persons, place = np.unique(names, return_inverse=True)
    parts = min(FOLDS, len(persons))
    if parts > 1:
        part_of = rng.permutation(len(persons)) % parts
        yield from (part_of[place] != f for f in range(parts))
    order = rng.permutation(len(names))
    turn = np.empty(len(names), dtype=np.int64)  # the how-manieth image of its person, in random order
    for person in range(len(persons)):
        mine = order[place[order] == person]
        turn[mine] = np.arange(len(mine))
    several = (np.bincount(place) > 1)[place]
    for f in range(min(FOLDS, int(turn.max()) + 1)):
        left = several & (turn % FOLDS == f)
        if left.any() and not left.all():
            yield ~left


def _left_out(
    made: Eigenfaces,
    X: Floats,
    names: Names,
    train: NDArray[np.bool_],
    basis: str,
    kind: str,
    rng: np.random.Generator,
) -> _Held:
    """A model of the images in `train`, and how far the others are from it."""
    mean, F, variances, total = _plane(X[train], len(made.basis), basis, kind, rng)
    skip = min(made.skip, len(F) - 1)
    model = replace(made, mean=mean, basis=F, variances=variances, total=total, skip=skip)
    known, names_known = (X[train] - mean) @ F.T, names[train]
    own: list[float] = []
    other: list[float] = []
    for x, name in zip(X[~train] - mean, names[~train]):
        mine = names_known == name
        for chosen, found in ((mine, own), (~mine, other)):
            if chosen.any():
                found.append(float(model._nearest(x[None] @ F.T, known[chosen], names_known[chosen])[1][0]))
    unseen = not np.isin(names[~train], names_known).any()
    return _Held(unseen, _off_plane(X[~train] - mean, F), np.array(own), np.array(other))


def _face_limit(held: list[_Held], keep: float) -> float:
    """The order statistic that a further face stays below with probability `keep`, if it is like those left out.

    Faces of persons left out whole, where there are any: new faces are mostly of persons not seen before.
    """
    chosen = [part for part in held if part.person_unseen] or held
    off = np.sort(np.concatenate([part.off for part in chosen])) if chosen else np.empty(0)
    if not len(off):
        return float("inf")
    return float(off[min(int(np.ceil((len(off) + 1) * keep)), len(off)) - 1])


def _person_limit(held: list[_Held]) -> float:
    """The distance that takes the fewest strangers for somebody and the fewest known for strangers (mean of shares)."""
    own = np.sort(np.concatenate([part.own for part in held])) if held else np.empty(0)
    other = np.concatenate([part.other for part in held if part.person_unseen] or [np.empty(0)])
    if not len(own) or not len(other):
        lacking = "no person has two images" if not len(own) else "there is only one person"
        warn(
            f"{lacking}, so that no distance can be learned beyond which a face is unknown: everybody is given the "
            "nearest name; look at person_distance",
            errors.AccuracyWarning,
        )
        return float("inf")
    other = np.sort(other)
    tried = np.unique(np.concatenate([own, other]))
    tried = np.concatenate([(tried[:-1] + tried[1:]) / 2, tried[-1:]])
    missed = 1.0 - np.searchsorted(own, tried, side="right") / len(own)
    taken = np.searchsorted(other, tried, side="right") / len(other)
    return float(tried[np.argmin(missed + taken)])
