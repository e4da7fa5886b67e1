"""What a fit says about itself: shortcuts, repeated coordinates, single points, missing directions, the way back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lowfold
from lowfold import datasets
from lowfold._core.errors import (
    AccuracyWarning,
    DependenceWarning,
    DisconnectedWarning,
    LowfoldWarning,
    ShortcutWarning,
)
from lowfold._core.run import Run
from lowfold.methods._placing.back import choose_inverse
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._telling import told_dependence


def _worse(Y, truth):
    A, T = np.column_stack([Y, np.ones(len(Y))]), truth - truth.mean(axis=0)
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return float((1 - (left**2).sum(axis=0) / (T**2).sum(axis=0)).min())


@pytest.mark.parametrize("name", ["Isomap", "LTSA"])
def test_shortcuts_are_told_and_can_be_left_out(name):
    roll = datasets.swiss_roll(1000, random_state=8)
    method = getattr(lowfold, name)
    with pytest.warns(ShortcutWarning, match="on_shortcut='remove'"):
        told = method(2, n_neighbors=15).fit(roll.X)
    assert len(told.shortcuts_) == 14
    assert _worse(told.embedding_, roll.coordinates) < 0.7
    with pytest.warns(ShortcutWarning, match="left out$"):
        mended = method(2, n_neighbors=15, on_shortcut="remove").fit(roll.X)
    assert _worse(mended.embedding_, roll.coordinates) > 0.98
    with pytest.warns(DependenceWarning, match="does not show a part of the data"):  # the answer, not its shortcuts
        ignored = method(2, n_neighbors=15, on_shortcut="ignore").fit(roll.X)
    assert len(ignored.shortcuts_) == 0


@pytest.mark.parametrize("seed", [63, 67])
def test_shortcuts_that_may_be_left_are_told(seed):
    """A roll that grows thin towards its sides: there planes are made of two windings, and not all edges are told."""
    rng = np.random.default_rng(seed)
    t, y = 1.5 * np.pi * np.sqrt(1 + 8 * rng.random(900)), 14 * rng.standard_normal(900)
    X = np.column_stack([t * np.cos(t), y, t * np.sin(t)])
    with pytest.warns(ShortcutWarning, match="left out, but [0-9]* others may be shortcuts: use fewer n_neighbors"):
        lowfold.Isomap(2, n_neighbors=10, on_shortcut="remove").fit(X)


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps"])
def test_repeated_coordinates_are_told_and_independent_ones_found(name):
    rng = np.random.default_rng(77)
    P = rng.random((900, 2)) * [4.0, 1.0]
    X = np.column_stack([np.cos(P[:, 0]), np.sin(P[:, 0]), P[:, 1]])
    method = getattr(lowfold, name)
    with pytest.warns(DependenceWarning, match="select='independent'"):
        leading = method(2).fit(X)
    assert leading.dependence_[1] > 0.9
    found = method(2, select="independent").fit(X)
    assert found.dependence_[1] < 0.5
    assert found.selected_.shape == (24, 2)
    assert _worse(leading.embedding_, P) < 0.2 < 0.85 < _worse(found.embedding_, P)
    new = X[:50] + 1e-9
    assert np.abs(found.transform(new) - found.embedding_[:50]).max() < 0.02 * np.ptp(found.embedding_)
    assert np.abs(found.inverse_transform(found.embedding_[:50]) - X[:50]).max() < 1e-9


@pytest.mark.parametrize("seed", [961, 965])
def test_a_shift_that_makes_harmonics_is_told(seed):
    """The constant is larger than most distances: harmonics of the length come before the width."""
    roll = datasets.swiss_roll(600, random_state=seed)
    with pytest.warns(DependenceWarning, match="shift=None"):
        shifted = lowfold.KernelIsomap(2).fit(roll.X)
    assert _worse(shifted.embedding_, roll.coordinates) < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = lowfold.Isomap(2).fit(roll.X)
    assert plain.dependence_[1] < 0.5
    assert _worse(plain.embedding_, roll.coordinates) > 0.95


def test_a_coordinate_that_holds_three_points_is_told():
    rng = np.random.default_rng(5)
    X = np.vstack([rng.standard_normal((300, 4)), 0.1 * rng.standard_normal((3, 4)) + np.array([14.0, 0, 0, 0])])
    with pytest.warns(AccuracyWarning, match="row 30"):
        lowfold.LaplacianEigenmaps(2, scale=8.0).fit(X)


def test_a_coordinate_mostly_held_by_three_points_is_told_with_the_share():
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(AccuracyWarning, match=r"coordinate 2 .* \(row \d+ first, 8\d% of its sum of squares\); a wider"):
        lowfold.VectorDiffusionMaps(2, select="leading").fit(X)
    lowfold.VectorDiffusionMaps(2).fit(X)  # takes others, and has nothing to tell


@pytest.mark.parametrize("seed", [6, 7])
def test_a_linear_coordinate_that_holds_one_point_is_told(seed):
    X = np.random.default_rng(seed).standard_normal((200, 5))
    X[:, 4] = 0
    X[17, 4] = 80.0  # the longest direction of the one patch that has it
    with pytest.warns(AccuracyWarning, match=r"of LinearLTSA tells 3 points or fewer .* \(row 17 first, \d+% of"):
        lowfold.LinearLTSA(1, n_neighbors=10).fit(X)


# Which vectors of a null space come, and so how few points hold one, hangs on the machine's rounding.
@pytest.mark.filterwarnings("ignore:the eigenvectors are known to", "ignore:coordinate . of HessianLLE tells 3 points")
@pytest.mark.parametrize("seed", [1200, 1201, 1202])
@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
def test_a_second_coordinate_of_a_curve_is_told(name, seed):
    """The bends of a coil, and less than a thousandth of noise about a line, hold a second coordinate of their own."""
    rng = np.random.default_rng(seed)
    t = rng.random(600)
    coil = np.column_stack([np.cos(20 * t), np.sin(20 * t), 6 * t])
    line = np.outer(t, [1.0, 2.0, 3.0]) + 1e-8 * rng.standard_normal((600, 3))
    for X in (coil, coil + 1e-4 * rng.standard_normal((600, 3)), line):
        with pytest.warns(LowfoldWarning, match="1 direction and hardly more|function of the earlier|null vectors"):
            getattr(lowfold, name)(2, n_neighbors=10).fit(X)
    getattr(lowfold, name)(2, n_neighbors=10).fit(np.column_stack([10 * t, rng.random((600, 1))]))  # nothing to tell


def test_directions_that_do_not_exist():
    D = np.array([[0.0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    with pytest.warns(AccuracyWarning, match="use n_components of at most 2"):
        lowfold.Isomap(3, n_neighbors=2, metric="precomputed").fit(D)


def test_median_rule_of_gamma():
    X = np.random.default_rng(0).random((60, 400)) * 255
    usual = lowfold.KernelPCA(3).fit(X)
    with pytest.warns(AccuracyWarning, match="coincide"):  # every point its own direction
        theirs = lowfold.KernelPCA(3, gamma="features").fit(X)
    assert theirs.gamma_ == 1 / 400
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    assert usual.gamma_ == pytest.approx(1 / np.median(d2[np.triu_indices(60, 1)]))


def test_the_way_back_is_never_worse_than_the_mean():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((160, 60)) * np.geomspace(5, 0.5, 60)
    train, new = X[:110], X[110:]
    far = np.linalg.norm(new - train.mean(axis=0))
    for name in ("Isomap", "ClassicalMDS", "LTSA", "KernelPCA", "LLE"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(lowfold, name)(6).fit(train)
            restored = model.inverse_transform(model.transform(new))
        assert np.linalg.norm(restored - new) < 1.1 * far
        assert 0 < model.inverse_error_ <= 1
        assert np.abs(model.inverse_transform(model.embedding_[:5]) - train[:5]).max() < 1e-6


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_way_back_is_never_much_worse_than_the_nearest_point(seed: int) -> None:
    """Pairs that lie together and say nothing of the others: weights over ten points mix what does not belong."""
    rng = np.random.default_rng(seed)
    kinds = rng.normal(size=(60, 30))
    X = np.repeat(kinds, 3, axis=0) + 0.1 * rng.normal(size=(180, 30))
    Y = np.repeat(rng.normal(size=(60, 2)), 3, axis=0) + 1e-3 * rng.normal(size=(180, 2))
    inverse, error, *_ = choose_inverse(X, Y, Run())
    assert isinstance(inverse, Barycentric)
    assert inverse.n_neighbors < 10
    assert error < 0.2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "seed"), [("KernelPCA", 0), ("KernelLPP", 1), ("KernelLPP", 2)])
def test_points_that_only_their_own_kernel_holds_do_not_flatter_the_way_back(name: str, seed: int) -> None:
    """Outliers are placed far out by k(x, x) alone; new ones, of which nothing is known, are not."""
    rng = np.random.default_rng(seed)

    def sample(near: int, far: int) -> np.ndarray:
        away = rng.normal(size=(far, 4))
        return np.vstack([rng.normal(size=(near, 4)), 30 * away / np.linalg.norm(away, axis=1)[:, None]])

    train, new = sample(150, 15), sample(50, 5)
    model = getattr(lowfold, name)(5, gamma=0.1).fit(train)
    restored = model.inverse_transform(model.transform(new))
    error = np.linalg.norm(restored - new) / np.linalg.norm(new - train.mean(axis=0))
    assert error < min(1.001, 1.02 * model.inverse_error_)


def heavy_table(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table whose spread a few rows hold, and new rows of it."""
    rng = np.random.default_rng(seed)
    n, D = 500, 8
    if kind == "logarithms":
        X = np.exp(rng.normal(size=(n, 3)) @ rng.normal(size=(3, D)) * 0.7 + 0.2 * rng.normal(size=(n, D)))
    else:
        X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, D)) + 0.3 * rng.normal(size=(n, D))
        X[rng.permutation(n)[:8]] += 100 * X.std() * rng.normal(size=(8, D))
    return X[:350], X[350:]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["logarithms", "outliers"])
@pytest.mark.parametrize("name", ["KernelPCA", "KernelLPP", "LaplacianEigenmaps", "DiffusionMaps"])
def test_outliers_do_not_lead_new_points_astray(name: str, kind: str, seed: int) -> None:
    """A new outlier is not sent to one of the training outliers, nor an ordinary point that is embedded beside one."""
    train, new = heavy_table(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(lowfold, name)(5).fit(train)
        restored = model.inverse_transform(model.transform(new))
    error = np.linalg.norm(restored - new) / np.linalg.norm(new - train.mean(axis=0))
    assert error < 1.02
    low, high = model.inverse_error_range_
    assert low <= model.inverse_error_ <= high


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["KernelPCA", "LaplacianEigenmaps", "LTSA"])
def test_outliers_lead_back_to_themselves_where_their_places_tell_them_apart(name: str) -> None:
    train, _ = heavy_table("outliers", 0)
    model = getattr(lowfold, name)(5).fit(train)
    assert np.abs(model.inverse_transform(model.embedding_) - train).max() < 1e-6 * np.abs(train).max()


def test_an_error_that_few_points_decide_is_told_where_it_is_used():
    train, new = heavy_table("logarithms", 0)
    model = lowfold.ClassicalMDS(2).fit(train)
    assert model.inverse_outliers_ > 0.5
    with pytest.warns(AccuracyWarning, match="rests on few points: outliers hold"):
        model.inverse_transform(model.transform(new))
    even = lowfold.ClassicalMDS(2).fit(np.random.default_rng(0).normal(size=(60, 8)))
    assert even.inverse_outliers_ == 0
    even.inverse_transform(even.embedding_)


NARROW = 5.0  # about the squared edges of the table without its outliers, which the default is wide enough to hold


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalization", ["natural", "unit", "orthonormal"])
@pytest.mark.parametrize("name", ["LTSA", "LaplacianEigenmaps", "Isomap", "TSNE"])
def test_training_points_lead_back_to_themselves(name: str, normalization: str, dtype: type) -> None:
    X = lowfold.datasets.s_curve(150, random_state=21).X.astype(dtype)
    model = getattr(lowfold, name)(2, normalization=normalization).fit(X)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), X)


@pytest.mark.filterwarnings("ignore:1 of 3 coordinates of VectorDiffusionMaps are products of fields")
@pytest.mark.parametrize("seed", [11, 12])
def test_single_points_are_told_beside_pieces_too(seed: int) -> None:
    """Outliers of a table in two pieces hold every leading coordinate of VectorDiffusionMaps."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(150, 3)), 0.05 * rng.normal(size=(150, 3)) + 30.0])
    X[:3] += 15.0 * rng.normal(size=(3, 3))
    with pytest.warns(AccuracyWarning, match="tells 3 points or fewer"), pytest.warns(DisconnectedWarning):
        model = lowfold.VectorDiffusionMaps(3, scale=NARROW, on_shortcut="ignore", select="leading").fit(X)
    assert (np.bincount(model.component_labels_) > 100).all()


@pytest.mark.filterwarnings("ignore:the neighbourhoods fall into")
@pytest.mark.parametrize("kept", ["largest", "separate"])
def test_pieces_apart_tell_what_is_repeated_and_say_it_once(kept: str) -> None:
    rng = np.random.default_rng(7)
    strips = [
        np.column_stack([rng.random((n, 2)) * [8.0, 1.0], np.full(n, 10.0 * i)]) for i, n in enumerate((160, 150))
    ]
    with pytest.warns(DependenceWarning, match="coordinate 2 of LaplacianEigenmaps") as said:
        lowfold.LaplacianEigenmaps(2, on_disconnected=kept).fit(np.vstack(strips))
    assert sum(one.category is DependenceWarning for one in said) == 1


def test_what_is_true_of_several_pieces_is_said_once() -> None:
    arcs = [np.random.default_rng(seed).beta(1, 5, 300) * 5 for seed in (8, 9)]
    X = np.vstack([np.column_stack([np.cos(a) + 10 * i, np.sin(a)]) for i, a in enumerate(arcs)])
    with pytest.warns(AccuracyWarning, match="of DiffusionMaps is cut") as said:
        lowfold.DiffusionMaps(1, n_neighbors=12, on_disconnected="separate").fit(X)
    assert len(said) == 1
    assert str(said[0].message).endswith("(so in 2 of 2 pieces)")


@pytest.mark.parametrize("name", ["Isomap", "MVU", "NonmetricMDS"])
def test_distances_to_one_far_point_are_told(name: str) -> None:
    X = np.concatenate([np.random.default_rng(990).normal(size=(119, 4)), [[60.0, 0.0, 0.0, 0.0]]])
    with pytest.warns(AccuracyWarning, match="row 119 first"):
        getattr(lowfold, name)(2).fit(X)


@pytest.mark.parametrize("seed", [1, 2])
def test_products_of_fields_are_told_where_they_repeat_in_part(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.random(600)
    Y = np.column_stack([x, np.cos(2 * np.pi * x) + 0.55 * rng.standard_normal(600)])
    bound, words = lowfold.VectorDiffusionMaps.repeated, ("", "use LTSA")
    with pytest.warns(DependenceWarning, match="use LTSA"):
        told, said = told_dependence("VectorDiffusionMaps", Y, words, np.array([600]), Run(), bound)
    assert bound < told[1] < 0.7
    assert said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told_dependence("LTSA", Y, words, np.array([600]), Run(), lowfold.LTSA.repeated)
