"""seven_factors: figures where surveys have adjectives."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.select import seven_factors
from lowfold.select._factors import DEFINITIONS, FACTORS, SHAPES, _tasks, _variants


@pytest.mark.timeout(90)
@pytest.mark.slow
def test_a_small_table() -> None:
    found = seven_factors(["pca", "ltsa"], n=100, shapes=["corner_planes", "toroidal_helix"])
    assert found.values.shape == (2, 2, 8)
    assert set(found.definitions) == set(found.factors)
    assert not found.reasons
    there = np.isfinite(found.values)
    assert not there[0, :, FACTORS.index("sensitivity")].any()  # PCA has nothing to vary
    assert there[1].all()
    values = {name: found.values[..., i] for i, name in enumerate(FACTORS)}
    assert ((values["kept"] > 0.3) & (values["kept"] <= 1)).all()
    assert ((values["geometry"] >= 0) & (values["geometry"] <= 1)).all()
    assert (values["speed"] > 0).all()
    assert found["pca"]["kept"] == pytest.approx(found.values[0, :, 0].mean())
    text = str(found)
    assert text.splitlines()[0].split() == ["method", *FACTORS]
    assert all(f"{name}: " in text for name in DEFINITIONS)
    assert json.loads(json.dumps(found.to_dict()))["values"]["PCA"]["corner_planes"]["sensitivity"] is None
    assert found.table("corner_planes") != found.table("toroidal_helix")


@pytest.mark.parametrize(("shape", "seed"), list(zip(SHAPES, (0, 1, 2, 3))))
def test_variants_are_what_their_definitions_say(shape: str, seed: int) -> None:
    n = 100
    made = _variants(shape, n, seed)
    X, D = made["plain"]
    for points, distances in made.values():
        assert len(points) == len(distances)
        assert np.array_equal(distances, distances.T)
        assert np.isfinite(distances).all()
    # distances along the shape are never shorter than through space
    assert (lowfold.metrics.pairwise(X) - 1e-6 <= D).all()
    size = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert (made["noise"][0] - X).std() == pytest.approx(0.02 * size, rel=0.15)
    wide = made["dimension"][0]
    assert wide.shape == (n, 60)
    far = lowfold.metrics.pairwise(X)[0].argmax()
    assert np.linalg.norm(wide[0] - wide[far]) == pytest.approx(np.linalg.norm(X[0] - X[far]), rel=0.2)
    both, across = made["clusters"]
    assert both.shape == (2 * n, 3)
    assert across[:n, n:].min() > across[:n, :n].max()
    gap = lowfold.metrics.pairwise(both)
    assert gap[:n, n:].min() > 0.4 * gap[:n, :n].max()


def test_uneven_sampling_thins_one_end() -> None:
    made = lowfold.datasets.swiss_roll(8 * 400, random_state=1)
    place = {tuple(x): t for x, t in zip(made.X.tolist(), np.argsort(np.argsort(made.color)) / (len(made) - 1))}
    where = np.array([place[tuple(x)] for x in _variants("swiss_roll", 400, 0)["uneven"][0].tolist()])
    dense, thin = (where < 0.2).sum(), (where > 0.8).sum()
    # the density falls as 20^-t: integrated over the first and the last fifth, 20^0.8 = 11 times as many points, a
    # little less because nothing is drawn twice
    assert 6 < dense / thin < 16


def test_what_is_varied() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert _tasks("LTSA", "swiss_roll", X, 0)["more"].params["n_neighbors"] == 18
    assert _tasks("TSNE", "swiss_roll", X, 0)["fewer"].params["perplexity"] == 8
    assert "fewer" not in _tasks("PCA", "swiss_roll", X, 0)
    kernel = _tasks("KernelPCA", "swiss_roll", X, 0)
    assert kernel["more"].params["gamma"] > kernel["plain"].params["gamma"] > kernel["fewer"].params["gamma"]


def test_wrong_arguments_in_words() -> None:
    with pytest.raises(InvalidInput, match="shapes must be some of"):
        seven_factors(["pca"], shapes=["cube"])
    with pytest.raises(InvalidInput, match="n of seven_factors"):
        seven_factors(["pca"], n=10)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_the_survey_says_shows_in_the_figures() -> None:
    found = seven_factors(["pca", "isomap", "laplacian-eigenmaps"], n=1000, budget=2.0)
    speed = {name: found[name]["speed"] for name in ("pca", "isomap", "laplacian-eigenmaps")}
    assert min(speed, key=speed.__getitem__) == "pca"
    assert max(speed, key=speed.__getitem__) == "isomap"
    assert found["isomap"]["geometry"] > 0.9 > found["pca"]["geometry"]
    late = seven_factors(["mvu"], n=1000, budget=0.2)  # too slow for that, and the table says so
    assert np.isnan(late["mvu"]["kept"])
    assert all("longer than 0.2 seconds" in words for (name, _), words in late.reasons.items() if name == "MVU")
