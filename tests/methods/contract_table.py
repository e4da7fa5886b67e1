"""What the contract test needs to know of each method, as data. A method missing here fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """How one method is put through the contract.

    other_values   for every parameter a value that must change the fitted model: the value, or (value, X, parameters)
                   for data and other parameters on which it does; None where a test of its own shows it (say which)
    rebuild        (model, kernel) -> embedding
    restores       relative error allowed for inverse_transform(embedding_) on a curved sheet
    """

    other_values: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    rebuild: Callable[[Any, Any], np.ndarray] | None = None
    restores: float = 1e-2
    rows: bool = True  # takes rows of features; False: its own table of the same checks
    transforms: bool = True
    inverts: bool = True
    stable: bool = True  # float32 input gives nearly the same embedding
    accepts_nan: bool = False
    accepts_sparse: bool = False  # sparse features are used, not refused
    refuses: tuple[str, ...] = ()  # hard data that are refused in words, with reason where it is not obvious
    why: str = ""
    expected_failed_checks: dict[str, str] = field(default_factory=dict)


def leading(model: Any, kernel: Any) -> np.ndarray:
    """sqrt(lambda) v from the top of the kernel."""
    values, vectors = np.linalg.eigh(kernel.dense())
    d = model.embedding_.shape[1]
    return vectors[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 0))


def projected(model: Any, kernel: Any) -> np.ndarray:
    """Centred data on the top eigenvectors of the kernel."""
    _, vectors = np.linalg.eigh(kernel.dense())
    X = model._trained.source.X
    return (X - X.mean(axis=0)) @ vectors[:, ::-1][:, : model.embedding_.shape[1]]


def bottom(model: Any, kernel: Any) -> np.ndarray:
    """Vectors 2..d+1 from the bottom."""
    _, vectors = np.linalg.eigh(kernel.dense())
    return vectors[:, 1 : 1 + model.embedding_.shape[1]]


def bottom_over_root_degree(model: Any, kernel: Any) -> np.ndarray:
    """D^-1/2 times vectors 2..d+1 from the bottom."""
    return bottom(model, kernel) / np.sqrt(model.degrees_)[:, None]


RNG = np.random.default_rng(7)
SHEET = RNG.random((60, 4)) + 2.0
BLOBS = np.vstack([SHEET[:35], SHEET[35:] + 20.0])
BENT = np.column_stack([np.cos(SHEET[:, 0] * 2), np.sin(SHEET[:, 0] * 2), SHEET[:, 1]])
WIDE = RNG.random((300, 20))

GRAPH = {
    "n_components": 1,
    "n_neighbors": 12,
    "radius": 0.5,
    "metric": "template",
    "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
    "search": ("faiss", WIDE, {}),
    "symmetrize": "mutual",
    "on_disconnected": ("separate", BLOBS, {}),
    "normalization": "unit",
    "solver": "lanczos",
}

ALIGNMENT = {
    **{name: value for name, value in GRAPH.items() if name != "symmetrize"},  # their neighbourhoods stay directed
    "tol": (1e-1, RNG.random((500, 10)), {}),
}

CONTRACT: dict[str, Case] = {
    "PCA": Case(
        other_values={"n_components": 1, "solver": "svd", "normalization": "unit"},
        rebuild=projected,
        restores=0.5,
    ),
    "ClassicalMDS": Case(
        other_values={
            "n_components": 1,
            "metric": "template",
            "metric_params": ({"p": 1}, None, {"metric": "minkowski"}),
            "additive_constant": (True, None, {"metric": "template"}),
            "normalization": "unit",
            "solver": "lanczos",
            "tol": (1e-1, RNG.random((600, 80)), {}),
        },
        rebuild=leading,
        restores=0.5,
    ),
    "Isomap": Case(
        other_values={**GRAPH, "paths": None, "tol": (1e-1, RNG.random((500, 10)), {})},  # paths: test_isomap
        rebuild=leading,
        restores=0.35,
    ),
    "LaplacianEigenmaps": Case(
        other_values={
            **GRAPH,
            "weights": "binary",
            "scale": 0.5,
            "laplacian": "symmetric",
            "self_loops": 1.0,
            "tol": (1e-1, RNG.random((500, 10)), {}),
        },
        rebuild=bottom_over_root_degree,
        restores=0.35,
    ),
    "LLE": Case(
        other_values={
            **ALIGNMENT,
            "reg": 1e-2,
            "reg_when": "never",
            "weights": "clipped",
            "flatness": 0.05,
            "clusters": 2,
            "robust": 2.0,
        },
        rebuild=bottom,
        restores=0.35,
    ),
    "ModifiedLLE": Case(other_values={**ALIGNMENT, "reg": 1e-2}, rebuild=bottom, restores=0.35),
    "SupervisedLLE": Case(other_values={}, rows=False, why="needs labels; test_supervised_lle has the same checks"),
    "LTSA": Case(other_values={**ALIGNMENT, "include_self": False}, rebuild=bottom, restores=0.35),
    "HessianLLE": Case(
        other_values={**ALIGNMENT, "include_self": False, "anchor": 3}, rebuild=bottom, restores=0.35
    ),
}
