"""plan tells what the fit then does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.methods.contract_table import CONTRACT, Case

import lowfold
from lowfold._core.errors import InvalidInput, LowfoldWarning


def roll(n: int = 600, seed: int = 0) -> np.ndarray:
    return lowfold.datasets.swiss_roll(n, random_state=seed).X


@pytest.mark.parametrize("entry", lowfold.REGISTRY, ids=lambda entry: entry.name)
def test_every_method_has_a_plan(entry: Any) -> None:
    name, X = entry.name, roll(120) + 20
    if "points" not in entry.inputs:
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        X = np.stack([D, 1.1 * D])
    told = lowfold.plan(X, name, **CONTRACT.get(name, Case({})).params)
    assert told.method == name
    assert told.n == 120
    assert told.fits
    sizes = [stage.bytes for stage in told.stages]
    assert 0 < max(sizes) <= told.total <= sum(sizes)
    text = str(told)
    assert all(stage.name in text for stage in told.stages)
    assert text.endswith("fits")


@pytest.mark.parametrize("method", ["Isomap", "ISOMAP", "isomap", lowfold.Isomap, lowfold.Isomap(3)])
def test_a_method_by_name_class_or_model(method: object) -> None:
    assert lowfold.plan(roll(100), method).method == "Isomap"


@pytest.mark.parametrize("n", [200, 900])
@pytest.mark.parametrize("name", ["Isomap", "ClassicalMDS", "LaplacianEigenmaps"])
def test_the_solver_is_the_one_that_the_fit_takes(name: str, n: int) -> None:
    X = roll(n)
    told = {stage.name: stage.what for stage in lowfold.plan(X, name).stages}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        model = getattr(lowfold, name)().fit(X)
    assert f"solver {model.solver_}" in told["eigenvectors"]


def test_geodesics_are_the_bytes_that_the_fit_asks_for() -> None:
    X = roll(5_500)
    told = lowfold.plan(X, "Isomap")
    need = next(stage for stage in told.stages if stage.name == "geodesics").bytes
    assert need == pytest.approx(1.05 * 4 * 5_500**2)
    with lowfold.config_context(memory=int(need) - 1):
        told = lowfold.plan(X, "Isomap")  # fronts alone: exact, and without the matrix
    assert told.fits
    assert "fronts alone" in str(told)
    with lowfold.config_context(memory=2_000_000):
        told = lowfold.plan(X, "Isomap")
    assert not told.fits
    assert "geodesics need" in str(told)
    assert "landmarks" in told.way_out


def test_the_search_is_told() -> None:
    rng = np.random.default_rng(0)
    assert "kdtree on 3 columns" in str(lowfold.plan(roll(1_500), "Isomap"))
    assert "brute on 30 columns" in str(lowfold.plan(rng.random((100, 30)), "Isomap"))
    assert "kdtree on 20 columns" in str(lowfold.plan(rng.random((100, 20)), "Isomap", search="kdtree"))
    assert "within 3" in str(lowfold.plan(roll(), "LaplacianEigenmaps", radius=3.0))


def test_the_fill_of_the_factor_is_counted() -> None:
    told = str(lowfold.plan(roll(3_500), "LaplacianEigenmaps", n_neighbors=6))
    assert "shift_invert; its factor would have at most" in told


def test_distances_and_graphs() -> None:
    X = roll(80)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert "80 x 80 distances" in str(lowfold.plan(D, "Isomap", metric="precomputed"))
    model = lowfold.Isomap(n_neighbors=8).fit(X)
    assert "given" in str(lowfold.plan(model.graph_, "LaplacianEigenmaps"))


def test_bad_requests_in_words() -> None:
    with pytest.raises(InvalidInput, match="there are PCA"):
        lowfold.plan(roll(50), "nothing")
    with pytest.raises(InvalidInput, match="no parameter 'scale'"):
        lowfold.plan(roll(50), "isomap", scale=3)
    with pytest.raises(InvalidInput, match="n_neighbors of Isomap must be"):
        lowfold.plan(roll(50), "isomap", n_neighbors=0)
    with pytest.raises(InvalidInput, match="at most 49"):
        lowfold.plan(roll(50), "isomap", n_neighbors=50)
    with pytest.raises(InvalidInput, match="method must be"):
        lowfold.plan(roll(50), dict)
