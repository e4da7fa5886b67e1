"""How a user comes to a device: settings, arrays of a GPU in and out, plans; and what is said where there is none."""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.cuda.on_gpu import OnGpu, WithDlpack

import lowfold
from lowfold._core.errors import InvalidInput, MissingExtra
from lowfold._core.run import Run
from lowfold._cuda import _device, _search
from lowfold._cuda._device import active, on_cpu
from lowfold._cuda._emulated import EmulatedDevice, compiler
from lowfold.graph import find_neighbors


def test_settings_carry_the_device_into_runs():
    with lowfold.config_context(device="auto"):
        assert Run().device == "auto"
        with lowfold.config_context(device="cpu"):
            assert Run().device == "cpu"
        assert lowfold.get_config().device == "auto"
    with pytest.raises(InvalidInput, match="device must be one of 'cpu', 'cuda', 'auto'; got 'tpu'"):
        lowfold.set_config(device="tpu")


def test_the_environment_names_the_device():
    code = "import lowfold; print(lowfold.get_config().device)"
    environment = {**os.environ, "LOWFOLD_DEVICE": "auto"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "auto", done.stderr


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy_cuda_names_the_extra_and_auto_is_the_cpu():
    with pytest.raises(MissingExtra, match=r"lowfold\[cuda13\]"):
        active(Run(device="cuda"))
    assert active(Run(device="auto")) is None


def test_a_stage_without_a_twin_says_so_at_debug_level(caplog):
    with caplog.at_level(logging.DEBUG, logger="lowfold"):
        on_cpu("a stage", "it has no twin")
    assert "a stage is computed on the CPU: it has no twin" in caplog.text


class FakeCupy(WithDlpack):
    """The border is crossed in both directions."""

    @staticmethod
    def asarray(x):
        return OnGpu(x)


def test_the_answer_follows_the_input_and_the_model_is_plain(on_device, monkeypatch):
    if on_device.xp is not np:
        pytest.skip("a GPU has its own arrays")
    monkeypatch.setattr(on_device, "xp", FakeCupy())
    X = lowfold.datasets.swiss_roll(60, random_state=1).X
    for model in (lowfold.PCA(2), lowfold.ClassicalMDS(2)):
        expected = model.fit_transform(X)
        found = model.fit_transform(OnGpu(X))
        assert isinstance(found, OnGpu)
        np.testing.assert_array_equal(found.array, expected)
        assert type(model.embedding_) is np.ndarray
        assert isinstance(model.transform(OnGpu(X[:3])), OnGpu)
        assert type(model.transform(X[:3])) is np.ndarray
        assert isinstance(model.inverse_transform(found), OnGpu)
        assert model.fit(OnGpu(X)) is model


@pytest.mark.extra("pandas")
def test_set_output_and_other_answers_with_arrays_of_a_gpu(on_device, monkeypatch):
    if on_device.xp is not np:
        pytest.skip("a GPU has its own arrays")
    monkeypatch.setattr(on_device, "xp", FakeCupy())
    X = lowfold.datasets.swiss_roll(60, random_state=1).X
    table = lowfold.PCA(2).set_output(transform="pandas").fit_transform(OnGpu(X))
    assert list(table.columns) == ["pca0", "pca1"]
    assert isinstance(lowfold.MetricMDS(2).fit_transform(OnGpu(X)), OnGpu)  # a method with a fit_transform of its own
    clusters = lowfold.SpectralClustering(2, n_neighbors=8).fit(OnGpu(X))
    np.testing.assert_array_equal(clusters.predict(OnGpu(X[:5])).array, clusters.predict(X[:5]))
    assert type(lowfold.PCA(2).fit(OnGpu(X)).score(OnGpu(X))) is float
    told = lowfold.quality.summary(OnGpu(X), OnGpu(X[:, :2]), n_neighbors=5)
    assert told.to_dict() == lowfold.quality.summary(X, X[:, :2], n_neighbors=5).to_dict()


def test_plans_count_the_memory_of_the_device(on_device, monkeypatch):
    X = np.random.default_rng(0).random((50, 3))
    with lowfold.config_context(device="cuda"):
        told = lowfold.plan(X, "isomap", n_neighbors=6)
        assert told.budget == pytest.approx(on_device.free_bytes(), rel=0.05)
        assert on_device.name in str(told)
        fields = {stage.name: stage for stage in told.stages}
        assert fields["geodesics"].bytes > 4 * 50 * 512  # rows are filled up there
        free = int(fields["geodesics"].bytes)
        monkeypatch.setattr(type(on_device), "free_bytes", lambda self: free)
        panels = {stage.name: stage for stage in lowfold.plan(X, "isomap", n_neighbors=6).stages}
        assert "in panels" in panels["geodesics"].what


def test_what_does_not_fit_is_refused_with_the_way_out(on_device, monkeypatch):
    monkeypatch.setattr(type(on_device), "free_bytes", lambda self: 1000)
    with pytest.raises(MemoryError, match="on the device"):
        on_device.require(2000, "a matrix", "use landmarks")


def test_what_the_device_keeps_is_forgotten_with_the_host_array(device):
    host = np.arange(5.0)
    host.flags.writeable = False
    kept = device.xp.asarray(np.arange(5.0))
    device.keep(host, kept)
    assert device.put(host).data is not None
    assert _device.holding(host) is device
    key = _device._address(host)
    del host
    assert key not in _device._holders


def test_a_compiler_that_checks_jumps_does_not_end_the_process(tmp_path):
    """Ubuntu's does by default; threads of a block jump between stacks."""
    if compiler() is None:
        pytest.skip("the emulated device needs the C++ compiler g++")
    device = EmulatedDevice(tmp_path, options=("-D_FORTIFY_SOURCE=2",))
    X = np.random.default_rng(5).normal(size=(60, 3))
    _, found = _search.nearest(device, device.put(X), None, 4)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(find_neighbors(X, 4).indices.reshape(60, 4), axis=1))
