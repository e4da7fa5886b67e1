"""Weights from edge lengths."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.graph import Graph
from lowfold.kernels import gaussian, scale_from_heat_time, scale_from_sigma
from lowfold.kernels._gaussian import auto_scale, binary, decreasing

G = Graph.from_edges(4, [[0, 1], [1, 2], [0, 2]], [0.0, 1.0, 2.0])


def test_values_by_hand() -> None:
    W = gaussian(G, scale=2.0, loops=1.0).matrix().toarray()
    expected = np.array(
        [[1, 1, np.exp(-2), 0], [1, 1, np.exp(-0.5), 0], [np.exp(-2), np.exp(-0.5), 1, 0], [0, 0, 0, 1]]
    )
    np.testing.assert_allclose(W, expected)
    assert binary(G).matrix().toarray().sum() == 6
    assert auto_scale(G) == pytest.approx((0 + 1 + 4) / 3)
    assert auto_scale(Graph.from_edges(2, [[0, 1]], [0.0])) == 1.0
    assert auto_scale(Graph.from_edges(2, [])) == 1.0


def test_conventions_of_the_texts() -> None:
    d = np.array([0.3, 1.7])
    np.testing.assert_allclose(np.exp(-(d**2) / scale_from_sigma(0.8)), np.exp(-(d**2) / (2 * 0.8**2)))
    np.testing.assert_allclose(np.exp(-(d**2) / scale_from_heat_time(0.3)), np.exp(-(d**2) / (4 * 0.3)))


def test_a_large_scale_tends_to_binary_weights() -> None:
    np.testing.assert_allclose(gaussian(G, scale=1e12).values, binary(G).values, atol=1e-11)
    np.testing.assert_allclose(decreasing(G, lambda s: np.exp(-s / 3)).values, gaussian(G, scale=3.0).values)
    np.testing.assert_allclose(decreasing(G, lambda s: 1 / (1 + s)).matrix().toarray()[0, 2], 0.2)
    np.testing.assert_array_equal(decreasing(G, np.ones_like).values, binary(G).values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gaussian(G, scale=0.0), "above 0"),
        (lambda: gaussian(G, scale=-1.0), "above 0"),
        (lambda: gaussian(G, scale=float("nan")), "above 0"),
        (lambda: gaussian(Graph.from_edges(2, [[0, 1]], [5.0]), scale=1e-3), "makes all weights of 2 of 2 points zero"),
        (lambda: decreasing(G, lambda s: s), "positive"),
        (lambda: decreasing(G, lambda s: 1 + s), "increases"),
        (lambda: decreasing(G, lambda s: -1 - s), "positive"),
        (lambda: decreasing(G, lambda s: np.full_like(s, np.nan)), "positive"),
        (lambda: decreasing(G, lambda s: s[:-1] + 1), "shape"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_in_words(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match=words):
        make()
