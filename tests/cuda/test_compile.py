"""Kernels compile for several generations of GPUs, without one (extra `compile`: cuda-core with NVRTC)."""

from __future__ import annotations

import pytest

from lowfold._cuda._device import SOURCES, UNFUSED


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("source", sorted(path.stem for path in SOURCES.glob("*.cu")))
def test_kernels_compile(source, arch):
    core = pytest.importorskip("cuda.core", reason="compiling without a GPU needs cuda-core (extra compile)")
    text = (SOURCES / "common.cuh").read_text() + (SOURCES / f"{source}.cu").read_text()
    options = core.ProgramOptions(std="c++17", arch=arch, fma=source not in UNFUSED)
    assert len(core.Program(text, "c++", options=options).compile("cubin").code) > 0
