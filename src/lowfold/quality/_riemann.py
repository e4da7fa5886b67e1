"""How an embedding stretches the manifold at every point: the push-forward metric.

Near x_i the data lie on their tangent plane, t = tangent coordinates, and the embedding is y - y_i ~ J t. The dual of
the push-forward metric is H = J J': an isometry has H = I, and the ellipse {y : y' H^+ y <= r^2} is the image of a disc
of radius r. Perrault-Joncas & Meila (2013), arXiv:1305.7255, define the same H through the Laplacian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, Null, Real, check_limits
from lowfold._core.stacks import stacked_eigh, stacked_svd
from lowfold._core.types import Floats
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.quality._local import by_patches, differences, read_neighbors
from lowfold.quality._score import Score
from lowfold.quality._spaces import read_coordinates, same_length

SPANNED = 1e-7  # a tangent direction below this share of the longest is not spanned by the neighbours


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Distortion(Score):
    """The stretching at every point, as a `Score`.

    value      median over points of `points`
    points     (n,) largest |log(sigma / scale)|: by which factor, up or down, some direction is stretched too much
    dual       (n, d, d) H = J J' in the coordinates of Y
    stretches  (n, s) singular values sigma of J, descending; all `scale` for an isometry up to scale
    scale      the factor taken out: 1, or the geometric mean of all stretches
    """

    dual: Floats
    stretches: Floats
    scale: float = 1.0

    def anisotropy(self) -> Floats:
        """Log of the longest over the shortest stretch: 0 where the map is conformal."""
        return np.asarray(np.log(_floor(self.stretches[:, 0])) - np.log(_floor(self.stretches[:, -1])))

    def ellipses(self, radius: float = 1.0) -> tuple[Floats, Floats]:
        """Half axes (n, 2), longest first, and angles (n,) in radians of the images of discs, for a plane embedding."""
        check_limits("ellipses", {"radius": radius}, {"radius": (Real(0, open_low=True),)})
        if self.dual.shape[1] != 2:
            raise InvalidInput(f"ellipses are drawn for an embedding of 2 columns; got {self.dual.shape[1]}")
        values, vectors = stacked_eigh(self.dual)
        axes = radius * np.sqrt(np.maximum(values[:, ::-1], 0.0))
        return axes, np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1])

    def noise_bound(self, variance: float) -> Floats:
        """Bound, at every point, of E|eta|^2 in the embedding for noise E|epsilon|^2 = `variance` in the data.

        E|eta_i|^2 <= |dh|^2 E|epsilon_i|^2 to first order, |dh| the longest stretch. Wang (2012), Section 4.1.1, eq.
        (4.5).
        """
        check_limits("noise_bound", {"variance": variance}, {"variance": (Real(0),)})
        return np.asarray(self.stretches[:, 0] ** 2 * variance)


def _floor(x: Floats) -> Floats:
    """Away from zero, so that a collapsed direction has a large finite log."""
    return np.maximum(x, np.finfo(np.float64).tiny)


def riemannian_distortion(
    X: ArrayLike,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    n_components: int | None = None,
    scaled: bool = False,
    n_jobs: int | None = None,
) -> Distortion:
    """By how much does the embedding stretch each direction at each point?

    J_i is the least-squares map from the tangent coordinates of the neighbours of x_i (local PCA) to their y. Points
    with fewer spanned directions than `n_components` have stretches of 0 there.

    Parameters
    ----------
    X, Y : data and embedding; Euclidean.
    n_neighbors : int or None, at least n_components; None is min(10, n - 1).
    n_components : int or None, dimension s of the manifold; None is the number of columns of Y.
    scaled : bool, take a common factor out first, for methods whose output has no unit of length.
    n_jobs : threads.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> np.round(riemannian_distortion(X, 3 * X).stretches[0], 9).tolist()
    [3.0, 3.0]
    """
    data, image = read_coordinates(X, "X"), read_coordinates(Y, "Y")
    same_length(data.n, image.n)
    check_limits("riemannian_distortion", {"n_components": n_components}, {"n_components": (Int(1), Null())})
    s = image.X.shape[1] if n_components is None else n_components
    found = read_neighbors(data.X, image.n, n_neighbors, "euclidean", None, n_jobs)
    return distortion_score(data, image, found, s, scaled, n_jobs)


def distortion_score(
    data: Points, image: Points, found: Neighbors, s: int, scaled: bool, n_jobs: int | None
) -> Distortion:
    """`riemannian_distortion` for neighbourhoods that are known."""
    d = image.X.shape[1]
    _enough(found, data, s)
    dual, stretches = np.zeros((image.n, d, d)), np.zeros((image.n, s))

    def work(rows: NDArray[np.int64], index: NDArray[np.int32]) -> None:
        J = _jacobians(differences(data.X, rows, index), differences(image.X, rows, index), s)
        dual[rows] = J.transpose(0, 2, 1) @ J
        sigma = stacked_svd(J)[1]
        stretches[rows, : sigma.shape[1]] = sigma

    by_patches(found, max(data.X.shape[1], d), work, n_jobs)
    logs = np.log(_floor(stretches))
    scale = float(np.exp(np.median(logs.mean(axis=1)))) if scaled else 1.0
    points = np.abs(logs - np.log(scale)).max(axis=1)
    value = float(np.median(points))
    return Distortion("riemannian distortion", value, 0.0, points, dual=dual, stretches=stretches, scale=scale)


def orientation(X: ArrayLike, Y: ArrayLike, n_neighbors: int | None = None, *, n_jobs: int | None = None) -> Score:
    """Is the picture folded? The share of neighbours between which the embedding changes its orientation.

    0 without folds, also for a mirror image; about 0.5 for random positions. J_i is the map from the tangent
    coordinates of point i to the embedding (as in `riemannian_distortion`), O_ij the map between the tangent planes of
    i and j; a pair is folded where det J_i det O_ij det J_j < 0. Pairs whose planes are turned so far that |det O_ij| <
    1/2 are left out. Points: the share among the neighbours of each; NaN where all are left out. Euclidean in X and Y.

    >>> import numpy as np
    >>> T = np.random.default_rng(0).random((80, 2)) - 0.5
    >>> orientation(T, T * [1.0, -2.0]).value, orientation(T, np.abs(T)).value > 0.05
    (0.0, True)
    """
    data, image = read_coordinates(X, "X"), read_coordinates(Y, "Y")
    same_length(data.n, image.n)
    found = read_neighbors(data.X, image.n, n_neighbors, "euclidean", None, n_jobs)
    return orientation_score(data, image, found, n_jobs)


def orientation_score(data: Points, image: Points, found: Neighbors, n_jobs: int | None) -> Score:
    """`orientation` for neighbourhoods that are known."""
    d = image.X.shape[1]
    _enough(found, data, d)
    sign, bases = np.zeros(image.n), np.zeros((image.n, d, data.X.shape[1]), dtype=np.float32)

    def work(rows: NDArray[np.int64], index: NDArray[np.int32]) -> None:
        A = differences(data.X, rows, index)
        sign[rows] = np.sign(np.linalg.det(_jacobians(A, differences(image.X, rows, index), d)))
        bases[rows] = _tangents(A, d)

    turned, known = np.zeros(image.n), np.zeros(image.n)

    def compare(rows: NDArray[np.int64], index: NDArray[np.int32]) -> None:
        across = np.linalg.det(np.einsum("mad,mkbd->mkab", bases[rows], bases[index]).astype(np.float64))
        side = sign[rows][:, None] * sign[index] * np.where(np.abs(across) < 0.5, 0.0, across)
        turned[rows], known[rows] = (side < 0).sum(axis=1), (side != 0).sum(axis=1)

    width = max(data.X.shape[1], d)
    by_patches(found, width, work, n_jobs)
    by_patches(found, width * d, compare, n_jobs)
    if known.sum() == 0:
        raise InvalidInput("no two neighbours have tangent planes that can be compared; use more neighbours")
    points = np.where(known > 0, turned / np.where(known > 0, known, 1.0), np.nan)
    return Score("orientation changes", float(turned.sum() / known.sum()), 0.0, points)


def _tangents(A: Floats, s: int) -> Floats:
    """Orthonormal tangent directions (m, s, D), in the order and with the signs of `_jacobians`."""
    A = np.concatenate([np.zeros_like(A[:, :1]), A], axis=1)
    return np.asarray(stacked_svd(A - A.mean(axis=1, keepdims=True))[2][:, :s])


def _enough(found: Neighbors, data: Points, s: int) -> None:
    if s > min(int(found.counts.min()), data.X.shape[1]):
        raise InvalidInput(
            f"n_components = {s} directions need at least {s} neighbours and columns of X; got "
            f"{found.counts.min()} neighbours and {data.X.shape[1]} columns; use more neighbours or fewer components"
        )


def _jacobians(A: Floats, B: Floats, s: int) -> Any:
    """Transposed J (m, s, d): least squares of centred B on the leading s tangent coordinates of centred A."""
    A, B = (np.concatenate([np.zeros_like(V[:, :1]), V], axis=1) for V in (A, B))
    A, B = (V - V.mean(axis=1, keepdims=True) for V in (A, B))
    U, sigma, _ = stacked_svd(A)
    U, sigma = U[:, :, :s], sigma[:, :s]
    spanned = sigma > SPANNED * sigma[:, :1]
    inverse = np.where(spanned, 1.0 / np.where(spanned, sigma, 1.0), 0.0)
    return inverse[:, :, None] * (U.transpose(0, 2, 1) @ B)


def noise_bound(
    X: ArrayLike,
    Y: ArrayLike,
    variance: float,
    n_neighbors: int | None = None,
    *,
    n_components: int | None = None,
    n_jobs: int | None = None,
) -> Score:
    """How much noise of the data comes through: E|eta_i|^2 <= |dh_i|^2 E|epsilon_i|^2 to first order.

    x_i = g(y_i) + epsilon_i with E|epsilon_i|^2 = `variance`, y = h(x) the embedding, eta_i the noise of y_i; |dh_i| is
    the longest stretch at the point. value: the bound for all points, by the largest stretch; points: the bound of
    each; perfect: `variance`, that of an isometry. Wang (2012), Section 4.1.1, eqs. (4.4)-(4.5),
    doi:10.1007/978-3-642-27497-8. Other parameters as in `riemannian_distortion`.

    >>> import numpy as np
    >>> T = np.random.default_rng(0).random((50, 2))
    >>> round(noise_bound(T, T * [1.0, 3.0], 0.01).value, 9)
    0.09
    """
    found = riemannian_distortion(X, Y, n_neighbors, n_components=n_components, n_jobs=n_jobs)
    points = found.noise_bound(variance)
    return Score("noise bound", float(points.max()), float(variance), points)
