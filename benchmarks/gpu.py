"""Methods on a GPU: seconds from a NumPy array to coordinates, transfers included, with residuals; CPU figures beside.

    python benchmarks/gpu.py                       the table
    python benchmarks/gpu.py isomap-20k ltsa-1m    some rows of it
    python benchmarks/gpu.py --cpu ltsa-100k       the same rows on the CPU as well

The first call compiles (NVRTC, Numba) and is shown apart; the best of three later calls counts. With --stages the
stages of the last call follow.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import lowfold
from lowfold.graph._build import find_neighbors

K = 12


def _roll(n: int) -> np.ndarray:
    return lowfold.datasets.swiss_roll(n, random_state=0).X


@cache
def _images(n: int = 70_000, columns: int = 784) -> np.ndarray:
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


def _placing(name: str, **parameters: Any) -> Fit:
    """A thousand new points placed by a model, which is fitted once and not timed."""
    models: dict[int, Any] = {}

    def place(X: np.ndarray) -> Any:
        model = models.setdefault(id(X), None) or _method(name, **parameters)(X)
        models[id(X)] = model
        model.transform(X[:1000] + 0.01)
        return model

    return place


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
        out[f"transform-{size}"] = data, _placing("Isomap", n_neighbors=K)
    out["neighbours-1mx50"] = lambda: _cloud(1_000_000, 50), lambda X: find_neighbors(X, 15)
    out["neighbours-images"] = _images, lambda X: find_neighbors(X, 15)
    for name in ("Isomap", "LandmarkIsomap", "LTSA", "LLE", "HessianLLE", "ModifiedLLE", "LaplacianEigenmaps",
                 "DiffusionMaps", "VectorDiffusionMaps"):  # fmt: skip
        out[f"{name.lower()}-images"] = _images, _method(name, n_neighbors=K)
    for name in ("PCA", "KernelPCA"):
        out[f"{name.lower()}-images"] = _images, _method(name)
    out["spectralclustering-images"] = _images, lambda X: lowfold.SpectralClustering(10, n_neighbors=K).fit(X)
    out["kernelpca-50k"] = (lambda: _roll(50_000)), _method("KernelPCA")
    for size in ("10k", "20k"):
        n = int(size[:-1]) * 1000
        for name in ("MetricMDS", "SNE", "SymmetricSNE"):
            out[f"{name.lower()}-{size}"] = (lambda n=n: _roll(n)), _method(name)
        out[f"tsne-{size}"] = (lambda n=n: _roll(n)), _method("TSNE", method="neighbors")
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


def _measure(fit: Fit, X: np.ndarray, repeats: int, stages: _Stages) -> dict[str, Any]:
    times, model = [], None
    for _ in range(repeats + 1):
        model = None
        gc.collect()
        stages.lines.clear()
        start = time.perf_counter()
        model = fit(X)
        times.append(time.perf_counter() - start)
        if times[-1] > 60:
            break
    return {
        "first": times[0],
        "best": min(times[1:] or times),
        "residual": getattr(model, "residual_", None),
        "solver": getattr(model, "solver_", None),
        "stages": list(stages.lines),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    table, results = _rows(), {}
    stages = _Stages()
    logging.getLogger("lowfold").addHandler(stages)
    logging.getLogger("lowfold").setLevel(logging.DEBUG)
    for name in args.rows or list(table):
        data, fit = table[name]
        X = data()
        for device in ("cuda", "cpu") if args.cpu else ("cuda",):
            with lowfold.config_context(device=device):
                try:
                    found = _measure(fit, X, args.repeats, stages)
                except Exception:  # noqa: BLE001 - the other rows are still worth their time
                    print(f"{name:24s} {device:5s} failed", flush=True)
                    traceback.print_exc(limit=12)
                    continue
            results[f"{name} {device}"] = found
            residual = "" if found["residual"] is None else f"residual {found['residual']:.1e}"
            print(
                f"{name:24s} {device:5s} first {found['first']:8.2f} s  later {found['best']:8.3f} s  {residual}",
                flush=True,
            )
            if args.stages:
                print("    " + "\n    ".join(found["stages"]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
