"""Landmarks by one mechanism: rules, the models of all methods that have them, what the error means."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold._core.run import Run
from lowfold.graph._source import Pairs, Points
from lowfold.lowrank._landmark_rules import RULES, landmarks_by_rule
from lowfold.methods._landmarks import relative_error
from lowfold.metrics._resolve import resolve_metric

METHODS = {
    "KernelPCA": dict(gamma=0.05),
    "LaplacianEigenmaps": dict(n_neighbors=10),
    "DiffusionMaps": dict(n_neighbors=10),
    "LLE": dict(n_neighbors=16),
    "ModifiedLLE": dict(n_neighbors=14),
    "LTSA": dict(n_neighbors=12),
    "HessianLLE": dict(n_neighbors=14),
    "Isomap": dict(n_neighbors=10),
}


def points(X):
    return Points(X, resolve_metric("euclidean", None, X))


def affine_r2(Y, T):
    A = np.column_stack([Y, np.ones(len(Y))])
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return 1 - np.square(left).sum() / np.square(T - T.mean(axis=0)).sum()


@pytest.mark.parametrize("rule", RULES)
def test_rules_give_distinct_points_and_repeat(rule):
    X = np.random.default_rng(0).standard_normal((150, 3))
    D = np.linalg.norm(X[:, None] - X[None, :], axis=-1)
    for source in (points(X), Pairs(D)):
        chosen = landmarks_by_rule(source, 20, rule=rule, run=Run(rng=np.random.default_rng(1)))
        assert len(np.unique(chosen)) == 20
        assert np.array_equal(chosen, np.sort(chosen))
        again = landmarks_by_rule(source, 20, rule=rule, run=Run(rng=np.random.default_rng(1)))
        assert np.array_equal(chosen, again)
    assert np.array_equal(landmarks_by_rule(points(X), 150, rule=rule), np.arange(150))
    assert landmarks_by_rule(points(X), [4, 9], rule=rule).tolist() == [4, 9]


def test_rules_that_look_at_a_kernel_cover_better_than_chance():
    rng = np.random.default_rng(3)
    crowded = np.vstack([0.05 * rng.standard_normal((450, 2)), 3 + rng.standard_normal((50, 2))])

    def farthest(rule, seed):
        chosen = landmarks_by_rule(points(crowded), 25, rule=rule, run=Run(rng=np.random.default_rng(seed)))
        return np.linalg.norm(crowded[:, None] - crowded[chosen][None], axis=-1).min(axis=1).max()

    cover = {rule: np.mean([farthest(rule, seed) for seed in range(5)]) for rule in ("random", "leverage", "kdpp")}
    assert cover["leverage"] < 0.8 * cover["random"]
    assert cover["kdpp"] < 0.8 * cover["random"]


def test_rules_in_words():
    X = np.repeat(np.arange(5.0), 8)[:, None]
    with pytest.raises(InvalidInput, match="are different"):
        landmarks_by_rule(points(X), 6, rule="kdpp")
    with pytest.raises(InvalidInput, match="at most 3000 points"):
        landmarks_by_rule(points(np.zeros((3001, 1))), 6, rule="kdpp")
    with pytest.raises(InvalidInput, match="landmark_rule must be"):
        landmarks_by_rule(points(X), 6, rule="other")


@pytest.mark.parametrize("name", METHODS)
def test_few_landmarks_stand_for_all(name):
    curve = lowfold.datasets.s_curve(700, height=3.0, random_state=1)
    make = getattr(lowfold, name)
    whole = make(2, **METHODS[name]).fit(curve.X)
    few = make(2, landmarks=250, random_state=2, **METHODS[name]).fit(curve.X)
    assert whole.landmarks_ is None
    assert whole.landmark_error_ is None
    assert len(few.landmarks_) == 250
    assert 0 < few.landmark_error_ < 0.25
    assert few.embedding_.shape == (700, 2)
    # Two samples of one surface give LLE two different embeddings, landmarks or not.
    assert affine_r2(few.embedding_, whole.embedding_) > (0.9 if name == "LLE" else 0.97)
    # A training row is where it was put, and a new point is placed as every other point was.
    assert np.array_equal(few.transform(curve.X[5:9]), few.embedding_[5:9])
    new = lowfold.datasets.s_curve(50, height=3.0, random_state=9).X
    assert affine_r2(few.transform(new), whole.transform(new)) > (0.85 if name == "LLE" else 0.95)
    assert few.operator().n == 250
    assert few.fit(curve.X).landmarks_ is not None
    assert few.set_params(landmarks=None).fit(curve.X).landmarks_ is None


@pytest.mark.filterwarnings("ignore:coordinate 1 of HessianLLE tells 3 points")  # and rightly: few neighbours
@pytest.mark.parametrize("name", METHODS)
def test_all_points_as_landmarks_change_nothing(name):
    X = lowfold.datasets.s_curve(150, height=3.0, random_state=3).X
    make = getattr(lowfold, name)
    whole = make(2, **METHODS[name]).fit(X)
    marked = make(2, landmarks=150, **METHODS[name]).fit(X)
    np.testing.assert_allclose(np.abs(marked.embedding_), np.abs(whole.embedding_), atol=1e-6)


def test_the_landmarks_of_a_model_are_those_of_a_model_of_them():
    X = lowfold.datasets.s_curve(300, random_state=4).X
    D = np.linalg.norm(X[:, None] - X[None, :], axis=-1)  # of distances there is no surface
    model = lowfold.LTSA(2, n_neighbors=12, landmarks=120, metric="precomputed").fit(D)
    alone = lowfold.LTSA(2, n_neighbors=12, metric="precomputed").fit(D[np.ix_(model.landmarks_, model.landmarks_)])
    np.testing.assert_allclose(model.embedding_[model.landmarks_], alone.embedding_, atol=1e-8)
    rest = np.setdiff1d(np.arange(300), model.landmarks_)
    np.testing.assert_allclose(model.embedding_[rest], alone.transform(D[np.ix_(rest, model.landmarks_)]), atol=1e-8)


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE", "LLE"])
@pytest.mark.parametrize(("n", "noise", "least"), [(900, 0.0, 0.99), (3000, 0.1, 0.97)])
def test_landmarks_of_alignment_methods_go_along_the_surface(name, n, noise, least):
    roll = lowfold.datasets.swiss_roll(n, random_state=7)
    X = roll.X + noise * np.random.default_rng(1).standard_normal(roll.X.shape)
    model = getattr(lowfold, name)(2, n_neighbors=14, landmarks=120).fit(X)
    # By themselves 120 points of a roll have their nearest neighbours on its other sheets: R^2 0.1.
    assert affine_r2(model.embedding_, roll.coordinates) > least
    assert model.landmark_error_ < 0.2
    new = lowfold.datasets.swiss_roll(200, random_state=8)
    assert affine_r2(model.transform(new.X), new.coordinates) > least
    assert model.operator().n == 120


def test_data_without_a_surface_keep_landmarks_of_their_own():
    X = np.random.default_rng(0).standard_normal((400, 10))
    with pytest.warns(AccuracyWarning):
        model = lowfold.LTSA(2, n_neighbors=10, landmarks=100).fit(X)
    alone = lowfold.LTSA(2, n_neighbors=10).fit(X[model.landmarks_])
    np.testing.assert_allclose(np.abs(model.embedding_[model.landmarks_]), np.abs(alone.embedding_), atol=1e-6)


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.AccuracyWarning")  # the few are told
@pytest.mark.parametrize("name", ["LTSA"])
def test_more_landmarks_err_less(name):
    X = lowfold.datasets.twin_peaks(1000, random_state=1).X

    def error(m):
        models = [getattr(lowfold, name)(2, n_neighbors=10, landmarks=m, random_state=seed) for seed in range(2)]
        return np.mean([model.fit(X).landmark_error_ for model in models])

    assert error(300) < 0.6 * error(40)


def test_relative_error_is_zero_up_to_an_affine_map_and_grows_with_noise():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((60, 2))
    Z = Y @ [[2.0, 1.0], [0.0, -1.0]] + 3.0
    held, rest = np.arange(10), np.arange(10, 60)
    assert relative_error(Y, Z, held, rest) < 1e-12
    Z[held] += 0.1 * rng.standard_normal((10, 2))
    assert 0.02 < relative_error(Y, Z, held, rest) < 0.2
    Y[3] = np.nan
    assert np.isfinite(relative_error(Y, Z, held, rest))
    assert np.isnan(relative_error(Y, Z, held, rest[:2]))


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.AccuracyWarning")  # 75 do not determine four coordinates
def test_kernel_pca_with_landmarks_leads_back():
    for preimage in ("barycentric", "fixed_point", "ridge"):
        missed = np.zeros(2)
        for seed in range(3):
            X, new = (lowfold.datasets.s_curve(n, random_state=n + seed).X for n in (300, 40))
            for i, landmarks in enumerate((None, 150)):
                model = lowfold.KernelPCA(4, gamma=0.3, landmarks=landmarks, preimage=preimage).fit(X)
                missed[i] += np.linalg.norm(model.inverse_transform(model.transform(new)) - new)
        assert 0 < missed[1] < 3 * missed[0]  # half of the points, and fewer to lead back by
    with pytest.raises(InvalidInput, match="landmarks need points"):
        lowfold.KernelPCA(2, kernel="precomputed", landmarks=5).fit(X @ X.T)


@pytest.mark.parametrize("name", ["LTSA", "LaplacianEigenmaps"])
def test_distances_are_enough(name):
    X = lowfold.datasets.s_curve(250, random_state=5).X
    D = np.linalg.norm(X[:, None] - X[None, :], axis=-1)
    make = getattr(lowfold, name)
    of_points = make(2, n_neighbors=10, landmarks=100).fit(X)
    of_pairs = make(2, n_neighbors=10, landmarks=100, metric="precomputed").fit(D)
    assert np.array_equal(of_points.landmarks_, of_pairs.landmarks_)
    # Points show LTSA their surface, distances do not.
    assert affine_r2(of_pairs.embedding_, of_points.embedding_) > (0.9 if name == "LTSA" else 0.999)


def test_too_few_landmarks_in_words():
    X = lowfold.datasets.s_curve(100, random_state=0).X
    with pytest.raises(InvalidInput, match="n_neighbors of LTSA must be at most 9"):
        lowfold.LTSA(2, n_neighbors=12, landmarks=10).fit(X)
    with pytest.raises(InvalidInput, match="at most 100"):
        lowfold.LTSA(2, landmarks=101).fit(X)


def test_landmarks_that_determine_nothing_are_told():
    X = np.random.default_rng(0).standard_normal((200, 10))
    with pytest.warns(AccuracyWarning, match="landmarks are too few"):
        lowfold.LTSA(2, n_neighbors=8, landmarks=20).fit(X)


def test_the_plan_names_landmarks_as_the_way_out():
    X = np.random.default_rng(0).random((3000, 4))
    with lowfold.config_context(memory=2_000_000):
        told = lowfold.plan(X, "Isomap")
        assert not told.fits
        assert "landmarks=1500" in told.way_out
    few, whole = lowfold.plan(X, "LTSA", landmarks=500), lowfold.plan(X, "LTSA")
    assert few.stages[-2].what == "2500 points by 500 landmarks"
    assert few.total < whole.total


@pytest.mark.parametrize(("name", "options"), [("LTSA", {}), ("KernelPCA", {"preimage": "fixed_point"})])
def test_files_keep_landmarks(name, options, tmp_path):
    X = lowfold.datasets.s_curve(120, random_state=0).X
    model = getattr(lowfold, name)(2, landmarks=60, **options).fit(X)
    lowfold.save(tmp_path / "model.lowfold", model)
    again = lowfold.load(tmp_path / "model.lowfold")
    new = lowfold.datasets.s_curve(10, random_state=1).X
    assert np.array_equal(again.transform(new), model.transform(new))
    assert np.array_equal(again.inverse_transform(model.embedding_[:5]), model.inverse_transform(model.embedding_[:5]))
    assert again.landmark_error_ == model.landmark_error_


@pytest.mark.parametrize("seed", [400, 401])
def test_coordinates_that_change_places_are_told(seed: int) -> None:
    """Four sides of one length: which two come first is chance, four are determined by as many landmarks."""
    X = np.random.default_rng(seed).random((700, 4)) * [1.0, 1.0, 1.0, 0.98]
    with pytest.warns(AccuracyWarning, match=r"4 coordinates tell them within \d+%: use n_components=4, or more land"):
        lowfold.LandmarkIsomap(2, landmarks=150).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.LandmarkIsomap(4, landmarks=150).fit(X)
