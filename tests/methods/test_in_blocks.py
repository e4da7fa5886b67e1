"""Rows in blocks: the registry says who fits them, results are those in memory, all others refuse in words."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold._core import rows as blocks
from lowfold._core.errors import FileProblem
from lowfold._core.open_rows import as_rows, open_rows
from lowfold.methods._table import BY_NAME

ROWS = 90
SETTINGS: dict[str, dict[str, Any]] = {
    "RobustPCA": {"method": "covariance"},
    "NMF": {"tol": 1e-7, "max_iter": 5000},
    "LLE": {"landmarks": np.arange(0, 240, 2)},
    "ModifiedLLE": {"landmarks": np.arange(0, 240, 2)},
    "LTSA": {"landmarks": np.arange(0, 240, 2)},
    "HessianLLE": {"landmarks": np.arange(0, 240, 2)},
    "LandmarkIsomap": {"landmarks": np.arange(0, 240, 4)},
}
TOLERANCE = {"NMF": 1e-2, "RobustPCA": 1e-8}  # a descent, and Weiszfeld's from another start
LAZY = ("PCA", "EMPCA", "RandomProjection", "NMF")  # the map is all that is kept
IN_BLOCKS = [entry.name for entry in lowfold.REGISTRY if entry.blocks]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 3 * ROWS)
    X = lowfold.datasets.swiss_roll(240, random_state=3).X
    np.save(tmp_path / "X.npy", X - X.min())
    return tmp_path / "X.npy"


def aligned(Y: np.ndarray, Z: np.ndarray) -> float:
    """The difference, relative, signs of columns aside."""
    signs = np.sign((Y * Z).sum(axis=0))
    return float(np.abs(Y - Z * np.where(signs == 0, 1, signs)).max() / np.abs(Y).max())


@pytest.mark.parametrize("name", IN_BLOCKS)
@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
def test_a_fit_in_blocks_is_the_fit_in_memory(path: Path, name: str) -> None:
    X = np.load(path)
    make = lambda: getattr(lowfold, name)(**{"n_components": 2, **SETTINGS.get(name, {})})  # noqa: E731
    if name == "SpectralClustering":
        make = lambda: lowfold.SpectralClustering(3)  # noqa: E731
    whole, cut = make().fit(X), make().fit(path)
    new = X[::7] + 0.01
    allowed = TOLERANCE.get(name, 1e-6)
    assert aligned(whole.transform(new), cut.transform(new)) < allowed
    assert hasattr(cut, "embedding_") == (name not in LAZY)
    Y = cut.transform(open_rows(path))
    assert Y.shape == (240, whole.embedding_.shape[1])
    assert aligned(whole.embedding_, np.asarray(Y)) < allowed
    if name not in LAZY:
        assert aligned(whole.embedding_, cut.embedding_) < allowed
    back = cut.inverse_transform(Y)
    assert np.allclose(np.asarray(back), cut.inverse_transform(np.asarray(Y)))
    assert aligned(np.asarray(pickle.loads(pickle.dumps(cut)).transform(new)), cut.transform(new)) == 0


@pytest.mark.parametrize("name", [entry.name for entry in lowfold.REGISTRY])
def test_the_registry_says_who_fits_blocks_and_the_others_refuse_in_words(path: Path, name: str) -> None:
    cls, entry = getattr(lowfold, name), BY_NAME[name]
    assert (cls.in_blocks(cls(**SETTINGS.get(name, {}))) == "") == bool(entry.blocks)
    if entry.blocks == "landmarks":
        assert "landmarks=" in cls.in_blocks(cls())
    if not entry.blocks:
        with pytest.raises(ValueError, match="in blocks"):
            cls().fit(open_rows(path), np.arange(240) % 3)


def test_nothing_else_gathers_them(path: Path) -> None:
    for call in (
        lambda: lowfold.dimension.two_nearest(path),
        lambda: lowfold.tune(path, "isomap"),
        lambda: lowfold.compare(path, ["PCA"]),
        lambda: lowfold.KernelPCA(kernel="precomputed").fit(path),
        lambda: lowfold.Isomap(metric="precomputed").fit(path),
        lambda: lowfold.ClassicalMDS(additive_constant=True).fit(path),
        lambda: lowfold.RandomProjection(verify=True, eps=0.5).fit(path),
        lambda: lowfold.PCA(solver="power").fit(path),
    ):
        with pytest.raises(ValueError, match=r"in blocks|memory"):
            call()


def test_gaps_in_blocks(path: Path, tmp_path: Path) -> None:
    X = np.load(path)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "gaps.npy", X)
    for noise in ("isotropic", "none"):
        whole, cut = (lowfold.EMPCA(1, noise=noise).fit(given) for given in (X, tmp_path / "gaps.npy"))
        assert np.allclose(whole.embedding_, np.asarray(cut.transform(tmp_path / "gaps.npy")), atol=1e-6)
        assert np.array_equal(whole.log_likelihood_, cut.log_likelihood_, equal_nan=True) or np.isclose(
            whole.log_likelihood_, cut.log_likelihood_
        )
    with pytest.raises(ValueError, match=r"nan at row \d+"):
        lowfold.PCA(1).fit(tmp_path / "gaps.npy")


@pytest.mark.parametrize("normalization", ["unit", "orthonormal"])
def test_normalised_output_needs_no_embedding(path: Path, normalization: str) -> None:
    X = np.load(path)
    for make in (lowfold.PCA, lowfold.EMPCA, lowfold.RandomProjection):
        whole, cut = (make(2, normalization=normalization).fit(given) for given in (X, path))
        assert np.allclose(whole.embedding_, np.asarray(cut.transform(path)), atol=1e-8)


def test_parts_of_many_rows_start_from_a_batch(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lowfold.methods import nmf

    monkeypatch.setattr(nmf, "BATCH", 60)
    rng = np.random.default_rng(1)
    X = rng.random((400, 2)) @ rng.random((2, 3)) + 0.02 * rng.random((400, 3))
    np.save(tmp_path / "parts.npy", X)
    whole, cut = (lowfold.NMF(2).fit(given) for given in (X, tmp_path / "parts.npy"))
    assert cut.reconstruction_error_ < 1.02 * whole.reconstruction_error_


def test_landmarks_of_blocks_are_chosen_in_a_sample_and_the_model_keeps_them_alone(path: Path, tmp_path: Path) -> None:
    model = lowfold.LaplacianEigenmaps(2, landmarks=100).fit(path)
    assert len(model.landmarks_) == 100
    assert model.landmark_error_ is not None
    assert np.array_equal(model.transform(np.load(path)[model.landmarks_]), model.embedding_[model.landmarks_])
    lowfold.save(tmp_path / "model.lowfold", model)
    new = np.load(path)[:9] + 0.1
    assert np.array_equal(lowfold.load(tmp_path / "model.lowfold").transform(new), model.transform(new))


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "Isomap", "KernelPCA"])
def test_the_rows_that_a_model_needs_are_saved_with_it_and_stay_in_its_file(path, tmp_path, name) -> None:
    model, file = getattr(lowfold, name)(2).fit(path), tmp_path / "model.lowfold"
    new = np.load(path)[:9] + 0.1
    expected = model.transform(new)
    lowfold.save(file, model)
    path.unlink()
    again = lowfold.load(file)
    assert isinstance(again._trained.source.rows.array, np.memmap)
    lowfold.save(file, lowfold.PCA(1).fit(new), overwrite=True)  # another model takes the name
    assert np.array_equal(again.transform(new), expected)


def test_damaged_rows_in_a_file_are_refused(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "model.lowfold"
    lowfold.save(file, lowfold.LaplacianEigenmaps(2).fit(path))
    content, some = bytearray(file.read_bytes()), np.load(path)[100].tobytes()
    content[content.index(some)] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileProblem, match=r"model\.lowfold"):
        lowfold.load(file)


@pytest.mark.extra("dask")
def test_rows_of_dask_give_arrays_of_dask(path: Path) -> None:
    import dask
    import dask.array as da

    X = np.load(path)
    with dask.config.set(scheduler="threads"):
        rows = da.from_array(X, chunks=(50, 2))
        Y = lowfold.PCA(2).fit_transform(rows)
        assert isinstance(Y, da.Array)
        assert aligned(lowfold.PCA(2).fit_transform(X), Y.compute()) < 1e-10
        model = lowfold.LaplacianEigenmaps(2).fit(rows)
        assert aligned(lowfold.LaplacianEigenmaps(2).fit(X).embedding_, model.embedding_) < 1e-6


@pytest.mark.slow
@pytest.mark.extra("distributed")
@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_is_survived(path: Path) -> None:
    import os
    import signal
    import threading

    import distributed

    whole = lowfold.graph.find_neighbors(np.load(path), 8)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        pids = list(client.run(os.getpid).values())
        killer = threading.Timer(0.5, os.kill, (pids[0], signal.SIGKILL))
        killer.start()
        found = lowfold.graph.find_neighbors(open_rows(path, dask=True), 8)
        killer.join()
        axes = lowfold.PCA(2).fit(open_rows(path, dask=True))
    assert np.array_equal(found.indices, whole.indices)
    assert np.array_equal(found.distances, whole.distances)
    assert np.allclose(axes.eigenvalues_, lowfold.PCA(2).fit(np.load(path)).eigenvalues_)
    assert as_rows(path) is not None
