"""Charts and manifolds: Wang (2012), Section 2.2, Definitions 2.1-2.5, doi:10.1007/978-3-642-27497-8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry._derivatives import DEFAULT_STEP, Field, Jet, as_rows, jacobian, jet
from lowfold.geometry._domain import Domain, Mirrored


@dataclass(frozen=True, eq=False)
class Chart:
    """A parametrisation g: U in R^k -> R^m of a piece of a manifold.

    Parameters
    ----------
    map : g, from (n, k) coordinates to (n, m) points. Derivatives look up to `4 * step` beyond `domain`, so g must be
        defined there.
    domain : the region U, a `Box` or a `Disc`.
    inverse : the coordinate map h = g^-1 from (n, m) points to (n, k) coordinates, where one is known.
    derivatives : value, Jacobian and Hessian of g in closed form; without it they come from differences. Needed where g
        has a kink in its second derivative, which differences would smear.
    step : step of the differences, in coordinate units.
    """

    map: Field
    domain: Domain
    inverse: Field | None = None
    derivatives: Callable[[Floats], Jet] | None = None
    step: float = DEFAULT_STEP

    @property
    def dim(self) -> int:
        """k, the dimension of the manifold."""
        return self.domain.dim

    def points(self, u: ArrayLike) -> Floats:
        """g(u), shape (n, m)."""
        return np.asarray(self.map(as_rows("u", u, self.dim)), dtype=np.float64)

    def coordinates(self, x: ArrayLike) -> Floats:
        """h(x), shape (n, k)."""
        if self.inverse is None:
            raise InvalidInput("chart must have an inverse to find coordinates; got a chart without; pass inverse=")
        return np.asarray(self.inverse(np.atleast_2d(np.asarray(x, dtype=np.float64))), dtype=np.float64)

    def jet(self, u: ArrayLike) -> Jet:
        """g, its Jacobian (n, m, k) and its Hessian (n, m, k, k)."""
        rows = as_rows("u", u, self.dim)
        return self.derivatives(rows) if self.derivatives is not None else jet(self.map, rows, self.step)

    def restrict(self, f: Field) -> Field:
        """f o g: a function of points of R^m as a function of the coordinates."""
        return lambda u: f(self.map(u))

    def flipped(self) -> Chart:
        """The same piece with the opposite orientation: the first coordinate changes its sign."""
        mirror = np.ones(self.dim)
        mirror[0] = -1.0
        old = self

        def derivatives(u: Floats) -> Jet:
            at = old.jet(u * mirror)
            return Jet(at.value, at.first * mirror, at.second * np.outer(mirror, mirror))

        return replace(
            self,
            map=lambda u: old.map(u * mirror),
            domain=Mirrored(self.domain, mirror),
            inverse=None if self.inverse is None else (lambda x: old.coordinates(x) * mirror),
            derivatives=derivatives,
        )


@dataclass(frozen=True, eq=False)
class Manifold:
    """A manifold covered by charts.

    Parameters
    ----------
    name : how messages call it.
    charts : one or several charts; several need an inverse each.
    partition : partition of unity, from (n, m) points to (n, number of charts) weights: smooth, not negative, sum 1,
        and zero outside of the chart. Needed when there are several charts.
    distance : geodesic distance between rows of points in closed form, where there is one.
    """

    name: str
    charts: tuple[Chart, ...]
    partition: Field | None = None
    distance: Callable[[Floats, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        if not self.charts:
            raise InvalidInput(f"charts of {self.name!r} must hold at least one chart; got none")
        if len({chart.dim for chart in self.charts}) > 1:
            raise InvalidInput(f"charts of {self.name!r} must have one dimension; got {[c.dim for c in self.charts]}")
        if len(self.charts) > 1 and (self.partition is None or any(c.inverse is None for c in self.charts)):
            raise InvalidInput(
                f"charts of {self.name!r} overlap: pass a partition of unity, and an inverse with every chart; "
                f"got {len(self.charts)} charts"
            )

    @property
    def dim(self) -> int:
        """k, the dimension of the manifold."""
        return self.charts[0].dim

    @property
    def chart(self) -> Chart:
        """The first chart; of a simple manifold, the chart."""
        return self.charts[0]

    @property
    def is_simple(self) -> bool:
        """Whether one chart without wrapping coordinates covers it: what unrolling methods ask of a data manifold."""
        return len(self.charts) == 1 and not self.chart.domain.periods.any()

    def weights(self, x: Floats) -> Floats:
        """The partition of unity at points, shape (n, number of charts)."""
        return np.ones((len(x), 1)) if self.partition is None else np.asarray(self.partition(x), dtype=np.float64)

    def best_chart(self, x: ArrayLike) -> NDArray[np.intp]:
        """Index of the chart with the largest weight at every point: the one whose middle is nearest."""
        return np.asarray(np.argmax(self.weights(np.atleast_2d(np.asarray(x, dtype=np.float64))), axis=1))


def transition(source: Chart, target: Chart) -> Field:
    """The change of coordinates h_target o g_source on the overlap."""
    return lambda u: target.coordinates(source.points(u))


def transition_sign(source: Chart, target: Chart, u: ArrayLike) -> NDArray[np.int_]:
    """Sign of det(d v / d u) of the change of coordinates: +1 where both charts have the same orientation.

    The determinant's sign is read from tangent bases, T_target^+ T_source, so no step crosses a cut of the inverse.
    """
    x = source.points(u)
    change = np.linalg.pinv(target.jet(target.coordinates(x)).first) @ source.jet(u).first
    return np.asarray(np.sign(np.linalg.det(change)), dtype=np.int_)


def transition_jacobian(source: Chart, target: Chart, u: ArrayLike) -> Floats:
    """d v / d u of the change of coordinates, shape (n, k, k): tangent coordinates change by beta = (dv/du) alpha."""
    return jacobian(transition(source, target), as_rows("u", u, source.dim), source.step)


def orientation(manifold: Manifold, order: int = 24) -> tuple[int, ...] | None:
    """Signs that make all changes of coordinates positive, one per chart, or None when there are none (not orientable).

    Every chart is connected and so has two orientations. Each overlap, looked at on `order` points per axis, asks for
    equal or opposite signs; an overlap that asks for both, or a loop of charts that disagrees, has no orientation.
    """
    wanted = _overlap_signs(manifold, order)
    signs = [0] * len(manifold.charts)
    for start in range(len(signs)):
        if signs[start]:
            continue
        signs[start], todo = 1, [start]
        while todo:
            a = todo.pop()
            for b, pair in [(b, s) for (c, b), s in wanted.items() if c == a]:
                if len(pair) > 1 or signs[b] == -signs[a] * next(iter(pair)):
                    return None
                if signs[b] == 0:
                    signs[b] = signs[a] * next(iter(pair))
                    todo.append(b)
    return tuple(signs)


def oriented(manifold: Manifold) -> Manifold:
    """The manifold with charts flipped so that all changes of coordinates have a positive determinant."""
    signs = orientation(manifold)
    if signs is None:
        raise InvalidInput(
            f"manifold must be orientable; got {manifold.name!r}, whose charts disagree whatever their signs; "
            "integrate functions on it, not forms"
        )
    pairs = zip(manifold.charts, signs, strict=True)
    return replace(manifold, charts=tuple(chart if sign > 0 else chart.flipped() for chart, sign in pairs))


def _overlap_signs(manifold: Manifold, order: int) -> dict[tuple[int, int], set[int]]:
    found: dict[tuple[int, int], set[int]] = {}
    for a, source in enumerate(manifold.charts):
        # Quadrature nodes lie inside the domain, off the cuts where a coordinate is not defined.
        u, _ = source.domain.quadrature(order)
        x = source.points(u)
        inside = manifold.weights(x) > 0
        for b, target in enumerate(manifold.charts):
            both = inside[:, a] & inside[:, b]
            if a != b and both.any():
                found[a, b] = {int(s) for s in transition_sign(source, target, u[both])}
    return found
