"""Two workers of 1 GiB each, one of them killed in the middle of every stage: what comes out, and what the client held.

    python benchmarks/lost_worker.py                       # sums on 2,000,000 rows, pairs on 30,000
    python benchmarks/lost_worker.py --rows 20000000       # 4 GB of rows

Each case runs once unharmed, which also compiles; then again, and a worker gets signal 9 in the middle of the time that
took. The result is compared with the fit in memory (sums: with the unharmed run), the client's anonymous memory is read
all the time.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from large import Peak, sheet

Result = tuple[Any, ...]
LIMIT = "1GiB"


def pca(rows: Any) -> Result:
    import lowfold

    return (lowfold.PCA(3).fit(rows).eigenvalues_,)


def projected(rows: Any) -> Result:
    """Every row through a fitted model; only sums of the blocks come back."""
    import lowfold

    model = lowfold.RandomProjection(3, random_state=0).fit(rows)
    placed = model.transform(rows)
    sums = placed.sum(axis=0).compute() if hasattr(placed, "dask") else sum(part.sum(axis=0) for part in placed)
    return (np.asarray(sums, dtype=np.float64),)


def neighbours(rows: Any) -> Result:
    import lowfold

    found = lowfold.graph.find_neighbors(rows, 10)
    return found.indices, found.distances


def eigenmaps(rows: Any) -> Result:
    import lowfold

    return (lowfold.LaplacianEigenmaps(2, on_shortcut="ignore").fit(rows).eigenvalues_,)


def kernel_tiles(rows: Any) -> Result:
    import lowfold

    return (lowfold.KernelPCA(2).fit(rows).eigenvalues_,)


def geodesic_panels(rows: Any) -> Result:
    import lowfold

    return (lowfold.Isomap(2, n_neighbors=12, on_shortcut="ignore").fit(rows).eigenvalues_,)


def geodesic_slabs(rows: Any) -> Result:
    import lowfold

    return (lowfold.Isomap(3, n_neighbors=12, on_shortcut="ignore").fit(rows).eigenvalues_,)


def landmarks(rows: Any) -> Result:
    import lowfold

    model = lowfold.LTSA(2, landmarks=1000, landmark_rule="random", random_state=0).fit(rows)
    return (np.asarray(model.embedding_[:2000]),)


SUMS: dict[str, Callable[[Any], Result]] = {"pca": pca, "random_projection": projected}
PAIRS: dict[str, Callable[[Any], Result]] = {
    "neighbours": neighbours,
    "laplacian_eigenmaps": eigenmaps,
    "kernel_pca": kernel_tiles,
    "isomap_panels": geodesic_panels,
    "isomap_slabs": geodesic_slabs,
    "landmark_ltsa": landmarks,
}


def wounded(client: Any, work: Callable[[], Result], after: float) -> tuple[Result, dict[str, Any]]:
    """The result, though a worker is killed after some seconds; and whether that was before the end."""
    ended = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        if not ended.wait(after):
            victim = next(iter(client.cluster.workers.values()))
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    hand = threading.Thread(target=kill, daemon=True)
    hand.start()
    with Peak() as peak:
        start = time.perf_counter()
        result = work()
        took = time.perf_counter() - start
    ended.set()
    hand.join()
    return result, {"seconds": took, "killed": bool(killed), "client": peak.bytes}


def difference(a: Result, b: Result) -> float:
    """The largest, over the largest value."""
    pairs = [(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)) for x, y in zip(a, b)]
    return max(float(np.abs(x - y).max() / max(np.abs(y).max(), np.finfo(float).tiny)) for x, y in pairs)


def tried(case: str, path: Path, client: Any) -> dict[str, Any]:
    import lowfold

    work = {**SUMS, **PAIRS}[case]
    rows = lowfold.datasets.read(path, blocks="dask").X
    start = time.perf_counter()
    whole = work(rows)
    unharmed = time.perf_counter() - start
    start = time.perf_counter()
    work(rows)
    unharmed = min(unharmed, time.perf_counter() - start)  # the first time compiles
    if case in PAIRS:
        whole = work(np.load(path))
    found, told = wounded(client, lambda: work(rows), unharmed / 2)
    return {"case": case, "rows": len(rows), "unharmed": unharmed, "difference": difference(found, whole), **told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000, help="of sums")
    parser.add_argument("--pairs", type=int, default=30_000, help="rows of the others")
    parser.add_argument("--cases", nargs="*", default=[*SUMS, *PAIRS], choices=[*SUMS, *PAIRS])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    import distributed

    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        sizes = {case: args.rows if case in SUMS else args.pairs for case in args.cases}
        for n in dict.fromkeys(sizes.values()):
            sheet(Path(folder, f"{n}.npy"), n)
        for case, n in sizes.items():
            with distributed.Client(silence_logs=logging.CRITICAL, **settings) as client:
                found.append(tried(case, Path(folder, f"{n}.npy"), client))
            print(json.dumps(found[-1]), flush=True)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "lost_worker.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
