"""All measures at once are the measures one by one; samples of rows estimate them."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold import quality
from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold.graph import find_neighbors
from lowfold.quality import _spaces
from lowfold.quality._local import angles, edge_lengths
from lowfold.quality._pairs import pearson
from lowfold.quality._ranks import neighbor_ranks

SEEDS = range(3)


def case(seed: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    roll = lowfold.datasets.swiss_roll(n, noise=0.1, random_state=seed)
    assert roll.coordinates is not None
    return roll.X, roll.coordinates + 0.5 * np.random.default_rng(seed).normal(size=(n, 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_as_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = case(seed)
    labels = X[:, 1] > 10
    monkeypatch.setattr(_spaces, "BLOCK", 1000)  # several blocks
    found = quality.summary(X, Y, n_neighbors=7, truth=X[:, 1], labels=labels)
    alone = {
        "trustworthiness": quality.trustworthiness(X, Y, 7),
        "continuity": quality.continuity(X, Y, 7),
        "mrre": quality.mrre(X, Y, 7),
        "mrre_data": quality.mrre(X, Y, 7, side="data"),
        "q_nx": neighbor_ranks(X, Y, 7).overlap(),
        "lcmc": quality.lcmc(X, Y, 7),
        "r_nx_area": quality.neighborhood_preservation(X, Y).score(),
        "pearson": pearson(X, Y),
        "residual_variance": quality.residual_variance(X, Y),
        "stress": quality.stress(X, Y, scaled=True),
        "spearman": quality.spearman(X, Y),
        "nonmetric_stress": quality.nonmetric_stress(X, Y),
        "edge_lengths": edge_lengths(X, Y, 7, scaled=True),
        "angles": angles(X, Y, 7),
        "local_isometry": quality.local_isometry(X, Y, 7, scaled=True),
        "orientation": quality.orientation(X, Y, 7),
        "riemannian_distortion": quality.riemannian_distortion(X, Y, 7, scaled=True),
        "procrustes": quality.procrustes(X[:, 1], Y),
        "affine_r2": quality.affine_r2(X[:, 1], Y),
        "class_separation": quality.class_separation(Y, labels),
        "misclassification": quality.misclassification(Y, labels, 7),
    }
    assert set(found) == set(alone)
    assert not found.missing
    for name, score in alone.items():
        assert found[name].value == pytest.approx(score.value, rel=1e-12), name
        assert found[name].perfect == score.perfect
        assert score.points is not None, name
        assert np.allclose(found[name].points, score.points, rtol=1e-10, equal_nan=True), name
    assert found.to_dict() == {name: found[name].value for name in found.scores}
    assert len(str(found).splitlines()) == len(found)


def test_unscaled_keeps_the_unit() -> None:
    X, Y = case(0)
    found = quality.summary(X, Y, scaled=False)
    assert found["stress"].value == pytest.approx(quality.stress(X, Y).value)
    assert found["edge_lengths"].value == edge_lengths(X, Y, 10).value


def test_threads_do_not_change_a_bit() -> None:
    X, Y = case(1, 300)
    one, two = (quality.summary(X, Y, n_jobs=jobs) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert np.array_equal(one.curve.q_nx, two.curve.q_nx)


def test_graph_and_matrix() -> None:
    X, Y = case(0)
    graph = find_neighbors(X, 8).union()
    found = quality.summary(graph, Y, n_neighbors=7)
    assert found["trustworthiness"].value == quality.trustworthiness(graph, Y, 7).value
    assert found["pearson"].value == pytest.approx(pearson(graph, Y).value)
    assert set(found.missing) == {"angles", "local_isometry", "orientation", "riemannian_distortion"}
    assert "Euclidean" in str(found)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    by_matrix = quality.summary(D, Y, metric="precomputed")
    assert by_matrix["continuity"].value == quality.summary(X, Y)["continuity"].value


def test_rows_drawn_estimate_the_whole() -> None:
    X, Y = case(2, 800)
    whole, part = quality.summary(X, Y), quality.summary(X, Y, max_points=200)
    assert len(part.rows) == 200
    for name in ("trustworthiness", "continuity", "q_nx", "r_nx_area", "pearson", "stress"):
        assert part[name].value == pytest.approx(whole[name].value, abs=0.05)
        points = part[name].points
        assert points is not None
        assert np.isfinite(points).sum() == 200
        if name != "stress":  # whose factor is that of the sample
            assert np.allclose(points[part.rows], whole[name].points[part.rows])  # type: ignore[index]
    assert part.to_dict() == quality.summary(X, Y, max_points=200).to_dict()
    assert part.to_dict() != quality.summary(X, Y, max_points=200, random_state=1).to_dict()


def test_what_is_not_defined_says_why() -> None:
    Y = np.random.default_rng(0).normal(size=(20, 2))
    found = quality.summary(np.zeros((20, 3)), Y)
    assert "no two different points" in found.missing["stress"]
    assert "above 0" in found.missing["edge_lengths"]
    assert np.isnan(found["pearson"].value)
    with pytest.raises(InvalidInput, match="max_points"):
        quality.summary(Y, Y, max_points=1)
    with pytest.raises(InvalidInput, match="one row per point"):
        quality.summary(Y, Y[:-1])


@pytest.mark.parametrize("n", [3, 5, 70, 400])
@pytest.mark.parametrize("kind", ["plain", "tied", "outlier", "equal", "close"])
def test_ranks_of_a_row_are_those_of_a_stable_sort(n: int, kind: str) -> None:
    d = np.random.default_rng(n).random(n)
    d = {
        "plain": d,
        "tied": np.round(d, 1),
        "outlier": np.where(np.arange(n) == 0, 1e9, d),  # all others share one number below 2^22
        "equal": np.ones(n),
        "close": 1 + 1e-14 * np.round(50 * d),
    }[kind]
    own = n // 2
    work = [np.empty(n, dtype=np.int32) for _ in range(4)]
    compiled("lowfold.quality._rank_loops").ranks_of_row(d, own, *work)
    d[own] = -1
    expected = np.empty(n, dtype=int)
    expected[np.argsort(d, kind="stable")] = np.arange(n)
    assert np.array_equal(work[3], expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_spearman_of_a_point(seed: int) -> None:
    from scipy.stats import spearmanr

    X, Y = case(seed)
    points = quality.spearman(X, Y).points
    assert points is not None
    others = np.arange(len(X)) != 4
    a, b = np.linalg.norm(X - X[4], axis=1)[others], np.linalg.norm(Y - Y[4], axis=1)[others]
    assert points[4] == pytest.approx(spearmanr(a, b).statistic)
    assert quality.spearman(X, Y, max_points=50).points is None
    stress = quality.nonmetric_stress(X, Y)
    assert stress.points is not None
    assert stress.points.min() < stress.value < stress.points.max()
