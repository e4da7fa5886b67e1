"""What is installed, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from lowfold._core.config import get_config
from lowfold._core.memory import pretty_bytes
from lowfold._core.parallel import cores
from lowfold._version import __version__

CORE = ("lowfold", "numpy", "scipy", "scikit-learn", "numba", "typer", "rich")
EXTRAS = (
    "matplotlib",
    "pandas",
    "pyarrow",
    "pillow",
    "spectral",
    "PyWavelets",
    "faiss-cpu",
    "pyamg",
    "clarabel",
    "openTSNE",
    "dask",
    "zarr",
    "anndata",
    "networkx",
    "umap-learn",
    "pacmap",
    "scikit-dimension",
)


def versions() -> dict[str, str]:
    """Name -> version of Python and of every package lowfold can use; "not installed" where it is missing."""
    # lowfold's own from the sources: an editable install keeps the number it was installed with
    found = {"python": platform.python_version(), "platform": platform.platform(), "lowfold": __version__}
    for name in (*CORE[1:], *EXTRAS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def show_versions() -> None:
    """Write versions, cores and memory budget to standard output."""
    lines = [f"{name:14s} {value}" for name, value in versions().items()]
    lines.append(f"{'cores':14s} {cores()}")
    lines.append(f"{'memory budget':14s} {pretty_bytes(get_config().memory)}")
    sys.stdout.write("\n".join(lines) + "\n")
