"""MetricMDS: exact recovery, missing pairs, weights, other distances, agreement with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.manifold import smacof

import lowfold
from lowfold import ClassicalMDS, MetricMDS
from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold.graph import Graph


def points(seed: int, n: int = 40, d: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def holes(D: np.ndarray, share: float, seed: int) -> np.ndarray:
    out = np.array(D)
    hole = np.triu(np.random.default_rng(seed).random(D.shape) < share, 1)
    out[hole | hole.T] = np.nan
    return out


def same_shape(A: np.ndarray, B: np.ndarray) -> float:
    """Largest distance that differs: 0 when B is A moved, turned or reflected."""
    return float(np.abs(cdist(A, A) - cdist(B, B)).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_exact_distances_are_recovered(seed: int, d: int) -> None:
    X = points(seed, d=d)
    model = MetricMDS(d, metric="precomputed").fit(cdist(X, X))
    assert model.stress_ < 1e-15
    assert same_shape(X, model.embedding_) < 1e-8
    assert np.abs(model.embedding_.mean(axis=0)).max() < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_missing_pairs_are_left_out_and_come_back(seed: int) -> None:
    X = points(seed, 50)
    D = holes(cdist(X, X), 0.5, seed)
    model = MetricMDS(2, metric="precomputed", tol=1e-13, max_iter=3000).fit(D)
    assert same_shape(X, model.embedding_) < 1e-3
    i, j = np.nonzero(np.isfinite(D))
    sparse = csr_array((D[i, j], (i, j)), shape=D.shape)
    again = MetricMDS(2, metric="precomputed", tol=1e-13, max_iter=3000).fit(sparse)
    assert np.allclose(again.embedding_, model.embedding_, atol=1e-6)
    upper = i < j
    graph = Graph.from_edges(50, np.column_stack([i, j])[upper], D[i, j][upper])
    from_graph = MetricMDS(2, tol=1e-13, max_iter=3000).fit(graph)
    assert np.allclose(from_graph.embedding_, model.embedding_, atol=1e-6)


def test_a_weight_of_zero_is_a_missing_pair() -> None:
    X = points(0, 30, 5)
    D = cdist(X, X)
    gaps = holes(D, 0.3, 1)
    W = np.isfinite(gaps).astype(float)
    init = points(1, 30)
    settings = {"metric": "precomputed", "init": init}
    assert np.allclose(
        MetricMDS(2, weights=W, **settings).fit(D).embedding_, MetricMDS(2, **settings).fit(gaps).embedding_, atol=1e-9
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_stress_is_that_of_scikit_learn_or_less() -> None:
    same = 0
    for seed in range(4):
        D = cdist(*[points(seed, 40, 6) * [3, 2, 1, 0.5, 0.5, 0.5]] * 2)
        init = lowfold.ClassicalMDS(2, metric="precomputed").fit_transform(D)
        settings = {"n_components": 2, "init": init, "n_init": 1, "max_iter": 2000, "eps": 1e-12}
        Z, stress = smacof(D, normalized_stress=False, **settings)
        model = MetricMDS(2, metric="precomputed", init=init, max_iter=2000, tol=1e-12).fit(D)
        if procrustes(model.embedding_, Z)[2] < 1e-4:  # the same of the many local minima
            same += 1
            assert model.stress_ == pytest.approx(stress, rel=1e-5)
        assert MetricMDS(2, metric="precomputed").fit(D).stress_ < 1.05 * stress
    assert same >= 3


@pytest.mark.parametrize("seed", range(3))
def test_other_minima_are_as_good_as_those_of_plain_majorisation(seed: int) -> None:
    """From random starts the quasi-Newton steps end elsewhere at times; on average not higher."""
    D = cdist(*[points(seed, 60, 5)] * 2)
    ratios = []
    for start in range(8):
        init = points(100 + start, 60)
        Y = init
        for _ in range(400):  # the Guttman transform and nothing else
            d = cdist(Y, Y)
            ratio = np.divide(D, d, out=np.zeros_like(D), where=d > 0)
            Y = (ratio.sum(axis=1)[:, None] * Y - ratio @ Y) / 60
        plain = np.square(D - cdist(Y, Y)).sum() / 2
        ratios.append(MetricMDS(2, metric="precomputed", init=init, tol=1e-9).fit(D).stress_ / plain)
    assert np.mean(ratios) < 1.03
    assert min(ratios) < 1.001


@pytest.mark.parametrize("algorithm", ["smacof", "gradient"])
def test_a_callback_hears_every_step_and_can_end_it(algorithm: str) -> None:
    X = points(3, 40, 5)
    heard = []

    def callback(iteration: int, stress: float, layout: np.ndarray) -> bool:
        heard.append((iteration, stress, layout))
        return iteration == 4

    model = MetricMDS(2, algorithm=algorithm, tol=1e-15, init="random", callback=callback).fit(X)
    assert [step[0] for step in heard] == [1, 2, 3, 4]
    assert np.all(np.diff([step[1] for step in heard]) <= 0)
    assert not model.converged_
    assert model.stress_ == pytest.approx(heard[-1][1], rel=0.2)
    resumed = MetricMDS(2, init=heard[-1][2], tol=1e-9, max_iter=1000).fit(X)
    assert resumed.stress_ <= heard[-1][1]
    assert resumed.converged_


@pytest.mark.parametrize("seed", range(3))
def test_stress_falls_below_that_of_classical_mds_while_its_own_loss_does_not(seed: int) -> None:
    """Classical MDS minimises strain among projections, not the error of the distances, Wang (2012), Section 6.3.3."""
    X = points(seed, 50, 5) * [3, 2, 2, 1, 1]
    D = cdist(X, X)
    first = ClassicalMDS(2, metric="precomputed").fit(D)
    model = MetricMDS(2, metric="precomputed", init=first.embedding_).fit(D)

    def error(Y: np.ndarray) -> float:
        return float(((D - cdist(Y, Y)) ** 2).sum())

    def strain(Y: np.ndarray) -> float:
        """||G - Y Y'||^2, which the classical configuration minimises."""
        H = np.eye(len(D)) - 1 / len(D)
        return float(((-0.5 * H @ D**2 @ H - Y @ Y.T) ** 2).sum())

    assert error(model.embedding_) < 0.8 * error(first.embedding_)
    assert strain(model.embedding_) > strain(first.embedding_)
    assert model.stress_ == pytest.approx(error(model.embedding_) / 2, rel=1e-9)
    rng = np.random.default_rng(seed)
    projections = (np.linalg.qr(rng.normal(size=(5, 2)))[0] for _ in range(50))
    eta = [(D**2 - cdist(X @ T, X @ T) ** 2).sum() for T in projections]
    assert min(eta) >= first.strain_ * (1 - 1e-9), "no projection has less of classical MDS's own loss"


@pytest.mark.parametrize("algorithm", ["smacof", "gradient"])
@pytest.mark.parametrize("weights", [None, "sammon"])
def test_the_history_never_rises(algorithm: str, weights: str | None) -> None:
    model = MetricMDS(2, algorithm=algorithm, weights=weights, init="random").fit(points(0, 60, 5))
    assert (np.diff(model.stress_history_) <= 0).all()
    assert model.stress_ <= model.stress_history_[-1] * (1 + 1e-9)
    assert model.point_stress_.sum() / 2 == pytest.approx(model.stress_)
    assert model.algorithm_ == algorithm


def test_sammon_keeps_small_distances_better() -> None:
    X = points(3, 80, 6)
    D = cdist(X, X)
    near = (np.quantile(D, 0.1) > D) & (D > 0)

    def error(model: MetricMDS) -> float:
        return float(np.abs(D - cdist(model.embedding_, model.embedding_))[near].mean())

    plain, sammon = MetricMDS(2).fit(X), MetricMDS(2, weights="sammon").fit(X)
    assert error(sammon) < error(plain)
    d = cdist(sammon.embedding_, sammon.embedding_)
    upper = np.triu_indices(80, 1)
    assert sammon.stress_ == pytest.approx((((D - d) ** 2)[upper] / D[upper]).sum(), rel=1e-9)


@pytest.mark.parametrize("p", [1.0, 3.0])
def test_other_distances_of_the_output(p: float) -> None:
    Y = points(2, 25)
    D = (np.abs(Y[:, None] - Y[None]) ** p).sum(axis=-1) ** (1 / p)
    model = MetricMDS(2, metric="precomputed", p=p, init=Y + 0.05 * points(3, 25), max_iter=3000, tol=1e-12).fit(D)
    euclidean = MetricMDS(2, metric="precomputed", init=Y).fit(D)
    assert model.normalized_stress_ < 0.02 < euclidean.normalized_stress_
    assert model.algorithm_ == "gradient"
    with pytest.raises(InvalidInput, match="p=2"):
        MetricMDS(2, p=p, algorithm="smacof").fit(Y)
    with pytest.raises(InvalidInput, match="p=2"):
        model.kernel()


def test_more_starts_are_never_worse() -> None:
    X = points(4, 40, 6)
    one, five = (MetricMDS(2, init="random", n_init=k).fit(X) for k in (1, 5))
    assert five.stress_ <= one.stress_


def test_landmarks_stand_for_all_points() -> None:
    X = lowfold.datasets.s_curve(300, random_state=0).X
    full, few = MetricMDS(2).fit(X), MetricMDS(2, landmarks=60, random_state=1).fit(X)
    assert few.embedding_.shape == (300, 2)
    assert len(few.landmarks_) == few.operator().n == len(few.point_stress_) == 60
    assert few.landmark_error_ < 0.2
    delta, found, whole = (cdist(Y, Y) for Y in (X, few.embedding_, full.embedding_))
    assert np.square(delta - found).sum() < 1.3 * np.square(delta - whole).sum()
    assert np.array_equal(few.transform(X[:5]), few.embedding_[:5])
    with pytest.raises(InvalidInput, match="weights is given for all points"):
        MetricMDS(2, landmarks=60, weights=np.ones((300, 300))).fit(X)


def test_new_points_go_where_their_distances_say() -> None:
    X = points(0, 40)
    new = points(9, 5)
    for weights in (None, "sammon"):
        model = MetricMDS(2, metric="precomputed", weights=weights).fit(cdist(X, X))
        placed = model.transform(cdist(new, X))
        assert np.abs(cdist(placed, model.embedding_) - cdist(new, X)).max() < 1e-6
    gaps = cdist(new, X)
    gaps[:, 10:30] = np.nan
    assert np.abs(cdist(model.transform(gaps), model.embedding_) - cdist(new, X)).max() < 1e-6


@pytest.mark.parametrize("weights", [None, "sammon"])
def test_the_last_step_stands_still(weights: str | None) -> None:
    X = points(1, 40, 5)
    model = MetricMDS(2, weights=weights, tol=1e-15, max_iter=5000).fit(X)
    B, Y = model.kernel().dense(), model.embedding_
    D = cdist(X, X)
    W = (1 / np.where(D > 0, D, np.inf)) if weights else 1 - np.eye(40)
    V = np.diag(W.sum(axis=1)) - W
    assert np.abs(np.linalg.pinv(V) @ B @ Y - Y).max() < 1e-4 * np.abs(Y).max()
    assert np.linalg.eigvalsh(B)[0] > -1e-9 * np.abs(B).max()


def test_shepard_pairs() -> None:
    X = points(0, 30, 4)
    model = MetricMDS(2).fit(X)
    shown = model.shepard()
    assert len(shown.dissimilarities) == 30 * 29 / 2
    residual = shown.dissimilarities - shown.distances
    assert (residual**2).sum() == pytest.approx(model.stress_)
    assert len(model.shepard(100).distances) <= 120


@pytest.mark.slow
def test_memory_is_bounded_by_the_budget() -> None:
    """Beyond it distances are made anew in each pass; the result is the same but for float32 rounding."""
    X = lowfold.datasets.s_curve(5_100, random_state=0).X
    held = MetricMDS(2, max_iter=2).fit(X)
    with lowfold.config_context(memory="50MB"):
        model = MetricMDS(2, max_iter=2).fit(X)
    assert model.stress_ == pytest.approx(held.stress_, rel=1e-5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_thousand_points_to_the_end_in_half_a_gigabyte() -> None:
    """A matrix of float32 distances would take 1.6 GB."""
    X = lowfold.datasets.swiss_roll(20_000, random_state=0).X
    with lowfold.config_context(memory="500MB"):
        model = MetricMDS(2).fit(X)
    small = MetricMDS(2).fit(X[:2_000])
    assert model.converged_
    assert model.normalized_stress_ == pytest.approx(small.normalized_stress_, rel=0.03)


def test_repairs_are_told() -> None:
    D = cdist(*[points(0, 10)] * 2)
    D[0, 1] += 0.5
    with pytest.warns(RepairWarning, match="not symmetric"):
        MetricMDS(2, metric="precomputed").fit(D)
    D[1, 0] = D[0, 1]
    D[3, 3] = 1.0
    with pytest.warns(RepairWarning, match="itself"):
        MetricMDS(2, metric="precomputed").fit(D)


def test_what_cannot_be_is_refused_in_words() -> None:
    D = np.full((6, 6), np.nan)
    D[:3, :3] = D[3:, 3:] = 1 - np.eye(3)
    with pytest.raises(InvalidInput, match="2 groups"):
        MetricMDS(2, metric="precomputed").fit(D)
    X = points(0, 10)
    W = np.zeros((10, 10))
    W[:4, :4] = W[4:, 4:] = 1
    with pytest.raises(InvalidInput, match="2 groups"):
        MetricMDS(2, weights=W).fit(X)
    with pytest.raises(InvalidInput, match=r"shape \(10, 2\)"):
        MetricMDS(2, init=np.zeros((9, 2))).fit(X)
    with pytest.raises(InvalidInput, match=r"\(10, 10\)"):
        MetricMDS(2, weights=np.ones((9, 9))).fit(X)
    with pytest.raises(InvalidInput, match="symmetric"):
        MetricMDS(2, weights=np.triu(np.ones((10, 10)))).fit(X)
    model = MetricMDS(2, metric="precomputed").fit(cdist(X, X))
    with pytest.raises(ValueError, match="8"):
        model.transform(np.ones((2, 8)))


def test_one_dimension_too_many_stays_flat() -> None:
    x = np.arange(12.0)[:, None]
    model = MetricMDS(2).fit(x)
    assert model.stress_ < 1e-12
    assert np.abs(model.embedding_[:, 1]).max() < 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_road_map_from_mileages(seed: int) -> None:
    """Cities from a matrix of distances with gaps, up to a movement."""
    rng = np.random.default_rng(seed)
    cities = rng.uniform(0, 1000, size=(30, 2))
    roads = holes(1.2 * cdist(cities, cities), 0.4, seed)
    found = MetricMDS(2, metric="precomputed", tol=1e-12, max_iter=3000).fit(roads).embedding_
    assert procrustes(cities, found)[2] < 1e-6
