"""Cubes in and out: reconstruction, noise, materials, masks, files and blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from lowfold._core.config import config_context
from lowfold._core.errors import FileProblem, InvalidInput, MemoryBudgetExceeded
from lowfold.apps import _cube, anomaly_map, cluster_map, cube_features, false_colour
from lowfold.apps._cube import Cube
from lowfold.datasets import hyperspectral_cube
from lowfold.datasets._hyperspectral import HyperspectralScene
from lowfold.datasets._read_envi import read_envi
from lowfold.datasets._write_envi import write_envi


def scene(seed: int = 0, noise: float = 0.01, **options: object) -> HyperspectralScene:
    return hyperspectral_cube(30 * 40, noise=noise, random_state=seed, shape=(30, 40), bands=40, **options)  # type: ignore[arg-type]


def test_pca_agrees_with_the_svd_and_restores_everything_with_all_components() -> None:
    data = scene(1)
    found = cube_features(data.cube, "pca", 40)
    X = data.X - data.X.mean(axis=0)
    variances = np.linalg.svd(X, compute_uv=False) ** 2 / (len(X) - 1)
    assert np.allclose(found.values, variances)
    assert found.weights is not None
    assert np.allclose(found.weights @ found.weights.T, np.eye(40), atol=1e-10)
    assert np.allclose(found.restore().values, data.cube, atol=1e-6)
    assert found.cube.shape == (30, 40, 40)


def test_centred_by_bands_the_matrix_annihilates_ones_and_restores() -> None:
    data = scene(2)
    found = cube_features(data.cube, "pca", 40, center="bands")
    assert abs(found.values[-1]) < 1e-12 * found.values[0]
    assert found.weights is not None
    assert np.allclose(np.abs(found.weights[-1]), 1 / np.sqrt(40), atol=1e-6)  # the vector of ones
    assert np.allclose(found.restore().values, data.cube, atol=1e-6)
    P = data.X - data.X.mean(axis=1, keepdims=True)
    assert np.allclose(found.values.sum(), (P**2).sum() / len(P))


def test_mnf_orders_by_signal_to_noise_where_pca_orders_by_variance() -> None:
    """One band with loud noise leads the principal components; of the noise fractions it is the last."""
    data = scene(3, noise=0.005)
    rng = np.random.default_rng(0)
    loud = data.cube.copy()
    loud[:, :, 17] += 2.0 * rng.normal(size=(30, 40))
    pca, mnf = cube_features(loud, "pca", 1), cube_features(loud, "mnf", 40)
    assert pca.weights is not None
    assert mnf.weights is not None
    assert np.argmax(np.abs(pca.weights[0])) == 17
    assert np.all(np.diff(mnf.values) <= 1e-9)
    share = np.abs(mnf.weights[0] * loud.reshape(-1, 40).std(axis=0))
    assert share[17] < 0.1 * share.max()
    assert np.allclose(mnf.restore().values, loud, atol=1e-5)
    clean = scene(3, noise=0.0).cube
    few = cube_features(loud, "mnf", 3).restore().values
    assert np.abs(few - clean)[:, :, 17].mean() < 0.2 * np.abs(loud - clean)[:, :, 17].mean()


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_angular_diffusion_features_find_the_materials_in_shade(seed: int) -> None:
    data = scene(seed, shading=0.5)
    found = cube_features(data.cube, "diffusion", 2)
    assert adjusted_rand_score(data.labels, cluster_map(found, 3).ravel()) > 0.85


def test_a_method_fitted_on_a_sample_is_extended_to_every_cell() -> None:
    data = scene(5, shading=0.5)
    some = cube_features(data.cube, "diffusion", 2, sample=500)
    assert np.isfinite(some.cube.values).all()
    assert adjusted_rand_score(data.labels, cluster_map(some, 3).ravel()) > 0.8
    with pytest.raises(InvalidInput, match="lead back"):
        some.restore()


def test_an_anomaly_that_no_component_shows_stands_out() -> None:
    cube = scene(6).cube.copy()
    cube[11, 23] += 0.1 * np.sin(np.arange(40))
    found = anomaly_map(Cube(cube))
    assert np.unravel_index(np.argmax(found), found.shape) == (11, 23)
    assert np.isclose(found.mean(), 40 * (1200 - 1) / 1200)  # tr(C^-1 C), whatever the data


def test_cells_and_bands_without_data_stay_out() -> None:
    data = scene(7)
    values = data.cube.copy()
    values[:2] = -1.0
    values[5, 5] = np.nan
    good = np.ones(40, dtype=bool)
    good[[3, 4]] = False
    values[:, :, 3] = 1e6 * np.random.default_rng(0).normal(size=(30, 40))
    mask = np.ones((30, 40), dtype=bool)
    mask[:, -1] = False
    found = cube_features(Cube(values, good_bands=good, mask=mask, ignore=-1.0), "pca", 3)
    used = np.isfinite(found.cube.values[:, :, 0])
    assert not used[:2].any()
    assert not used[5, 5]
    assert not used[:, -1].any()
    assert used.sum() == 28 * 39 - 1
    X = data.cube[used][:, good]
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3] ** 2 / (len(X) - 1)
    assert np.allclose(found.values, variances)
    assert np.isnan(found.restore().values[:, :, 3]).all()
    assert (cluster_map(found, 3)[~used] == -1).all()
    assert (false_colour(found)[~used] == 0).all()


def test_a_cube_written_as_envi_comes_back_with_its_wavelengths(tmp_path: Path) -> None:
    data = scene(8)
    names = [f"{w:.3f}" for w in data.wavelengths]
    header = {"map info": "UTM, 1, 1, 500000, 4000000, 30, 30", "wavelength units": "Nanometers"}
    Cube(data.cube, names, header=header).write(tmp_path / "c.hdr")
    back = Cube.read(tmp_path / "c.hdr", bad_bands="1-2, 40")
    assert np.allclose(back.values, data.cube, atol=1e-6)
    assert back.wavelengths is not None
    assert np.allclose(back.wavelengths, data.wavelengths, atol=1e-3)
    assert back.header["map info"].startswith("UTM")
    assert back.good_bands is not None
    assert np.flatnonzero(~back.good_bands).tolist() == [0, 1, 39]
    table = read_envi(tmp_path / "c.hdr")
    assert np.allclose(table.X, data.X, atol=1e-6)
    spectral = pytest.importorskip("spectral")
    theirs = spectral.open_image(str(tmp_path / "c.hdr"))
    assert np.allclose(np.asarray(theirs.load()), data.cube, atol=1e-6)


def test_blocks_and_files_give_the_same_as_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = scene(9)
    Cube(data.cube).write(tmp_path / "c.hdr")
    whole = cube_features(Cube.read(tmp_path / "c.hdr"), "mnf", 3)
    monkeypatch.setattr(_cube, "BLOCK_BYTES", 8 * 40 * 40 * 7)  # seven lines at a time
    cut = cube_features(Cube.read(tmp_path / "c.hdr"), "mnf", 3, path=tmp_path / "f.hdr")
    assert np.allclose(cut.cube.values, whole.cube.values, atol=1e-4 * np.abs(whole.cube.values).max())
    assert np.array_equal(cluster_map(cut, 3), cluster_map(whole, 3))
    with config_context(memory=100_000), pytest.raises(MemoryBudgetExceeded, match="path="):
        cube_features(data.cube, "pca", 40)


def test_a_cube_beyond_the_budget_is_restored_block_by_block(tmp_path: Path) -> None:
    data = scene(11)
    names = [f"{w:.1f}" for w in data.wavelengths]
    good = np.arange(40) != 3
    found = cube_features(Cube(data.cube, names, good), "pca", 4)
    whole = found.restore().values
    with config_context(memory=100_000):
        assert len(list(found.source.blocks())) > 3  # type: ignore[union-attr]
        with pytest.raises(MemoryBudgetExceeded, match="path="):
            found.restore()
        written = found.restore(tmp_path / "r.hdr")
    assert np.isnan(whole[:, :, 3]).all()
    assert np.array_equal(np.where(written.values == written.ignore, np.nan, written.values), whole, equal_nan=True)
    assert np.allclose(written.wavelengths, data.wavelengths, atol=0.1)
    with pytest.raises(FileProblem):
        found.restore(tmp_path / "r.hdr")


def test_natural_colours_are_taken_where_the_wavelengths_have_them() -> None:
    data = scene(10)
    names = [f"{w:.1f}" for w in data.wavelengths]
    rgb = false_colour(Cube(data.cube, names))
    near = [int(np.abs(data.wavelengths - w).argmin()) for w in (660, 550, 470)]
    assert np.array_equal(rgb, false_colour(Cube(data.cube, names), (near[0], near[1], near[2])))
    assert rgb.dtype == np.uint8
    assert rgb.min() == 0
    assert rgb.max() == 255
    micro = [f"{w / 1000:.4f}" for w in data.wavelengths]
    assert np.array_equal(rgb, false_colour(Cube(data.cube, micro)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cube_features(np.zeros((3, 4)), "pca"), "lines, samples and bands"),
        (lambda: cube_features(scene().cube, "pca", 41), "at most 40"),
        (lambda: cube_features(scene().cube, "mnf", center="bands"), "belongs to method='pca'"),
        (lambda: cube_features(scene().cube, "nothing"), "no method"),
        (lambda: cube_features(np.full((3, 4, 5), np.nan), "diffusion"), "no cell has data"),
        (lambda: Cube(scene().cube, good_bands=np.zeros(40, dtype=bool)), "at least one"),
        (lambda: false_colour(Cube(scene().cube), (0, 1, 99)), "up to three"),
    ],
)
def test_bad_input_ends_in_words(call: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()  # type: ignore[operator]


def test_bad_files_end_in_words(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="values were given"):
        write_envi(tmp_path / "c.hdr", [np.zeros((1, 2, 3))], (2, 2, 3))
    assert not list(tmp_path.iterdir())
    Cube(np.zeros((2, 2, 3)) + 1).write(tmp_path / "c.hdr")
    with pytest.raises(InvalidInput, match="numbers and ranges"):
        Cube.read(tmp_path / "c.hdr", bad_bands="1 to 2")
    with pytest.raises(InvalidInput, match="among the 3 bands"):
        Cube.read(tmp_path / "c.hdr", bad_bands=[3])
