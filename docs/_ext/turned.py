"""The main parameters of every method turned up and down: one row of pictures for each, on few points."""

from __future__ import annotations

import textwrap
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import method_pictures
import numpy as np
from cache import drawn
from method_pictures import HEIGHT, panel

import lowfold
from lowfold.methods.registry import Entry

DRAWING = (Path(__file__), Path(method_pictures.__file__))
K: tuple[str, tuple[Any, ...]] = ("n_neighbors", (5, 10, 25))
FEWER = {"SNE": 100, "SymmetricSNE": 100, "MVU": 100, "LandmarkMVU": 200}
USUAL = 300

# method -> (data, parameters with the values shown, from left to right)
TURNED: dict[str, tuple[str, tuple[tuple[str, tuple[Any, ...]], ...]]] = {
    "PCA": ("digits", (("normalization", ("natural", "unit")),)),
    "EMPCA": ("digits", (("max_iter", (1, 3, 100)),)),
    "RobustPCA": ("stray", (("method", ("pursuit", "l1", "low_rank")),)),
    "MultilinearPCA": ("images", (("ranks", ([1, 2], [2, 2], [6, 6])),)),
    "RandomProjection": ("digits", (("kind", ("gaussian", "sign", "sparse")), ("random_state", (0, 1, 2)))),
    "LPP": ("digits", (K, ("scale", (100.0, 1000.0, 10000.0)))),
    "KernelLPP": ("roll", (K, ("gamma", (0.003, 0.03, 0.3)))),
    "NPE": ("digits", (K, ("reg", (1e-6, 1e-3, 1.0)))),
    "LinearLTSA": ("digits", (K,)),
    "ICA": ("digits", (("fun", ("logcosh", "exp", "cube")),)),
    "NMF": ("digits", (("alpha_W", (0.0, 0.1, 1.0)),)),
    "SparsePCA": ("digits", (("alpha", (0.1, 1.0, 10.0)),)),
    "KernelPCA": ("rings", (("gamma", (0.3, 3.0, 30.0)), ("kernel", ("linear", "poly", "rbf")))),
    "NonlinearPCA": ("rings", (("degree", (1, 2, 3)),)),
    "ClassicalMDS": ("roll", (("metric", ("euclidean", "template", "angular")),)),
    "WeightedMDS": ("judges", (("weights", ([1, 0], [1, 1], [0, 1])),)),
    "ReplicatedMDS": ("judges", (("merge", ("mean", "rms")), ("method", ("classical", "metric", "nonmetric")))),
    "MetricMDS": ("roll", (("p", (1.0, 2.0, 4.0)), ("init", ("classical", "random")))),
    "NonmetricMDS": ("digits", (("ties", ("primary", "secondary")),)),
    "Isomap": ("roll", (K, ("conformal", (False, True)))),
    "LandmarkIsomap": ("roll", (K, ("landmarks", (5, 20, 100)))),
    "ConformalIsomap": ("roll", (K,)),
    "KernelIsomap": ("roll", (K, ("shift", (0.0, "minimal", "bound")))),
    "LocallyLinearIsomap": ("roll", (K,)),
    "LLE": ("roll", (K, ("reg", (1e-6, 1e-3, 0.1)))),
    "ModifiedLLE": ("roll", (K,)),
    "SupervisedLLE": ("digits", (K, ("supervision", (0.0, 0.1, 1.0)))),
    "LTSA": ("roll", (K,)),
    "HessianLLE": ("roll", (("n_neighbors", (6, 10, 25)),)),
    "LaplacianEigenmaps": ("roll", (K, ("scale", (0.3, 3.0, 30.0)), ("select", ("leading", "independent")))),
    "DiffusionMaps": ("uneven", (("alpha", (0.0, 0.5, 1.0)), ("t", (0.0, 10.0, 100.0)), K)),
    "VectorDiffusionMaps": ("roll", (("n_neighbors", (10, 20, 30)), ("t", (0.0, 1.0, 10.0)))),
    "MVU": ("curve", (("n_neighbors", (4, 6, 8)), ("nu", (1.0, 20.0, "auto")))),
    "LandmarkMVU": ("curve", (("landmarks", (20, 40, 80)),)),
    "SNE": ("digits", (("perplexity", (3, 10, 30)),)),
    "SymmetricSNE": ("digits", (("perplexity", (3, 10, 30)),)),
    "TSNE": ("digits", (("perplexity", (3, 15, 60)), ("early_exaggeration", (1.0, 12.0, 40.0)))),
    "SpectralClustering": ("rings", (("n_neighbors", (5, 10, 40)), ("laplacian", ("unnormalized", "random_walk")))),
}


@cache
def data(name: str, n: int) -> tuple[Any, Any, bool]:
    """Rows, colour, and whether the colours are classes."""
    from sklearn.datasets import load_digits

    if name in ("digits", "images"):
        digits, labels = load_digits(n_class=5, return_X_y=True)
        return digits[:n].reshape(-1, *((8, 8) if name == "images" else (64,))), labels[:n], True
    if name == "rings":
        rings = lowfold.datasets.concentric_circles(n, noise=0.05, random_state=0)
        return rings.X, rings.labels, True
    if name == "stray":
        X = np.random.default_rng(0).normal(size=(n, 3)) * (4, 1, 0.2)
        X[: n // 20, 2] += 30
        return X, (np.arange(n) >= n // 20).astype(int), True
    if name == "curve":
        curve = lowfold.datasets.s_curve(n, random_state=0)
        return curve.X, curve.color, False
    roll = lowfold.datasets.swiss_roll(n, height=HEIGHT, random_state=0)
    if name == "uneven":  # most points at one end: what alpha is for
        kept = np.random.default_rng(0).random(n) < np.linspace(1, 0.15, n)[np.argsort(np.argsort(roll.color))]
        return roll.X[kept], roll.color[kept], False
    if name == "judges":  # one sees the spiral, the other does not
        return [lowfold.metrics.pairwise(roll.X[:, seen]) for seen in ([0, 2], [0, 1])], roll.color, False
    return roll.X, roll.color, False


def _embedded(entry: Entry, name: str, value: Any, X: Any, color: Any) -> Any:
    model = getattr(lowfold, entry.name)(**{"n_components": 2, name: value})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page of failures and the pictures above say what is heard
        model.fit(X, color if entry.name.startswith("Supervised") else None)
    return model.embedding_


def _draw(entry: Entry, path: Path) -> dict[str, Any]:
    from matplotlib.figure import Figure

    source, turned = TURNED[entry.name]
    n = FEWER.get(entry.name, USUAL)
    X, color, classes = data(source, n)
    figure = Figure(figsize=(9.0, 2.9 * len(turned)), layout="constrained")
    for down, (name, values) in enumerate(turned):
        for across, value in enumerate(values):
            ax = figure.add_subplot(len(turned), 3, 3 * down + across + 1)
            ax.set_title(f"{name} = {value!r}", fontsize=10)
            try:
                panel(ax, _embedded(entry, name, value, X, color), color, classes=classes)
            except Exception as error:  # noqa: BLE001 # a refusal belongs into its panel, in its own words
                ax.axis("off")
                ax.text(0.5, 0.5, textwrap.fill(str(error), 36), ha="center", va="center", fontsize=7)
            if ax.get_legend():
                ax.get_legend().remove()
    figure.savefig(path, dpi=80)
    return {"points": len(color), "data": source}


WORDS = {
    "digits": "handwritten digits 0 to 4",
    "images": "handwritten digits 0 to 4 as images",
    "judges": "a Swiss roll, whose distances were measured twice: as seen from the end and as seen from the side",
    "rings": "two rings, one inside the other",
    "stray": "a flat cloud with one point in twenty far away",
    "curve": "an S-curve",
    "roll": "a Swiss roll",
    "uneven": "a Swiss roll with most points at its inner end",
}


def picture(entry: Entry, folder: Path) -> str:
    """The section of the page, or nothing where no parameter is worth turning."""
    if entry.name not in TURNED:
        return ""
    name = f"turned_{entry.module}"
    said = drawn(folder, name, lambda path: _draw(entry, path), *DRAWING)
    names = ", ".join(f"`{parameter}`" for parameter, _ in TURNED[entry.name][1])
    return (
        f"{said['points']} points of {WORDS[said['data']]}; everything else as it comes.\n\n"
        f"![{entry.name} with {names.replace('`', '')} turned up and down](../pictures/{name}.png)"
    )
