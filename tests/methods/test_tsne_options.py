"""t-SNE's tails, several perplexities, given affinities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput, RepairWarning, SolverFailed
from lowfold.optimize._neighbor import DenseAffinities, TSNECost


def blobs(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    return rng.normal(size=(n, 5)) + 6 * np.eye(5)[label], label


@pytest.mark.parametrize("dof", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_cost_and_gradient_of_student_with_any_degrees(dof: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = rng.random((12, 12))
    P = (P + P.T) * (1 - np.eye(12))
    P /= P.sum()
    Y = rng.normal(size=(12, 2))
    w = (1 + ((Y[:, None] - Y[None]) ** 2).sum(axis=2) / dof) ** (-(dof + 1) / 2) * (1 - np.eye(12))
    cost = TSNECost(DenseAffinities.held(P), dof=dof)
    at = P > 0
    assert np.isclose(cost.value(Y), np.sum(P[at] * np.log(P[at] / (w / w.sum())[at])))
    step = rng.normal(size=Y.shape)
    slope = (cost.value(Y + 1e-6 * step) - cost.value(Y - 1e-6 * step)) / 2e-6
    assert np.isclose(slope, np.sum(cost.gradient(Y) * step), rtol=1e-6)


def test_several_perplexities_are_the_mean_of_their_affinities() -> None:
    X, _ = blobs()
    made = {p: lowfold.TSNE(perplexity=p, max_iter=1).fit(X).operator().dense() for p in (4.0, 19.0)}
    both = lowfold.TSNE(perplexity=[4.0, 19.0], max_iter=1).fit(X).operator().dense()
    assert np.allclose(both, (made[4.0] + made[19.0]) / 2, rtol=1e-12)
    near = lowfold.TSNE(perplexity=[4.0, 19.0], method="neighbors", max_iter=1).fit(X).operator().dense()
    assert np.abs(near - both).max() < 1e-2 * both.max()  # 57 of the 59 others are kept


def test_layouts_with_other_tails_and_perplexities_part_the_clusters(tmp_path) -> None:
    X, label = blobs()
    for options in ({"dof": 0.5}, {"dof": 3.0}, {"perplexity": [5.0, 15.0]}):
        model = lowfold.TSNE(max_iter=300, **options).fit(X)
        Y = model.embedding_
        D = np.linalg.norm(Y[:, None] - Y[None], axis=2) + 1e9 * np.eye(len(Y))
        assert (label[D.argmin(axis=1)] == label).mean() > 0.95
        new, kind = blobs(9, seed=4)
        placed = model.transform(new)
        nearest = np.linalg.norm(placed[:, None] - Y[None], axis=2).argmin(axis=1)
        assert (label[nearest] == kind).mean() > 0.8
        lowfold.save(tmp_path / "m", model, overwrite=True)
        assert np.array_equal(lowfold.load(tmp_path / "m").transform(new), placed)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_given_affinities_are_used_as_they_are(form: object) -> None:
    X = blobs()[0]
    P = lowfold.TSNE(perplexity=10).fit(X).operator().dense()
    model = lowfold.TSNE(metric="precomputed_affinity", max_iter=300).fit(form(7.0 * P))
    assert np.allclose(model.operator().dense(), P, atol=1e-12)
    start = 1e-4 * np.random.default_rng(0).normal(size=(60, 2))
    same = lowfold.TSNE(perplexity=10, init=start, max_iter=40).fit(X)
    given = lowfold.TSNE(metric="precomputed_affinity", init=start, max_iter=40).fit(form(P))
    assert np.allclose(given.embedding_, same.embedding_, atol=1e-6 * np.abs(same.embedding_).max())
    with pytest.raises(InvalidInput, match="say nothing of new ones"):
        model.transform(form(P[:2]))


def test_points_without_an_affinity_are_refused() -> None:
    A = np.ones((12, 12))
    A[[2, 7]] = A[:, [2, 7]] = 0
    with pytest.raises(InvalidInput, match=r"2 of \d+ points have no affinity to any other \(the first: 2\)"):
        lowfold.TSNE(metric="precomputed_affinity").fit(scipy.sparse.csr_array(A))


def test_fft_has_one_degree() -> None:
    pytest.importorskip("openTSNE")
    with pytest.raises(InvalidInput, match="one degree of freedom"):
        lowfold.TSNE(method="fft", dof=2.0).fit(blobs()[0])


def test_a_long_exaggeration_leaves_the_usual_steps_after_it() -> None:
    X = lowfold.datasets.swiss_roll(501, random_state=9).X
    usual, long = (lowfold.TSNE(2, early_exaggeration_iter=early).fit(X) for early in (250, 740))
    assert long.n_iter_ <= 740 + 500
    assert long.kl_divergence_ < 1.05 * usual.kl_divergence_


def test_few_iterations_end_without_exaggeration() -> None:
    X = lowfold.datasets.swiss_roll(300, random_state=4).X
    full = lowfold.TSNE(2).fit(X)
    for steps, within in ((350, 1.15), (150, 1.4)):
        assert lowfold.TSNE(2, max_iter=steps).fit(X).kl_divergence_ < within * full.kl_divergence_
    with pytest.warns(lowfold.errors.AccuracyWarning, match="max_iter = 90 ends while P is still multiplied by 12"):
        lowfold.TSNE(2, max_iter=90, early_exaggeration_iter=90).fit(X)
    lowfold.TSNE(2, max_iter=90, early_exaggeration_iter=90, early_exaggeration=1.0).fit(X)


def test_a_cost_that_rests_ends_the_descent() -> None:
    X = np.random.default_rng(4).normal(size=(600, 5))
    model = lowfold.SNE(2).fit(X)
    assert model.n_iter_ < 500
    assert lowfold.SNE(2, min_grad_norm=0.0).fit(X).kl_divergence_ > (1 - 1e-5) * model.kl_divergence_


@pytest.mark.parametrize(
    ("name", "rate"), [("SNE", 1e-6), ("SymmetricSNE", 1e-6), ("SymmetricSNE", 200.0), ("TSNE", 1e6)]
)
def test_a_descent_that_lowers_nothing_is_told(name: str, rate: float) -> None:
    X = lowfold.datasets.s_curve(120, random_state=61).X
    with pytest.warns(AccuracyWarning, match=f"descent of {name} has not lowered its cost"):
        getattr(lowfold, name)(2, learning_rate=rate, max_iter=100).fit(X)


def test_a_descent_beyond_the_range_of_numbers_names_the_learning_rate() -> None:
    with pytest.raises(SolverFailed, match="learning_rate = 1e\\+06 is too large"):
        lowfold.SNE(2, learning_rate=1e6).fit(lowfold.datasets.s_curve(80, random_state=62).X)


def test_a_layout_that_was_the_best_already_is_not_told() -> None:
    X = lowfold.datasets.s_curve(120, random_state=63).X
    best = lowfold.SymmetricSNE(2).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.SymmetricSNE(2, init=best, max_iter=60).fit(X)


def test_what_is_mended_of_given_distances_is_told_once() -> None:
    X, _ = blobs(40, seed=7)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    D[3] *= 1.2
    for perplexity in (8.0, [5.0, 9.0]):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            lowfold.TSNE(metric="precomputed", perplexity=perplexity, max_iter=60).fit(D)
        assert [one.category for one in told] == [RepairWarning]
