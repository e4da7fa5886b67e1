"""Write the table of methods into README.md, between its two markers, from the registry.

python tools/readme_table.py           # rewrite README.md
python tools/readme_table.py --check   # only say whether it is up to date
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

import lowfold
from lowfold.methods.registry import Entry

README = Path(__file__).resolve().parent.parent / "README.md"
START, END = "<!-- methods: start -->", "<!-- methods: end -->"
HEADER = ("method", "family", "preserves", "parameters", "inputs", "eigenvectors kept", "new points", "inverse")

# Parameters that nearly every method has; README names them once, above the table.
SHARED = {
    "metric", "metric_params", "n_components", "n_jobs", "normalization", "on_disconnected", "random_state", "search",
    "solver", "symmetrize", "tol", "verbose",
}  # fmt: skip

# How a new point is placed; what is not named here follows from the family.
PLACED = {
    "ClassicalMDS": "row of distances",
    "ConformalIsomap": "geodesics",
    "DiffusionMaps": "row of the kernel",
    "HessianLLE": "affine map of a patch",
    "Isomap": "geodesics",
    "KernelIsomap": "geodesics",
    "KernelLPP": "row of the kernel",
    "LandmarkIsomap": "triangulation",
    "LandmarkMVU": "barycentric weights",
    "LaplacianEigenmaps": "row of the kernel",
    "LLE": "barycentric weights",
    "LTSA": "affine map of a patch",
    "LocallyLinearIsomap": "geodesics",
    "ModifiedLLE": "barycentric weights",
    "MVU": "barycentric weights",
    "NMF": "nonnegative least squares",
    "NonlinearPCA": "feature map",
    "ReplicatedMDS": "row of distances",
    "SpectralClustering": "row of the kernel",
    "SupervisedLLE": "barycentric weights",
    "VectorDiffusionMaps": "row of the kernel",
    "WeightedMDS": "row of distances",
}
# The way back, where it does not follow from the family or from the input.
RESTORED = {"KernelLPP": "barycentric"}
BY_FAMILY = {
    "linear": "linear map",
    "MDS": "descent over its row",
    "kernel": "row of the kernel",
    "neighbour embedding": "descent over its row",
}


def row(entry: Entry) -> tuple[str, ...]:
    """One line of the table."""
    names = [name for name in inspect.signature(getattr(lowfold, entry.name)).parameters if name not in SHARED]
    return (
        f"`{entry.name}`",
        entry.family,
        entry.line,
        ", ".join(f"`{name}`" for name in names) or "-",
        ", ".join(entry.inputs),
        entry.vectors,
        PLACED.get(entry.name, BY_FAMILY.get(entry.family, "-")),
        RESTORED.get(entry.name, _way_back(entry)),
    )


def _way_back(entry: Entry) -> str:
    if "points" not in entry.inputs and "tensors" not in entry.inputs:
        return "-"
    return "linear map" if entry.family == "linear" else "barycentric"


def table() -> str:
    """The whole table as Markdown."""
    lines = [HEADER, tuple("---" for _ in HEADER), *(row(entry) for entry in lowfold.REGISTRY)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def replaced(text: str) -> str:
    """The README with the table of now between its markers."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        sys.exit(f"README.md has no {START} ... {END}")
    return f"{before}{START}\n{table()}\n{END}{after}"


def main() -> None:
    """Rewrite or check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether README.md is up to date")
    given = parser.parse_args()
    old = README.read_text(encoding="utf-8")
    new = replaced(old)
    if given.check:
        sys.exit(0 if new == old else "README.md is behind the registry; run: python tools/readme_table.py")
    README.write_text(new, encoding="utf-8")
    print(f"{README.name}: {len(lowfold.REGISTRY)} methods")


if __name__ == "__main__":
    main()
