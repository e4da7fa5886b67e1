"""What each distance calls near.

A neighbour graph is only as good as its distance. One picture: a handwritten digit, and the five images that each
distance puts nearest to it among 900, after every image was given its own exposure, its own grey background, or
stripes as fine as the pixels. A green frame is the same digit, a red one another. The number on the right is how often,
over all images, the nearest one is the same digit: a distance that ignores the nuisance loses nothing to it.

The other: a bump on a line, and the order in which the distances put six changes of it, from near (left) to far
(right), with the distance.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lowfold.metrics import pairwise
from lowfold.metrics._pairwise import one_to_many

SHOWN = 5
DISTANCES = [
    ("euclidean", {}),
    ("angular", {}),
    ("template", {}),
    ("fourier", {"n_terms": 32}),
    ("wavelet", {}),
    ("fourier_phase", {}),
    ("derivative", {"shape": (8, 8)}),
    ("fourier_phase_difference", {}),
    ("mahalanobis", {"reg": 0.1}),
    ("correlation", {}),
]


def spoiled_digits() -> tuple[dict[str, np.ndarray], np.ndarray]:
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    rng = np.random.default_rng(0)
    exposure = X * rng.uniform(0.2, 3, size=(len(X), 1))
    background = X + rng.uniform(0, 20, size=(len(X), 1))
    stripes = X + 8 * rng.normal(size=(len(X), 1)) * (-1.0) ** np.arange(64)
    return {"its own exposure": exposure, "its own background": background, "its own stripes": stripes}, y


def show(ax, pixels: np.ndarray, limits: tuple[float, float], colour: str | None) -> None:
    ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=limits[0], vmax=limits[1])
    ax.set(xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set(color=colour or "none", linewidth=2.5)


def draw_digits(out: Path, query: int = 9) -> Path:
    sets, y = spoiled_digits()
    width = SHOWN + 2
    figure, axes = plt.subplots(
        len(DISTANCES) + 1, 3 * width, figsize=(15, 8.4), gridspec_kw={"wspace": 0.08, "hspace": 0.12}
    )
    for ax in axes.ravel():
        ax.axis("off")
    for block, (nuisance, X) in enumerate(sets.items()):
        limits = (float(np.percentile(X, 1)), float(np.percentile(X, 99)))
        first = block * width
        axes[0, first].axis("on")
        show(axes[0, first], X[query], limits, "tab:blue")
        title = axes[0, first + 1]
        title.text(0, 0.5, f"every image with\n{nuisance}", va="center", transform=title.transAxes)
        for row, (metric, params) in enumerate(DISTANCES, 1):
            d = pairwise(X, metric=metric, metric_params=params)
            np.fill_diagonal(d, np.inf)
            for place, j in enumerate(np.argsort(d[query], kind="stable")[:SHOWN]):
                ax = axes[row, first + place]
                ax.axis("on")
                show(ax, X[j], limits, "tab:green" if y[j] == y[query] else "tab:red")
            right = float((y[d.argmin(axis=1)] == y).mean())
            text = axes[row, first + SHOWN]
            text.text(0.1, 0.5, f"{right:.1%}", va="center", transform=text.transAxes)
            if block == 0:
                label = axes[row, 0]
                label.text(-0.3, 0.5, metric, va="center", ha="right", transform=label.transAxes)
    path = out / "distances_digits.png"
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
    return path


def changed_bumps() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    t = np.arange(64)
    bump = np.exp(-(((t - 26) / 5.0) ** 2))
    changes = {
        "louder": 2.2 * bump,
        "shifted": np.roll(bump, 5),
        "raised": bump + 0.35,
        "hiss": bump + 0.3 * (-1.0) ** t,
        "spike": bump + 1.1 * (t == 48),
        "wider": np.exp(-(((t - 26) / 9.0) ** 2)),
    }
    return t, bump, changes


def draw_signals(out: Path) -> Path:
    t, bump, changes = changed_bumps()
    names, signals = list(changes), np.array(list(changes.values()))
    distances = [(m, {} if m == "derivative" else p) for m, p in DISTANCES if m != "mahalanobis"]
    distances[3] = ("fourier", {"n_terms": 21})
    gaps = {"wspace": 0.05, "hspace": 0.45}
    figure, axes = plt.subplots(len(distances), len(names), figsize=(12, 9.5), sharey=True, gridspec_kw=gaps)
    colours = dict(zip(names, plt.colormaps["tab10"].colors))
    for row, (metric, params) in zip(axes, distances):
        d = one_to_many(bump, signals, metric, metric_params=params)
        row[0].text(-0.1, 0.5, metric, va="center", ha="right", transform=row[0].transAxes)
        for ax, j in zip(row, np.argsort(d, kind="stable")):
            ax.plot(t, bump, color="0.75", linewidth=3)
            ax.plot(t, signals[j], color=colours[names[j]], linewidth=1.2)
            ax.set_title(f"{names[j]}  {d[j]:.2f}", fontsize=9, color=colours[names[j]], pad=2)
            ax.set(xticks=[], yticks=[], ylim=(-0.5, 2.4))
    figure.suptitle("The grey bump, and its changes from near (left) to far (right) under each distance", y=0.93)
    path = out / "distances_signals.png"
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="What each distance calls near.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for path in (draw_digits(out), draw_signals(out)):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
