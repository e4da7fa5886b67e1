"""A classifier before and after reduction, cross-validated: did it help? Wang (2012), Section 5.3.1.

for each fold: training rows --reduce--> Y_1 --learn--> g;   test rows --place as new points--> Y_2 --> g(Y_2)

The reduction never sees the test rows. Whether a difference means anything: the folds share training rows, so that
their variance is multiplied by 1/folds + test/train, Nadeau & Bengio (2003), doi:10.1023/A:1024068626366.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, check_limits
from lowfold._core.types import Floats
from lowfold.apps._models import model_of
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric

CLASSIFIERS = ("nearest", "logistic", "svm")
VOTERS = 5  # neighbours that vote in "nearest"


@dataclass(frozen=True, eq=False)
class Trial:
    """One way to classify.

    name             "as it is", or the method with its number of dimensions
    n_components     dimensions the classifier saw
    accuracies       of each fold
    gain, interval   mean difference to "as it is", and where it lies with 95% confidence
    seconds_reduce, seconds_classify : of all folds together, processor time
    """

    name: str
    n_components: int
    accuracies: Floats
    gain: float
    interval: tuple[float, float]
    seconds_reduce: float
    seconds_classify: float

    @property
    def verdict(self) -> str:
        """helps, hurts, or no clear difference."""
        return "helps" if self.interval[0] > 0 else "hurts" if self.interval[1] < 0 else "no clear difference"


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Trials, the first of them without reduction; printed as a table."""

    trials: tuple[Trial, ...]

    def __repr__(self) -> str:
        lines = [f"{'':24s} {'dims':>5s} {'accuracy':>15s} {'gain (95%)':>24s}  {'seconds':>8s}"]
        for trial in self.trials:
            a = trial.accuracies
            gain = f"{trial.gain:+.3f} ({trial.interval[0]:+.3f}..{trial.interval[1]:+.3f})"
            told = "" if trial is self.trials[0] else f"  {trial.verdict}"
            seconds = trial.seconds_reduce + trial.seconds_classify
            shown = "" if trial is self.trials[0] else gain
            lines.append(
                f"{trial.name:24s} {trial.n_components:5d}   {a.mean():.3f} +- {a.std():.3f} {shown:>24s}  "
                f"{seconds:8.2f}{told}"
            )
        return "\n".join(lines)


def before_after(
    X: ArrayLike,
    y: ArrayLike,
    method: Any = "PCA",
    n_components: int | Sequence[int] = (2, 5, 10),
    *,
    classifier: Any = "nearest",
    folds: int = 5,
    random_state: int = 0,
    **parameters: Any,
) -> BeforeAfter:
    """Accuracy of a classifier on X as it is, and on X reduced to each number of dimensions.

    Parameters
    ----------
    X, y : array (n, D) and n classes.
    method : name or model of a method that places new points.
    classifier : "nearest" (5 neighbours vote), "logistic", "svm", or any model with fit and predict.
    folds : int, parts of equal class shares, each tested once.
    parameters : of the method, where it is a name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lowfold
    >>> X, y = load_iris(return_X_y=True)
    >>> lowfold.apps.before_after(X, y, "PCA", 2).trials[1].accuracies.shape
    (5,)
    """
    from sklearn.model_selection import StratifiedKFold

    check_limits("before_after", {"folds": folds}, {"folds": (Int(2),)})
    rows, classes = np.asarray(X), np.asarray(y)
    counts = np.unique(classes, return_counts=True)[1] if classes.shape == (len(rows),) else np.empty(0)
    if rows.ndim != 2 or len(counts) < 2:
        raise InvalidInput(
            f"X must be rows of numbers and y have two classes or more; got {rows.shape} {classes.shape}"
        )
    if counts.min() < folds:
        raise InvalidInput(f"the smallest class has {counts.min()} rows, fewer than folds = {folds}")
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=random_state).split(rows, classes))
    first = _trial("as it is", rows.shape[1], rows, classes, None, classifier, parts, None)
    dims = [int(n_components)] if isinstance(n_components, (int, np.integer)) else [int(d) for d in n_components]
    trials = [first]
    for d in dims:
        model = model_of(method, d, parameters)
        name = f"{type(model).__name__}({d})"
        trials.append(_trial(name, d, rows, classes, model, classifier, parts, first.accuracies))
    return BeforeAfter(tuple(trials))


def _trial(
    name: str,
    d: int,
    X: NDArray[Any],
    y: NDArray[Any],
    model: Any,
    classifier: Any,
    parts: list[Any],
    before: Floats | None,
) -> Trial:
    accuracies, reducing, classifying = [], 0.0, 0.0
    for train, test in parts:
        start = time.process_time()
        A, B = (X[train], X[test]) if model is None else _reduced(model, X[train], y[train], X[test])
        between = time.process_time()
        accuracies.append(float(np.mean(_classify(classifier, A, y[train], B) == y[test])))
        reducing += between - start
        classifying += time.process_time() - between
    found = np.array(accuracies)
    difference = np.zeros(len(found)) if before is None else found - before
    half = _half_width(difference, parts)
    gain = float(difference.mean())
    return Trial(name, d, found, gain, (gain - half, gain + half), reducing, classifying)


def _reduced(model: Any, A: NDArray[Any], y: NDArray[Any], B: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.base import clone

    labelled = model.__sklearn_tags__().target_tags.required
    fitted = clone(model).fit(A, y) if labelled else clone(model).fit(A)
    return np.asarray(fitted.transform(A)), np.asarray(fitted.transform(B))


def _classify(classifier: Any, A: NDArray[Any], y: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    from sklearn.base import clone

    if not isinstance(classifier, str):
        return np.asarray(clone(classifier).fit(A, y).predict(B))
    if classifier == "nearest":
        return _vote(A, y, B)
    if classifier not in CLASSIFIERS:
        raise InvalidInput(f"classifier must be {', '.join(CLASSIFIERS)} or a model; got {classifier!r}")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    chosen = LogisticRegression(max_iter=2000) if classifier == "logistic" else SVC()
    return np.asarray(make_pipeline(StandardScaler(), chosen).fit(A, y).predict(B))


def _vote(A: NDArray[Any], y: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """The class of most of the nearest rows; of classes with equally many, the one with the nearest row."""
    k = min(VOTERS, len(A))
    A, B = (np.ascontiguousarray(M, dtype=np.float64) for M in (A, B))
    found = nearest(Points(A, resolve_metric("euclidean", None, A)), k, queries=B)
    names, place = np.unique(y, return_inverse=True)
    near = place[found.indices.reshape(-1, k)]
    votes = np.zeros((len(B), len(names)))
    # a neighbour's rank is worth less than any vote: it decides between equal numbers of votes only
    np.add.at(votes, (np.arange(len(B))[:, None], near), 1.0 + np.arange(k, 0, -1) / (10.0 * k * k))
    return np.asarray(names[np.argmax(votes, axis=1)])


def _half_width(difference: Floats, parts: list[Any]) -> float:
    """Half of the 95% interval of the mean difference, corrected for folds that share training rows."""
    from scipy.stats import t

    k = len(difference)
    share = np.mean([len(test) / len(train) for train, test in parts])
    return float(t.ppf(0.975, k - 1) * np.sqrt((1 / k + share) * difference.var(ddof=1)))
