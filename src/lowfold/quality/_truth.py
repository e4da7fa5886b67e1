"""Measures against what is known: true coordinates, or classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import Floats
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods, query_neighborhoods
from lowfold.graph._types import Neighbors
from lowfold.quality._score import Score
from lowfold.quality._spaces import read_coordinates, same_length


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Alignment(Score):
    """A `Score` with the map that was fitted: truth ~ Y @ matrix + shift."""

    matrix: Floats
    shift: Floats

    def apply(self, Y: ArrayLike) -> Floats:
        """Y in the coordinates of the truth."""
        return np.asarray(np.asarray(Y, dtype=np.float64) @ self.matrix + self.shift)


def procrustes(truth: ArrayLike, Y: ArrayLike, *, scaling: bool = True, reflection: bool = True) -> Alignment:
    """What is left of the true coordinates T after the best rigid motion of Y: 0 if Y is T turned and shifted.

    min over b, orthogonal Q (and s with `scaling`) of sum |t_i - s Q'y_i - b|^2 / sum |t_i - mean|^2. With U S V' =
    svd(Yc'Tc): Q = U V', s = tr S / |Yc|^2. Without `reflection` Q is a rotation. The narrower of T and Y gets columns
    of zeros. Points: the squared error of each, in the same unit (their sum is the value). Schonemann (1966),
    doi:10.1007/BF02289451.

    >>> procrustes([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 2.0], [-4.0, 0.0]]).value < 1e-15
    True
    """
    flags = {"scaling": scaling, "reflection": reflection}
    check_limits("procrustes", flags, {name: (Flag(),) for name in flags})
    T, A = _pair(truth, Y)
    width = max(T.shape[1], A.shape[1])
    wide_t = np.pad(T, ((0, 0), (0, width - T.shape[1])))
    wide_a = np.pad(A, ((0, 0), (0, width - A.shape[1])))
    mean_t, mean_a = wide_t.mean(axis=0), wide_a.mean(axis=0)
    Tc, Ac = wide_t - mean_t, wide_a - mean_a
    U, S, Vt = stacked_svd(Ac.T @ Tc)
    if not reflection and np.linalg.slogdet(U @ Vt)[0] < 0:
        U = np.concatenate([U[:, :-1], -U[:, -1:]], axis=1)
        S = np.concatenate([S[:-1], -S[-1:]])
    size = float((Ac * Ac).sum())
    s = float(S.sum()) / size if scaling and size > 0 else 1.0
    Q = s * (U @ Vt)
    points = ((Tc - Ac @ Q) ** 2).sum(axis=1) / _spread(Tc)
    matrix = Q[: A.shape[1], : T.shape[1]]
    shift = (mean_t - mean_a @ Q)[: T.shape[1]]
    return Alignment("procrustes", float(points.sum()), 0.0, points, matrix=matrix, shift=shift)


def affine_r2(truth: ArrayLike, Y: ArrayLike) -> Alignment:
    """R^2 of the best affine map from Y to the true coordinates T: 1 if T = Y A + b.

    1 - min over A, b of sum |t_i - A'y_i - b|^2 / sum |t_i - mean|^2: the measure for methods that find coordinates up
    to an affine map (LLE, Hessian LLE, LTSA). Points: the squared error of each, in the same unit.
    """
    T, A = _pair(truth, Y)
    mean_t, mean_a = T.mean(axis=0), A.mean(axis=0)
    Tc, Ac = T - mean_t, A - mean_a
    matrix = np.linalg.lstsq(Ac, Tc, rcond=None)[0]
    points = ((Tc - Ac @ matrix) ** 2).sum(axis=1) / _spread(Tc)
    shift = mean_t - mean_a @ matrix
    return Alignment("affine R^2", 1.0 - float(points.sum()), 1.0, points, matrix=matrix, shift=shift)


def _pair(truth: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats]:
    T = np.asarray(truth)
    T = np.asarray(read_coordinates(T[:, None] if T.ndim == 1 else T, "truth").X, dtype=np.float64)
    A = np.asarray(read_coordinates(Y, "Y").X, dtype=np.float64)
    same_length(len(T), len(A), "truth and Y")
    return T, A


def _spread(centred: Floats) -> float:
    total = float((centred * centred).sum())
    if total == 0:
        raise InvalidInput("truth must have two different rows; all are the same, so that there is nothing to find")
    return total


def _read_labels(labels: ArrayLike, n: int, name: str = "labels") -> NDArray[np.int64]:
    given = np.asarray(labels)
    if given.ndim != 1:
        raise InvalidInput(f"{name} must have one class per point; got shape {given.shape}")
    same_length(len(given), n, f"{name} and Y")
    return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.int64)


def class_separation(Y: ArrayLike, labels: ArrayLike) -> Score:
    """Share of the variance of Y that lies between the class means, tr S_B / tr S_T: 1 if classes are single points.

    S_T = sum |y_i - m|^2, S_B = sum_c n_c |m_c - m|^2. Points: (|y_i - m_c|^2) / (S_T / n), small where a point is near
    its own class mean.
    """
    A = np.asarray(read_coordinates(Y, "Y").X, dtype=np.float64)
    classes = _read_labels(labels, len(A))
    total = _spread(A - A.mean(axis=0))
    counts = np.bincount(classes)
    means = np.stack([np.bincount(classes, column) / counts for column in A.T], axis=1)
    inside = ((A - means[classes]) ** 2).sum(axis=1)
    return Score("class separation", 1.0 - float(inside.sum()) / total, 1.0, inside * len(A) / total)


def misclassification(
    Y: ArrayLike,
    labels: ArrayLike,
    n_neighbors: int = 1,
    *,
    Y_test: ArrayLike | None = None,
    labels_test: ArrayLike | None = None,
) -> Score:
    """Share of points whose k nearest others vote for another class; of test points, where those are given.

    Wang (2012), Section 1.5.4: split into training and testing sets, count the misclassified. Without a test set each
    point is left out in turn. Ties go to the class of the nearest neighbour among those tied. Points: 1 where wrong.
    """
    train = read_coordinates(Y, "Y")
    check_limits("misclassification", {"n_neighbors": n_neighbors}, {"n_neighbors": (Int(1),)})
    if (Y_test is None) != (labels_test is None):
        raise InvalidInput("Y_test and labels_test must be given together, or neither")
    if Y_test is None or labels_test is None:
        truth = known = _read_labels(labels, train.n)
        with single_threaded_blas():
            found = neighborhoods(train, n_neighbors=n_neighbors)
    else:
        test = read_coordinates(Y_test, "Y_test")
        given, asked = np.asarray(labels), np.asarray(labels_test)
        same_length(len(asked), test.n, "labels_test and Y_test")
        both = _read_labels(np.concatenate([given, asked]), train.n + test.n)
        known, truth = both[: train.n], both[train.n :]
        with single_threaded_blas():
            found = query_neighborhoods(train, test.X, n_neighbors=n_neighbors)
    wrong = (_votes(found, known) != truth).astype(np.float64)
    return Score(f"misclassified(k={n_neighbors})", float(wrong.mean()), 0.0, wrong)


def _votes(found: Neighbors, known: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent class among each row's neighbours, all rows having equally many."""
    near = known[found.indices].reshape(found.n, -1)
    same = (near[:, :, None] == near[:, None, :]).sum(axis=2)  # how many share the class of each neighbour
    return np.asarray(near[np.arange(found.n), same.argmax(axis=1)])


def color_mixing(X: ArrayLike, Y: ArrayLike, color: ArrayLike, n_neighbors: int | None = None) -> Score:
    """Do colours that were apart in the data mix in the picture? 0 if not, 1 for random positions.

    m(S) = mean of (c_i - c_j)^2 over the k nearest j of every i in the space S; the value is (m(Y) - m(X)) / (2 var(c)
    - m(X)). Exactly 0 for an isometry, below 0 where the picture sorts colours better than the data. Points: mean of
    (c_i - c_j)^2 over the k nearest in Y, over 2 var(c). Wang (2012), Section 1.5.4: colours must not mix.
    """
    check_limits("color_mixing", {"n_neighbors": n_neighbors}, {"n_neighbors": (Int(1), Null())})
    data, image = read_coordinates(X, "X"), read_coordinates(Y, "Y")
    same_length(data.n, image.n)
    c = np.asarray(color, dtype=np.float64)
    same_length(len(c), data.n, "color and X")
    k = default_neighbors(data.n) if n_neighbors is None else n_neighbors
    apart = 2 * float(c.var())
    with single_threaded_blas():
        in_data, in_image = (
            ((c[:, None] - c[neighborhoods(S, n_neighbors=k).indices].reshape(data.n, -1)) ** 2).mean(axis=1)
            for S in (data, image)
        )
    before = float(in_data.mean())
    if apart <= before:
        raise InvalidInput("color must vary smoothly over the data; neighbours in X differ as much as random pairs do")
    return Score("color mixing", (float(in_image.mean()) - before) / (apart - before), 0.0, in_image / apart)
