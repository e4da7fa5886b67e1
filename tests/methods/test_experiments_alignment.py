"""The book's experiments with LLE, LTSA and Hessian LLE, as thresholds: surfaces, noise, neighbours, shapes.

Wang (2012), Sections 10.3, 11.3 and 13.3, doi:10.1007/978-3-642-27497-8: 1,000 points, 10 neighbours, two dimensions.
The limits are what several seeds hold with some room, not the book's pictures.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.alignment_helpers import explained
from tests.methods.experiment_helpers import correlations, embed, score, trust, truth

import lowfold
from lowfold import datasets

pytestmark = pytest.mark.slow
SEEDS = [0, 1, 2]
NAMES = ["LLE", "LTSA", "HLLE"]


@pytest.mark.parametrize("seed", SEEDS)
def test_four_surfaces(seed: int) -> None:
    roll, curve, sphere, cluster = (
        getattr(datasets, name)(1000, random_state=seed)
        for name in ("swiss_roll", "s_curve", "punched_sphere", "cluster_3d")
    )
    shares = {name: explained(roll.coordinates, embed(name, roll.X)) for name in NAMES}
    for name in ("LTSA", "HLLE"):
        assert shares[name].min() > 0.99
        assert explained(curve.coordinates, embed(name, curve.X)).min() > 0.99
    assert shares["LLE"][0] > 0.99  # its arc length is right, its height bent
    assert shares["LLE"][1] < shares["LTSA"][1]
    walk = trust("GL", cluster)
    for name in NAMES:
        assert score(curve.coordinates, embed(name, curve.X)) > 0.95
        assert trust(name, sphere) > 0.88
        assert trust(name, cluster) < walk  # segments between balls are no surface: there walks do better


@pytest.mark.parametrize("seed", SEEDS)
def test_noise(seed: int) -> None:
    """Scores fall with the noise for all three; at 0.4 LTSA and Hessian LLE lose a coordinate of the roll."""
    curves = [datasets.s_curve(1000, noise=s, random_state=seed) for s in (0.0, 0.2, 0.4)]
    for name in NAMES:
        scores = [score(data.coordinates, embed(name, data.X)) for data in curves]
        assert scores[0] > 0.95
        assert scores[0] - 0.2 > scores[1] > scores[2] + 0.2
    rolls = [datasets.swiss_roll(1000, noise=s, random_state=seed) for s in (0.0, 0.1, 0.4)]
    slight = datasets.s_curve(1000, noise=0.1, random_state=seed)
    for name in ("LTSA", "HLLE"):
        shares = [explained(data.coordinates, embed(name, data.X)).min() for data in rolls]
        assert min(shares[:2]) > 0.99
        assert shares[2] < 0.8
        assert explained(slight.coordinates, embed(name, slight.X)).min() > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_number_of_neighbours(seed: int) -> None:
    curve = datasets.s_curve(1000, random_state=seed)
    by_k = {k: score(curve.coordinates, embed("LLE", curve.X, k)) for k in (4, 8, 12, 15, 30, 60)}
    assert min(by_k[8], by_k[12], by_k[15]) > 0.95
    assert max(by_k[4], by_k[60]) < 0.8
    assert by_k[60] < by_k[30] < by_k[15]
    roll = datasets.swiss_roll(1000, random_state=seed)
    for name in ("LTSA", "HLLE"):
        assert min(explained(roll.coordinates, embed(name, roll.X, k)).min() for k in (8, 10)) > 0.99
        assert max(explained(roll.coordinates, embed(name, roll.X, k))[0] for k in (30, 60)) < 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_heights_of_the_punched_sphere(seed: int) -> None:
    spheres = [datasets.punched_sphere(1000, height=h, random_state=seed) for h in (0.5, 0.75, 0.9)]
    for name in NAMES:
        half, most, nearly_all = (trust(name, data) for data in spheres)
        assert half > most > nearly_all
        assert half > 0.94
        assert nearly_all < 0.93
    assert trust("HLLE", spheres[2]) < trust("LE", spheres[2]) - 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_of_the_roll(seed: int) -> None:
    """Twice and four times as long with as many points, neighbours cross between the layers; 4,000 points repair it."""
    short, middle, long = (datasets.swiss_roll(1000, height=h, random_state=seed) for h in (21, 51, 81))
    for name in NAMES:
        assert trust(name, short) > 0.99
        assert trust(name, middle) < 0.9
        assert trust(name, long) < 0.92
    dense = datasets.swiss_roll(4000, height=81, random_state=seed)
    for name in ("LTSA", "HLLE"):
        assert explained(long.coordinates, embed(name, long.X))[0] < 0.1
        assert explained(dense.coordinates, embed(name, dense.X)).min() > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_of_the_s_curve(seed: int) -> None:
    short, middle, long = (datasets.s_curve(1000, height=h, random_state=seed) for h in (5, 10, 30))
    dense = datasets.s_curve(8000, height=30, random_state=seed)
    for name in ("LTSA", "HLLE"):
        assert min(explained(data.coordinates, embed(name, data.X)).min() for data in (short, middle)) > 0.99
        assert explained(long.coordinates, embed(name, long.X))[0] < 0.1
        assert explained(dense.coordinates, embed(name, dense.X)).min() > 0.99
    assert min(score(data.coordinates, embed("LLE", data.X)) for data in (short, middle)) > 0.95
    assert score(long.coordinates, embed("LLE", long.X)) < 0.9
    assert explained(dense.coordinates, embed("LLE", dense.X)).min() > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hole_in_the_roll(seed: int) -> None:
    """600 points around a missing rectangle: Isomap's paths go around it, LLE bends, Hessian LLE does neither."""
    data = datasets.swiss_roll(600, hole=True, density="area", random_state=seed)
    T = truth(data)
    isomap = lowfold.Isomap(2, n_neighbors=7).fit_transform(data.X)
    hessian, lle, geodesic = (
        correlations(T, Y)[1] for Y in (embed("HLLE", data.X, 8), embed("LLE", data.X, 12), isomap)
    )
    assert hessian > 0.998
    assert max(lle, geodesic) < 0.97


@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_kernels_are_sparse() -> None:
    X = datasets.swiss_roll(1000, random_state=0).X
    for name in ("LLE", "LTSA", "HessianLLE"):
        stored = getattr(lowfold, name)(2, n_neighbors=10).fit(X).kernel().matrix.nnz
        assert stored < 0.06 * 1000**2
        assert stored <= 1000 * 11**2
    assert np.isfinite(lowfold.HessianLLE(2, n_neighbors=10).fit(X).local_errors_).all()
