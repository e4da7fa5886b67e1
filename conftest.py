"""What every test and doctest relies on: no display, one cache of compiled loops, extras that may be missing.

Here and not in tests/, because the doctests of src/ need it as well.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import signal
from collections.abc import Generator
from importlib import metadata
from pathlib import Path

import pytest

# Before anything imports matplotlib or numba, and inherited by every process that a test starts.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("LOWFOLD_CACHE", str(Path(__file__).resolve().parent / ".cache"))
# Collecting doctests imports modules of loops directly: without this, Numba would write beside the sources.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(os.environ["LOWFOLD_CACHE"]) / "numba"))

# scikit-learn 1.6 imports its checks of estimators only so.
if metadata.version("scikit-learn").startswith("1.6."):
    os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Cases of tables that need an optional package, by a word in the case's name: marking each would repeat the table.
CASES = {"wavelet": "pywt", "parquet": "pyarrow", "test_images": "PIL"}


# Modules that import the extra `studio` when they are collected.
collect_ignore = (
    [] if importlib.util.find_spec("uvicorn") else ["src/lowfold/studio/_server.py", "tests/studio/asgi.py"]
)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `extra("pandas", ...)`, or a case of `CASES`, where one of the packages is missing."""
    needed = [module for marker in item.iter_markers("extra") for module in marker.args]
    needed += [module for word, module in CASES.items() if word in item.name]
    for module in needed:
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


@pytest.fixture
def heard() -> Generator[None, None, None]:
    """Ctrl-C does what it does in a terminal: a shell that starts the tests in the background makes them ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
