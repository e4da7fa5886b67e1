"""What `tune` chooses: close to the best by known truth, never a graph with shortcuts, for every method."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold import REGISTRY, datasets, quality
from lowfold._core.errors import InvalidInput, LowfoldWarning
from lowfold.datasets import Dataset
from lowfold.select._types import Tuned

GRID = (5, 7, 9, 40)
METHODS = ("Isomap", "LTSA", "HessianLLE", "LLE")
LOSS = 0.05  # of the affine R^2, against the best of the grid


@cache
def roll(seed: int) -> Dataset:
    return datasets.swiss_roll(800, random_state=seed)


def truth(data: Dataset, model: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)  # of parameters that nobody should take
        return quality.affine_r2(data.coordinates, model.fit_transform(data.X)).value


def chosen(method: str, seed: int) -> tuple[Tuned, float, float]:
    data = roll(seed)
    grid = [k for k in GRID if k > 5 or method != "HessianLLE"]
    tuned = lowfold.tune(data.X, method, n_components=2, n_neighbors=grid, n_subsamples=2, n_jobs=1)
    cls = type(tuned.model)
    return tuned, truth(data, tuned.model), max(truth(data, cls(2, n_neighbors=k)) for k in grid)


@pytest.mark.parametrize("method", METHODS)
def test_the_choice_is_close_to_the_best_by_known_truth(method: str) -> None:
    tuned, found, best = chosen(method, 0)
    assert found > best - LOSS
    assert "shortcuts" in tuned["n_neighbors"].refused[40]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("method", METHODS)
def test_and_for_other_samples(method: str, seed: int) -> None:
    tuned, found, best = chosen(method, seed)
    assert found > best - LOSS
    assert tuned.params["n_neighbors"] != 40


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_dimension_is_found(seed: int, d: int) -> None:
    t = np.random.default_rng(seed).random((400, d))
    X = np.column_stack([np.cos(t[:, 0]), np.sin(t[:, 0]), t[:, 1:]])
    tuned = lowfold.tune(X, "ltsa", n_neighbors=10, n_subsamples=1, n_jobs=1)
    assert tuned.params == {"n_components": d, "n_neighbors": 10}
    assert tuned["n_components"].scores.sum() == pytest.approx(1, abs=0.21)


@pytest.mark.parametrize("seed", range(2))
def test_the_scale_of_diffusion_maps(seed: int) -> None:
    data = datasets.square(300, random_state=seed)
    scales = [1e-5, 1e-2, 1.0]
    tuned = lowfold.tune(data.X, "diffusion-maps", n_components=2, n_neighbors=10, scale=scales, n_subsamples=2)
    worth = [truth(data, lowfold.DiffusionMaps(2, n_neighbors=10, scale=scale)) for scale in scales]
    assert worth[scales.index(tuned.params["scale"])] > max(worth) - LOSS
    assert tuned.params["scale"] != 1e-5
    assert tuned["scale"].scores[0] < tuned["scale"].scores.max() - 0.05


def test_pieces_are_not_eligible() -> None:
    X = np.random.default_rng(0).random((60, 2))
    X = np.vstack([X, X + np.array([3.0, 0.0])])
    tuned = lowfold.tune(X, "isomap", n_components=2, n_neighbors=[4, 70], n_subsamples=1)
    assert "2 pieces" in tuned["n_neighbors"].refused[4]
    assert tuned.params["n_neighbors"] == 70


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)
def test_every_method(entry: Any) -> None:
    data = datasets.s_curve(90, random_state=0)
    X: Any = data.X + 3.0
    cls = getattr(lowfold, entry.name)
    names = cls.parameters
    candidates = {"n_neighbors": [8, 12], "perplexity": [5.0, 10.0], "scale": [0.5, 2.0], "gamma": [0.1, 1.0]}
    given = {name: values for name, values in candidates.items() if name in names}
    if entry.inputs == ("matrices",):
        D = np.linalg.norm(X[:30, None] - X[None, :30], axis=2)
        X, given = [D, 2 * D], {}
    if entry.name == "MultilinearPCA":
        X = X.reshape(90, 3, 1)
    labels = (data.color > data.color.mean()).astype(int) if entry.name == "SupervisedLLE" else None
    tuned = lowfold.tune(X, entry.name, y=labels, n_subsamples=1, n_jobs=1, **given)
    assert type(tuned.model) is cls
    assert not hasattr(tuned.model, "embedding_")
    assert {name: tuned.model.get_params()[name] for name in tuned.params} == tuned.params
    assert tuned.reasons
    for curve in tuned.curves:
        assert len(curve.values) == len(curve.scores) == len(curve.spread)
        assert curve.chosen in curve.values
        assert curve.parameter in names
    json.dumps(tuned.to_dict(), allow_nan=False)
    assert str(tuned).startswith(entry.name)


def test_numbers_are_taken_as_they_are_and_other_parameters_kept() -> None:
    X = roll(0).X[:100]
    tuned = lowfold.tune(X, lowfold.Isomap(paths="dijkstra"), n_components=3, n_neighbors=6, n_subsamples=1)
    assert tuned.params == {"n_components": 3, "n_neighbors": 6}
    assert tuned.curves == ()
    assert tuned.model.paths == "dijkstra"
    radius = lowfold.tune(X, lowfold.Isomap(radius=9.0), n_components=2, n_subsamples=1)
    assert radius.params == {"n_components": 2}


def test_a_method_without_choices_says_so() -> None:
    tuned = lowfold.tune([np.zeros((4, 4))], "weighted-mds")
    assert "nothing is chosen" in tuned.reasons[0]
    with pytest.raises(InvalidInput, match="none: nothing was chosen"):
        tuned["n_neighbors"]


def test_distances_and_candidates_of_the_dimension() -> None:
    X = roll(0).X[::5]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = lowfold.Isomap(metric="precomputed")
    tuned = lowfold.tune(D, model, n_components=2, n_neighbors=[5, 6], n_subsamples=1)
    assert tuned.params["n_neighbors"] in (5, 6)
    tuned = lowfold.tune(roll(0).X, "isomap", n_components=[2, 5], n_neighbors=8, n_subsamples=1)
    assert tuned.params["n_components"] == 2


def test_the_same_seed_gives_the_same_choice() -> None:
    X = roll(0).X[:200]
    first, second = (
        lowfold.tune(X, "lle", n_components=2, n_neighbors=[6, 8], n_subsamples=1, random_state=3) for _ in range(2)
    )
    assert first.to_dict() == second.to_dict()


def test_bad_input_in_words() -> None:
    X = roll(0).X[:60]
    with pytest.raises(InvalidInput, match="PCA has no parameter 'n_neighbors'; what can be chosen is n_components"):
        lowfold.tune(X, "pca", n_neighbors=[4, 5])
    with pytest.raises(InvalidInput, match="n_neighbors of Isomap must be an int of at least 1"):
        lowfold.tune(X, "isomap", n_neighbors=[0, 5])
    with pytest.raises(InvalidInput, match="at least one candidate"):
        lowfold.tune(X, "isomap", n_neighbors=[])
    with pytest.raises(InvalidInput, match="at least 10 points"):
        lowfold.tune(X[:5], "isomap")
    with pytest.raises(InvalidInput, match="needs labels; pass them as y="):
        lowfold.tune(X, "supervised-lle")
    with pytest.raises(InvalidInput, match="there is no method 'isomop'; did you mean Isomap"):
        lowfold.tune(X, "isomop")
    with pytest.raises(InvalidInput, match="subsamples of a graph"):
        lowfold.tune(lowfold.graph.find_neighbors(X, 5), "isomap")
    with pytest.raises(InvalidInput, match="60 and 3 rows"):
        lowfold.tune(X, "supervised-lle", y=[0, 1, 0])
