"""Arrays that are no table of numbers are refused in our words, wherever they are passed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import lowfold
from lowfold.errors import InvalidInput, InvalidType

X = np.random.default_rng(8).normal(size=(40, 3))


def holed(value: float) -> np.ndarray:
    Z = X.copy()
    Z[[12, 30], [2, 0]] = value
    return Z


HOSTILE = [
    (holed(np.inf), InvalidInput, "contains infinity: 2 of 120 values, the first in row 12, column 2"),
    (holed(np.nan), InvalidInput, "contains NaN: 2 of 120 values, the first in row 12, column 2"),
    (sp.csr_array(holed(-np.inf)), InvalidInput, "infinity: 2 of 120 values, the first in row 12"),
    (X + 1j, InvalidInput, "^Complex data not supported: X holds complex numbers; np.hstack"),
    (X[:0], InvalidInput, r"^X has 0 sample\(s\).*a row is a point"),
    (X[:, :0], InvalidInput, r"^X has 0 feature\(s\).*a column is a feature"),
    (np.asmatrix(X), InvalidType, "np.asarray"),
    (3.0, InvalidInput, "a single number"),
    (None, InvalidInput, "X is None"),
    ([], InvalidInput, "X is empty"),
    ([[1, 2], [3]], InvalidInput, r"different lengths \(1 to 2\)"),
    (np.array([["a", "b"]] * 9), InvalidInput, r"X holds text \('a'\)"),
    (np.zeros((9, 2), dtype="datetime64[s]"), InvalidInput, "dates or durations"),
    (np.ma.masked_array(X, mask=X > 1), InvalidInput, "of its 120 values are masked"),
]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
@pytest.mark.parametrize("fitted", [False, True], ids=["fit", "transform"])
def test_hostile_arrays_in_words(place: int, fitted: bool) -> None:
    passed, kind, words = HOSTILE[place]
    model = lowfold.PCA(2).fit(X) if fitted else lowfold.PCA(2)
    with pytest.raises(kind, match=words):
        (model.transform if fitted else model.fit_transform)(passed)


def test_frames_name_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "when": pandas.date_range("2020", periods=40)})
    with pytest.raises(InvalidInput, match=r"dates or durations \(columns 'when'\)"):
        lowfold.Isomap(1).fit(frame)
    with pytest.raises(InvalidInput, match=r"Series of 40 values.*to_frame"):
        lowfold.Isomap(1).fit(frame["a"])


def test_distances_in_the_same_words() -> None:
    D = np.abs(X[:, :1] - X[:, 0])
    model = lowfold.MetricMDS(1, metric="precomputed").fit(D)
    with pytest.raises(InvalidInput, match=r"expecting 40 features as input.*one to each"):
        model.transform(X)
    with pytest.raises(InvalidInput, match="Complex data"):
        model.fit(D + 1j)
