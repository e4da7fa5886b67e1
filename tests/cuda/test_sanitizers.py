"""Every kernel once more with the sanitizers for addresses and undefined behaviour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lowfold._cuda._emulated import compiler

TESTS = ("kernels", "twins", "more_twins", "pieces")  # their device asserts that every kernel ran


@pytest.mark.slow
@pytest.mark.timeout(3000)  # all of them are compiled anew, and run some times slower
def test_kernels_under_sanitizers():
    if compiler() is None:
        pytest.skip("the emulated device needs the C++ compiler g++")
    runtime = subprocess.run(
        [str(compiler()), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    library = Path(runtime.stdout.strip())
    if not library.is_absolute():
        pytest.skip("the compiler comes without its AddressSanitizer")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-k", "emulated", "-p", "no:cacheprovider", "--timeout",
         "1200", *(str(Path(__file__).with_name(f"test_{name}.py")) for name in TESTS)],
        env={
            **os.environ,
            "LD_PRELOAD": str(library),
            "LOWFOLD_SANITIZE": "1",
            "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
            "UBSAN_OPTIONS": "halt_on_error=1",
        },
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
