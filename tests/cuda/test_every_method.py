"""Each method on a device: arrays of a GPU in and out, models that need none, little memory, the same bits twice."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from tests.cuda.on_gpu import OnGpu, WithDlpack

import lowfold
from lowfold import config_context
from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._cuda import _device

pytestmark = pytest.mark.filterwarnings("ignore:.* landmarks are too few")
METHODS = {
    "Isomap": dict(n_neighbors=8),
    "ConformalIsomap": dict(n_neighbors=8),
    "KernelIsomap": dict(n_neighbors=8),
    "LocallyLinearIsomap": dict(n_neighbors=8),
    "LandmarkIsomap": dict(n_neighbors=8, landmarks=20),
    "ClassicalMDS": dict(),
    "LTSA": dict(n_neighbors=8),
    "HessianLLE": dict(n_neighbors=9),
    "LLE": dict(n_neighbors=8),
    "ModifiedLLE": dict(n_neighbors=8),
    "LaplacianEigenmaps": dict(n_neighbors=8),
    "DiffusionMaps": dict(),
    "VectorDiffusionMaps": dict(n_neighbors=9, tangent_dim=2),
    "SpectralClustering": dict(n_neighbors=8),
    "KernelPCA": dict(gamma=0.01),
    "PCA": dict(),
    "MetricMDS": dict(max_iter=20),
    "SNE": dict(perplexity=9, max_iter=10),
    "SymmetricSNE": dict(perplexity=9, max_iter=10),
    "TSNE": dict(perplexity=11, max_iter=10),
}
REFUSED = {"Isomap", "ConformalIsomap", "KernelIsomap", "LocallyLinearIsomap", "ModifiedLLE", "VectorDiffusionMaps"}
N = 64


@pytest.fixture
def sent(on_device, monkeypatch):
    """X -> an array of the device's own library; of an emulated one something that looks so."""
    if on_device.xp is not np:
        return on_device.xp.asarray
    monkeypatch.setattr(on_device, "xp", WithDlpack())
    monkeypatch.setattr(_device, "departing", lambda X, cupy: OnGpu)
    return OnGpu


def _model(name):
    return getattr(lowfold, name)(2, **METHODS[name])


def _roll(n=N, seed=3):
    return lowfold.datasets.swiss_roll(n, random_state=seed).X


@pytest.mark.parametrize("name", METHODS)
def test_arrays_of_a_gpu_in_and_out_and_a_model_that_needs_none(on_device, sent, name, tmp_path):
    X, new = _roll(), _roll(5, seed=4)
    model = _model(name)
    with config_context(device="cuda"):
        found = model.fit(sent(X)).transform(sent(new))
        assert type(found) is type(sent(X))
        placed = model.transform(new)
    assert type(placed) is type(model.embedding_) is np.ndarray
    lowfold.save(tmp_path / "model.lowfold", model)  # writes plain data and refuses all else
    for again in (lowfold.load(tmp_path / "model.lowfold"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(again.transform(new), placed, atol=1e-6 * np.abs(placed).max())


@pytest.mark.extra("pandas")
@pytest.mark.parametrize("name", ["PCA", "LTSA", "TSNE"])
def test_arrays_of_a_gpu_in_and_a_table_out(on_device, sent, name):
    model = _model(name).set_output(transform="pandas")
    with config_context(device="cuda"):
        table = model.fit(sent(_roll())).transform(sent(_roll(5, seed=4)))
    assert table.shape == (5, 2)
    assert list(table.columns) == [f"{name.lower()}{i}" for i in range(2)]


def test_tensors_of_torch_in_and_out(on_device):
    if on_device.xp is np:
        pytest.skip("an emulated device has no tensors")
    torch = pytest.importorskip("torch")
    X, new = (torch.tensor(_roll(*some)).cuda() for some in ((), (5, 4)))
    with config_context(device="cuda"):
        model = _model("LTSA")
        Y, placed = model.fit_transform(X), model.transform(new)
    assert type(Y) is type(placed) is torch.Tensor
    assert Y.device == placed.device == X.device
    np.testing.assert_array_equal(Y.cpu().numpy(), model.embedding_)


@pytest.mark.parametrize("name", METHODS)
def test_little_memory_gives_the_same_answer_or_the_way_out(on_device, monkeypatch, name, caplog):
    X = _roll()
    model = _model(name)
    expected = model.fit_transform(X) if hasattr(model, "fit_transform") else model.fit(X).embedding_
    monkeypatch.setattr(type(on_device), "free_bytes", lambda self: 4000)
    with config_context(device="cuda"), caplog.at_level(logging.DEBUG, logger="lowfold"):
        told = lowfold.plan(X, model)
        assert told.budget == 4000
        assert not told.fits
        if name in REFUSED:
            with pytest.raises(MemoryBudgetExceeded, match=r"on the device.*device='cpu'"):
                model.fit(X)
            return
        found = model.fit(X).embedding_
    assert np.sin(subspace_angles(expected - expected.mean(0), found - found.mean(0)).max()) < 1e-5


@pytest.mark.parametrize("name", METHODS)
def test_the_same_bits_twice(on_device, name):
    X, model = _roll(seed=5), _model(name)
    with config_context(device="cuda"):
        first, placed = model.fit(X).embedding_, model.transform(X[:3] + 0.1)
        second, again = model.fit(X).embedding_, model.transform(X[:3] + 0.1)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(placed, again)


def test_an_allocation_that_fails_names_the_way_out():
    class OutOfMemoryError(MemoryError):
        __module__ = "cupy.cuda.memory"

    with pytest.raises(MemoryBudgetExceeded, match="compute on the CPU"), _device.refusals_in_words():
        raise OutOfMemoryError("allocating 8 bytes")
    with pytest.raises(MemoryError, match="of the host"), _device.refusals_in_words():
        raise MemoryError("of the host")
