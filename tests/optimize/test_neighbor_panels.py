"""Gradients of neighbour embeddings in panels: float32 against float64, and the descents that use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold.optimize._neighbor import ALL_DIGITS, DenseAffinities, GaussianCost, TSNECost
from lowfold.optimize._neighbor_panels import LEAST, NEAR, Panels

N = ALL_DIGITS + 31


def affinities(seed: int) -> np.ndarray:
    P = np.random.default_rng(seed).random((N, N)) ** 20
    P += P.T
    np.fill_diagonal(P, 0.0)
    return np.asarray(P / P.sum())


@pytest.mark.parametrize("size", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("kind", ["student", "joint", "rows"])
def test_float32_has_the_digits_of_its_sums(kind: str, size: float) -> None:
    P = affinities(0)
    Y = size * np.random.default_rng(1).normal(size=(N, 2))
    exact, single = Panels(P), Panels(P, single=True)
    if kind == "student":
        wanted, got = exact.student(Y, 4.0), single.student(Y, 4.0)
    else:
        joint = kind == "joint"
        wanted, got = exact.gaussian(Y, 4.0, joint=joint), single.gaussian(Y, 4.0, joint=joint)
    assert np.linalg.norm(got - wanted) < 2e-4 * np.linalg.norm(wanted)
    assert size < 40 or (Y**2).sum(axis=1).max() > max(NEAR, -LEAST), "the far layout takes the other way"


def test_few_points_have_all_digits_and_costs_always() -> None:
    P = affinities(2)
    held = DenseAffinities.held(P)
    assert held.quick_panels is not None
    assert held.panels is not None
    assert held.quick_panels.single
    assert not held.panels.single
    few = DenseAffinities.held(P[:ALL_DIGITS, :ALL_DIGITS])
    assert few.quick_panels is few.panels


@pytest.mark.parametrize("cost", [TSNECost, lambda P: GaussianCost(P, True), lambda P: GaussianCost(P, False)])
def test_the_quick_gradient_is_that_of_the_cost(cost: Any) -> None:
    lowered = cost(DenseAffinities.held(affinities(3)))
    rng = np.random.default_rng(4)
    Y, way = rng.normal(size=(N, 2)), rng.normal(size=(N, 2))
    step = 1e-4
    slope = (lowered.value(Y + step * way) - lowered.value(Y - step * way)) / (2 * step)
    assert (lowered.gradient(Y) * way).sum() == pytest.approx(slope, rel=1e-4)


def test_gains_end_lower_than_without() -> None:
    """SNE with gains, the default, stops by itself before the text's algorithm has come as low."""
    X = lowfold.datasets.swiss_roll(N, random_state=6).X
    model = lowfold.SNE(2, max_iter=600).fit(X)
    plain = lowfold.SNE(2, max_iter=model.n_iter_, gains=False).fit(X)
    assert model.stop_reason_ in ("gradient", "no progress")
    assert model.n_iter_ < 600
    assert model.kl_divergence_ < plain.kl_divergence_


@pytest.mark.parametrize("name", ["TSNE", "SNE", "SymmetricSNE"])
def test_threads_change_no_bit(name: str) -> None:
    X = lowfold.datasets.swiss_roll(N, random_state=8).X
    one, two = (getattr(lowfold, name)(2, max_iter=60, n_jobs=jobs).fit_transform(X) for jobs in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("seed", [5, 6])
def test_shares_are_never_subnormal_and_their_lack_changes_no_bit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    P = affinities(seed)
    P[np.random.default_rng(seed).random(P.shape) < 0.3] = 1e-42
    P = np.triu(P) + np.triu(P, 1).T
    np.fill_diagonal(P, 0.0)
    Y = 5.0 * np.random.default_rng(seed).normal(size=(N, 2))
    panels, tiny = Panels(P, single=True), np.finfo(np.float32).tiny
    assert not any(((share > 0) & (share < tiny)).any() for share in panels._shares)
    got = [panels.student(Y, 4.0), panels.gaussian(Y, 4.0, joint=True)]
    whole = Panels(P, single=True)
    shares = [np.ascontiguousarray(P[part, part.start :], dtype=np.float32) for part in whole._parts]
    assert any(((share > 0) & (share < tiny)).any() for share in shares), "the data hold what is left out"
    monkeypatch.setattr(Panels, "_shares", shares)
    assert all(map(np.array_equal, got, [whole.student(Y, 4.0), whole.gaussian(Y, 4.0, joint=True)]))
