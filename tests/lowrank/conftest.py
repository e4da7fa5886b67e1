"""BLAS at one thread, as inside every fit: many threads on small matrices only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lowfold._core.parallel import single_threaded_blas


@pytest.fixture(autouse=True)
def _one_blas_thread() -> Iterator[None]:
    with single_threaded_blas():
        yield
