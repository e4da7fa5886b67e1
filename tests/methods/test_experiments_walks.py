"""The book's experiments with Laplacian eigenmaps and diffusion maps, as thresholds: surfaces, noise, shapes.

Wang (2012), Sections 12.3 and 14.3, doi:10.1007/978-3-642-27497-8: 1,000 points, 10 neighbours, two dimensions. GL, LB
and ST are diffusion maps with alpha = 0, with alpha = 1, and self-tuning. Sweeps of k and of the scale are in
test_diffusion_experiments.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.alignment_helpers import explained
from tests.methods.experiment_helpers import correlations, crowding, embed, score, trust

from lowfold import datasets
from lowfold.graph import Points, nearest
from lowfold.metrics._resolve import resolve_metric

pytestmark = pytest.mark.slow
SEEDS = [0, 1, 2]
WALKS = ["LE", "GL", "LB", "ST"]


@pytest.mark.parametrize("seed", SEEDS)
def test_four_surfaces(seed: int) -> None:
    roll, curve, sphere, cluster = (
        getattr(datasets, name)(1000, random_state=seed)
        for name in ("swiss_roll", "s_curve", "punched_sphere", "cluster_3d")
    )
    for name in WALKS:
        assert score(curve.coordinates, embed(name, curve.X)) > 0.9
        # On a strip as long as the roll the second function is a harmonic of the first: nothing is said of the height.
        assert explained(roll.coordinates, embed(name, roll.X, d=1))[0] > 0.9
        assert trust(name, roll) > 0.9
        assert trust(name, sphere) > 0.98
        assert trust(name, cluster) > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_does_less_harm_than_to_local_fits(seed: int) -> None:
    clean, some, more = (datasets.s_curve(1000, noise=s, random_state=seed) for s in (0.0, 0.2, 0.4))
    linear = score(some.coordinates, embed("LLE", some.X))
    fall = trust("HLLE", clean) - trust("HLLE", more)
    for name in WALKS:
        assert score(some.coordinates, embed(name, some.X)) > linear + 0.1
        assert trust(name, some) > 0.97
        assert trust(name, clean) - trust(name, more) < fall


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_on_the_roll(seed: int) -> None:
    """Noise of 0.4 is a tenth of the gap between the layers."""
    clean, noisy = (datasets.swiss_roll(1000, noise=s, random_state=seed) for s in (0.0, 0.4))
    for name in WALKS:
        assert trust(name, noisy) > trust(name, clean) - 0.03


@pytest.mark.parametrize("seed", SEEDS)
def test_heights_of_the_punched_sphere(seed: int) -> None:
    spheres = [datasets.punched_sphere(1000, height=h, random_state=seed) for h in (0.5, 0.75, 0.9)]
    local = max(trust(name, spheres[2]) for name in ("LTSA", "HLLE", "LLE"))
    for name in WALKS:
        half, most, nearly_all = (trust(name, data) for data in spheres)
        assert half > most > nearly_all > local
        assert half > 0.99
        assert nearly_all > 0.92
    for data in spheres:
        assert crowding(embed("LB", data.X)) < crowding(embed("GL", data.X))


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_of_the_roll(seed: int) -> None:
    middle, long = (datasets.swiss_roll(1000, height=h, random_state=seed) for h in (51, 81))
    for name in WALKS:
        assert explained(middle.coordinates, embed(name, middle.X)).min() > 0.75
        assert explained(long.coordinates, embed(name, long.X)).min() < 0.75
        assert trust(name, long) < trust(name, middle)


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_of_the_s_curve(seed: int) -> None:
    """A length of 30 is more than three times the arc of 3 pi, so harmonics come first; four functions find it."""
    short, middle, long = (datasets.s_curve(1000, height=h, random_state=seed) for h in (5, 10, 30))
    dense = datasets.s_curve(4000, height=30, random_state=seed)
    for name in WALKS:
        assert min(score(data.coordinates, embed(name, data.X)) for data in (short, middle)) > 0.9
        assert score(long.coordinates, embed(name, long.X)) < 0.7
        assert explained(long.coordinates, embed(name, long.X))[0] < 0.1
    Y = embed("LE", dense.X, d=4)
    assert explained(dense.coordinates, Y[:, :2])[0] < 0.01
    assert explained(dense.coordinates, Y)[0] > 0.75


@pytest.mark.parametrize("seed", SEEDS)
def test_density_crowds_less_at_alpha_one(seed: int) -> None:
    for name in ("s_curve", "punched_sphere", "swiss_roll"):
        data = getattr(datasets, name)(1000, random_state=seed)
        assert crowding(embed("LB", data.X)) < crowding(embed("GL", data.X))


@pytest.mark.parametrize("seed", SEEDS)
def test_self_tuning_agrees_with_one_scale(seed: int) -> None:
    for name, least in (("swiss_roll", 0.9), ("s_curve", 0.9), ("punched_sphere", 0.99)):
        X = getattr(datasets, name)(1000, random_state=seed).X
        assert correlations(embed("ST", X), embed("GL", X))[1] > least


@pytest.mark.parametrize("seed", SEEDS)
def test_local_lengths_are_not_kept(seed: int) -> None:
    """After the best affine map Hessian LLE has the lengths of the roll's edges, diffusion maps do not."""
    roll = datasets.swiss_roll(1000, random_state=seed)
    edges = nearest(Points(roll.X, resolve_metric("euclidean", None, roll.X)), 10)
    i, j, T = edges.rows(), edges.indices, roll.coordinates
    real = np.linalg.norm(T[i] - T[j], axis=1)
    stress = {}
    for name in ("HLLE", "GL"):
        A = np.column_stack([np.ones(1000), embed(name, roll.X)])
        Z = A @ np.linalg.lstsq(A, T, rcond=None)[0]
        stress[name] = float(np.linalg.norm(np.linalg.norm(Z[i] - Z[j], axis=1) - real) / np.linalg.norm(real))
    assert stress["HLLE"] < 0.05
    assert stress["GL"] > 0.3
