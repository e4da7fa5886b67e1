"""Repeated coordinates are told, and independent ones found."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import cKDTree

import lowfold
from lowfold._core.errors import DependenceWarning, ShortcutWarning
from lowfold._core.run import Run
from lowfold.graph import find_neighbors
from lowfold.graph._source import Points
from lowfold.methods._chart import patches_of
from lowfold.methods._fit import Connected
from lowfold.methods._independent import dependence, evenness, independent
from lowfold.methods._independent import told_of as shares_told
from lowfold.methods._select import CHOSEN, _Asked
from lowfold.metrics._resolve import resolve_metric
from lowfold.spectral._types import REPEATED


def _harmonics(x, y, ratio, m):
    """The first m eigenfunctions of a rectangle ratio x 1, and their eigenvalues."""
    pairs = sorted(((a / ratio) ** 2 + b**2, a, b) for a in range(40) for b in range(6))[1 : m + 1]
    V = np.column_stack([np.cos(a * np.pi * x / ratio) * np.cos(b * np.pi * y) for _, a, b in pairs])
    return V / np.linalg.norm(V, axis=0), np.array([e for e, _, _ in pairs])


def _worse(Y, *truth):
    A = np.column_stack([Y, np.ones(len(Y))])
    T = np.column_stack(truth) - np.mean(truth, axis=1)
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return float((1 - (left**2).sum(axis=0) / (T**2).sum(axis=0)).min())


@pytest.mark.parametrize("ratio", [1.3, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("seed", [11, 12])
def test_mixed_harmonics_of_rectangles(ratio, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.random(1500) * ratio, rng.random(1500)
    V, energies = _harmonics(x, y, ratio, 24)
    close = (np.abs(np.subtract.outer(energies, energies)) < 0.1) & (np.minimum.outer(energies, energies) > 0.5)
    mixed = np.linalg.qr(np.eye(24) + 0.4 * rng.standard_normal((24, 24)) * close)[0]
    V = V @ mixed  # as neighbouring eigenvectors are in a sample
    patches = cKDTree(np.column_stack([x, y])).query(np.column_stack([x, y]), 20)[1]
    W = independent(V, energies, patches, 2)
    assert _worse(V @ W, x, y) > 0.85
    assert _worse(V @ W, x, y) > _worse(V[:, :2], x, y) - 0.03


def test_dependence_of_harmonics_and_of_independent_columns():
    rng = np.random.default_rng(0)
    x, y = rng.random(3000), rng.random(3000)
    told = dependence(np.column_stack([np.cos(np.pi * x), np.cos(2 * np.pi * x), np.cos(np.pi * y), x * y]), Run())
    assert told[0] == 0
    assert min(told[1], told[3]) > REPEATED
    assert told[2] < 0.2


@pytest.mark.parametrize("n", [3, 6, 40])
def test_few_points_and_constant_columns(n):
    Y = np.column_stack([np.arange(n, dtype=float), np.zeros(n), np.random.default_rng(0).random(n)])
    assert np.isfinite(dependence(Y, Run())).all()


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "LLE", "ModifiedLLE"])
@pytest.mark.parametrize("seed", [61, 62])
def test_long_sheets_of_uneven_density(name: str, seed: int) -> None:
    """Twice as dense at one end: both coordinates are found, and new points and the way back agree with them."""
    U = np.random.default_rng(seed).random((700, 2))
    P = np.column_stack([5 * (np.sqrt(1 + 3 * U[:, 0]) - 1), U[:, 1]])
    X = np.column_stack([2 * np.cos(P[:, 0] / 2), 2 * np.sin(P[:, 0] / 2), P[:, 1]])
    model = getattr(lowfold, name)(2, n_neighbors=12, select="independent").fit(X)
    assert told_of(model.embedding_, P).min() > 0.8
    assert model.selected_.shape[1] == 2
    assert np.abs(model.transform(X[:40] + 1e-9) - model.embedding_[:40]).max() < 0.05 * np.ptp(model.embedding_)
    assert np.abs(model.inverse_transform(model.embedding_[:40]) - X[:40]).max() < 1e-6


def _s_curve_denser_at_one_side(n, length, seed):
    """An S of `length` by 1, whose points crowd at one of its long sides."""
    rng = np.random.default_rng(seed)
    P = np.column_stack([rng.random(n) * length, rng.beta(1.0, 2.2, n)])
    t = 3 * np.pi * (P[:, 0] / length - 0.5)
    S = np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1)])
    return np.column_stack([S * length / (3 * np.pi), P[:, 1]]), P


@pytest.mark.parametrize("seed", [20, 22, 31])
def test_leading_coordinates_that_are_right_are_not_given_up(seed: int) -> None:
    """Others have more even gradients there, and have lost a direction that the leading ones show."""
    X, P = _s_curve_denser_at_one_side(1000, 2.0, seed)
    leading = lowfold.ModifiedLLE(2, n_neighbors=8).fit(X)
    chosen = lowfold.ModifiedLLE(2, n_neighbors=8, select="independent").fit(X)
    assert _told(leading, P) > 0.95
    assert _told(chosen, P) > _told(leading, P) - 0.02


@pytest.mark.parametrize("seed", [11, 12])
def test_even_leading_coordinates_stay_where_others_differ_a_little(seed: int) -> None:
    """A wavy sheet whose ends are dense: the others are more even, and rough in places (R^2 0.987)."""
    x, y = np.random.default_rng(seed).random((2, 700))
    x = 0.5 + 0.5 * np.sign(2 * x - 1) * np.abs(2 * x - 1) ** 1.6
    X, P = np.column_stack([x, 0.1 * np.sin(6 * np.pi * x), y]), np.column_stack([x, y])
    assert _told(lowfold.ModifiedLLE(2, select="independent").fit(X), P) > 0.99


def test_leading_coordinates_that_tell_as_much_stay() -> None:
    """A bent coordinate, half of it told by the first, has lost nothing; an even one that is rough has, a little."""
    x, y = np.random.default_rng(5).random((2, 900))
    bent = np.column_stack([x, y + 4.3 * (x - 0.5) ** 2])
    rough = np.column_stack([x, y + 0.03 * np.random.default_rng(6).standard_normal(900)])
    assert 0.5 < dependence(bent, Run())[1] < 0.75
    source = Points(np.column_stack([x, y]), resolve_metric("euclidean", None, None))
    asked = _Asked(Connected(source, find_neighbors(source.X, 10)), 2, np.asarray, Run(), None, 1.0, CHOSEN)
    assert asked._loses(bent, rough)
    assert not asked._loses(np.column_stack([x, x**2]), rough)  # a direction is lost


def _told(model, P):
    return float(shares_told(P, model.embedding_, Run()).min())


@pytest.mark.parametrize("seed", [81, pytest.param(84, marks=pytest.mark.slow)])
def test_mixtures_are_told(seed: int) -> None:
    """Twelve times as long as wide and dense in a corner: a mixture of both directions, told though it repeats none."""
    U = np.random.default_rng(seed).random((700, 2))
    P = np.column_stack([12 * U[:, 0] ** 1.7, U[:, 1] ** 1.5])
    X = np.column_stack([P, np.sin(P[:, 0])])
    with pytest.warns(DependenceWarning, match="coordinate 2 is mixed or uneven: .* use select='independent'"):
        leading = lowfold.LLE(2, n_neighbors=10).fit(X)
    assert leading.dependence_[1] < REPEATED
    assert told_of(leading.embedding_, P).min() < 0.6
    assert told_of(lowfold.LLE(2, n_neighbors=10, select="independent").fit(X).embedding_, P).min() > 0.95


@pytest.mark.parametrize("seed", [81, pytest.param(82, marks=pytest.mark.slow)])
def test_beyond_the_eigenvectors_looked_at(seed: int) -> None:
    P = np.random.default_rng(seed).random((700, 2)) * [25.0, 1.0]
    with pytest.warns(DependenceWarning, match="is mixed or uneven: .* use LTSA or Isomap"):
        model = lowfold.LaplacianEigenmaps(2, n_neighbors=12, select="independent").fit(P)
    assert told_of(model.embedding_, P).min() < 0.6


@pytest.mark.parametrize("seed", [83, pytest.param(84, marks=pytest.mark.slow)])
def test_more_eigenvectors_are_looked_at_where_the_first_give_a_mixture(seed: int) -> None:
    """Seventeen times as long as wide: among 24 eigenvectors the width is not found, among 40 it is."""
    P = np.random.default_rng(seed).random((1000, 2)) * [17.0, 1.0]
    model = lowfold.DiffusionMaps(2, select="independent").fit(P)
    assert model.selected_.shape == (40, 2)
    assert dependence(np.column_stack([model.embedding_, P[:, 1]]), Run())[2] > 0.85
    assert np.allclose(model.transform(P[:20]), model.embedding_[:20])
    short = np.random.default_rng(seed).random((1000, 2)) * [4.0, 1.0]
    assert lowfold.DiffusionMaps(2, select="independent").fit(short).selected_.shape == (24, 2)


def test_shortcuts_have_no_say_in_gradients() -> None:
    """Neighbourhoods in which gradients are compared leave out shortcuts that stay in the graph, in pieces too."""
    X, P = _meander(800, np.random.default_rng(71))
    near = find_neighbors(X, 15)
    far = np.abs(P[:, None, 0] - P[None, :, 0])
    crossing = near.union().edges()
    crossing = crossing[far[crossing[:, 0], crossing[:, 1]] > 2]
    assert len(crossing)
    source = Points(X, resolve_metric("euclidean", None, None))
    data = Connected(source, near, shortcuts=crossing)
    patches = patches_of(data)
    assert far[patches[:, :1], patches].max() <= 2
    rows = np.arange(200, 800)
    part = data.piece(rows)
    kept = rows[part.shortcuts]
    assert (far[kept[:, 0], kept[:, 1]] > 2).all()
    assert len(kept) == (crossing >= 200).all(axis=1).sum()


def test_evenness_of_known_coordinates() -> None:
    P = np.random.default_rng(0).random((4000, 2))
    patches = cKDTree(P).query(P[:500], 20)[1]
    waves = np.column_stack([P[:, 0], np.cos(np.pi * P[:, 1]), np.cos(2 * np.pi * P[:, 0])])
    even = evenness(waves, patches, None)
    assert even[0] > 0.9
    assert 0.4 < even[1] < 0.6
    assert even[2] < 0.05  # a function of the first


def _meander(n: int, rng: np.random.Generator, gap: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Four straight strips, each above the one before, joined by half turns: shortcuts lead across the gaps."""
    length, height, turn = 2.0, 3.0, np.pi * gap / 2
    s, h = rng.random(n) * (4 * length + 3 * turn), rng.random(n) * height
    strip = np.minimum(s // (length + turn), 3)
    along = s - strip * (length + turn)
    a = np.clip((along - length) * 2 / gap, 0.0, np.pi)
    x = np.minimum(along, length) + gap / 2 * np.sin(a)
    X = np.column_stack([np.where(strip % 2 == 0, x, length - x), strip * gap + gap / 2 * (1 - np.cos(a)), h])
    return X, np.column_stack([s, h])


@pytest.mark.parametrize("seed", [71, 72, 73])
def test_a_meander_without_its_shortcuts_is_long(seed: int) -> None:
    """Sharp bends cost LTSA's short side more than a wave along the long one, which it takes in its place, and says."""
    X, P = _meander(800, np.random.default_rng(seed))
    with pytest.warns(ShortcutWarning, match="left out"):
        model = lowfold.LTSA(2, n_neighbors=15, on_shortcut="remove", select="independent").fit(X)
    assert model.neighbors_.k == 15  # filled up from along the strip
    assert told_of(model.embedding_, P).min() > 0.95
    assert model.selected_.shape == (24, 2)
    assert np.abs(model.transform(X[:40] + 1e-9) - model.embedding_[:40]).max() < 0.05 * np.ptp(model.embedding_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leading = lowfold.LTSA(2, n_neighbors=15, on_shortcut="remove").fit(X)
    assert told_of(model.embedding_, P).min() > told_of(leading.embedding_, P).min()


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
def test_repeated_coordinates_of_aligned_patches_are_told(name: str) -> None:
    X, P = _meander(1200, np.random.default_rng(0))
    with pytest.warns(DependenceWarning, match="use select='independent', or neighbourhoods that bends do not fill"):
        model = getattr(lowfold, name)(2, n_neighbors=10).fit(X)
    assert model.dependence_[1] > REPEATED
    assert told_of(model.embedding_, P).min() < 0.3


def test_anchored_coordinates_may_be_independent() -> None:
    X = lowfold.datasets.s_curve(300, random_state=3).X
    model = lowfold.HessianLLE(2, n_neighbors=10, anchor=7, select="independent").fit(X)
    around = np.append(model.neighbors_.row(7)[0], 7)
    assert np.allclose(model.embedding_[around].T @ model.embedding_[around], np.eye(2), atol=1e-8)
    assert np.allclose(model.transform(X[:20]), model.embedding_[:20])


@pytest.mark.parametrize("seed", [63, 64])
def test_three_coordinates_of_a_box(seed: int) -> None:
    P = np.random.default_rng(seed).random((800, 3)) * [3.0, 1.5, 1.0]
    model = lowfold.LaplacianEigenmaps(3, n_neighbors=12, select="independent").fit(P)
    assert told_of(model.embedding_, P).min() > 0.7


def told_of(Y: np.ndarray, P: np.ndarray) -> np.ndarray:
    """R^2 of every true coordinate by linear regression on the embedding."""
    A, T = np.column_stack([Y, np.ones(len(Y))]), P - P.mean(axis=0)
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return np.asarray(1 - (left**2).sum(axis=0) / (T**2).sum(axis=0))
