"""Shapes, spectra and heat kernels by name are those of the functions they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.geometry import Manifold, eigenfunctions, eigenvalues, heat_kernel, manifold
from lowfold.geometry._named import HEAT_KERNELS, MANIFOLDS


@pytest.mark.parametrize("name", MANIFOLDS)
def test_every_name_makes_a_manifold(name: str) -> None:
    assert isinstance(manifold(name), Manifold)


def test_a_name_is_read_in_any_spelling_and_an_unknown_one_is_answered_with_the_nearest() -> None:
    assert manifold("Flat-Torus", lengths=(1.0, 2.0)).name == "flat torus"
    with pytest.raises(InvalidInput, match="no manifold 'spher'; did you mean sphere"):
        manifold("spher")
    with pytest.raises(InvalidInput, match="no spectrum of 'saddle'"):
        eigenvalues("saddle", 3)


@pytest.mark.parametrize("t", [0.05, 1.0])
def test_the_heat_kernel_of_the_circle_is_the_sum_over_its_spectrum(t: float) -> None:
    x, n = np.array([0.3, 1.9, 4.0]), 81
    phi = eigenfunctions("circle", x, n)
    by_spectrum = phi * np.exp(-t * eigenvalues("circle", n)) @ phi.T
    np.testing.assert_allclose(heat_kernel("circle", x[:, None], x[None], t=t), by_spectrum, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(HEAT_KERNELS) - {"sphere"}))
def test_heat_kernels_are_symmetric(name: str) -> None:
    x, y = (np.random.default_rng(seed).uniform(0.1, 3.0, (4, 2)) for seed in (0, 1))
    sides = {"lengths": (np.pi, np.pi)} if name == "rectangle" else {}
    np.testing.assert_allclose(
        heat_kernel(name, x, y, t=0.4, **sides), heat_kernel(name, y, x, t=0.4, **sides), rtol=1e-12
    )
