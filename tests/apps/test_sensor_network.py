"""Sensor localisation: exact without noise, near the truth with it; anchors; the command."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import typer
from scipy.sparse import csr_array
from typer.testing import CliRunner

from lowfold._core.errors import Disconnected, FileProblem, InvalidInput
from lowfold.apps.sensor_network import aligned, locate, position_error
from lowfold.cli._locate import read_distances, read_positions, register
from lowfold.datasets import us_cities
from lowfold.datasets._cities import city_names
from lowfold.graph import Graph


def field(n: int, seed: int, reach: float, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Sensors in a square and the matrix of what they hear."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    noisy = np.triu(D * np.abs(1 + noise * rng.normal(size=D.shape)), 1)
    return X, np.where(reach >= D, noisy + noisy.T, np.nan)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exact_distances_give_exact_positions(seed):
    X, D = field(60, seed, 0.4)
    found = locate(D)
    assert position_error(found.positions, X) < 1e-3
    assert found.loss <= found.relaxed_loss
    np.testing.assert_allclose(found.positions.mean(axis=0), 0, atol=0.05)


def test_all_pairs_give_classical_scaling():
    X, D = field(30, 3, 2.0)
    assert position_error(locate(D).positions, X) < 1e-4


@pytest.mark.parametrize("seed", [0, 1])
def test_anchors_make_positions_absolute_and_do_not_hurt(seed):
    X, D = field(60, seed, 0.4, noise=0.1)
    rows = np.random.default_rng(seed).permutation(60)[:6]
    free = position_error(locate(D).positions, X)
    found = locate(D, {int(i): X[i] for i in rows})
    np.testing.assert_allclose(found.positions[rows], X[rows], atol=1e-12)
    assert set(found.anchors) == set(rows)
    assert position_error(found.positions, X, align=False) < max(1.5 * free, 0.05)


def test_input_in_every_form_and_both_directions():
    X, D = field(40, 4, 0.5)
    i, j = np.nonzero(np.isfinite(D) & (D > 0))
    up = i < j
    expected = locate(D).positions
    sparse = locate(csr_array((D[i, j], (i, j)), shape=D.shape)).positions
    graph = locate(Graph.from_edges(40, np.column_stack([i, j])[up], D[i, j][up])).positions
    one_way = locate(np.where(np.triu(np.ones_like(D)) > 0, D, np.nan)).positions
    for other in (sparse, graph, one_way):
        np.testing.assert_allclose(aligned(other, expected), expected, atol=1e-6)
    both = D * 1.0
    both[i[up], j[up]] *= 1.1
    both[j[up], i[up]] *= 0.9  # their mean is what was meant
    np.testing.assert_allclose(aligned(locate(both).positions, expected), expected, atol=1e-6)
    assert position_error(expected, X) < 1e-2


def test_three_dimensions():
    rng = np.random.default_rng(5)
    X = rng.random((60, 3))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    found = locate(np.where(D < 0.6, D, np.nan), n_components=3)
    assert position_error(found.positions, X) < 1e-2


def test_errors_in_words():
    X, D = field(20, 6, 2.0)
    two = np.full((40, 40), np.nan)
    two[:20, :20] = two[20:, 20:] = D
    with pytest.raises(Disconnected, match="2 groups"):
        locate(two)
    with pytest.raises(InvalidInput, match="3 anchors"):
        locate(D, {0: X[0], 1: X[1]})
    with pytest.raises(InvalidInput, match="one line"):
        locate(D, {0: [0, 0], 1: [1, 1], 2: [2, 2]})
    with pytest.raises(InvalidInput, match="row numbers"):
        locate(D, {0: X[0], 1: X[1], 99: X[2]})
    with pytest.raises(InvalidInput, match="square"):
        locate(D[:5])


def test_cities_are_where_they_are():
    cities, names = us_cities(), city_names()
    assert len(set(names)) == len(names) == len(cities) >= 150
    lat, lon = cities.parameters.T
    assert lat.min() > 24.5
    assert lat.max() < 49.5
    assert lon.min() > -125
    assert lon.max() < -66

    def apart(a: str, b: str) -> float:
        return float(np.linalg.norm(cities.X[names.index(a)] - cities.X[names.index(b)]))

    # great-circle distances, which this projection keeps to about 2%
    assert apart("New York", "Los Angeles") == pytest.approx(3936, rel=0.03)
    assert apart("Chicago", "Houston") == pytest.approx(1515, rel=0.03)
    assert apart("Seattle", "Miami") == pytest.approx(4396, rel=0.03)


def test_cities_from_noisy_local_distances():
    """Wang (2012), Section 9.3: 10% noise, 18 neighbours on average, no anchors."""
    X = us_cities().X
    n = len(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    radius = np.sort(D[np.triu_indices(n, 1)])[9 * n]
    rng = np.random.default_rng(0)
    noisy = np.triu(D * np.abs(1 + 0.1 * rng.normal(size=D.shape)), 1)
    found = locate(np.where(radius >= D, noisy + noisy.T, np.nan))
    assert position_error(found.positions, X) < 60  # kilometres, on a map 4400 across
    assert found.loss < found.relaxed_loss


def test_command(tmp_path):
    app = typer.Typer()
    register(app)
    app.callback()(lambda: None)
    X, D = field(25, 7, 0.6)
    with (tmp_path / "d.csv").open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["a", "b", "distance"])
        for i, j in np.argwhere(np.triu(np.isfinite(D), 1)):
            writer.writerow([f"s{i}", f"s{j}", D[i, j]])
    with (tmp_path / "t.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows([[f"s{i}", *X[i]] for i in range(25)])
    with (tmp_path / "a.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows([["name", "x", "y"], *([f"s{i}", *X[i]] for i in (0, 7, 12))])
    out = tmp_path / "p.csv"
    words = ["locate", str(tmp_path / "d.csv"), "--anchors", str(tmp_path / "a.csv"), "--out", str(out)]
    done = CliRunner().invoke(app, [*words, "--truth", str(tmp_path / "t.csv")])
    assert done.exit_code == 0, done.output
    assert "25 sensors" in done.output
    rows = list(csv.reader(out.read_text().splitlines()))
    assert rows[0] == ["name", "x", "y"]
    for name, x, y in rows[1:]:
        np.testing.assert_allclose([float(x), float(y)], X[int(name[1:])], atol=1e-2)
    assert isinstance(CliRunner().invoke(app, words).exception, FileProblem)  # it exists


def test_distances_from_a_matrix(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("name,p,q,r,s\np,0,1,,2\nq,1,0,3,\nr,,3,0,1\ns,2,,1,0\n")
    names, D = read_distances(str(path))
    assert names == ["p", "q", "r", "s"]
    assert np.isnan(D[0, 2])
    assert D[1, 2] == 3
    path.write_text("a,b,c,d\n0,1,2,3\n")
    with pytest.raises(FileProblem):
        read_distances(str(path))


def test_positions_of_unknown_names_are_an_error_not_a_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("q,1,2\n")
    with pytest.raises(FileProblem, match="'q' is in no measured pair"):
        read_positions(str(path), ["p", "r"], 2)
    path.write_text("name,x,y\n")
    with pytest.raises(FileProblem, match="no positions"):
        read_positions(str(path), ["p", "r"], 2)
    path.write_text("name,x,y\nr,1,2\n")
    np.testing.assert_array_equal(read_positions(str(path), ["p", "r"], 2)[1], [1.0, 2.0])


@pytest.mark.parametrize("seed", [5, 6])
def test_distances_alone_recover_a_complete_graph_and_lose_a_sparse_one(seed):
    X, D = field(25, seed, 2.0)
    alone = locate(D, relaxation="fit", refine=False)
    assert position_error(alone.positions, X) < 1e-3
    assert np.isnan(alone.gap)
    X, D = field(80, seed, 0.3, noise=0.1)
    alone, regular = (locate(D, relaxation=kind, refine=False) for kind in ("fit", "variance"))
    shares = [found.spectrum[:2].sum() / found.spectrum.sum() for found in (alone, regular)]
    assert shares[0] < shares[1]  # the rank is high, and two eigenvectors hold less of it
    assert position_error(regular.positions, X) < position_error(alone.positions, X)


def test_an_unknown_relaxation_is_named():
    with pytest.raises(InvalidInput, match="relaxation"):
        locate(field(20, 0, 2.0)[1], relaxation="none")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_experiment_of_the_text_has_1055_sensors(seed):
    """Fig. 9.6-9.8: 1,055 places, distances within a radius, 18 neighbours on average, noise of 10%."""
    rng = np.random.default_rng(seed)
    X = rng.random((1055, 2)) * [1.6, 1.0]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    reach = np.sqrt(18 * 1.6 / (1055 * np.pi))
    noisy = np.triu(D * np.abs(1 + 0.1 * rng.normal(size=D.shape)), 1)
    D = np.where(reach >= D, noisy + noisy.T, np.nan)
    assert 15 < np.isfinite(D).sum() / 1055 - 1 < 20
    found = locate(D)
    assert position_error(found.positions, X) < 0.5 * reach
