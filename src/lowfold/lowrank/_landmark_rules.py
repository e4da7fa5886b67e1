"""Which points stand for all: the rules of `lowfold.graph.choose_landmarks`, and two that look at a kernel.

Ridge leverage scores from a uniform sample: Alaoui & Mahoney (2015), arXiv:1411.0306; Musco & Musco (2017),
arXiv:1605.07583. Determinantal samples: Kulesza & Taskar (2012), doi:10.1561/2200000044.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._landmarks import LANDMARK_RULES, choose_landmarks, distance_rows
from lowfold.graph._source import Blocks, Source
from lowfold.graph._types import Graph
from lowfold.lowrank._columns import sample_kdpp

RULES = (*LANDMARK_RULES, "leverage", "kdpp")
SAMPLED = 20  # rows in blocks among which one landmark is chosen
SAMPLE = 400  # points from which leverage scores are estimated: their distances to all others are held
MOST_KDPP = 3_000  # an exact determinantal sample takes all eigenvectors: n^3 operations, a minute at this size
RIDGE = 1e-3  # of the kernel's diagonal: below it a direction counts as covered
HALVINGS = 20  # of the kernel's width until its matrix has the rank that a determinantal sample needs


def landmarks_by_rule(
    where: Source | Graph, landmarks: int | ArrayLike, *, rule: str = "maxmin", run: Run | None = None
) -> Ints:
    """Indices of the landmarks, ascending; "maxmin", "random" and "kmeans++" as in `choose_landmarks`.

    "leverage" draws points with probability proportional to their ridge leverage score, how badly a uniform sample
    represents them, in a Gaussian kernel as wide as the sample is spaced; "kdpp" draws sets by the determinant of such
    a kernel, so that near points seldom come together (exact, up to 3,000 points). Of rows in blocks a random sample
    is looked at, 20 for every landmark.
    """
    run = run or Run()
    if isinstance(where, Blocks) and np.ndim(landmarks) == 0 and rule != "random":
        return _among_sample(where, int(landmarks), rule, run)  # type: ignore[arg-type]
    if np.ndim(landmarks) == 1 or rule in LANDMARK_RULES:
        return choose_landmarks(where, landmarks, rule=rule, run=run)
    if rule not in RULES:
        raise InvalidInput(f"landmark_rule must be one of {', '.join(map(repr, RULES))}; got {rule!r}")
    m = int(landmarks)  # type: ignore[arg-type]
    if not m < where.n:
        return choose_landmarks(where, m, rule="random", run=run)
    with run.stage("landmarks"):
        return _by_leverage(where, m, run) if rule == "leverage" else _by_determinant(where, m, run)


def _among_sample(where: Blocks, m: int, rule: str, run: Run) -> Ints:
    """The rule on a random sample: every landmark would be another pass over the rows."""
    if m >= where.n:
        return choose_landmarks(where, m, rule="random", run=run)
    sample = np.sort(run.rng.choice(where.n, min(where.n, SAMPLED * m), replace=False))
    return sample[landmarks_by_rule(where.subset(sample), m, rule=rule, run=run)]


def _by_leverage(where: Source | Graph, m: int, run: Run) -> Ints:
    n = where.n
    S = np.sort(run.rng.choice(n, min(n, SAMPLE), replace=False))
    squared = _squared_rows(where, S, run)
    nearest = np.where(np.arange(n)[None, :] == S[:, None], np.inf, squared).min(axis=0)
    K = _gaussian(squared, 4 * float(np.median(nearest[np.isfinite(nearest)])))
    factor = scipy.linalg.cho_factor(K[:, S] + RIDGE * np.eye(len(S)))
    covered = np.einsum("ij,ij->j", K, scipy.linalg.cho_solve(factor, K))
    score = np.maximum(1.0 - covered, 0.0) + RIDGE  # times 1 / ridge, the ridge leverage of every point
    return np.sort(run.rng.choice(n, m, replace=False, p=score / score.sum()))


def _by_determinant(where: Source | Graph, m: int, run: Run) -> Ints:
    n = where.n
    if n > MOST_KDPP:
        raise InvalidInput(
            f'landmark_rule="kdpp" is exact and takes at most {MOST_KDPP} points; got {n}; use "leverage" or "kmeans++"'
        )
    squared = _squared_rows(where, np.arange(n), run)
    spacing = np.partition(squared, min(n - 1, -(-n // m)), axis=1)[:, min(n - 1, -(-n // m))]
    scale = 4 * float(np.median(spacing))
    for _ in range(HALVINGS):
        try:
            return sample_kdpp(_gaussian((squared + squared.T) / 2, scale), m, random_state=run.rng)
        except InvalidInput:  # too smooth a kernel for so many independent columns
            scale /= 4
    raise InvalidInput(f"fewer than {m} of the {n} points are different; ask for fewer landmarks")


def _squared_rows(where: Source | Graph, rows: Ints, run: Run) -> Floats:
    """Squared distances (rows, n); unknown ones are infinite."""
    require(16.0 * len(rows) * where.n, f"distances from {len(rows)} points to {where.n}", 'use landmark_rule="random"')
    row = distance_rows(where, run)
    return np.square(np.stack([row(int(i)) for i in rows]))


def _gaussian(squared: Floats, scale: float) -> Floats:
    if scale <= 0:  # most points coincide with others: only copies are alike
        return np.asarray(squared == 0, dtype=np.float64)
    with np.errstate(over="ignore"):  # far apart is far apart
        return np.asarray(np.exp(-squared / scale))
