"""What the book's experiments share: surfaces of 1,000 points with their true coordinates, and scores."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial import cKDTree
from sklearn.manifold import trustworthiness

import lowfold
from lowfold import datasets
from lowfold._core.errors import LowfoldWarning

METHODS = {
    "LLE": ("LLE", {}),
    "LTSA": ("LTSA", {}),
    "HLLE": ("HessianLLE", {}),
    "LE": ("LaplacianEigenmaps", {}),
    "GL": ("DiffusionMaps", {"alpha": 0.0}),
    "LB": ("DiffusionMaps", {"alpha": 1.0}),
    "ST": ("DiffusionMaps", {"weights": "self_tuning", "tuning": 10, "alpha": 0.0}),
}


def embed(name: str, X: np.ndarray, k: int = 10, d: int = 2) -> np.ndarray:
    """The method of that name in the book; where a sample falls into pieces or a coordinate fails, scores tell."""
    cls, options = METHODS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        return getattr(lowfold, cls)(d, n_neighbors=k, **options).fit_transform(X)


def truth(data: datasets.Dataset) -> np.ndarray:
    """Isometric coordinates; of the punched sphere its stereographic image; of the 3-D cluster the points."""
    if data.coordinates is not None:
        return data.coordinates
    if data.labels is not None:
        return data.X
    turn, down = data.parameters.T
    radius = np.tan((np.pi - down) / 2)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])


def score(T: np.ndarray, Y: np.ndarray) -> float:
    """Share of the 10 nearest in Y that are among the 30 nearest in T."""
    found, real = cKDTree(Y).query(Y, 11)[1][:, 1:], cKDTree(T).query(T, 31)[1][:, 1:]
    return float((found[:, :, None] == real[:, None, :]).any(axis=2).mean())


def trust(name: str, data: datasets.Dataset, k: int = 10) -> float:
    """Trustworthiness of the embedding against the true coordinates, 10 neighbours."""
    return float(trustworthiness(truth(data), embed(name, data.X, k), n_neighbors=10))


def correlations(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Canonical correlations of two sets of columns, descending."""
    Q, P = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (A, B))
    return np.linalg.svd(Q.T @ P, compute_uv=False)


def crowding(Y: np.ndarray) -> float:
    """How unevenly an embedding spreads its points: variation of the distance to the 10th neighbour."""
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    reach = cKDTree(Z).query(Z, 11)[0][:, -1]
    return float(reach.std() / reach.mean())
