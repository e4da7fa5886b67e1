"""Before and after reduction: what helps, what hurts, and that the test rows stay unseen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.naive_bayes import GaussianNB

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.apps import before_after


def test_too_few_dimensions_hurt_and_enough_do_not() -> None:
    X, y = load_digits(return_X_y=True)
    found = before_after(X[:400], y[:400], "PCA", (2, 30))
    before, few, many = found.trials
    assert before.accuracies.mean() > 0.95
    assert few.verdict == "hurts"
    assert many.verdict == "no clear difference"
    assert abs(many.gain - (many.accuracies - before.accuracies).mean()) < 1e-12
    assert "hurts" in str(found)


def test_reduction_helps_where_most_features_are_noise() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 200)
    signal = np.eye(3)[y] @ (3 * np.linalg.qr(rng.normal(size=(300, 300)))[0][:3])
    found = before_after(signal + rng.normal(size=(600, 300)), y, "PCA", 2)
    assert found.trials[1].gain > 0
    assert found.trials[1].verdict == "helps"


def test_the_test_rows_are_not_seen_by_the_reduction() -> None:
    """Random classes: a reduction that saw the labels of the test rows would beat chance."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(120, 20)), rng.integers(2, size=120)
    found = before_after(X, y, "SupervisedLLE", 2, n_neighbors=8)
    assert found.trials[1].accuracies.mean() < 0.65


@pytest.mark.parametrize("classifier", ["nearest", "logistic", "svm", GaussianNB()])
def test_every_classifier(classifier: object) -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = before_after(X, y.astype(str), lowfold.PCA(), 4, classifier=classifier, random_state=7)
    assert [trial.name for trial in found.trials] == ["as it is", "PCA(4)"]
    assert all(trial.accuracies.mean() > 0.9 for trial in found.trials)


def test_bad_input_ends_in_words() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.repeat([0, 1], 10)
    with pytest.raises(InvalidInput, match="two classes"):
        before_after(X, np.zeros(20))
    with pytest.raises(InvalidInput, match="fewer than folds"):
        before_after(X, y, folds=11)
    with pytest.raises(InvalidInput, match="classifier"):
        before_after(X, y, classifier="oracle")
