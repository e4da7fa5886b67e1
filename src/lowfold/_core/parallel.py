"""The one door to threads.

Work is cut into fixed blocks whose size never depends on `n_jobs`; blocks run on a pool of threads with BLAS held at
one thread each; every block writes its own part of the output. So `n_jobs` changes time, never bits.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import tell_compiling

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Progress = Callable[[float], None]

# Float64 numbers that the temporaries of one block hold. Fewer, and a block is short beside NumPy's overhead of
# calling; more, and n_jobs of them leave the cache and count beside the data.
COPIED = 1_000_000  # 8 MB, where a block holds several of that size: patches, their differences and products
STACKED = 2_000_000  # 16 MB of neighbourhoods, each a matrix of k x k or k x D
ROWED, LEAST_ROWS = 2**20, 256  # 8 MB of rows of X, but so many rows at least: a product with fewer is slow
TABLED = 4_000_000  # 32 MB of a table: rows of all distances, or of the pairs' differences
QUERIED = 8_000_000  # 64 MB of new points' rows against all training points, which are read once for each block


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_jobs(n_jobs: int | None) -> int:
    """None is all cores allowed; negative counts from the end as in joblib (-1 all, -2 all but one)."""
    if n_jobs is None:
        return cores()
    if n_jobs == 0:
        raise InvalidInput("n_jobs must be None (all cores), a positive int, or negative (-1 = all cores); got 0")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS and OpenMP at one thread: the same bits whatever the machine's thread settings."""
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Those that have threads; looked for again, which takes as long as a small fit, when modules have been loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def block_slices(n: int, size: int) -> list[slice]:
    """Consecutive slices of `size` rows that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def row_slices(n: int, n_columns: int) -> list[slice]:
    """Slices of range(n) for rows of so many columns that are read, centred and multiplied once."""
    return block_slices(n, max(LEAST_ROWS, ROWED // max(n_columns, 1)))


def run_blocks(
    work: Callable[[int], None], n_blocks: int, *, n_jobs: int | None = None, progress: Progress | None = None
) -> None:
    """Call `work(i)` for i in range(n_blocks) on `n_jobs` threads; the first exception ends the rest.

    `progress` hears the finished share in the calling thread. Ctrl-C is answered between blocks. BLAS is not touched
    here: the caller (a fit, a transform) holds it at one thread by `single_threaded_blas`.
    """
    jobs = min(resolve_jobs(n_jobs), n_blocks)
    if jobs <= 1 or getattr(_here, "inside", False):  # blocks of a block run where they are: the pool is taken
        for i in range(n_blocks):
            work(i)
            if progress is not None:
                progress((i + 1) / n_blocks)
        return

    def inside(i: int) -> None:
        _here.inside = True
        work(i)

    pool, waiting = _pool(jobs), iter(range(n_blocks))
    pending: set[Future[None]] = set()
    # `wait` holds a lock of every future for a moment: Ctrl-C just then would leave it held, and the threads with it.
    ended: SimpleQueue[Future[None]] = SimpleQueue()

    def hand_out(i: int) -> None:
        future = pool.submit(inside, i)
        pending.add(future)
        future.add_done_callback(ended.put)

    done_count = 0
    try:
        # Only a few blocks are handed out at a time, so that an exception or Ctrl-C leaves little to wait for.
        for _, i in zip(range(2 * jobs), waiting, strict=False):
            hand_out(i)
        while pending:
            future = ended.get()
            pending.discard(future)
            future.result()
            done_count += 1
            following = next(waiting, None)
            if following is not None:
                hand_out(following)
            if progress is not None:
                progress(done_count / n_blocks)
    except BaseException as error:
        for future in pending:
            future.cancel()
        if isinstance(error, KeyboardInterrupt):
            tell_compiling()
        wait(pending)  # no block goes on writing after the caller has been told
        raise


_here = threading.local()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def _pool(jobs: int) -> ThreadPoolExecutor:
    """A pool that is kept: starting threads for every product of an iteration costs as much as the product.

    Pools belong to a process, because threads do not survive a fork; and to a calling thread no more than to another,
    because tasks of several callers only queue up.
    """
    key = (os.getpid(), jobs)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(jobs, thread_name_prefix="lowfold")
    return _pools[key]


def block_seeds(rng: np.random.Generator, n_blocks: int) -> list[np.random.Generator]:
    """One independent generator per block, so that results do not depend on which thread ran it."""
    return [np.random.default_rng(seed) for seed in rng.integers(0, 2**63, size=(n_blocks, 4))]
