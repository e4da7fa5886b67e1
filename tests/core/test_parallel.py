"""Blocks on threads: every block once, the same result whatever the number of threads, exceptions and progress."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_seeds, block_slices, cores, resolve_jobs, run_blocks


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (10, 3), (10, 100)])
def test_block_slices_cover_once(n: int, size: int) -> None:
    covered = [i for part in block_slices(n, size) for i in range(n)[part]]
    assert covered == list(range(n))
    assert all(part.stop - part.start <= size for part in block_slices(n, size))


def test_resolve_jobs_counts_as_joblib_does() -> None:
    assert resolve_jobs(None) == resolve_jobs(-1) == cores()
    assert resolve_jobs(3) == 3
    assert resolve_jobs(-cores() - 5) == 1
    with pytest.raises(InvalidInput, match="n_jobs must be"):
        resolve_jobs(0)


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
@pytest.mark.parametrize("n_blocks", [0, 1, 2, 37])
def test_every_block_runs_once_and_progress_rises_to_one(n_jobs: int | None, n_blocks: int) -> None:
    counts = np.zeros(n_blocks, dtype=int)
    heard: list[tuple[float, int]] = []

    def work(i: int) -> None:
        counts[i] += 1

    run_blocks(work, n_blocks, n_jobs=n_jobs, progress=lambda share: heard.append((share, threading.get_ident())))
    assert (counts == 1).all()
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert (shares[-1:] == [1.0]) == (n_blocks > 0)
    assert {thread for _, thread in heard} <= {threading.get_ident()}


def test_n_jobs_never_changes_a_bit() -> None:
    X = np.random.default_rng(0).normal(size=(200, 40))
    parts = block_slices(200, 16)

    def result(n_jobs: int) -> np.ndarray:
        out = np.empty((200, 3))
        seeds = block_seeds(np.random.default_rng(5), len(parts))

        def work(i: int) -> None:
            out[parts[i]] = X[parts[i]] @ seeds[i].normal(size=(40, 3))

        run_blocks(work, len(parts), n_jobs=n_jobs)
        return out

    assert np.array_equal(result(1), result(2))
    assert np.array_equal(result(1), result(5))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_the_first_exception_ends_the_rest(n_jobs: int, error: type[BaseException]) -> None:
    started: list[int] = []

    def work(i: int) -> None:
        started.append(i)
        if i == 3:
            raise error("block 3")

    with pytest.raises(error, match="block 3"):
        run_blocks(work, 10_000, n_jobs=n_jobs)
    assert len(started) < 5_000
    before = len(started)
    threading.Event().wait(0.02)
    assert len(started) == before  # nothing runs on after the call


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_between_blocks_ends_the_work(n_jobs: int) -> None:
    started: list[int] = []

    def progress(share: float) -> None:
        if share > 0.001:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_blocks(started.append, 10_000, n_jobs=n_jobs, progress=progress)
    assert len(started) < 5_000
    before = len(started)
    threading.Event().wait(0.02)
    assert len(started) == before


def test_block_seeds_are_independent_and_repeat() -> None:
    a = [g.random() for g in block_seeds(np.random.default_rng(1), 50)]
    b = [g.random() for g in block_seeds(np.random.default_rng(1), 50)]
    assert a == b
    assert len(set(a)) == 50
