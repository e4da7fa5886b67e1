"""Seven factors by which surveys grade methods, as figures.

Speed, geometry, noise, uneven sampling, clusters, high dimension, sensitivity.

The factors are those of T. Wittman's comparison (MANI, 2005), who printed grades from "very good" to "very bad"; the
shapes are his as well: Swiss roll, toroidal helix, corner planes, punctured sphere. All of them are known exactly, so
that a picture can be held against the true distances along the shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold import datasets, quality
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, Null, Real, check_limits
from lowfold._core.types import Floats
from lowfold.datasets._types import Dataset
from lowfold.methods.registry import load
from lowfold.metrics._pairwise import pairwise
from lowfold.select._compare_models import all_methods, find_entrant
from lowfold.select._compare_run import Limits, Outcome, run_tasks
from lowfold.select._worker import Task

SHAPES = ("swiss_roll", "toroidal_helix", "corner_planes", "punched_sphere")
DEFINITIONS: dict[str, str] = {
    "kept": "R_NX area against true distances along the shape: neighbours kept beyond chance; 1 is all (for reference)",
    "speed": "seconds of computing, all threads together, for one fit; less is better",
    "geometry": "squared correlation of true distances along the shape with distances in the picture; 1 is best",
    "noise": "loss of `kept` when noise of 2 % of the shape's size is added; 0 is none",
    "uneven": "loss of `kept` when one end is sampled 20 times as densely as the other; 0 is none",
    "clusters": "loss of `kept` for two separate copies of the shape, the other copy counting as far; 0 is none",
    "dimension": "loss of `kept` in 60 dimensions, each with noise of 2 % of the shape's size; 0 is none",
    "sensitivity": "range of `kept` for 8, 12 and 18 neighbours (perplexity, or gamma in like steps); 0 is none",
}
FACTORS = tuple(DEFINITIONS)
NOISE = 0.02
DENSITY = math.log(20.0)
WIDE = 60
NEIGHBORS = (12, 8, 18)  # the first is used everywhere else


@dataclass(frozen=True, eq=False)
class Factors:
    """Figures of several methods on four shapes; `print` shows their means over the shapes.

    methods, shapes, factors  the names along the axes of `values`
    values       (methods, shapes, factors); NaN where a fit failed or a method has nothing to vary
    definitions  factor -> what the figure is
    reasons      (method, shape) -> why there is no figure
    n            points of every data set
    """

    methods: tuple[str, ...]
    shapes: tuple[str, ...]
    factors: tuple[str, ...]
    values: Floats
    definitions: Mapping[str, str]
    reasons: Mapping[tuple[str, str], str]
    n: int

    def __getitem__(self, method: str) -> dict[str, float]:
        """Factor -> mean over the shapes, of one method."""
        name = find_entrant(method)
        if name not in self.methods:
            raise InvalidInput(f"{name} was not run; there are {', '.join(self.methods)}")
        return dict(zip(self.factors, self.mean()[self.methods.index(name)].tolist()))

    def mean(self) -> Floats:
        """(methods, factors): means over the shapes where there is a figure."""
        there = np.isfinite(self.values)
        total = np.where(there, self.values, 0.0).sum(axis=1)
        return np.asarray(np.where(there.any(axis=1), total / np.maximum(there.sum(axis=1), 1), np.nan))

    def table(self, shape: str | None = None) -> str:
        """Aligned columns: the means, or the figures on one shape."""
        if shape is not None and shape not in self.shapes:
            raise InvalidInput(f"shape must be one of {', '.join(self.shapes)} or None; got {shape!r}")
        values = self.mean() if shape is None else self.values[:, self.shapes.index(shape)]
        width = max(len(name) for name in ("method", *self.methods))
        lines = [f"{'method':{width}s}" + "".join(f"{name:>12s}" for name in self.factors)]
        for name, row in zip(self.methods, values):
            lines.append(f"{name:{width}s}" + "".join(f"{'-' if np.isnan(v) else f'{v:.3f}':>12s}" for v in row))
        return "\n".join(lines)

    def __repr__(self) -> str:
        lines = [self.table(), ""]
        lines += [f"{name}: {words}" for name, words in self.definitions.items()]
        lines += [f"{method} on {shape}: {words}" for (method, shape), words in self.reasons.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; NaN is None."""
        return {
            "n": self.n,
            "definitions": dict(self.definitions),
            "reasons": [{"method": m, "shape": s, "reason": words} for (m, s), words in self.reasons.items()],
            "values": {
                method: {
                    shape: {
                        factor: None if np.isnan(value) else float(value)
                        for factor, value in zip(self.factors, figures)
                    }
                    for shape, figures in zip(self.shapes, self.values[i])
                }
                for i, method in enumerate(self.methods)
            },
        }


def seven_factors(
    methods: Sequence[str] | None = None,
    *,
    n: int = 1000,
    shapes: Sequence[str] = SHAPES,
    budget: float | None = 20.0,
    random_state: int = 0,
    progress: Callable[[str, str], None] | None = None,
) -> Factors:
    """Measure methods by seven factors on four shapes; `DEFINITIONS` says what each figure is.

    Each method embeds each shape in two dimensions seven times: as it is, with noise, unevenly sampled, as two separate
    copies, in 60 dimensions, and with fewer and more neighbours. The figures compare the pictures with distances that
    are known, not with one another.

    Parameters
    ----------
    methods : names; None is every method that takes points, clustering left out.
    n : int, points of every data set.
    shapes : some of "swiss_roll", "toroidal_helix", "corner_planes", "punched_sphere".
    budget : seconds that one fit may take, or None; a method that needs more has no figures there, and a reason.
    random_state : int, of data and methods.
    progress : function called with the method and the shape that were finished, or None.
    """
    check_limits(
        "seven_factors",
        {"n": n, "budget": budget, "random_state": random_state},
        {"n": (Int(50),), "budget": (Real(0, open_low=True), Null("no limit")), "random_state": (Int(0),)},
    )
    for shape in shapes:
        if shape not in SHAPES:
            raise InvalidInput(f"shapes must be some of {', '.join(SHAPES)}; got {shape!r}")
    names = tuple(all_methods() if methods is None else dict.fromkeys(find_entrant(name) for name in methods))
    data = {shape: _variants(shape, n, random_state) for shape in shapes}
    arrays = {f"{s}-{v}.npy": X for s, found in data.items() for v, (X, _) in found.items()}
    classes = {f"{s}-{v}-y.npy": _halves(len(X)) for s, found in data.items() for v, (X, _) in found.items()}
    files: dict[str, NDArray[Any]] = {**arrays, **classes}
    limits = Limits(budget)

    first = {(m, s): _tasks(m, s, data[s]["plain"][0], random_state)["plain"] for m in names for s in shapes}
    outcomes: dict[tuple[str, str, str], Outcome] = {}

    def collect(chosen: dict[tuple[str, str, str], Task]) -> None:
        keys = list(chosen)

        def done(number: int, _: Outcome) -> None:
            method, shape, _variant = keys[number]
            if progress is not None and (number + 1 == len(keys) or keys[number + 1][:2] != (method, shape)):
                progress(method, shape)

        outcomes.update(zip(keys, run_tasks(list(chosen.values()), files, limits, done)))

    collect({(m, s, "plain"): task for (m, s), task in first.items()})
    collect(
        {
            (m, s, variant): task
            for m, s in first
            if outcomes[m, s, "plain"].status == "done"
            for variant, task in _tasks(m, s, data[s]["plain"][0], random_state).items()
            if variant != "plain"
        }
    )
    values = np.full((len(names), len(shapes), len(FACTORS)), np.nan)
    reasons: dict[tuple[str, str], str] = {}
    for i, m in enumerate(names):
        for j, s in enumerate(shapes):
            found = {v: outcomes[m, s, v] for v in (*data[s], *VARIED) if (m, s, v) in outcomes}
            values[i, j] = _figures(found, data[s])
            failed = {v: outcome.reason for v, outcome in found.items() if outcome.status != "done"}
            if failed:
                reasons[m, s] = "; ".join(f"{v}: {words}" for v, words in failed.items())
    return Factors(names, tuple(shapes), FACTORS, values, DEFINITIONS, reasons, n)


VARIED = ("fewer", "more")


def _halves(n: int) -> NDArray[np.int64]:
    """Two classes of equal size, the copies of the clusters."""
    return np.asarray(np.arange(n) >= n // 2, dtype=np.int64)


def _variants(shape: str, n: int, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Variant -> points, and the true distances between them."""
    make: Callable[..., Dataset] = getattr(datasets, shape)
    rng = np.random.default_rng(seed)
    even = make(n, random_state=seed)
    size = float(np.sqrt(((even.X - even.X.mean(axis=0)) ** 2).sum(axis=1).mean()))
    truth = _distances(even, np.arange(n))
    pool = make(8 * n, random_state=seed + 1)
    place = np.argsort(np.argsort(pool.color)) / (len(pool) - 1)
    weights = np.exp(-DENSITY * place)
    uneven = np.sort(rng.choice(len(pool), n, replace=False, p=weights / weights.sum()))
    Q = np.linalg.qr(rng.normal(size=(WIDE, even.X.shape[1])))[0]
    copy = even.X + 2.5 * np.ptp(even.X, axis=0).max() * np.eye(1, even.X.shape[1])
    between = truth.max() + pairwise(even.X, copy)
    return {
        "plain": (even.X, truth),
        "noise": (even.X + NOISE * size * rng.normal(size=even.X.shape), truth),
        "uneven": (pool.X[uneven], _distances(pool, uneven)),
        "clusters": (np.concatenate([even.X, copy]), np.block([[truth, between], [between.T, truth]])),
        "dimension": (even.X @ Q.T + NOISE * size * rng.normal(size=(n, WIDE)), truth),
    }


def _distances(data: Dataset, rows: NDArray[np.int64]) -> Floats:
    D = data.geodesic(rows[:, None], rows[None, :])
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def _tasks(method: str, shape: str, X: Floats, seed: int) -> dict[str, Task]:
    """Variant -> what to fit. "fewer" and "more" change the parameter that sets the size of neighbourhoods."""
    known = load(method).parameters
    base: dict[str, Any] = {"n_components": 2, "random_state": seed}
    gamma = 1.0 / float(X.var(axis=0).sum())  # the inverse mean squared distance to the middle
    varied: tuple[str, tuple[float, ...]] | None = None
    for name, values in (
        ("n_neighbors", NEIGHBORS),
        ("perplexity", NEIGHBORS),
        ("gamma", (gamma, gamma / 1.5, gamma * 1.5)),
    ):
        if name in known:
            varied = (name, values)
            break
    if varied is not None:
        base[varied[0]] = varied[1][0]
    base = {name: value for name, value in base.items() if name in known}

    def task(variant: str, **more: Any) -> Task:
        data = "plain" if variant in VARIED else variant
        return Task(method, {**base, **more}, data=f"{shape}-{data}.npy", labels=f"{shape}-{data}-y.npy")

    tasks = {variant: task(variant) for variant in ("plain", "noise", "uneven", "clusters", "dimension")}
    if varied is not None:
        name, (_, low, high) = varied
        tasks |= {"fewer": task("fewer", **{name: low}), "more": task("more", **{name: high})}
    return tasks


def _figures(found: Mapping[str, Outcome], data: Mapping[str, tuple[Floats, Floats]]) -> list[float]:
    """One method on one shape, in the order of FACTORS."""

    def kept(variant: str) -> float:
        outcome = found.get(variant)
        D = data["plain" if variant in VARIED else variant][1]
        if outcome is None or outcome.status != "done":
            return math.nan
        return quality.neighborhood_preservation(D, outcome.arrays["embedding"], metric="precomputed").area

    plain = found.get("plain")
    if plain is None or plain.status != "done":
        return [math.nan] * len(FACTORS)
    base = kept("plain")
    spread = [base, *(kept(variant) for variant in VARIED if variant in found)]
    geometry = 1.0 - float(quality.residual_variance(data["plain"][1], plain.arrays["embedding"], metric="precomputed"))
    return [
        base,
        float(plain.said["cpu_seconds"]),
        geometry,
        base - kept("noise"),
        base - kept("uneven"),
        base - kept("clusters"),
        base - kept("dimension"),
        max(spread) - min(spread) if len(spread) > 1 else math.nan,
    ]
