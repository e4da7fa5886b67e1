"""Every test of this folder runs on the emulated device, and on a GPU where there is one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

import lowfold
from lowfold._core.jit import cache_dir
from lowfold._cuda import _device
from lowfold._cuda._emulated import SANITIZED, EmulatedDevice, compiler


def _gpu() -> bool:
    if importlib.util.find_spec("cupy") is None:
        return False
    return _device._any_cuda() is not None


@pytest.fixture(scope="session", params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest) -> _device.Device:
    if request.param == "cuda":
        if not _gpu():
            pytest.skip("no GPU, or no CuPy (extras cuda12, cuda13)")
        return _device.open_cuda()
    if compiler() is None:
        pytest.skip("the emulated device needs the C++ compiler g++")
    options = SANITIZED if os.environ.get("LOWFOLD_SANITIZE") else ()
    return EmulatedDevice(cache_dir() / "emulated", options=options)


@pytest.fixture
def on_device(device: _device.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[_device.Device]:
    """Doors compute on the device inside this test's `with config_context(device='cuda')`."""
    monkeypatch.setattr(_device, "open_cuda", lambda: device)
    with lowfold.config_context(device="cpu"):
        yield device
