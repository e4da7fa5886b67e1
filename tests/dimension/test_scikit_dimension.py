"""scikit-dimension's estimators by name, and ours against its."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold import dimension
from lowfold._core.errors import InvalidInput, MissingExtra
from lowfold.dimension._scikit_dimension import scikit_dimension_names

SEEDS = range(4)
needed = pytest.mark.extra("skdim")


def data(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "roll": lowfold.datasets.swiss_roll(700, random_state=seed).X,
        "gauss": rng.normal(size=(700, 4)),
        "cube": np.pad(rng.random((700, 3)), ((0, 0), (0, 2))),
    }


def theirs(name: str, X: np.ndarray, fit: dict[str, Any] | None = None, **params: Any) -> float:
    import skdim

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(getattr(skdim.id, name)(**params).fit(X, **(fit or {})).dimension_)


@needed
@pytest.mark.parametrize("seed", SEEDS)
def test_two_neighbours_agree(seed: int) -> None:
    for X in data(seed).values():
        assert dimension.two_nearest(X, n_resamples=0).value == pytest.approx(theirs("TwoNN", X), rel=1e-9)


@needed
@pytest.mark.parametrize("seed", SEEDS)
def test_likelihood_agrees(seed: int) -> None:
    import skdim

    for X in data(seed).values():
        ours = dimension.maximum_likelihood(X, (20, 20), n_resamples=0)
        model = skdim.id.MLE().fit(X, n_neighbors=20)
        assert np.allclose(ours.local, model.dimension_pw_, rtol=1e-8)
        assert 1 / np.mean(1 / ours.local) == pytest.approx(model.dimension_, rel=1e-8)
        assert np.isnan(ours.value) or ours.value == pytest.approx(1 / np.mean(1 / model.dimension_pw_), rel=1e-8)


@needed
@pytest.mark.parametrize("seed", SEEDS)
def test_correlation_agrees_at_the_same_radii(seed: int) -> None:
    import skdim

    for X in data(seed).values():
        T, _ = skdim.get_nn(X, 20)
        radii = float(np.median(T[:, 9])), float(np.median(T[:, 19]))
        ours = dimension.correlation(X, radii=radii, n_resamples=0)
        assert ours.curve is not None
        ends = np.log(ours.curve[-1] / ours.curve[0]) / np.log(radii[1] / radii[0])
        assert ends == pytest.approx(theirs("CorrInt", X), rel=1e-6)
        assert ours.value == pytest.approx(ends, rel=0.03)


@needed
def test_any_by_name() -> None:
    X = np.r_[data(0)["roll"][:300], data(0)["roll"][:20]]
    assert {"DANCo", "TwoNN", "lPCA"} <= set(scikit_dimension_names())
    found = dimension.scikit_dimension(X, "mind-ml", n_resamples=2)
    assert found.name == "skdim:MiND_ML"
    assert found.value == theirs("MiND_ML", X[:300])
    assert found.note == "20 repeated points left out"
    assert found.interval is not None
    assert found.scales is not None
    assert found.scales.tolist() == [37, 75, 150, 300]
    local = dimension.scikit_dimension(X, "MOM", params={"n_neighbors": 30}, n_resamples=0)
    assert local.value == pytest.approx(theirs("MOM", X[:300], {"n_neighbors": 30}))
    assert local.local is not None
    assert np.isnan(local.local).sum() == 20
    both = dimension.estimate_all(X, ("mle", "skdim:TwoNN"))
    assert both["skdim:TwoNN"].value == pytest.approx(theirs("TwoNN", X[:300]))
    assert (
        dimension.scikit_dimension(X, "KNN", random_state=3).as_dict()
        == dimension.scikit_dimension(X, "KNN", random_state=3).as_dict()
    )
    assert dimension.scikit_dimension(X[:, :1], "twonn", n_resamples=0).value == pytest.approx(1, abs=0.3)


@needed
def test_errors_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    X = data(0)["cube"][:60]
    with pytest.raises(InvalidInput, match=r"no estimator 'Danko'; it has CorrInt, DANCo"):
        dimension.scikit_dimension(X, "Danko")
    with pytest.raises(InvalidInput, match=r"TwoNN of scikit-dimension has no parameter 'k'; it has discard_fraction"):
        dimension.scikit_dimension(X, "TwoNN", params={"k": 3})
    failed = dimension.scikit_dimension(X, "TwoNN", params={"method": "guess"})
    assert np.isnan(failed.value)
    assert "TwoNN failed: ValueError: method must be" in str(failed.reason)
    assert "too few" in str(dimension.scikit_dimension(X[:5], "TwoNN").reason)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def missing(name: str, *args: Any) -> Any:
        if name.startswith("skdim"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"lowfold\[dimension\]"):
        dimension.scikit_dimension(np.zeros((30, 2)), "DANCo")
