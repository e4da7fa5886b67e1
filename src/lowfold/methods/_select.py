"""The stage between eigenvectors and coordinates: the leading ones, or combinations that do not repeat each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.errors import DependenceWarning
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._source import euclidean_rows
from lowfold.graph._types import Neighbors
from lowfold.methods._chart import extents_of, is_surface, lost_share, mean_miss, patches_of, planes_of, spots_of
from lowfold.methods._fit import Connected, Extension, Fit, Looks, Queries, Trained
from lowfold.methods._independent import (
    MORE_CANDIDATES,
    MORE_SUBSPACE,
    NEWS,
    NO_EXTENT,
    SUBSPACE,
    ZETA,
    dependence,
    evenness,
    independent,
    n_candidates,
    told_of,
)
from lowfold.spectral._held import held_columns
from lowfold.spectral._types import REPEATED

VECTORS = ("right_vectors_", "left_vectors_")  # fitted attributes with a column for every eigenvector
SMALLEST = 1e-100  # factor of a candidate: one that has died away is not brought back
# Of the variance of a leading coordinate, what others must tell to replace it: those that lost something told 0.24 to
# 0.97, the rest 0.98 and more, on the half of the surfaces that this was set on.
KEPT = 0.975
LOOSER = 0.05  # of the variance: combinations that the earlier coordinates tell so much more of are not independent
RESOLVED = 8.0  # times as long as wide: patches of longer data are about as wide as these, and miss no width
ENOUGH_TO_TELL = 500  # points: of fewer, neighbourhoods are so wide that coordinates which are right seem uneven


@dataclass(frozen=True)
class Doubt:
    """When a coordinate of long data is called a mixture: set on 120 sheets; of 98 others that were right (worse
    coordinate R^2 > 0.85) one was told, at 0.86.

    The data are `long` times as long as wide by the roots of the energies, and the coordinate is less even than
    `uneven`, or the earlier ones tell more than `told` of it and it is less even than `partly`. Of a second
    look, among more eigenvectors, it is called one beyond `longest` whatever its slopes. Coordinates that miss less
    than `sure` of the points show their data all the same, where these are not too long for that to be seen.
    """

    long: float
    told: float
    uneven: float
    partly: float
    way_out: str
    longest: float = np.inf
    sure: float = 0.0


CHOSEN = Doubt(3.5, 0.25, 0.37, 1.0, "use LTSA or Isomap, or more points", sure=0.02)
CHOSEN_ROUGH = replace(CHOSEN, told=0.11)  # coordinates of reconstruction weights are nearly linear where right
# Eigenvectors of a graph with so many waves are mixed: all coordinates that were lost, and even, were of longer data
CHOSEN_WAVES = replace(CHOSEN, longest=12.0)
# Of 44 leading fits of LLE that lost a coordinate, on 315 surfaces, all were told by this or as repeated, of those that
# were right 40 of 271; on 806 other surfaces 92 of 93, and 84 of 713, before `sure` left out those that show their data
ROUGH_WAY_OUT = "use select='independent', or LTSA, whose coordinates keep lengths"
LEADING_ROUGH = Doubt(1.3, 0.24, 0.1, 0.25, ROUGH_WAY_OUT, sure=0.05)


@dataclass(frozen=True, eq=False)
class Combined(Extension):
    """New points of combined coordinates: placed among all candidates, then combined as the training points were."""

    extend: Extension
    coordinates: Floats
    W: Floats

    @property
    def looks(self) -> Looks:  # type: ignore[override]
        """What the candidates' own extension looks for."""
        return self.extend.looks

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        placed = self.extend.place(replace(trained, coordinates=self.coordinates), queries, found, run)
        return np.asarray(placed @ self.W)


def selected(
    fit_of: Callable[[int], Fit],
    data: Connected,
    d: int,
    how: str,
    energies: Callable[[Floats], Floats],
    run: Run,
    *,
    factors: Callable[[Floats], Floats] | None = None,
    zeta: float = ZETA,
    doubts: tuple[Doubt | None, Doubt] = (None, CHOSEN),
) -> Fit:
    """The fit with d coordinates: the leading ones, or those of `independent` among more; `selected_` (m, d) says how
    they are made of the m candidates, of which more are looked at where the first give a mixture. Eigenvalues of
    combinations are their Rayleigh quotients.

    `factors` of the eigenvalues are those that eigenvectors have as coordinates: a combination of eigenvectors has that
    of its own eigenvalue. `zeta` is the say of the energies; `doubts` tell mixtures among leading ones and among
    combinations.
    """
    if how == "leading" or n_candidates(d, data.n) == d:
        fit = fit_of(d)
        if doubts[0] is not None and how == "leading" and fit.pairs is not None:
            found = _mixture(fit.coordinates, energies(fit.pairs.values), data, doubts[0], run)
            fit = replace(fit, doubtful=_tell(found, doubts[0]))
        return replace(fit, extra={**fit.extra, "selected_": np.eye(d)})
    fit = fit_of(n_candidates(d, data.n))
    if fit.pairs is None:
        return replace(fit, extra={**fit.extra, "selected_": np.eye(d)})
    asked = _Asked(data, d, energies, run, factors, zeta, doubts[1])
    chosen, more = asked.choose(fit, SUBSPACE, np.inf), n_candidates(d, data.n, MORE_CANDIDATES)
    if chosen.mixture is not None and more > n_candidates(d, data.n):
        second = asked.choose(fit_of(more), MORE_SUBSPACE, doubts[1].longest)
        chosen = min(chosen, second, key=_Chosen.doubt)
    return replace(chosen.combined(factors), doubtful=_tell(chosen.mixture, doubts[1]))


@dataclass(frozen=True)
class _Mixture:
    """A coordinate that is mixed or uneven: what the earlier ones tell of it, its evenness, and whether one of the
    coordinates repeats the earlier ones.
    """

    column: int
    told: float
    even: float
    repeated: bool


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Combinations W (m, d) of the eigenvectors of a fit, less their factors, and the mixture among them."""

    fit: Fit
    W: Floats
    factor: Floats
    mixture: _Mixture | None

    def doubt(self) -> float:
        """0 without a mixture; of two, the one whose own part is less even is the worse."""
        return 0.0 if self.mixture is None else 1.0 - self.mixture.even * (1.0 - self.mixture.told)

    def combined(self, factors: Callable[[Floats], Floats] | None) -> Fit:
        fit, W = self.fit, self.W
        assert fit.pairs is not None
        pairs = replace(fit.pairs, values=(W**2).T @ fit.pairs.values, vectors=fit.pairs.vectors @ W)
        turned: dict[str, Floats] = {name: value @ W for name, value in fit.extra.items() if name in VECTORS}
        own = np.ones(W.shape[1]) if factors is None else factors(pairs.values)
        W = W / self.factor[:, None] * own
        return replace(combined(fit, W), pairs=pairs, extra={**fit.extra, **turned, "selected_": W})


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a choice among eigenvectors depends on besides them."""

    data: Connected
    d: int
    energies: Callable[[Floats], Floats]
    run: Run
    factors: Callable[[Floats], Floats] | None
    zeta: float
    doubt: Doubt

    def choose(self, fit: Fit, subspace: int, longest: float) -> _Chosen:
        """`independent` combinations of a fit's eigenvectors, or the leading ones where those would be worse."""
        assert fit.pairs is not None
        doubt = replace(self.doubt, longest=longest)
        values, m, run = fit.pairs.values, fit.coordinates.shape[1], self.run
        factor = np.ones(m) if self.factors is None else np.maximum(self.factors(values), SMALLEST)
        patches = patches_of(self.data)
        V, e = fit.coordinates / factor, self.energies(values)
        W = independent(V, e, patches, self.d, extents_of(self.data, patches), self.zeta, subspace)
        if self._loses(V[:, : self.d], V @ W):
            W = np.eye(m, self.d)
        return _Chosen(fit, W, factor, _mixture(V @ W, (W**2).T @ e, self.data, doubt, run))

    def _loses(self, leading: Floats, Y: Floats) -> bool:
        """Whether coordinates Y tell less of the data than the leading ones.

        Without a surface to see that on: whether they repeat each other more, or do not tell a leading one that tells
        something new.
        """
        spots = spots_of(self.data, self.d)
        if spots is not None:
            return mean_miss(leading, spots) <= mean_miss(Y, spots)
        told, run = dependence(leading, self.run), self.run
        if dependence(Y, run).max() > told.max() + LOOSER:
            return True
        own = np.setdiff1d(np.flatnonzero(told <= NEWS), held_columns(leading))
        return len(own) > 0 and float(told_of(leading[:, own], Y, run).min()) < KEPT


def _mixture(Y: Floats, energies: Floats, data: Connected, doubt: Doubt, run: Run) -> _Mixture | None:
    """The first coordinate of long data that is a mixture of directions, where that can be seen."""
    if energies.max() <= 0:
        return None
    X, long = euclidean_rows(data.source), np.sqrt(energies / max(energies[0], NO_EXTENT**2 * energies.max()))
    if X is None or len(Y) < ENOUGH_TO_TELL or len(data.bridges) or long.max() <= doubt.long:
        return None
    patches = patches_of(data)
    sizes = np.asarray(extents_of(data, patches))
    wide = sizes > NO_EXTENT * sizes.max()  # points repeated many times have no gradient
    if wide.mean() * len(Y) < ENOUGH_TO_TELL or not is_surface(planes_of(X, patches, Y.shape[1])[1], Y.shape[1]):
        return None
    told, even = dependence(Y, run), evenness(Y, patches[wide], sizes[wide])
    mixed = (even < doubt.uneven) | ((told > doubt.told) & (even < doubt.partly)) | (long > doubt.longest)
    if not mixed[1:].any() or (long.max() <= RESOLVED and _share(Y, data) < doubt.sure):
        return None
    c = int(np.argmax(mixed[1:])) + 1
    return _Mixture(c, float(told[c]), float(even[c]), bool(told.max() > REPEATED))


def _share(Y: Floats, data: Connected) -> float:
    """Of the points that coordinates miss; all where that is not known."""
    share = lost_share(Y, data)
    return 1.0 if share is None else share


def _tell(found: _Mixture | None, doubt: Doubt) -> bool:
    """Whether a mixture was told."""
    if found is None or found.repeated:  # that is told by itself
        return False
    warn(
        f"coordinate {found.column + 1} is mixed or uneven: the earlier ones tell {found.told:.0%} of it "
        f"(dependence_), and its evenness is {found.even:.2f} (1 for one slope everywhere), on long data; "
        f"{doubt.way_out}",
        DependenceWarning,
    )
    return True


def combined(fit: Fit, W: Floats) -> Fit:
    """The fit with the coordinates Y W, of new points as well."""
    row, Y = fit.extend, fit.coordinates
    whole = replace(row, W=row.W @ W) if isinstance(row, Combined) else Combined(row, Y, W)
    return replace(fit, coordinates=Y @ W, extend=whole)
