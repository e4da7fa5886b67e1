"""What every test and doctest relies on: no display, one cache of compiled kernels, extras that may be missing.

Here and not in tests/, because the doctests of src/ need it as well.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
from collections.abc import Generator
from pathlib import Path

import pytest

# Before anything imports matplotlib or numba, and inherited by every process that a test starts.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("LOWFOLD_CACHE", str(Path(__file__).resolve().parent / ".cache"))
# Collecting doctests imports modules of kernels directly: without this, Numba would write beside the sources.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(os.environ["LOWFOLD_CACHE"]) / "numba"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `extra("pandas", ...)` where one of the packages is missing."""
    for marker in item.iter_markers("extra"):
        for module in marker.args:
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"{module} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A doctest of something optional is skipped, not failed, where the extra is missing."""
    try:
        return (yield)
    except doctest.UnexpectedException as unexpected:
        from lowfold._core.errors import MissingExtra

        if isinstance(unexpected.exc_info[1], MissingExtra):
            pytest.skip(str(unexpected.exc_info[1]))
        raise
