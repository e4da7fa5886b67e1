"""A first fit: processor seconds of a new process that imports and fits 1,000 points, beside scikit-learn.

    python -m benchmarks.first_fit [--times 3] [--all]

"cold" has no compiled loops, "warm" those of an earlier process. Compiled modules (.pyc) of all packages are there in
both. Both sides import, make the same points and fit, with 10 neighbours where there are some and else as they come:
t-SNE of scikit-learn takes 1,000 steps, ours 400, and the kernels have other widths. Where pandas is installed
scikit-learn loads it, 0.3 to 0.5 s more; a plain install has none. With --all every method, ours alone where no row of
the table has a peer.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from lowfold.methods.registry import BY_NAME

POINTS = """
import warnings
import numpy as np
warnings.simplefilter("ignore")
P = np.random.default_rng(0).random((1000, 2))
X = np.column_stack([np.cos(3 * P[:, 0]), np.sin(3 * P[:, 0]), 2 * P[:, 1]])
"""
LLE = "from sklearn.manifold import LocallyLinearEmbedding as LLE\nLLE(n_neighbors=10, method={!r}).fit(X)\n"
OURS = "import lowfold\nlowfold.{}(2).fit({})\n"
# What a method is given that takes no rows of numbers as they come.
GIVEN = {
    "NMF": "X - X.min(axis=0)",
    "SupervisedLLE": "X, (P[:, 0] > 0.5).astype(int)",
    "WeightedMDS": "np.linalg.norm(X[:200, None] - X[:200], axis=2) * np.array([1.0, 2.0])[:, None, None]",
    "ReplicatedMDS": "np.linalg.norm(X[:200, None] - X[:200], axis=2) * np.array([1.0, 2.0])[:, None, None]",
}
THEIRS = {
    "PCA": "from sklearn.decomposition import PCA\nPCA(2).fit(X)\n",
    "KernelPCA": "from sklearn.decomposition import KernelPCA\nKernelPCA(2, kernel='rbf').fit(X)\n",
    "ClassicalMDS": None,
    "Isomap": "from sklearn.manifold import Isomap\nIsomap(n_neighbors=10).fit(X)\n",
    "LLE": LLE.format("standard"),
    "LTSA": LLE.format("ltsa"),
    "HessianLLE": LLE.format("hessian"),
    "LaplacianEigenmaps": "from sklearn.manifold import SpectralEmbedding\nSpectralEmbedding(n_neighbors=10).fit(X)\n",
    "DiffusionMaps": None,
    "TSNE": "from sklearn.manifold import TSNE\nTSNE().fit(X)\n",
}


def seconds(code: str, cache: str) -> float:
    """Processor time of a new interpreter, all its threads."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", POINTS + code], check=True, env={**environment, "LOWFOLD_CACHE": cache})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3, help="runs of each, of which the least counts")
    parser.add_argument("--all", action="store_true", help="every method, not ten of them")
    asked = parser.parse_args()
    times = asked.times
    print(f"{'method':20} {'cold':>6} {'warm':>6} {'scikit-learn':>13} {'ratio':>6}")
    for name in BY_NAME if asked.all else THEIRS:
        theirs = THEIRS.get(name)
        with tempfile.TemporaryDirectory() as cache:
            ours = OURS.format(name, GIVEN.get(name, "X"))
            seconds(ours, cache + "/first")  # modules are compiled and files read
            cold = min(seconds(ours, f"{cache}/{i}") for i in range(times))
            warm = min(seconds(ours, cache + "/first") for _ in range(times))
            peer = min(seconds(theirs, cache) for _ in range(times + 1)) if theirs else None
        told = "" if peer is None else f"{peer:13.2f} {peer / warm:5.1f}x"
        print(f"{name:20} {cold:6.2f} {warm:6.2f} {told}", flush=True)


if __name__ == "__main__":
    main()
