"""Linear maps: what each of them keeps.

Top row: PCA of handwritten digits with its own gaps. A third of all pixels is missing at random; EM for PCA fits the
same plane to what is left, and fills the gaps. Shown are five digits as they were, with their gaps (red), and as the
model fills them from ten components; and the energy kept by the first components, with the dimension at which it
reaches 90 %.

Middle row: points with six gross outliers; PCA follows the outliers, LPP less, the covariance of signs not at all. A
tenth of all pixels of the zeros and ones replaced by black or white, and what the splitting into low rank plus sparse
makes of it. The error left when each digit is stored by its first coefficients in four bases. And six components each
of PCA (which subtract as well as add), SparsePCA and NMF.

Bottom row: random projection of 300 points from 5,000 dimensions. Squared distances after over squared distances
before, for all pairs, at three dimensions; dashed is the distortion that the lemma of Johnson and Lindenstrauss
promises there. And a mixture of two signals, unmixed by ICA.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import lowfold
from lowfold.lowrank import explained_energy, jl_min_dim
from lowfold.lowrank._bases import BASES, compression_error
from lowfold.lowrank._energy import dimension_by_energy


def digits_with_gaps(axes) -> None:
    X = load_digits().data
    rng = np.random.default_rng(0)
    gone = rng.random(X.shape) < 1 / 3
    model = lowfold.EMPCA(10).fit(np.where(gone, np.nan, X))
    filled = model.impute(np.where(gone, np.nan, X))
    strip = np.full((3 * 9 - 1, 5 * 9 - 1, 3), 1.0)
    for column, i in enumerate((0, 11, 23, 37, 58)):
        for row, pixels in enumerate((X[i], X[i], filled[i])):
            grey = 1 - np.clip(pixels.reshape(8, 8, 1), 0, 16) / 16 * np.ones(3)
            if row == 1:
                grey[gone[i].reshape(8, 8)] = (0.9, 0.3, 0.3)
            strip[9 * row : 9 * row + 8, 9 * column : 9 * column + 8] = grey
    axes[0].imshow(strip)
    axes[0].set(xticks=[], yticks=[3.5, 12.5, 21.5], yticklabels=["digit", "one third gone", "filled in"])
    axes[0].set_title("EM for PCA with missing values")
    plane = lowfold.PCA(2).fit_transform(X)
    axes[1].scatter(*plane.T, c=load_digits().target, s=4, cmap="tab10")
    axes[1].set(title="PCA of the digits", xticks=[], yticks=[])
    part = lowfold.EMPCA(2).fit(np.where(gone, np.nan, X)).embedding_
    turn = np.sign((part * plane).sum(axis=0))
    axes[2].scatter(*(part * turn).T, c=load_digits().target, s=4, cmap="tab10")
    axes[2].set(title="the same from two thirds of the pixels", xticks=[], yticks=[])
    values = lowfold.PCA(64).fit(X).eigenvalues_
    d = dimension_by_energy(values, 0.9)
    axes[3].plot(np.arange(1, 65), explained_energy(values))
    axes[3].axvline(d, color="grey", linestyle=":")
    axes[3].set(title=f"energy kept; 90 % at d = {d}", xlabel="components")


def planes(axes) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2)) * [4, 0.6]
    X[:6] = rng.normal(loc=(3, 18), size=(6, 2))
    axes[0].scatter(*X.T, s=6, color="grey")
    for model, colour, label in (
        (lowfold.PCA(1), "tab:red", "PCA"),
        (lowfold.RobustPCA(1), "tab:green", "RobustPCA"),
        (lowfold.LPP(1), "tab:blue", "LPP"),
    ):
        model.fit(X)
        ends = model.mean_ + np.array([[-14], [14]]) * model.components_ / np.linalg.norm(model.components_)
        axes[0].plot(*ends.T, color=colour, label=label)
    axes[0].set(title="six outliers", aspect="equal", xlim=(-15, 15), ylim=(-8, 22))
    axes[0].legend()
    digits = load_digits()
    few = digits.data[digits.target < 2]
    hit = rng.random(few.shape) < 0.1
    wrong = np.where(hit, rng.choice([0.0, 16.0], size=few.shape), few)
    split = lowfold.RobustPCA(6, method="low_rank").fit(wrong)
    rows = (few, wrong, wrong - split.sparse_.toarray())
    axes[1].imshow(tiles([row[i] for row in rows for i in (0, 1, 2, 7, 8)], 5), cmap="gray_r", vmin=0, vmax=16)
    axes[1].set(xticks=[], yticks=[3.5, 12.5, 21.5], yticklabels=["digit", "spoiled", "low rank"])
    axes[1].set_title("RobustPCA: low rank plus sparse")
    model = lowfold.PCA(64).fit(digits.data)
    bases = {name: name for name in BASES} | {"principal axes": model.components_.T}
    for name, basis in bases.items():
        error = compression_error(digits.data, basis, np.arange(65), mean=model.mean_)
        axes[2].plot(error / error[0], label=name)
    axes[2].set(title="error left by d coefficients", xlabel="d")
    axes[2].legend(fontsize=8)
    parts = [
        component / max(np.abs(component).max(), 1e-9)
        for method in (lowfold.PCA(6), lowfold.SparsePCA(6, alpha=40, max_iter=100, tol=1e-3), lowfold.NMF(6))
        for component in method.fit(digits.data).components_
    ]
    axes[3].imshow(tiles(parts, 6), cmap="RdBu_r", vmin=-1, vmax=1)
    axes[3].set(xticks=[], yticks=[3.5, 12.5, 21.5], yticklabels=["PCA", "SparsePCA", "NMF"], title="components")


def tiles(images: list[np.ndarray], columns: int) -> np.ndarray:
    """8 x 8 images side by side with gaps."""
    rows = len(images) // columns
    sheet = np.zeros((9 * rows - 1, 9 * columns - 1))
    for i, image in enumerate(images):
        row, column = divmod(i, columns)
        sheet[9 * row : 9 * row + 8, 9 * column : 9 * column + 8] = image.reshape(8, 8)
    return sheet


def random_and_independent(axes) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 5000)) * rng.uniform(0.2, 2, size=5000)
    before = lowfold.metrics.pairwise(X)[np.triu_indices(300, 1)] ** 2
    for k, colour in ((50, "tab:blue"), (400, "tab:orange"), (2500, "tab:green")):
        Y = lowfold.RandomProjection(k, kind="sparse").fit_transform(X)
        after = lowfold.metrics.pairwise(Y)[np.triu_indices(300, 1)] ** 2
        axes[0].hist(after / before, bins=80, density=True, alpha=0.6, color=colour, label=f"k = {k}")
        promised = [eps for eps in np.linspace(0.05, 0.95, 91) if jl_min_dim(300, eps) <= k]
        for side in (-1, 1) if promised else ():
            axes[0].axvline(1 + side * promised[0], color=colour, linestyle="--")
    axes[0].set(title="all pairs after a random projection", xlabel="squared distance after / before", yticks=[])
    axes[0].legend()
    t = np.linspace(0, 8, 1000)
    S = np.column_stack([np.sin(5 * t), np.sign(np.sin(3.3 * t))]) + 0.05 * rng.normal(size=(1000, 2))
    mixed = S @ np.array([[1.0, 0.7], [0.6, 1.0]])
    for ax, signals, title in (
        (axes[1], mixed, "two mixtures"),
        (axes[2], lowfold.PCA(2).fit_transform(mixed), "PCA"),
        (axes[3], lowfold.ICA(2).fit_transform(mixed), "ICA"),
    ):
        for j, signal in enumerate(signals.T):
            ax.plot(t, signal / np.abs(signal).max() - 2.4 * j, linewidth=0.8)
        ax.set(title=title, yticks=[])


def draw(out: Path) -> Path:
    figure, axes = plt.subplots(3, 4, figsize=(17, 12), layout="constrained")
    digits_with_gaps(axes[0])
    planes(axes[1])
    random_and_independent(axes[2])
    path = out / "linear.png"
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print(draw(out))


if __name__ == "__main__":
    main()
