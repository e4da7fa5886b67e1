"""Every test of this folder runs on the emulated device, and on a GPU where there is one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

import lowfold
from lowfold._core.jit import cache_dir
from lowfold._cuda import _device
from lowfold._cuda._device import SOURCES
from lowfold._cuda._emulated import SANITIZED, EmulatedDevice, compiler


def _gpu() -> bool:
    if importlib.util.find_spec("cupy") is None:
        return False
    return _device._any_cuda() is not None


@pytest.fixture(scope="session", params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[_device.Device]:
    if request.param == "cuda":
        if not _gpu():
            pytest.skip("no GPU, or no CuPy (extras cuda12, cuda13)")
        yield _device.open_cuda()
        return
    if compiler() is None:
        pytest.skip("the emulated device needs the C++ compiler g++")
    sanitized = bool(os.environ.get("LOWFOLD_SANITIZE"))
    device = EmulatedDevice(cache_dir() / "emulated", options=SANITIZED if sanitized else ())
    yield device
    if sanitized:  # all tests run then, and every kernel has to have run with them
        kernels = {kernel for source in SOURCES.glob("*.cu") for kernel in _device.signatures(source.stem)}
        assert device.launches >= kernels, f"never launched: {sorted(kernels - device.launches)}"


@pytest.fixture
def on_device(device: _device.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[_device.Device]:
    """Doors compute on the device inside this test's `with config_context(device='cuda')`."""
    monkeypatch.setattr(_device, "open_cuda", lambda: device)
    with lowfold.config_context(device="cpu"):
        yield device
