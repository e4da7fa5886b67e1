"""The book's experiments with diffusion maps (Wang 2012, Section 14.3), and data in pieces, as thresholds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import lowfold
from lowfold._core.errors import DisconnectedWarning, LowfoldWarning

TYPES = {"GL": {"alpha": 0.0}, "LB": {"alpha": 1.0}, "ST": {"weights": "self_tuning", "tuning": 10, "alpha": 0.0}}


def trust(data: object, **options: object) -> float:
    """Trustworthiness against the true coordinates, 10 neighbours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        Y = lowfold.DiffusionMaps(2, **{"n_neighbors": 10, **options}).fit_transform(data.X)
    return float(trustworthiness(data.coordinates, Y, n_neighbors=10))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPES)
def test_any_neighbourhood_size_on_the_s_curve(kind: str) -> None:
    curve = lowfold.datasets.s_curve(1000, random_state=0)
    for k in (8, 10, 15, 30):
        assert trust(curve, n_neighbors=k, **TYPES[kind]) > 0.93, k
    assert trust(curve, n_neighbors=60, **TYPES[kind]) > 0.85
    assert trust(curve, n_neighbors=5, **TYPES[kind]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["GL", "LB"])
def test_any_scale_on_the_s_curve(kind: str) -> None:
    curve = lowfold.datasets.s_curve(1000, random_state=1)
    values = [trust(curve, scale=scale, **TYPES[kind]) for scale in (1.0, 2.0, 5.0, 10.0, 12.0)]
    values.append(trust(curve, weights="binary", alpha=TYPES[kind]["alpha"]))
    assert min(values) > 0.93
    assert max(values) - min(values) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_distorts_little_by_little(seed: int) -> None:
    clean, some, more = (
        trust(lowfold.datasets.s_curve(1000, noise=noise, random_state=seed), alpha=0.0) for noise in (0.0, 0.2, 0.4)
    )
    assert some > 0.85
    assert clean - some < 0.12
    assert clean > more > 0.6


@pytest.mark.slow
def test_self_tuning_agrees_on_even_surfaces() -> None:
    curve = lowfold.datasets.s_curve(1000, random_state=2)
    plain = lowfold.DiffusionMaps(2, n_neighbors=10, alpha=0.0).fit_transform(curve.X)
    tuned = lowfold.DiffusionMaps(2, n_neighbors=10, **TYPES["ST"]).fit_transform(curve.X)
    Q, P = (np.linalg.qr(Y - Y.mean(axis=0))[0] for Y in (plain, tuned))
    assert np.linalg.svd(Q.T @ P, compute_uv=False).min() > 0.9


def test_order_of_the_roll_survives() -> None:
    """The Swiss roll loses its rectangle, but its length stays in order."""
    roll = lowfold.datasets.swiss_roll(1000, random_state=0)
    y = lowfold.DiffusionMaps(1).fit_transform(roll.X)[:, 0]
    ranks = np.argsort(np.argsort(y)), np.argsort(np.argsort(roll.coordinates[:, 0]))
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.99


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps"])
def test_whole_graph_and_pieces(name: str) -> None:
    """Joined pieces give one function that tells them apart; separate pieces are each embedded as if alone."""
    rng = np.random.default_rng(0)
    left, right = rng.random((60, 2)), rng.random((40, 2)) + 30
    X = np.vstack([left, right])
    cls = getattr(lowfold, name)
    with pytest.warns(DisconnectedWarning, match="2 components"):
        joined = cls(2, n_neighbors=6).fit(X)
    assert joined.scale_ < 1  # measured on neighbours, not on the bridge
    y = joined.embedding_[:, 0]
    assert max(np.ptp(y[:60]), np.ptp(y[60:])) < 0.15 * np.ptp(y)
    apart = cls(2, n_neighbors=6, on_disconnected="separate").fit(X)
    for rows, part in ((slice(0, 60), left), (slice(60, 100), right)):
        alone = cls(2, n_neighbors=6).fit(part).embedding_
        offset = apart.embedding_[rows] - alone
        assert np.allclose(offset, offset[0], atol=1e-6)
    with pytest.warns(DisconnectedWarning, match="NaN"):
        largest = cls(2, n_neighbors=6, on_disconnected="largest").fit(X)
    assert np.isnan(largest.embedding_[60:]).all()
    assert np.allclose(largest.embedding_[:60], cls(2, n_neighbors=6).fit(left).embedding_, atol=1e-6)
