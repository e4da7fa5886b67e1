"""Where the printed forms differ from ours: options, attributes and limits, each beside the other."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import DisconnectedWarning, InvalidInput
from lowfold.graph import Neighbors, Weights


@pytest.mark.parametrize("seed", [3, 4])
def test_lpp_without_centring(seed: int) -> None:
    X = np.random.default_rng(seed).random((300, 3)) + np.array([8.0, 0.0, 0.0])
    ours, printed = lowfold.LPP(1).fit(X), lowfold.LPP(1, center=False).fit(X)
    assert np.allclose(printed.mean_, 0)
    assert printed.eigenvalues_[0] < 0.5 * ours.eigenvalues_[0]  # nearly constant: the direction far from 0
    assert np.abs(printed.components_[0]).argmax() == 0
    assert np.allclose(printed.transform(X), X @ printed.components_.T)


@pytest.mark.parametrize("seed", [400, 401])
def test_lpp_without_centring_finds_the_height_of_a_roll(seed: int) -> None:
    roll = lowfold.datasets.swiss_roll(500, random_state=seed)
    height = roll.coordinates[:, 1] - roll.coordinates[:, 1].mean()
    told = []
    for center in (True, False):
        A = np.column_stack([lowfold.LPP(2, center=center).fit_transform(roll.X), np.ones(500)])
        left = height - A @ np.linalg.lstsq(A, height, rcond=None)[0]
        told.append(1 - left @ left / (height @ height))
    assert told[0] < 0.2
    assert told[1] > 0.6


@pytest.mark.parametrize("seed", [0, 1])
def test_closeness_of_lle(seed: int) -> None:
    X = lowfold.datasets.s_curve(200, random_state=seed).X
    model = lowfold.LLE(2, n_neighbors=10).fit(X)
    assert np.allclose((1 - model.closeness_) ** 2, model.eigenvalues_)
    assert (model.closeness_ <= 1).all()


def test_fewest_neighbours_of_lle() -> None:
    X = np.random.default_rng(0).random((60, 2))
    with pytest.raises(InvalidInput, match="at least 3"):
        lowfold.LLE(2, n_neighbors=2).fit(X)
    with pytest.warns(DisconnectedWarning):
        assert np.isfinite(lowfold.LLE(2, n_neighbors=3, on_disconnected="largest").fit_transform(X)).any()


@pytest.mark.parametrize("name", ["Isomap", "ClassicalMDS", "MVU", "LandmarkMVU"])
def test_share_of_the_energy_of_distances(name: str) -> None:
    X = np.random.default_rng(1).normal(size=(40, 3)) * [3, 2, 0.3]
    whole, part = (getattr(lowfold, name)(d).fit(X).explained_ for d in (2, 1))
    assert 0 < part < whole <= 1 + 1e-9
    if name == "ClassicalMDS":
        values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
        assert np.isclose(part, values[0] / values.sum())


@pytest.mark.parametrize("name", ["LLE", "ModifiedLLE", "LTSA", "HessianLLE", "LaplacianEigenmaps", "DiffusionMaps"])
def test_weights_have_no_energy(name: str) -> None:
    X = lowfold.datasets.s_curve(100, random_state=0).X
    assert getattr(lowfold, name)(2).fit(X).explained_ is None


@pytest.mark.parametrize("seed", [0, 1])
def test_eigenmaps_are_centred_by_degrees(seed: int) -> None:
    X = lowfold.datasets.s_curve(150, random_state=seed).X
    model = lowfold.LaplacianEigenmaps(2, normalization="orthonormal").fit(X)
    Y = model.embedding_
    assert np.allclose(Y.T @ Y, np.eye(2), atol=1e-8)
    assert np.allclose(model.degrees_ @ Y, 0, atol=1e-6 * model.degrees_.sum())
    plain = lowfold.LaplacianEigenmaps(2, normalization="orthonormal", laplacian="unnormalized").fit(X).embedding_
    assert np.allclose(plain.T @ plain, np.eye(2), atol=1e-8)
    assert np.allclose(plain.sum(axis=0), 0, atol=1e-6)


def test_volumes_of_arcs() -> None:
    arcs = Neighbors.from_lists([[1, 2], [0], [1]], [[1.0, 2.0], [1.0], [3.0]])
    out, into = Weights.of_arcs(arcs)
    assert out.tolist() == [2, 1, 1]
    assert into.tolist() == [1, 2, 1]
    out, into = Weights.of_arcs(arcs, [0.5, 0.25, 2.0, 3.0])
    assert out.tolist() == [0.75, 2, 3]
    assert into.tolist() == [2, 3.5, 0.25]
    assert out.sum() == into.sum()
    with pytest.raises(InvalidInput, match="one weight per arc, 4; got 1"):
        Weights.of_arcs(arcs, [1.0])
