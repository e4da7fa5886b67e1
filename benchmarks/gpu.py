"""Methods on a GPU: seconds from a NumPy array to coordinates, transfers included, with residuals; CPU figures beside.

    python benchmarks/gpu.py                       the table
    python benchmarks/gpu.py isomap-20k ltsa-1m    some rows of it
    python benchmarks/gpu.py --cpu ltsa-100k       the same rows on the CPU as well
    python benchmarks/gpu.py --limit 60 --cpu images   every method on 70,000 x 784, each in a process of its own,
                                                   which is ended after a minute beside its start

The first call compiles (NVRTC, Numba) and is shown apart; the best of three later calls counts, and it is said where
their coordinates are not the same bits. `transform` is of 1,000 new points. With --stages the stages of the last call
follow.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lowfold
from lowfold._core.run import Run
from lowfold.graph._build import find_neighbors
from lowfold.graph._source import Points
from lowfold.methods._descent import stress_terms
from lowfold.methods._fit import Data
from lowfold.metrics._resolve import resolve_metric
from lowfold.optimize._neighbor import _student

K = 12
LONG = 5.0  # seconds; what takes longer is told at once, in case the rest does not end
STARTING = 15.0  # seconds for a process's imports, its device and its data


def _roll(n: int) -> np.ndarray:
    return lowfold.datasets.swiss_roll(n, random_state=0).X


IMAGES = 70_000, 784


def _images(n: int = IMAGES[0], columns: int = IMAGES[1]) -> np.ndarray:
    """The images, kept in a file for the processes that follow."""
    file = Path(tempfile.gettempdir()) / f"lowfold-images-{n}x{columns}.npy"
    if not file.exists():
        np.save(file, _made_images(n, columns))
    return np.load(file)


def _made_images(n: int, columns: int) -> np.ndarray:
    """As wide as Fashion-MNIST: ten curved classes of twelve dimensions, a fifth of the points between two, noise."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 10, n)
    t = rng.normal(size=(n, 12)).astype(np.float32)
    X = np.empty((n, columns), np.float32)
    for c in range(10):
        rows = label == c
        first, second = rng.normal(size=(2, 12, columns)).astype(np.float32)
        X[rows] = np.tanh(t[rows] @ first * 0.3 + rng.normal(size=columns)) + 0.3 * np.tanh(t[rows] ** 2 @ second)
    between, other = rng.choice(n, n // 5, replace=False), rng.integers(0, n, n // 5)
    share = rng.random((n // 5, 1), dtype=np.float32)
    X[between] = share * X[between] + (1 - share) * X[other]
    return X + 0.05 * rng.normal(size=X.shape).astype(np.float32)


def _cloud(n: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, columns)).astype(np.float32)


Fit = Callable[[np.ndarray], Any]
Row = tuple[Callable[[], np.ndarray], Fit]


def _method(name: str, **parameters: Any) -> Fit:
    return lambda X: getattr(lowfold, name)(2, **parameters).fit(X)


def _repulsion(Y: np.ndarray) -> None:
    """One sum of t-SNE's repulsion over all pairs of a layout."""
    _student(Y, None, lowfold.get_config().device)


def _guttman() -> Fit:
    """One step of majorisation over all pairs; the first call makes the distances."""
    known: dict[int, Any] = {}

    def step(X: np.ndarray) -> None:
        if id(X) not in known:
            source = Points(X, resolve_metric("euclidean", None, X))
            known[id(X)] = stress_terms(Data(source), None, Run(), there=True)
        known[id(X)].sums(np.ascontiguousarray(X[:, ::2]))

    return step


def _on_images() -> dict[str, Fit]:
    """Every method that has a twin, as one would call it."""
    near = dict(n_neighbors=K)
    with_neighbors = ("Isomap", "ConformalIsomap", "KernelIsomap", "LandmarkIsomap", "LTSA", "HessianLLE", "LLE",
                      "ModifiedLLE", "LaplacianEigenmaps", "DiffusionMaps", "VectorDiffusionMaps")  # fmt: skip
    whole = ("PCA", "KernelPCA", "ClassicalMDS", "MetricMDS", "SNE", "SymmetricSNE")
    return {
        **{name.lower(): _method(name, **near) for name in with_neighbors},
        **{name.lower(): _method(name) for name in whole},
        "spectralclustering": lambda X: lowfold.SpectralClustering(10, n_neighbors=K).fit(X),
        "tsne-exact": _method("TSNE", method="exact"),
        "tsne": _method("TSNE"),
    }


def _rows() -> dict[str, Row]:
    sizes = {"20k": 20_000, "50k": 50_000, "100k": 100_000, "200k": 200_000, "1m": 1_000_000, "10m": 10_000_000}
    out: dict[str, Row] = {}
    for size, n in sizes.items():
        data = lambda n=n: _roll(n)  # noqa: E731
        out[f"isomap-{size}"] = data, _method("Isomap", n_neighbors=K)
        out[f"landmarks-{size}"] = data, _method("LandmarkIsomap", n_neighbors=K)
        for name in ("LTSA", "LLE", "HessianLLE", "ModifiedLLE", "LaplacianEigenmaps", "VectorDiffusionMaps"):
            out[f"{name.lower()}-{size}"] = data, _method(name, n_neighbors=K)
        out[f"diffusion-{size}"] = data, _method("DiffusionMaps", n_neighbors=K)
        out[f"reach-{size}"] = data, _method("DiffusionMaps")
        out[f"neighbours-{size}x3"] = data, lambda X: find_neighbors(X, 15)
    out["neighbours-1mx50"] = lambda: _cloud(1_000_000, 50), lambda X: find_neighbors(X, 15)
    out["neighbours-images"] = _images, lambda X: find_neighbors(X, 15)
    out["neighbours-90-images"] = _images, lambda X: find_neighbors(X, 90)
    for name, fit in _on_images().items():
        out[f"{name}-images"] = _images, fit
    out["kernelpca-50k"] = (lambda: _roll(50_000)), _method("KernelPCA")
    for size in ("10k", "20k"):
        n = int(size[:-1]) * 1000
        for name in ("MetricMDS", "SNE", "SymmetricSNE"):
            out[f"{name.lower()}-{size}"] = (lambda n=n: _roll(n)), _method(name)
        out[f"tsne-{size}"] = (lambda n=n: _roll(n)), _method("TSNE", method="neighbors")
    out["repulsion-100k"] = (lambda: np.ascontiguousarray(_roll(100_000)[:, ::2])), _repulsion
    out["guttman-100k"] = (lambda: _roll(100_000)), _guttman()
    for size in ("20k", "100k"):
        n = int(size[:-1]) * 1000
        out[f"summary-{size}"] = (lambda n=n: _roll(n)), lambda X: lowfold.quality.summary(X, X[:, ::2])
    return out


class _Stages(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _placing(model: Any, X: np.ndarray) -> float:
    """Seconds for a thousand new points; those of the second call where the first, which may compile, was short."""
    new, took = X[:1000] + np.float32(0.01), 0.0
    for _ in range(2):
        start = time.perf_counter()
        model.transform(new)
        took = time.perf_counter() - start
        if took > LONG:
            break
    return took


def _measure(fit: Fit, X: np.ndarray, repeats: int, stages: _Stages) -> dict[str, Any]:
    times, model, layouts = [], None, set()
    for _ in range(repeats + 1):
        model = None
        gc.collect()
        stages.lines.clear()
        start = time.perf_counter()
        model = fit(X)
        times.append(time.perf_counter() - start)
        if times[-1] > LONG:
            print(f"    a fit took {times[-1]:.1f} s", flush=True)
        layouts.add(np.asarray(getattr(model, "embedding_", ())).tobytes())
        if times[-1] > 60:
            break
    return {
        "first": times[0],
        "best": min(times[1:] or times),
        "placed": _placing(model, X) if hasattr(model, "transform") else None,
        "residual": getattr(model, "residual_", None),
        "solver": getattr(model, "solver_", None),
        "same": len(layouts) == 1,
        "stages": list(stages.lines),
    }


def _chosen(asked: list[str], table: dict[str, Row]) -> list[str]:
    """Rows by name; "images" stands for all that end so."""
    rows = [
        name for one in asked for name in ([r for r in table if r.endswith("-images")] if one == "images" else [one])
    ]
    return rows or list(table)


def _alone(name: str, device: str, repeats: int, limit: float) -> None:
    """A row in a process of its own, ended where it takes longer than the limit, its start and its data aside."""
    command = [sys.executable, __file__, name, "--device", device, "--repeats", str(repeats), "--stages"]
    try:
        done = subprocess.run(command, timeout=limit + STARTING, text=True, capture_output=True, check=False)
        print(done.stdout.rstrip() or f"{name:32s} {device:5s} failed\n{done.stderr[-600:]}", flush=True)
    except subprocess.TimeoutExpired as ended:
        heard = (ended.stdout or b"").decode()
        print(f"{name:32s} {device:5s} not ended in {limit:.0f} s\n{heard[-600:]}", flush=True)


def _row(name: str, row: Row, device: str, repeats: int, stages: _Stages) -> dict[str, Any] | None:
    data, fit = row
    X = data()
    with lowfold.config_context(device=device):
        try:
            found = _measure(fit, X, repeats, stages)
        except Exception:  # noqa: BLE001 - the other rows are still worth their time
            print(f"{name:32s} {device:5s} failed", flush=True)
            traceback.print_exc(limit=12)
            return None
    residual = "" if found["residual"] is None else f"residual {found['residual']:.1e}"
    placed = "" if found["placed"] is None else f"  transform {found['placed']:.3f} s"
    words = f"{residual}{placed}{'' if found['same'] else '  bits differ'}"
    print(f"{name:32s} {device:5s} first {found['first']:8.2f} s  later {found['best']:8.3f} s  {words}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--cpu", action="store_true", help="the CPU beside the device")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, help="seconds for a row, which then has a process of its own")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    table, results = _rows(), {}
    stages = _Stages()
    logging.getLogger("lowfold").addHandler(stages)
    logging.getLogger("lowfold").setLevel(logging.DEBUG)
    for name in _chosen(args.rows, table):
        for device in (args.device, "cpu") if args.cpu else (args.device,):
            if args.limit:
                _alone(name, device, args.repeats, args.limit)
                continue
            found = _row(name, table[name], device, args.repeats, stages)
            if found is not None:
                results[f"{name} {device}"] = found
            if args.stages and found is not None:
                print("    " + "\n    ".join(found["stages"]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
