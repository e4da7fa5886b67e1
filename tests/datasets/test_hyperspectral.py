"""The synthetic cube: materials, mixtures, layout."""

import numpy as np
import pytest

from lowfold.datasets import hyperspectral_cube


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cells_are_mixtures_of_the_materials(seed):
    scene = hyperspectral_cube(20 * 30, shape=(20, 30), bands=50, materials=4, random_state=seed, shading=0)
    assert scene.cube.shape == (20, 30, 50)
    assert scene.spectra.shape == (4, 50)
    assert scene.wavelengths[[0, -1]].tolist() == [400, 2500]
    np.testing.assert_allclose(scene.parameters.sum(axis=1), 1)
    assert scene.parameters.min() >= 0
    np.testing.assert_allclose(scene.X, scene.parameters @ scene.spectra)
    np.testing.assert_array_equal(scene.labels, scene.parameters.argmax(axis=1))
    assert scene.X.min() >= 0
    assert scene.X.max() <= 1
    np.testing.assert_array_equal(scene.cube[3, 7], scene.X[3 * 30 + 7])
    np.testing.assert_array_equal(scene.cube.reshape(600, 50), scene.X)


def test_materials_differ():
    for seed in range(20):
        spectra = hyperspectral_cube(4, materials=5, random_state=seed).spectra
        apart = np.abs(spectra[:, None] - spectra).mean(axis=2)[np.triu_indices(5, 1)]
        assert apart.min() > 0.02


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_nearest_spectrum_finds_the_material(seed):
    scene = hyperspectral_cube(400, random_state=seed, noise=0.01)
    unit = scene.X / np.linalg.norm(scene.X, axis=1, keepdims=True)
    pure = scene.spectra / np.linalg.norm(scene.spectra, axis=1, keepdims=True)
    assert np.mean((unit @ pure.T).argmax(axis=1) == scene.labels) > 0.97


def test_options():
    assert hyperspectral_cube(12).raster_shape == (3, 4)
    assert hyperspectral_cube(13).raster_shape == (1, 13)
    pure = hyperspectral_cube(100, mixing=0, random_state=0)
    assert set(pure.parameters.ravel()) == {0.0, 1.0}
    # Mixing blurs the borders and moves none of them.
    mixed = hyperspectral_cube(100, mixing=0.2, random_state=0)
    np.testing.assert_array_equal(mixed.labels, pure.labels)
    assert mixed.parameters.max(axis=1).min() < 0.7
    assert hyperspectral_cube(9, materials=1, shading=0).intrinsic_dim == 0
    assert hyperspectral_cube(9, materials=2, shading=0).intrinsic_dim == 1
    flat = hyperspectral_cube(100, shading=0, random_state=0)
    shaded = hyperspectral_cube(100, shading=0.5, random_state=0)
    ratio = (shaded.X / flat.X)[:, 0].reshape(10, 10)
    assert ratio[0, 0] > 0.95
    assert ratio[-1, -1] < 0.55
    np.testing.assert_array_equal(flat.labels, shaded.labels)
