"""Four ways to flatten a roll.

A Swiss roll is a rectangle, rolled up. The colour is the angle along the spiral, one of the two coordinates that an
embedding should find again.

PCA is linear: it looks at the roll along its axis, so that the spiral stays rolled and the width is lost. Classical MDS
keeps the distances through space and, with Euclidean ones, gives the same picture. Isomap measures distances along the
sheet, on a graph of neighbours, and finds the rectangle. Laplacian eigenmaps keeps near points near: the two smoothest
functions on a long strip are both waves along its length, so that the strip comes out as a curve.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import lowfold
from lowfold.viz import side_by_side


def main() -> None:
    parser = argparse.ArgumentParser(description="Embed a Swiss roll with four methods.")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="folder for the picture")
    parser.add_argument("--n", type=int, default=1500, help="number of points")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    roll = lowfold.datasets.swiss_roll(options.n, random_state=0)
    models = {
        "PCA": lowfold.PCA(2),
        "ClassicalMDS": lowfold.ClassicalMDS(2),
        "Isomap, k = 10": lowfold.Isomap(2, n_neighbors=10),
        "LaplacianEigenmaps, k = 10": lowfold.LaplacianEigenmaps(2, n_neighbors=10),
    }
    pictures = {"the roll": roll.X} | {name: model.fit_transform(roll.X) for name, model in models.items()}
    target = options.out / "four_methods.png"
    side_by_side(pictures, color=roll.color, path=target, per_row=5, legend="angle along the spiral")
    print(target)


if __name__ == "__main__":
    main()
