"""Each method's objective: its own embedding is the least, by formulas written out where there are any."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold import quality
from lowfold._core.errors import InvalidInput, LowfoldWarning
from lowfold.methods._base import Method
from lowfold.methods.registry import BY_NAME, load

SEEDS = (0, 1, 2)
OTHER_INPUT = {"WeightedMDS", "ReplicatedMDS", "SupervisedLLE", "MultilinearPCA", "SpectralClustering"}
PARAMS: dict[str, dict[str, Any]] = {
    "KernelPCA": {"gamma": 0.01},
    "KernelLPP": {"gamma": 0.01},
    "LandmarkIsomap": {"landmarks": 30},
    "MVU": {"n_neighbors": 4},
    "NMF": {"max_iter": 4000},
}
LINEAR = ("PCA", "LPP", "NPE", "LinearLTSA", "ICA", "RandomProjection")
FEW = ("PCA", "Isomap", "LTSA", "LaplacianEigenmaps", "NMF")
LOSSES = {name: load(name).loss for name in BY_NAME}
TABLE = {name: loss for name, loss in LOSSES.items() if loss.what}
NONE = [name for name in BY_NAME if name not in TABLE]
GLOBAL = [name for name, entry in TABLE.items() if entry.least == "global" and name not in OTHER_INPUT]
LOCAL = [name for name, entry in TABLE.items() if entry.least == "local" and name not in OTHER_INPUT]

pytestmark = pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")


def roll(seed: int, n: int = 120) -> np.ndarray:
    X = lowfold.datasets.swiss_roll(n, noise=0.2, random_state=seed).X
    return np.asarray(X - X.min(axis=0))


@cache
def fitted(name: str, seed: int) -> Any:
    return getattr(lowfold, name)(2, **PARAMS.get(name, {})).fit(roll(seed))


def rivals(seed: int, names: tuple[str, ...] = FEW) -> dict[str, np.ndarray]:
    found = {name: np.asarray(fitted(name, seed).embedding_) for name in names}
    return {**found, "random": np.random.default_rng(seed).normal(size=(120, 2))}


def none_beats(name: str, seed: int, names: tuple[str, ...]) -> None:
    model, X = fitted(name, seed), roll(seed)
    own = quality.objective(X, model.embedding_, model)
    least = own.perfect - 1e-6 * abs(own.perfect) if TABLE[name].least == "global" else own.value * (1 - 1e-4)
    for rival, Y in rivals(seed, names).items():
        if name != "NMF" or Y.min() >= 0:
            assert quality.objective(X, Y, model, scaled=True).value >= least, rival


def test_every_method_has_an_objective_or_a_reason() -> None:
    assert all(loss is not Method.loss for loss in LOSSES.values())
    assert len(TABLE) > 5 * len(NONE)


@pytest.mark.parametrize("name", NONE)
def test_no_objective_is_said_in_words(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} has no objective"):
        quality.objective(roll(0), np.random.default_rng(0).normal(size=(120, 2)), name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", GLOBAL)
def test_no_embedding_beats_the_own_one(name: str, seed: int) -> None:
    model = fitted(name, seed)
    own = quality.objective(None, model.embedding_, model)
    assert own.own is not None
    if name != "MVU":  # whose least is that of all dimensions
        assert own.value == pytest.approx(own.own, rel=1e-6)
        assert own.perfect == own.own
    none_beats(name, seed, FEW)


@pytest.mark.parametrize("name", LOCAL)
def test_descent_ends_below_the_others(name: str) -> None:
    own = quality.objective(roll(0), fitted(name, 0).embedding_, fitted(name, 0))
    assert own.perfect == 0
    assert own.value == pytest.approx(own.own, rel=1e-9)
    none_beats(name, 0, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", GLOBAL + LOCAL)
def test_no_method_beats_another_at_its_own(name: str, seed: int) -> None:
    none_beats(name, seed, tuple(GLOBAL + LOCAL))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["LPP", "NPE", "LinearLTSA"])
def test_linear_methods_are_least_among_linear_maps(name: str, seed: int) -> None:
    model = fitted(name, seed)
    for rival, Y in rivals(seed, LINEAR).items():
        if rival != "random":
            found = quality.objective(None, Y, model)
            assert found.value >= found.perfect * (1 - 1e-9), rival
    free = {"LPP": "LaplacianEigenmaps", "NPE": "LLE", "LinearLTSA": "LTSA"}[name]
    assert quality.objective(None, fitted(free, seed).embedding_, model).value < found.perfect


def test_values_are_those_the_models_report() -> None:
    X = roll(0)
    lle, le, iso = fitted("LLE", 0), fitted("LaplacianEigenmaps", 0), fitted("Isomap", 0)
    assert quality.objective(X, lle.embedding_, lle).value == pytest.approx(lle.reconstruction_error_, rel=1e-5)
    assert quality.objective(X, le.embedding_, le).value == pytest.approx(le.eigenvalues_.sum(), rel=1e-6)
    pca = fitted("PCA", 0)
    lost = quality.objective(X, pca.embedding_, pca)
    assert lost.value == pytest.approx(1 - pca.explained_variance_ratio_.sum())
    kernel = fitted("KernelPCA", 0)
    assert quality.objective(X, kernel.embedding_, kernel).value == pytest.approx(
        1 - kernel.explained_variance_ratio_.sum(), rel=1e-6
    )
    G = iso.kernel().dense()
    left = np.linalg.norm(G - iso.embedding_ @ iso.embedding_.T) / np.linalg.norm(G)
    assert quality.objective(X, iso.embedding_, iso).value == pytest.approx(left)
    for name in ("SNE", "SymmetricSNE", "TSNE"):
        model = fitted(name, 0)
        found = quality.objective(X, model.embedding_, name)
        assert found.value == pytest.approx(model.kl_divergence_, rel=1e-9)
        assert found.points is not None
        assert found.points.sum() == pytest.approx(found.value)
        assert found.own is None
    mds = fitted("NonmetricMDS", 0)
    assert quality.objective(X, mds.embedding_, "NonmetricMDS").value == pytest.approx(mds.normalized_stress_)
    Y = rivals(0, ("PCA",))["random"]
    assert quality.objective(X, Y, "MetricMDS").value == pytest.approx(quality.stress(X, Y).value)
    assert quality.objective(X, Y, "MetricMDS", scaled=True).value == pytest.approx(
        quality.stress(X, Y, scaled=True).value
    )
    ica = fitted("ICA", 0)
    assert quality.objective(X, ica.embedding_, ica).value == pytest.approx(ica.marginal_entropy_, abs=1e-6)


@pytest.mark.parametrize("name", ["PCA", "LLE", "LTSA", "LaplacianEigenmaps", "DiffusionMaps", "KernelPCA"])
def test_constrained_ones_see_only_the_span(name: str) -> None:
    model = fitted(name, 0)
    Y = rivals(0, ("PCA",))["random"]
    first = quality.objective(None, Y, model)
    again = quality.objective(None, 7 * Y @ [[1.0, 2.0], [0.0, -3.0]] + 5, model)
    assert again.value == pytest.approx(first.value, rel=1e-8)
    assert first.points is not None
    assert first.points.sum() == pytest.approx(first.value)


def test_trace_by_hand() -> None:
    # A path of three points with unit weights: L = [[1,-1,0],[-1,2,-1],[0,-1,1]], D = (1, 2, 1).
    path = lowfold.graph.Graph.from_edges(3, [[0, 1], [1, 2]])
    y = np.array([[-1.0], [0.0], [1.0]])
    settings = {"weights": "binary"}
    found = quality.objective(path, y, "LaplacianEigenmaps", **settings)
    assert found.value == pytest.approx(1.0)  # y'Ly / y'Dy = 2 / 2
    plain = quality.objective(path, y, "LaplacianEigenmaps", laplacian="unnormalized", **settings)
    assert plain.value == pytest.approx(1.0)  # 2 / 2
    other = quality.objective(path, np.array([[0.0], [1.0], [1.0]]), "LaplacianEigenmaps", **settings)
    assert other.value == pytest.approx(1 / 0.75)  # y - 3/4: y'Ly = 1, y'Dy = 9/16 + 2/16 + 1/16


def test_springs_by_hand() -> None:
    chain = lowfold.graph.Graph.from_edges(3, [[0, 1], [1, 2]])
    model = lowfold.MVU(1, constraints="eq", tol=1e-7).fit(chain)
    found = quality.objective(None, [[-1.0], [0.0], [1.0]], model)
    assert dict(found.parts)["variance"] == pytest.approx(2.0)
    assert dict(found.parts)["violation"] == pytest.approx(0.0, abs=1e-12)
    assert found.value == pytest.approx(found.perfect, rel=1e-4)
    longer = quality.objective(None, [[-2.0], [0.0], [2.0]], model)
    assert dict(longer.parts)["violation"] == pytest.approx(3.0)
    scaled = quality.objective(None, [[-2.0], [0.0], [2.0]], model, scaled=True)
    assert scaled.value == pytest.approx(found.value)
    slack = lowfold.MVU(1, nu=2.0, tol=1e-7).fit(chain)
    # (nu sum (d^2 - 1)^2 - tr K) / n = (2 (9 + 9) - 8) / 3
    assert quality.objective(None, [[-2.0], [0.0], [2.0]], slack).value == pytest.approx(28 / 3)


def test_inputs_of_other_kinds() -> None:
    X = roll(0)
    labels = (X[:, 1] > np.median(X[:, 1])).astype(int)
    supervised = lowfold.SupervisedLLE(2, supervision=0.3).fit(X, labels)
    own = quality.objective(None, supervised.embedding_, supervised)
    assert quality.objective(None, fitted("PCA", 0).embedding_, supervised).value > own.value
    cut = lowfold.SpectralClustering(2).fit(X)
    assert quality.objective(None, cut.embedding_, cut).value == pytest.approx(cut.eigenvalues_.sum(), abs=1e-8)
    images = np.random.default_rng(0).normal(size=(40, 4, 5))
    tensor = lowfold.MultilinearPCA(3).fit(images)
    lost = quality.objective(images, tensor.embedding_, tensor)
    flat = lowfold.PCA(3).fit_transform(images.reshape(40, 20))
    assert quality.objective(images, flat, tensor).value <= lost.value < 1
    D = np.linalg.norm(X[:40, None] - X[None, :40], axis=2)
    stack = np.stack([D, 1.1 * D])
    for model in (lowfold.ReplicatedMDS(2), lowfold.WeightedMDS(2)):
        model.fit(stack)
        own = quality.objective(stack, model.embedding_, model)
        other = quality.objective(stack, np.random.default_rng(0).normal(size=(40, 2)), model, scaled=True)
        assert own.value < other.value
        with pytest.raises(InvalidInput, match="X must be given"):
            quality.objective(None, model.embedding_, model)


def test_individual_scaling_is_exact_on_its_model() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(25, 2))
    weights = rng.random((3, 2)) + 0.2
    stack = np.stack([np.linalg.norm((Z[:, None] - Z[None]) * np.sqrt(w), axis=2) for w in weights])
    assert quality.objective(stack, Z, "WeightedMDS").value < 1e-20
    turned = Z @ [[0.6, -0.8], [0.8, 0.6]]
    assert quality.objective(stack, turned, "WeightedMDS").value > 1e-4  # the axes are determined


def test_sparse_affinities_and_landmarks() -> None:
    X = roll(1)
    model = lowfold.TSNE(2, method="neighbors", perplexity=8).fit(X)
    found = quality.objective(X, model.embedding_, model)
    assert found.value == pytest.approx(model.kl_divergence_, rel=1e-6)
    assert found.points is not None
    assert found.points.sum() == pytest.approx(found.value)
    walk = lowfold.DiffusionMaps(2, landmarks=50).fit(X)
    lost = quality.objective(None, walk.embedding_, walk)
    assert lost.points is not None
    assert np.isfinite(lost.points).sum() == 50
    assert lost.value == pytest.approx(lost.own, rel=1e-9)


def test_diffusion_variance_as_defined() -> None:
    X, t = roll(0, 60), 2
    model = lowfold.DiffusionMaps(2, t=t).fit(X)
    P = np.linalg.matrix_power(np.asarray(model.walk().transition().todense()), t)
    phi = model.stationary_
    A = np.sqrt(phi)[:, None] * (P - phi) / np.sqrt(phi)
    B = np.sqrt(phi)[:, None] * (model.embedding_ - phi @ model.embedding_)
    left = A - B @ np.linalg.lstsq(B, A, rcond=None)[0]
    assert quality.objective(None, model.embedding_, model).value == pytest.approx((left**2).sum() / (A**2).sum())
    with pytest.raises(InvalidInput, match="t = 1/2"):
        quality.objective(X, model.embedding_, "DiffusionMaps", t=0.3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, Y: quality.objective(X, Y, "Nothing"), "there is no method"),
        (lambda X, Y: quality.objective(X, Y, "LLE", n_components=3), "number of columns of Y"),
        (lambda X, Y: quality.objective(X, Y, lowfold.LLE(2), reg=1), "already"),
        (lambda X, Y: quality.objective(None, Y, lowfold.LLE(2)), "X must be given"),
        (lambda X, Y: quality.objective(X, Y[:-1], fitted("LLE", 0)), "one row per point"),
        (lambda X, Y: quality.objective(X, Y[:, :1], fitted("LLE", 0)), "columns"),
        (lambda X, Y: quality.objective(X, Y[:, [0, 0]], "LLE"), "independent"),
        (lambda X, Y: quality.objective(X, Y * [1, 0], "LLE"), "constant column"),
        (lambda X, Y: quality.objective(X, Y, "NMF"), "at least 0"),
        (lambda X, Y: quality.objective(X, Y, "LaplacianEigenmaps", laplacian="naive"), "naive"),
        (lambda X, Y: quality.objective(X, Y, "LLE", scaled=1), "scaled"),
    ],
)
def test_errors_in_words(call, words: str) -> None:
    X = roll(0)
    with pytest.raises(InvalidInput, match=words):
        call(X, np.random.default_rng(0).normal(size=(120, 2)))


def test_pieces_embedded_apart_have_no_common_value() -> None:
    X = np.r_[roll(0, 40), roll(1, 40) + 500]
    with pytest.warns(LowfoldWarning):
        model = lowfold.Isomap(2, n_neighbors=5, on_disconnected="largest").fit(X)
    with pytest.raises(InvalidInput, match="one by one"):
        quality.objective(None, np.ones((80, 2)) * np.arange(80)[:, None] ** [1, 2], model)


def test_an_own_embedding_without_directions() -> None:
    line = np.arange(20.0)[:, None] * [1.0, 2.0, 3.0]
    Y = np.random.default_rng(0).normal(size=(20, 2))
    found = quality.objective(line, Y, "KernelPCA", kernel="linear")  # the second column of its own is 0
    assert found.own is None
    assert np.isnan(found.perfect)
    assert 0 < found.value < 1
