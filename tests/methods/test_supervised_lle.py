"""Supervised LLE: from plain LLE to class indicators; and the contract's checks, with labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from tests.methods.alignment_helpers import angle, nullity

import lowfold
from lowfold import datasets
from lowfold._core.errors import LowfoldWarning


def labelled(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    curve = datasets.s_curve(n, random_state=seed)
    return curve.X, np.digitize(curve.coordinates[:, 0], np.quantile(curve.coordinates[:, 0], [1 / 3, 2 / 3]))


def test_without_supervision_it_is_lle() -> None:
    X, y = labelled()
    assert np.array_equal(
        lowfold.SupervisedLLE(2, n_neighbors=10, supervision=0).fit(X, y).embedding_,
        lowfold.LLE(2, n_neighbors=10).fit(X).embedding_,
    )


@pytest.mark.parametrize("rule", ["within", "among"])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_rows_sum_to_one(rule: str, t: float) -> None:
    X, y = labelled(120)
    model = lowfold.SupervisedLLE(2, n_neighbors=8, supervision=t, class_neighbors=rule).fit(X, y)
    K = model.kernel().dense()
    assert np.abs(K.sum(axis=1)).max() < 1e-10
    if t == 1.0:
        assert np.abs(K[y[:, None] != y[None]]).max() == 0


@pytest.mark.parametrize("weights", ["affine", "clipped", "convex"])
def test_full_supervision_counts_classes(weights: str) -> None:
    X, y = labelled(240)
    model = lowfold.SupervisedLLE(2, n_neighbors=10, supervision=1, weights=weights).fit(X, y)
    assert nullity(model.kernel().dense(), 1e-12) == 3
    indicators = np.eye(3)[y]
    assert (
        angle(model.embedding_, indicators - indicators.mean(axis=0)) < 1e-4
        or angle(np.column_stack([np.ones(240), model.embedding_]), indicators) < 1e-5
    )
    for c in range(3):
        assert np.ptp(model.embedding_[y == c], axis=0).max() < 1e-5


def test_supervision_pulls_classes_together() -> None:
    X, y = labelled()
    spread = []
    for t in (0.0, 0.9):
        Y = lowfold.SupervisedLLE(2, n_neighbors=10, supervision=t).fit(X, y).embedding_
        spread.append(sum(Y[y == c].var(axis=0).sum() * (y == c).mean() for c in range(3)) / Y.var(axis=0).sum())
    assert spread[1] < spread[0]


def test_new_points_need_no_labels() -> None:
    X, y = labelled()
    new, truth = labelled(60, seed=4)
    model = lowfold.SupervisedLLE(2, n_neighbors=10, supervision=1).fit(X, y)
    placed = model.transform(new)
    centres = np.stack([model.embedding_[y == c].mean(axis=0) for c in range(3)])
    nearest = np.argmin(np.linalg.norm(placed[:, None] - centres[None], axis=2), axis=1)
    assert (nearest == truth).mean() > 0.9
    assert np.array_equal(model.transform(X[:5]), model.embedding_[:5])


@pytest.mark.filterwarnings("ignore:coordinate .* tells 3 points or fewer:lowfold._core.errors.AccuracyWarning")
def test_a_point_without_its_kind() -> None:
    X, y = labelled(100)
    y = y.copy()
    y[3] = 9  # alone in its class
    for rule in ("within", "among"):
        assert np.isfinite(lowfold.SupervisedLLE(2, n_neighbors=8, class_neighbors=rule).fit(X, y).embedding_).all()
    full = lowfold.SupervisedLLE(3, n_neighbors=8, supervision=1).fit(X, y)
    assert nullity(full.kernel().dense(), 1e-12) == 4


def test_labels_of_any_kind_and_their_errors() -> None:
    X, y = labelled(90)
    words = np.array(["a", "b", "c"])[y]
    model = lowfold.SupervisedLLE(2, n_neighbors=8).fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.embedding_, lowfold.SupervisedLLE(2, n_neighbors=8).fit(X, y).embedding_)
    with pytest.raises(ValueError, match="requires y"):
        lowfold.SupervisedLLE().fit(X)
    with pytest.raises(ValueError, match=r"one label per row|inconsistent"):
        lowfold.SupervisedLLE().fit(X, y[:50])


def test_every_parameter_matters() -> None:
    X, y = labelled(100)
    base = lowfold.SupervisedLLE(n_neighbors=8).fit(X, y)
    for name, value in {
        "n_components": 1,
        "n_neighbors": 9,
        "supervision": 0.2,
        "class_neighbors": "among",
        "radius": 0.9,
        "metric": "template",
        "reg": 1e-2,
        "weights": "clipped",
        "normalization": "unit",
    }.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowfoldWarning)
            changed = lowfold.SupervisedLLE(**{"n_neighbors": 8, name: value}).fit(X, y)
        same = changed.embedding_.shape == base.embedding_.shape and np.array_equal(changed.embedding_, base.embedding_)
        assert not same, name


def test_float32_threads_and_hard_data() -> None:
    X, y = labelled(200)
    assert lowfold.SupervisedLLE().fit(X.astype(np.float32), y).embedding_.dtype == np.float32
    one, two = (lowfold.SupervisedLLE(n_jobs=j).fit(X, y).embedding_ for j in (1, 2))
    assert np.array_equal(one, two)
    doubled = np.vstack([X, np.repeat(X[:1], 20, axis=0)])
    assert np.isfinite(lowfold.SupervisedLLE().fit(doubled, np.append(y, [y[0]] * 20)).embedding_).all()
    blobs = np.vstack([X[:100], X[100:] + 50])
    for way in ("connect", "separate"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowfoldWarning)
            model = lowfold.SupervisedLLE(on_disconnected=way).fit(blobs, y)
        assert np.isfinite(model.embedding_).all()


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix:UserWarning")
@pytest.mark.filterwarnings("ignore:.* does not inherit from `sklearn.base.BaseEstimator`:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
@pytest.mark.timeout(60)
def test_scikit_learn_agrees() -> None:
    check_estimator(lowfold.SupervisedLLE())
