"""Graph Laplacians converge to Laplace-Beltrami: circle, sphere, torus and interval, with their constants.

Belkin & Niyogi (2003), Coifman & Lafon (2006), Hein, Audibert & von Luxburg (2007): the operator (I - A) / e of the
kernel exp(-d^2 / e) tends to 1/4 of {Delta f - 2 (1 - alpha) <grad p, grad f> / p}, Delta = -div grad.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive

import lowfold
from lowfold._core.run import Run
from lowfold.geometry._spectra import flat_torus_eigenvalues
from lowfold.kernels._diffusion import Profile, complete_weights, markov_dense
from lowfold.spectral import largest


def circle(angle: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def fibonacci(n: int) -> np.ndarray:
    i = np.arange(n) + 0.5
    z, phi = 1 - 2 * i / n, np.pi * (1 + 5**0.5) * i
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z])


def generator(X: np.ndarray, eps: float, k: int, alpha: float) -> np.ndarray:
    """(1 - lambda) / (eps / 4) of the complete graph."""
    walk = markov_dense(complete_weights(lowfold.metrics.pairwise(X), Profile("heat", eps), 1.0), alpha=alpha)
    pairs = largest(walk.operator, k, null=walk.trivial, negligible=1.0, run=Run(solver="dense"))
    return (1 - pairs.values) / (eps / 4)


def weighted_circle(power: float, k: int, m: int = 800) -> np.ndarray:
    """Eigenvalues of -(1/mu) (mu f')' on the circle, mu = p^power, p = (1 + cos / 2) / 2 pi, on a fine grid."""
    theta = np.arange(m) * 2 * np.pi / m
    half = theta + np.pi / m
    mu, between = (1 + 0.5 * np.cos(theta)) ** power, (1 + 0.5 * np.cos(half)) ** power
    h2 = (2 * np.pi / m) ** 2
    main, off = (between + np.roll(between, 1)) / h2 / mu, -between / h2 / np.sqrt(mu * np.roll(mu, -1))
    A = np.diag(main) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
    A[0, -1] = A[-1, 0] = off[-1]
    from scipy.linalg import eigh

    return eigh(A, subset_by_index=(1, k), eigvals_only=True)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_three_alphas_on_a_circle_of_uneven_density(alpha: float) -> None:
    n = 600
    u = (np.arange(n) + 0.5) / n
    grid = np.linspace(0, 2 * np.pi, 200_001)
    angle = np.interp(u, (grid + 0.5 * np.sin(grid)) / (2 * np.pi), grid)
    found = generator(circle(angle), 0.005, 6, alpha)
    truth = weighted_circle(2 * (1 - alpha), 6)
    assert np.allclose(found, truth, rtol=0.01)
    if alpha == 1.0:
        assert np.allclose(found, [1, 1, 4, 4, 9, 9], rtol=0.01)
    else:
        assert abs(found[0] - found[1]) > 0.1  # density splits the pairs


@pytest.mark.parametrize("t", [0.1, 0.01])
def test_exact_eigenvalues_of_the_heat_average_on_the_circle(t: float) -> None:
    """2 pi e^-z (I_0(z) - I_k(z)) / (t sqrt(4 pi t)), z = 1 / 2t, which tend to k^2."""
    n = 400
    X = circle(np.arange(n) * 2 * np.pi / n)
    W = np.exp(-(lowfold.metrics.pairwise(X) ** 2) / (4 * t))
    L = (2 * np.pi / n) * (np.diag(W.sum(axis=1)) - W) / (t * np.sqrt(4 * np.pi * t))
    z = 1 / (2 * t)
    truth = [2 * np.pi * (ive(0, z) - ive(k, z)) / (t * np.sqrt(4 * np.pi * t)) for k in (1, 1, 2, 2, 3, 3)]
    assert np.allclose(np.linalg.eigvalsh(L)[1:7], truth, rtol=1e-7)
    if t == 0.01:
        assert np.allclose(truth, [1, 1, 4, 4, 9, 9], rtol=0.04)


def test_sphere_with_multiplicities() -> None:
    """l (l + 1), each 2 l + 1 times, and closer for more points."""
    errors = []
    for n, eps in ((300, 0.1), (1000, 0.03)):
        found = generator(fibonacci(n), eps, 8, 1.0)
        errors.append(np.abs(found / np.repeat([2.0, 6.0], [3, 5]) - 1).max())
        assert np.ptp(found[:3]) < 0.02 * 2
        assert np.ptp(found[3:]) < 0.02 * 6
    assert errors[0] < 0.1
    assert errors[1] < 0.04
    assert errors[1] < errors[0] / 2


def test_flat_torus() -> None:
    u = np.arange(28) * 2 * np.pi / 28
    a, b = (g.ravel() for g in np.meshgrid(u, u))
    X = np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])
    found = generator(X, 0.1, 8, 1.0)
    assert np.allclose(found, flat_torus_eigenvalues(9)[1:], rtol=0.05)


def test_interval_has_neumann_ends() -> None:
    """(k pi / L)^2 with cosines: the walk is reflected."""
    x = ((np.arange(800) + 0.5) / 800)[:, None]
    eps = 1e-4
    model = lowfold.DiffusionMaps(3, threshold=0.0, scale=eps, alpha=1.0, t=0).fit(x)
    values = (1 - model.eigenvalues_) / (eps / 4)
    assert np.allclose(values, (np.arange(1, 4) * np.pi) ** 2, rtol=0.03)
    for k in range(3):
        assert abs(np.corrcoef(model.embedding_[:, k], np.cos((k + 1) * np.pi * x[:, 0]))[0, 1]) > 0.999


def test_powers_of_the_walk_tend_to_the_heat_kernel() -> None:
    """lambda^(t / e) -> exp(-t k^2 / 4) on the circle."""
    eps, t = 0.005, 0.7
    X = circle(np.arange(600) * 2 * np.pi / 600)
    model = lowfold.DiffusionMaps(4, threshold=0.0, scale=eps, t=t / eps).fit(X)
    assert np.allclose(model.eigenvalues_**model.t, np.exp(-t * np.array([1, 1, 4, 4]) / 4), rtol=0.01)


def test_laplacian_eigenmaps_find_the_circle_too() -> None:
    n, eps = 500, 0.01
    X = circle(np.arange(n) * 2 * np.pi / n)
    model = lowfold.LaplacianEigenmaps(4, radius=0.5, scale=eps, self_loops=1.0).fit(X)
    assert np.allclose(model.eigenvalues_ / (eps / 4), [1, 1, 4, 4], rtol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_points_on_the_sphere(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(3000, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    found = generator(X, 0.08, 8, 1.0)
    assert np.allclose(found[:3], 2, rtol=0.15)
    assert np.allclose(found[3:], 6, rtol=0.15)
