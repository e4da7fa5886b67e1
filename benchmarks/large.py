"""Rows that stay on disk: time and memory of fits in blocks, growth with N, and a cluster of two workers.

    python benchmarks/large.py --out benchmarks/large            # 100,000 to 1,000,000 rows of 50 columns, 2 GB
    python benchmarks/large.py --rows 10000000 --cases pca       # more, where there is time
    python benchmarks/large.py --cluster                         # the same on two processes of 1 GiB each
    python benchmarks/large.py --growth --rows 100000 1000000    # in memory: a Swiss roll; 50 columns where linear

Every measurement is a process of its own: seconds, seconds of the processor, and the largest anonymous memory, which
leaves out the pages of the file. Exponents are fitted to the seconds of the processor and to the memory beyond that of
the process before.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 50
ROWS = (100_000, 300_000, 1_000_000)
BLOCK = 100_000  # rows made at a time
EVERY = 0.02  # seconds between two looks at the memory


def sheet(path: Path, n: int) -> None:
    """A bent sheet in 50 columns with noise, float32, made block by block."""
    rng = np.random.default_rng(0)
    frequencies, phases = rng.normal(size=(2, COLUMNS)), rng.uniform(0, 2 * np.pi, COLUMNS)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, COLUMNS))
    for start in range(0, n, BLOCK):
        part = slice(start, min(start + BLOCK, n))
        u = rng.random((part.stop - part.start, 2)) * [3, 1]
        out[part] = np.cos(u @ frequencies + phases) + 0.001 * rng.normal(size=(len(u), COLUMNS))
    out.flush()


def roll(path: Path, n: int) -> None:
    """A Swiss roll in 3 columns, float32."""
    import lowfold

    np.save(path, lowfold.datasets.swiss_roll(n, random_state=0).X.astype(np.float32))


def neighbours(search: str) -> Callable[[Any], dict[str, Any]]:
    def find(rows: Any) -> dict[str, Any]:
        import lowfold

        return {"recall": lowfold.graph.find_neighbors(rows, 10, search=search).recall}

    return find


def fitted(name: str, **params: Any) -> Callable[[Any], dict[str, Any]]:
    def fit(rows: Any) -> dict[str, Any]:
        import lowfold

        model = getattr(lowfold, name)(2, **params).fit(rows)
        told = {key: getattr(model, key, None) for key in ("residual_", "landmark_error_", "solver_")}
        return {key: value for key, value in told.items() if value is not None}

    return fit


CASES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "pca": fitted("PCA"),
    "random_projection": fitted("RandomProjection"),
    "neighbours": neighbours("faiss"),
    "laplacian_eigenmaps": fitted("LaplacianEigenmaps", search="faiss", on_shortcut="ignore"),
    "diffusion_maps": fitted("DiffusionMaps", search="faiss", on_shortcut="ignore"),
    "landmark_isomap": fitted("Isomap", search="faiss", on_shortcut="ignore", landmarks=200, landmark_rule="random"),
    "nystrom_kernel_pca": fitted("KernelPCA", landmarks=2000),
    "landmark_ltsa": fitted("LTSA", landmarks=5000, landmark_rule="random"),
}

GROWTH: dict[str, Callable[[Any], dict[str, Any]]] = {
    "neighbours": neighbours("auto"),
    "neighbours_wide": neighbours("faiss"),
    "laplacian_eigenmaps": fitted("LaplacianEigenmaps"),
    "diffusion_maps": fitted("DiffusionMaps", n_neighbors=10),
    "landmark_isomap": fitted("Isomap", landmarks=100),
    "landmark_ltsa": fitted("LTSA", landmarks=5000),
    "pca": fitted("PCA"),
    "nystrom_kernel_pca": fitted("KernelPCA", landmarks=2000),
}
"""Cases of rows in memory: what is solved on all points or on landmarks."""
WIDE = ("pca", "nystrom_kernel_pca", "neighbours_wide")  # of 50 columns


class Peak:
    """The largest anonymous memory of this process while it is open."""

    def __enter__(self) -> Peak:
        self.bytes, self.open = 0, True
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def _look(self) -> None:
        while self.open:
            self.bytes = max(self.bytes, anonymous())
            time.sleep(EVERY)

    def __exit__(self, *error: object) -> None:
        self.open = False
        self.thread.join()


def anonymous() -> int:
    """Bytes of this process that no file holds."""
    return 1024 * int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0])


def one(case: str, path: Path, args: argparse.Namespace) -> dict[str, Any]:
    """One measurement, in this process; loading and compiling are done on a few rows before."""
    import lowfold

    lowfold.set_config(memory=args.memory)
    work = (GROWTH if args.growth else CASES)[case]
    rows = np.load(path) if args.growth else lowfold.datasets.read(path, blocks=True).X
    work(rows[:6000] if args.growth else rows.take(np.arange(6000)))
    if args.cluster:
        import distributed

        client = distributed.Client(n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0")
        rows = lowfold.datasets.read(path, blocks="dask").X
    before = anonymous()
    with Peak() as peak:
        start, used = time.perf_counter(), time.process_time()
        told = work(rows)
        took, cpu = time.perf_counter() - start, time.process_time() - used
    if args.cluster:
        client.close()
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    memory = {"peak": peak.bytes, "beyond": max(peak.bytes - before, 1), "with_file": limit}
    return {"seconds": took, "processor": cpu, **memory, **told}


def measured(case: str, n: int, path: Path, args: argparse.Namespace) -> dict[str, Any]:
    """The same in a fresh process."""
    words = [sys.executable, __file__, "--one", case, "--file", str(path), "--memory", args.memory]
    words += ["--cluster"] * args.cluster + ["--growth"] * args.growth
    done = subprocess.run(words, capture_output=True, text=True, timeout=args.timeout, check=False)
    if done.returncode != 0:
        return {"case": case, "rows": n, "failed": done.stderr.strip().splitlines()[-1:]}
    return {"case": case, "rows": n, **json.loads(done.stdout.strip().splitlines()[-1])}


def exponents(found: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Of the processor's seconds and of the memory over the rows, for every case measured twice or more."""
    out = {}
    for case in dict.fromkeys(row["case"] for row in found):
        good = [row for row in found if row["case"] == case and "processor" in row]
        if len(good) > 1:
            n, *values = np.log([[row[key] for key in ("rows", "processor", "beyond")] for row in good]).T
            out[case] = {key: float(np.polyfit(n, v, 1)[0]) for key, v in zip(("seconds", "bytes"), values)}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--cases", nargs="*", choices=list(dict.fromkeys([*CASES, *GROWTH])))
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--growth", action="store_true", help="rows in memory, of few columns for graph methods")
    parser.add_argument("--timeout", type=float, default=1800.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one, args.file, args)))
        return
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for n in args.rows:
            wide, narrow = Path(folder, "wide.npy"), Path(folder, "narrow.npy")
            for case in args.cases or list(GROWTH if args.growth else CASES):
                path, make = (narrow, roll) if args.growth and case not in WIDE else (wide, sheet)
                if not path.exists():
                    make(path, n)
                found.append(measured(case, n, path, args))
                print(json.dumps(found[-1]), flush=True)
            for path in (wide, narrow):
                path.unlink(missing_ok=True)
    result = {"columns": COLUMNS, "memory": args.memory, "measured": found, "exponents": exponents(found)}
    print(json.dumps(result["exponents"]))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "large.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
