"""The book's experiments with fast anisotropic transformation: Tables 15.1 to 15.6 and the turning head."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import spearmanr

import lowfold
from lowfold.lowrank import deviation, fat, subspace_distance

MODES = ("greedy", "interpolative", "projective")


@lru_cache
def isomap_kernel(name, seed):
    make = getattr(lowfold.datasets, name)
    options = dict(height=1.5, diameter=2.0) if name == "punched_sphere" else {}
    X = make(600, random_state=seed, **options).X
    K = lowfold.Isomap(2, n_neighbors=10).fit(X).kernel()
    values, V = np.linalg.eigh(K.dense())
    return K, values[::-1], V[:, ::-1]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["swiss_roll", "s_curve", "punched_sphere"])
def test_tables_of_surfaces(name, mode, seed):
    K, values, V = isomap_kernel(name, seed)
    found = fat(K, 3, mode=mode, random_state=seed)
    share = found.values / values[:3]
    assert np.all(share[:2] <= 1 + 1e-9)
    if mode == "greedy":
        assert share[0] > 0.9
        assert share[1] > 0.85
        assert subspace_distance(V[:, :2], found.Y[:, :2]) < 0.2
        return
    assert np.all(share[:2] > 0.99)  # the third mixes with negative eigenvalues
    assert subspace_distance(V[:, :2], found.Y[:, :2]) < 0.05
    if name != "punched_sphere":  # whose first two eigenvalues are nearly equal
        assert deviation(V[:, :2], found.Y[:, :2]) < 0.05


@pytest.mark.parametrize("solver", ["gat", "irat", "prat"])
def test_methods_take_the_solvers_by_name(solver):
    X = lowfold.datasets.s_curve(500, random_state=2).X
    exact, quick = lowfold.Isomap(2).fit(X), lowfold.Isomap(2, solver=solver).fit(X)
    assert quick.solver_ == solver
    assert 0 < quick.residual_ < 0.1
    assert deviation(exact.embedding_, quick.embedding_) < 0.05


@pytest.mark.parametrize("solver", ["randomized", "gat", "irat", "prat"])
def test_a_walk_says_that_it_was_not_found(solver):
    X = lowfold.datasets.swiss_roll(500, random_state=2).X
    with pytest.warns(lowfold._core.errors.AccuracyWarning, match="use solver='auto'"):
        model = lowfold.DiffusionMaps(2, solver=solver).fit(X)
    assert model.residual_ > 0.1
    assert model.solver_ == solver


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_thirty_six_views_of_a_turning_head_come_in_one_order(seed):
    """Isomap, PRAT of types 1 and 2 with wrap dimension 21; the printed routine would have made a plain SVD of it."""
    shape = [(32, 32), (56, 46), (40, 30)][seed]
    views = lowfold.datasets.rotating_object(36, turn=180.0, even=True, image_shape=shape)
    shuffled = np.random.default_rng(seed).permutation(36)
    model = lowfold.Isomap(1, n_neighbors=5).fit(views.X[shuffled])
    K = model.kernel()
    order = np.argsort(-model.embedding_[:, 0])
    for kind in ("gaussian", "sign"):
        found = fat(K, 1, 21, "projective", kind=kind, always=True, random_state=seed)
        assert found.mode == "projective"
        assert fat(K, 1, 21).mode == "svd"
        mine = np.argsort(-found.Y[:, 0])
        assert np.array_equal(mine, order) or np.array_equal(mine, order[::-1])
    assert abs(spearmanr(shuffled, model.embedding_[:, 0]).statistic) > 0.98
