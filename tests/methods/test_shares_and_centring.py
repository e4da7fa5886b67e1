"""`explained_` and `center` on small data whose spectra are known by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import AccuracyWarning
from lowfold.graph import Graph

# Corners of a rectangle of 3 x 2: the Gram matrix has the eigenvalues 9 and 4, as many as there are sides.
RECTANGLE = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [0.0, 2.0]])
# Path lengths round a 4-cycle: the Gram matrix has the eigenvalues 2, 2, 0 and -1.
FOUR_CYCLE = np.array([[0.0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
# X'X = diag(4, 2); about the mean it is [[8, -4], [-4, 2]] / 3, with the eigenvalues 10 / 3 and 0.
ROWS = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])

distances = np.linalg.norm(RECTANGLE[:, None] - RECTANGLE, axis=2)


def ring(n: int) -> Graph:
    return Graph.from_edges(n, [[i, (i + 1) % n] for i in range(n)])


@pytest.mark.parametrize(("d", "share"), [(1, 9 / 13), (2, 1.0)])
def test_classical_mds_explains_a_side_by_its_square(d: int, share: float) -> None:
    assert lowfold.ClassicalMDS(d).fit(RECTANGLE).explained_ == pytest.approx(share, abs=1e-14)


def test_what_no_points_have_is_explained_beyond_one() -> None:
    model = lowfold.ClassicalMDS(2, metric="precomputed").fit(FOUR_CYCLE)
    assert model.explained_ == pytest.approx(4 / 3, abs=1e-14)
    assert model.negative_energy_ == pytest.approx(1.0, abs=1e-14)


def test_a_chain_is_explained_by_one_coordinate() -> None:
    chain = Graph.from_edges(12, [[i, i + 1] for i in range(11)])
    assert lowfold.Isomap(1).fit(chain).explained_ == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n", [8, 15])
def test_geodesics_of_a_ring_are_explained_by_their_first_harmonics(n: int) -> None:
    steps = np.minimum(np.arange(n), n - np.arange(n))
    values = -0.5 * np.fft.fft(steps.astype(float) ** 2).real[1:]  # a circulant matrix; the constant is centred away
    whole = lowfold.Isomap(2).fit(ring(n)).explained_
    assert whole == pytest.approx(2 * values[0] / values.sum(), rel=1e-12)
    among_all = lowfold.Isomap(2, landmarks=np.arange(n)).fit(ring(n)).explained_
    assert among_all == pytest.approx(whole, rel=1e-12)


def test_mvu_of_a_rigid_rectangle_explains_what_classical_mds_does() -> None:
    rigid = lowfold.MVU(1, n_neighbors=3, constraints="eq", tol=1e-6).fit(RECTANGLE)
    assert rigid.explained_ == pytest.approx(9 / 13, abs=1e-5)
    chain = Graph.from_edges(6, [[i, i + 1] for i in range(5)])
    assert lowfold.MVU(1, constraints="eq", tol=1e-6).fit(chain).explained_ == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("weights", [None, [[1.0, 1.0], [1.0, 3.0]]])
def test_weighted_mds_explains_squares_of_gram_entries(weights: list[list[float]] | None) -> None:
    model = lowfold.WeightedMDS(1, weights=weights).fit([distances, distances])
    assert model.explained_ == pytest.approx([81 / 97] * 2, abs=1e-9)  # 9^2 of 9^2 + 4^2


def test_kernel_pca_about_the_origin_and_about_the_mean() -> None:
    about = [lowfold.KernelPCA(2, kernel="linear", center=center).fit(ROWS) for center in (False, True)]
    assert about[0].eigenvalues_ == pytest.approx([4.0, 2.0], abs=1e-14)
    assert about[1].eigenvalues_ == pytest.approx([10 / 3, 0.0], abs=1e-14)
    Y = about[0].embedding_
    assert pytest.approx(ROWS @ ROWS.T, abs=1e-14) == Y @ Y.T
    new = about[0].transform(np.array([[1.0, 5.0]]))
    assert np.abs(new) == pytest.approx(np.array([[1.0, 5.0]]), abs=1e-12)  # the axes of ROWS, up to sign


def test_nonlinear_pca_of_degree_one_about_the_origin_and_about_the_mean() -> None:
    about = [lowfold.NonlinearPCA(2, degree=1, center=center).fit(ROWS) for center in (False, True)]
    assert about[0].eigenvalues_ == pytest.approx([4 / 3, 2 / 3], abs=1e-14)  # mean squares
    assert about[1].eigenvalues_ == pytest.approx([5 / 3, 0.0], abs=1e-14)  # variances
    assert about[0].feature_mean_.tolist() == [0.0, 0.0]
    assert about[1].feature_mean_ == pytest.approx([2 / 3, 2 / 3], abs=1e-15)


# A regular polygon of radius 1 about (1, 0), each corner with its two neighbours. Coordinates about the centre are
# eigenvectors of every circulant matrix, X'X = n diag(1/2 + 1, 1/2): far from 0 the first one counts 1 / 3 as much.
N = 12
ANGLES = 2 * np.pi * np.arange(N) / N
POLYGON = np.column_stack([1 + np.cos(ANGLES), np.sin(ANGLES)])
FALL = 1 - np.cos(2 * np.pi / N)  # 1 minus the mean of the two neighbours, on these functions


def test_lpp_of_a_polygon() -> None:
    kept = {
        center: lowfold.LPP(2, n_neighbors=2, weights="binary", center=center).fit(POLYGON) for center in (False, True)
    }
    assert kept[False].eigenvalues_ == pytest.approx([FALL / 3, FALL], rel=1e-10)
    assert kept[True].eigenvalues_ == pytest.approx([FALL, FALL], rel=1e-10)
    assert kept[False].mean_.tolist() == [0.0, 0.0]
    assert kept[True].mean_ == pytest.approx([1.0, 0.0], abs=1e-14)


@pytest.mark.parametrize(("method", "value"), [("NPE", FALL**2), ("LinearLTSA", None)])
def test_linear_alignment_of_a_polygon(method: str, value: float | None) -> None:
    make = getattr(lowfold, method)
    model = make(1, n_neighbors=2, center=False).fit(POLYGON)
    x = np.sin(ANGLES)
    value = float(x @ model.operator().apply(x[:, None])[:, 0]) / float(x @ x) if value is None else value
    assert model.eigenvalues_ == pytest.approx([value / 3], rel=1e-8)
    assert np.abs(model.components_) == pytest.approx(np.array([[1 / np.sqrt(1.5 * N), 0.0]]), abs=1e-8)
    with pytest.warns(AccuracyWarning, match="coincide"):  # about its centre the polygon has no first direction
        centred = make(1, n_neighbors=2).fit(POLYGON)
    assert centred.eigenvalues_ == pytest.approx([value], rel=1e-8)


@pytest.mark.parametrize("name", ["ClassicalMDS", "Isomap", "LandmarkIsomap", "MVU"])
def test_of_nothing_all_is_explained(name: str) -> None:
    """All points coincide: there is no variance that the coordinates could miss."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert getattr(lowfold, name)(2).fit(np.ones((20, 3))).explained_ == 1.0
