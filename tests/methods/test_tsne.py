"""TSNE: the text's algorithm and the modern defaults, three ways to compute it, stopping, resuming."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import manifold
from tests.methods.test_sne import blobs, one_nearest

import lowfold
from lowfold import TSNE, SymmetricSNE
from lowfold._core.errors import InvalidInput
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric
from lowfold.optimize._neighbor import DenseAffinities, SparseAffinities


@pytest.mark.parametrize("seed", range(3))
def test_the_text_without_exaggeration(seed: int) -> None:
    X, labels = blobs(seed, 50)
    model = TSNE(
        2,
        perplexity=20,
        early_exaggeration=1,
        init="random",
        gains=False,
        learning_rate=100,
        momentum=lambda t: 0.5 if t < 250 else 0.8,
        random_state=seed,
        max_iter=600,
    ).fit(X)
    assert model.cost_history_[0, 1] > 1.5
    assert model.kl_divergence_ < 0.6
    assert one_nearest(model.embedding_, labels) == 1.0


def test_as_good_as_scikit_learn() -> None:
    X, _ = blobs(3, 20)
    ours = [TSNE(2, perplexity=15, init="random", random_state=s).fit(X).kl_divergence_ for s in range(3)]
    theirs = [
        manifold.TSNE(2, perplexity=15, init="random", random_state=s, method="exact").fit(X).kl_divergence_
        for s in range(3)
    ]
    assert min(ours) < 1.05 * min(theirs)


@pytest.mark.parametrize("method", ["exact", "neighbors"])
@pytest.mark.parametrize("seed", range(3))
def test_defaults_find_the_clusters(method: str, seed: int) -> None:
    X, labels = blobs(seed)
    model = TSNE(2, perplexity=10, method=method, max_iter=500).fit(X)
    assert model.method_ == method
    assert one_nearest(model.embedding_, labels) == 1.0
    P = model.kernel().dense()
    assert P.sum() == pytest.approx(1)
    assert np.allclose(P, P.T)
    near = cdist(model.transform(X[::7] + 0.05), model.embedding_).argmin(axis=1)
    assert (labels[near] == labels[::7]).all()


@pytest.mark.extra("openTSNE")
@pytest.mark.timeout(60)
def test_fft_goes_where_all_pairs_go() -> None:
    X, _ = blobs(0)
    settings = {"perplexity": 10, "early_exaggeration": 1.0}
    first = TSNE(2, method="neighbors", max_iter=150, **settings).fit(X).embedding_
    exact, fast = (TSNE(2, method=m, max_iter=15, init=first, **settings).fit(X) for m in ("neighbors", "fft"))
    assert fast.method_ == "fft"
    assert np.abs(fast.embedding_ - exact.embedding_).max() < 0.01 * np.abs(exact.embedding_).max()
    assert fast.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.05)


def test_strips_made_when_needed_are_those_held(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(0, 100)
    monkeypatch.setattr("lowfold.optimize._neighbor.FEW", 10)
    settings = {"perplexity": 15, "method": "exact", "max_iter": 20}
    held = TSNE(2, **settings).fit(X)
    monkeypatch.setattr("lowfold.methods._neighbor_affinity.HELD", 10)
    monkeypatch.setattr("lowfold.methods._neighbor_affinity.MOST_HELD", 10)
    made = TSNE(2, **settings).fit(X)
    assert np.allclose(made.embedding_, held.embedding_, rtol=1e-8, atol=1e-12)
    assert made.kl_divergence_ == pytest.approx(held.kl_divergence_)
    assert np.allclose(made.kernel().dense(), held.kernel().dense())


def test_all_neighbours_are_the_exact_affinities() -> None:
    X, _ = blobs(1, 8)
    exact, near = (TSNE(2, perplexity=8, method=m, max_iter=5).fit(X) for m in ("exact", "neighbors"))
    assert np.allclose(exact.kernel().dense(), near.kernel().dense(), atol=1e-12)


def test_sparse_distances() -> None:
    X, labels = blobs(2)
    found = nearest(Points(X, resolve_metric("euclidean", None, X)), 40)
    D = csr_array((found.distances, found.indices, found.indptr), shape=(len(X), len(X)))
    model = TSNE(2, metric="precomputed", perplexity=10, init="random", max_iter=400).fit(D)
    assert model.method_ == "neighbors"
    assert one_nearest(model.embedding_, labels) == 1.0
    with pytest.raises(InvalidInput, match="gaps"):
        TSNE(2, metric="precomputed", method="exact").fit(D)


def test_going_on_from_a_layout() -> None:
    X, _ = blobs(0)
    settings = {"perplexity": 10, "early_exaggeration": 1.0}
    first = TSNE(2, max_iter=200, init="random", **settings).fit(X)
    more = TSNE(2, max_iter=200, init=first.embedding_, **settings).fit(X)
    assert more.cost_history_[0, 1] == pytest.approx(first.kl_divergence_)
    assert more.kl_divergence_ < first.kl_divergence_
    with pytest.raises(InvalidInput, match="init must have shape"):
        TSNE(2, init=np.zeros((3, 2))).fit(X)


@pytest.mark.filterwarnings("ignore:the descent of TSNE has not lowered its cost")
def test_callback_and_early_stop() -> None:
    X, _ = blobs(0)
    seen = []

    def stop(iteration: int, cost: float, layout: np.ndarray) -> bool:
        seen.append((iteration, cost, layout.shape))
        return iteration == 150

    model = TSNE(2, callback=stop).fit(X)
    assert [row[0] for row in seen] == [50, 100, 150]
    assert seen[0][2] == (90, 2)
    assert (model.n_iter_, model.stop_reason_) == (150, "callback")
    model = TSNE(2, n_iter_without_progress=50, learning_rate=1e-30, early_exaggeration=1.0).fit(X)
    assert (model.n_iter_, model.stop_reason_) == (100, "no progress")
    assert TSNE(2, min_grad_norm=10.0, early_exaggeration=1.0).fit(X).stop_reason_ == "gradient"


def test_learning_rate_rule() -> None:
    X, _ = blobs(0)
    assert TSNE(2, max_iter=1).fit(X).learning_rate_ == 90 / 4
    assert TSNE(2, max_iter=1, learning_rate=7.0).fit(X).learning_rate_ == 7.0
    start = 1e-2 * np.random.default_rng(0).normal(size=(90, 2))
    once = {"max_iter": 200, "init": start, "gains": False, "callback": lambda t, cost, Y: True}  # 50 steps, all early
    auto = SymmetricSNE(2, early_exaggeration=3.0, **once).fit(X)
    given = SymmetricSNE(2, early_exaggeration=3.0, learning_rate=auto.learning_rate_ / 3, **once).fit(X)
    assert np.array_equal(auto.embedding_, given.embedding_), "divided by the exaggeration in force"
    many = np.random.default_rng(0).normal(size=(300, 3))
    once["init"] = many[:, :2]
    auto = TSNE(2, early_exaggeration=3.0, **once).fit(many)
    given = TSNE(2, early_exaggeration=3.0, learning_rate=50.0, **once).fit(many)
    assert np.array_equal(auto.embedding_, given.embedding_), "but 50 at least"


def test_what_cannot_be_is_refused_in_words() -> None:
    X, _ = blobs(0)
    with pytest.raises(InvalidInput, match="joint"):
        TSNE(2, method="neighbors", affinities="joint").fit(X)
    with pytest.raises(InvalidInput, match="graph"):
        TSNE(2).fit(lowfold.graph.Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]]))


@pytest.mark.extra("openTSNE")
def test_fft_has_at_most_two_columns() -> None:
    with pytest.raises(InvalidInput, match="1 or 2 columns"):
        TSNE(3, method="fft").fit(blobs(0)[0])
    assert TSNE(1, method="fft", max_iter=5).fit(blobs(0)[0]).embedding_.shape == (90, 1)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_points_need_no_square_matrix() -> None:
    X = lowfold.datasets.s_curve(5_000, random_state=0).X
    with lowfold.config_context(memory="100MB"):
        model = TSNE(2, max_iter=100).fit(X)
    assert model.method_ == "neighbors"
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("seed", [31, 32])
@pytest.mark.parametrize("n", [400, 700])
def test_points_that_all_others_count_as_neighbours_are_not_thrown_about(seed, n):
    """Short rows are near to all: without a bound on their steps the divergence ended 15% higher."""
    rows = scipy.sparse.random(n, 600, 0.015, format="csr", random_state=seed)
    ours = lowfold.TSNE(2).fit(rows)
    other = manifold.TSNE(2, init="pca", method="exact", max_iter=500).fit(rows.toarray())
    assert ours.kl_divergence_ < 1.05 * other.kl_divergence_
    assert np.abs(ours.embedding_).max() < 20


def test_masses_are_the_sums_of_the_rows():
    A = np.random.default_rng(33).random((90, 90))
    P = (A + A.T) * (A + A.T > 1.2)
    for held in (DenseAffinities.held(P), SparseAffinities(csr_array(P), 0.0)):
        np.testing.assert_allclose(held.masses(), P.sum(axis=1))
