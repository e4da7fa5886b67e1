"""ReplicatedMDS and WeightedMDS: the contract's checks for methods that take several matrices."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone

import lowfold
from lowfold import ReplicatedMDS, WeightedMDS
from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.limits import check_limits

CLASSES = (ReplicatedMDS, WeightedMDS)
RNG = np.random.default_rng(7)


def stack(n: int = 25, m: int = 3, seed: int = 0, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return np.stack([cdist(X * w, X * w) for w in np.sqrt(rng.random((m, d)) + 0.2)])


OTHER = {
    "n_components": 1,
    "metric": "precomputed_squared",
    "merge": "rms",
    "method": "metric",
    "groups": ["a", "b", "b"],
    "weights": [1.0, 2.0, 0.0],
    "max_iter": 1,
    "tol": 0.5,
    "normalization": "unit",
    "random_state": None,  # decides nothing from a classical start
}


def state(model: object) -> bytes:
    return pickle.dumps(
        {k: v for k, v in sorted(vars(model).items()) if (k.endswith("_") or k.startswith("_")) and k != "_history"}
    )


@pytest.mark.parametrize("cls", CLASSES)
def test_every_parameter_has_limits_and_matters(cls) -> None:
    D = stack() + 0.3 * np.abs(np.random.default_rng(1).normal(size=(3, 25, 25)))
    D = (D + D.transpose(0, 2, 1)) / 2 * (1 - np.eye(25))
    base = state(cls().fit(D))
    for name in inspect.signature(cls).parameters:
        with pytest.raises(ValueError, match=f"{name} of {cls.__name__} must be"):
            check_limits(cls.__name__, {name: object()}, cls.limits)
        assert name in cls.__doc__
        if name in {"n_jobs", "verbose"} or OTHER[name] is None:
            continue
        assert state(cls(**{name: OTHER[name]}).fit(D)) != base, f"{name} of {cls.__name__} changes nothing"


@pytest.mark.parametrize("cls", CLASSES)
def test_fit_leaves_data_and_parameters_alone(cls) -> None:
    D = stack()
    before = D.copy()
    model = cls().fit(D)
    assert np.array_equal(D, before)
    clone(model)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).embedding_, model.embedding_)
    D.flags.writeable = False
    assert np.array_equal(cls().fit(list(D)).embedding_, model.embedding_)
    assert np.array_equal(cls(n_jobs=2).fit(D).embedding_, cls(n_jobs=1).fit(D).embedding_)
    assert model.get_feature_names_out().tolist() == [f"{cls.__name__.lower()}{k}" for k in range(2)]


@pytest.mark.parametrize("cls", CLASSES)
def test_normalizations(cls) -> None:
    assert np.allclose(cls(normalization="unit").fit(stack()).embedding_.std(axis=0), 1)
    Y = cls(normalization="orthonormal").fit(stack()).embedding_
    assert np.allclose(Y.T @ Y, np.eye(2))


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (ReplicatedMDS, {}),
        (ReplicatedMDS, {"method": "metric"}),
        (ReplicatedMDS, {"method": "nonmetric"}),
        (WeightedMDS, {}),
        (WeightedMDS, {"weights": [1.0, 2.0, 3.0]}),
    ],
)
def test_new_points(cls, params: dict[str, object]) -> None:
    D = stack(30)
    train, new = D[:, :25, :25], D[:, 25:, :25]
    model = cls(2, **params).fit(train)
    assert np.array_equal(model.transform(train), model.embedding_)
    placed = model.transform(new)
    assert placed.shape == (5, 2)
    alone = np.vstack([model.transform(new[:, i : i + 1]) for i in range(5)])
    assert np.allclose(alone, placed, atol=1e-9)
    assert model.distances(train[:, :4]).shape == (4, 4)
    with pytest.raises(InvalidInput, match="one matrix for each"):
        model.transform(new[:2])
    with pytest.raises(ValueError, match="training points"):
        model.inverse_transform(model.embedding_)


@pytest.mark.parametrize("cls", CLASSES)
def test_bad_input_is_refused_in_words(cls) -> None:
    D = stack()
    for bad, words in (
        (np.ones((2, 3, 4)), "n x n"),
        ([np.ones((3, 3)), np.ones((4, 4))], "one size"),
        (-D, "0 or more"),
        (np.ones((2, 1, 1)), "at least 2"),
        (np.ones(4), "n x n"),
        ([csr_array(D[0])], "sparse"),
        ([[["a", "b"], ["b", "a"]]], "numbers"),
    ):
        with pytest.raises(InvalidInput, match=words):
            cls().fit(bad)
    with pytest.raises(InvalidInput, match="n_components"):
        cls(30).fit(D)
    uneven = D.copy()
    uneven[0, 0, 1] += 1
    with pytest.warns(RepairWarning, match="not symmetric"):
        cls().fit(uneven)


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.AccuracyWarning")
@pytest.mark.parametrize("cls", CLASSES)
def test_degenerate_matrices_are_defined(cls) -> None:
    same = np.zeros((2, 6, 6))
    assert np.abs(cls().fit(same).embedding_).max() < 1e-7
    line = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    assert np.isfinite(cls().fit(np.stack([line, 2 * line])).embedding_).all()
    assert np.isfinite(cls(1).fit(line[:3, :3]).embedding_).all()


def test_kinds_of_matrices() -> None:
    D = stack()
    first = ReplicatedMDS().fit(D).embedding_
    assert np.allclose(ReplicatedMDS(metric="precomputed_squared").fit(D**2).embedding_, first)
    H = np.eye(25) - 1 / 25
    S = np.stack([-0.5 * H @ M**2 @ H for M in D])
    assert np.allclose(ReplicatedMDS(metric="precomputed_similarity").fit(S).embedding_, first, atol=1e-6)


# ReplicatedMDS ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["classical", "metric", "nonmetric"])
def test_copies_are_one_matrix(method: str) -> None:
    D = stack()[0]
    single = {"classical": lowfold.ClassicalMDS, "metric": lowfold.MetricMDS, "nonmetric": lowfold.NonmetricMDS}
    expected = single[method](2, metric="precomputed").fit(D).embedding_
    for merge in ("mean", "rms"):
        assert np.allclose(ReplicatedMDS(2, method=method, merge=merge).fit([D] * 3).embedding_, expected, atol=1e-9)


def test_groups_have_their_own_configurations() -> None:
    D = stack(m=4)
    model = ReplicatedMDS(2, groups=["x", "y", "x", "y"]).fit(D)
    assert model.groups_.tolist() == ["x", "y"]
    alone = ReplicatedMDS(2).fit(D[[1, 3]]).embedding_
    assert np.allclose(cdist(model.configurations_[1], model.configurations_[1]), cdist(alone, alone))
    with pytest.raises(InvalidInput, match="one label"):
        ReplicatedMDS(2, groups=["x"]).fit(D)
    assert ReplicatedMDS(2).fit(D).configurations_.shape == (1, 25, 2)


def test_replicates_minimise_the_sum_of_their_stresses() -> None:
    """sum_k sum (delta^k - d)^2 over what was measured, by the mean with counts as weights."""
    rng = np.random.default_rng(0)
    D = stack(20, 3)
    hole = np.triu(rng.random((3, 20, 20)) < 0.4, 1)
    D[hole | hole.transpose(0, 2, 1)] = np.nan
    model = ReplicatedMDS(2, method="metric").fit(D)

    def total(Y: np.ndarray) -> float:
        return float(np.nansum((D - cdist(Y, Y)) ** 2))

    Y = model.embedding_
    assert all(total(Y + 0.03 * rng.normal(size=Y.shape)) > total(Y) for _ in range(20))
    D[:, 0, 1] = D[:, 1, 0] = np.nan
    with pytest.raises(InvalidInput, match="needs all pairs"):
        ReplicatedMDS(2).fit(D)


# WeightedMDS --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("d", "m"), [(1, 2), (2, 3), (3, 6)])
def test_planted_weights_are_found(seed: int, d: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, d))
    W = rng.random((m, d)) + 0.1
    W /= W.mean(axis=0)
    D = np.stack([cdist(X * np.sqrt(w), X * np.sqrt(w)) for w in W])
    model = WeightedMDS(d).fit(D)
    order = np.argsort(-(X - X.mean(axis=0)).var(axis=0))
    assert np.allclose(model.weights_, W[:, order], atol=1e-6)
    assert np.allclose(np.abs(model.embedding_), np.abs(X - X.mean(axis=0))[:, order], atol=1e-6)
    for k in range(m):
        assert np.allclose(cdist(model.configurations_[k], model.configurations_[k]), D[k], atol=1e-6)
    assert np.allclose(model.explained_, 1)
    noise = 0.02 * rng.normal(size=D.shape)
    noisy = np.abs(D + noise + noise.transpose(0, 2, 1)) * (1 - np.eye(30))
    assert np.abs(WeightedMDS(d).fit(noisy).weights_ - W[:, order]).max() < 0.05


def test_equal_weights_are_replication() -> None:
    D = stack()
    expected = ReplicatedMDS(2, merge="rms").fit(D).embedding_
    assert np.allclose(WeightedMDS(2, weights=[2, 2, 2]).fit(D).embedding_, expected)


def test_given_weights_make_one_configuration_each() -> None:
    D = stack()
    model = WeightedMDS(2, weights=[[1, 0, 0], [0, 1, 1]]).fit(D)
    assert model.configurations_.shape == (2, 25, 2)
    assert np.allclose(model.weights_, [[1, 0, 0], [0, 0.5, 0.5]])
    alone = lowfold.ClassicalMDS(2, metric="precomputed").fit(D[0]).embedding_
    assert np.allclose(cdist(model.configurations_[0], model.configurations_[0]), cdist(alone, alone))
    for weights in ([1, 2], [[0, 0, 0]], [1, -1, 1]):
        with pytest.raises(InvalidInput, match="column for each of the 3"):
            WeightedMDS(2, weights=weights).fit(D)


def test_weighted_needs_every_pair() -> None:
    D = stack()
    D[1, 2, 3] = D[1, 3, 2] = np.nan
    with pytest.raises(InvalidInput, match="points 2 and 3 in matrix 1"):
        WeightedMDS(2).fit(D)


@pytest.mark.parametrize("cls", CLASSES)
def test_kernel(cls) -> None:
    D = stack()
    model = cls(2).fit(D)
    K = model.kernel().dense()
    assert np.allclose(K, K.T)
    assert np.abs(K.sum(axis=0)).max() < 1e-9
