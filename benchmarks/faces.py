"""Real images: how well new ones are placed, led back, and kept near their like, beside scikit-learn's methods.

    python benchmarks/faces.py UMIST.mat olivetti.mat USPS.mat                    # a table for each file
    python benchmarks/faces.py UMIST.mat --methods LTSA Isomap --components 5

A file has images as rows `X` with their kinds `Y`, or as columns `faces`, ten of a kind. Seven tenths are fitted, the
rest are new:

    new      share of new images whose nearest fitted image in the embedding is of the same kind
    joint    the same where all images are fitted together, which needs no map to new points
    back     ||x - inverse(transform(x))|| of new images over ||x - mean||
    trust    trustworthiness of the fitted ones, ten neighbours, by scikit-learn

The peer has the same number of neighbours. NaN: there is no such map.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn import decomposition, manifold
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import lowfold

Floats = NDArray[np.float64]
NEAR = 10  # neighbours of trustworthiness
PER_KIND = 10  # images of one person in a file without kinds


class Figures(NamedTuple):
    new: float
    joint: float
    back: float
    trust: float
    seconds: float


def read(path: Path) -> tuple[Floats, NDArray[Any]]:
    """Images as rows, and their kinds."""
    found = loadmat(path)
    if "faces" in found:
        X = found["faces"].T
        return X.astype(np.float64), np.arange(len(X)) // PER_KIND
    return found["X"].astype(np.float64), found["Y"].ravel()


def _lle(method: str) -> Callable[[int, int | None, Any], Any]:
    return lambda d, k, model: manifold.LocallyLinearEmbedding(
        n_neighbors=k, n_components=d, method=method, eigen_solver="dense"
    )


# What scikit-learn has in the place of a method, from n_components, the neighbours and the fitted model of lowfold.
PEERS: dict[str, Callable[[int, int | None, Any], Any] | None] = {
    "PCA": lambda d, k, model: decomposition.PCA(d),
    "KernelPCA": lambda d, k, model: decomposition.KernelPCA(
        d, kernel="rbf", gamma=model.gamma_, fit_inverse_transform=True
    ),
    "ClassicalMDS": None,
    "Isomap": lambda d, k, model: manifold.Isomap(n_neighbors=k, n_components=d),
    "LocallyLinearIsomap": lambda d, k, model: manifold.Isomap(n_neighbors=k, n_components=d),
    "LLE": _lle("standard"),
    "ModifiedLLE": _lle("modified"),
    "LTSA": _lle("ltsa"),
    "HessianLLE": _lle("hessian"),
    "LaplacianEigenmaps": lambda d, k, model: manifold.SpectralEmbedding(
        d, affinity="nearest_neighbors", n_neighbors=k, random_state=0
    ),
    "DiffusionMaps": None,
    "VectorDiffusionMaps": None,
    "LPP": None,
    "NPE": None,
    "LinearLTSA": None,
    "KernelLPP": None,
    "LandmarkIsomap": lambda d, k, model: manifold.Isomap(n_neighbors=k, n_components=d),
}


def accuracy(Y: Floats, kinds: NDArray[Any], new: Floats, truth: NDArray[Any]) -> float:
    """Of the nearest neighbour; NaN where an embedding has rows without a place."""
    if not (np.isfinite(Y).all() and np.isfinite(new).all()):
        return float("nan")
    return float(KNeighborsClassifier(1).fit(Y, kinds).score(new, truth))


def figures(make: Callable[[], Any], train: Floats, kinds: NDArray[Any], new: Floats, truth: NDArray[Any]) -> Figures:
    """All of one method; `seconds` are those of the processor for the fit."""
    start = time.process_time()
    model = make()
    Y = model.fit_transform(train)
    seconds = time.process_time() - start
    placed, back = float("nan"), float("nan")
    if hasattr(model, "transform"):
        Z = model.transform(new)
        placed = accuracy(Y, kinds, Z, truth)
        if hasattr(model, "inverse_transform"):
            left = new - model.inverse_transform(Z)
            back = float(np.linalg.norm(left) / np.linalg.norm(new - train.mean(axis=0)))
    both = make().fit_transform(np.vstack([train, new]))
    joint = accuracy(both[: len(train)], kinds, both[len(train) :], truth)
    trust = float(manifold.trustworthiness(train, Y, n_neighbors=NEAR)) if np.isfinite(Y).all() else float("nan")
    return Figures(placed, joint, back, trust, seconds)


def tried(make: Callable[[], Any], *data: Any) -> Figures | None:
    """Figures, or None with the reason where a method refuses."""
    try:
        return figures(make, *data)
    except (ValueError, np.linalg.LinAlgError, AttributeError) as refusal:
        print(f"    {str(refusal).splitlines()[0][:110]}")
        return None


def row(name: str, d: int, data: tuple[Any, ...]) -> None:
    """One line: lowfold's figures, then the peer's."""
    make = getattr(lowfold, name)
    ours = tried(lambda: make(d), *data)
    print(f"{name:<20}", _line(ours), end="", flush=True)
    peer = PEERS.get(name)
    if peer is None or ours is None:
        print()
        return
    model = make(d).fit(data[0])
    k = getattr(model, "n_neighbors_", None)
    print("   |", _line(tried(lambda: peer(d, k, model), *data)))


def _line(found: Figures | None) -> str:
    return "-" if found is None else " ".join(f"{value:7.3f}" for value in found)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("files", nargs="+", type=Path)
    words.add_argument("--methods", nargs="+", default=list(PEERS), choices=list(PEERS))
    words.add_argument("--components", type=int, default=10)
    words.add_argument("--seed", type=int, default=0)
    asked = words.parse_args()
    warnings.simplefilter("ignore")
    for path in asked.files:
        X, kinds = read(path)
        train, new, own, truth = train_test_split(X, kinds, test_size=0.3, stratify=kinds, random_state=asked.seed)
        print(f"\n{path.stem}: {len(train)} fitted, {len(new)} new, {X.shape[1]} columns, d = {asked.components}")
        heads = " ".join(f"{name:>7}" for name in Figures._fields)
        print(f"{'':<20} {'lowfold':<{len(heads)}}   | scikit-learn")
        print(f"{'':<20} {heads}   | {heads}")
        for name in asked.methods:
            row(name, asked.components, (train, own, new, truth))


if __name__ == "__main__":
    main()
