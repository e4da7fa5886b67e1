"""Methods of other packages that take part in a comparison when those are installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowfold._core.extras import load_extra


@dataclass(frozen=True)
class External:
    """A method that lowfold does not have itself.

    name      as it is shown
    module    where its class is; the package is loaded by the process that runs it
    family    as in the registry
    line      what it preserves
    citation  author, year, DOI
    parameters  names of its own that `compare` may set, out of n_components, n_neighbors, metric, random_state
    """

    name: str
    module: str
    family: str
    line: str
    citation: str
    parameters: tuple[str, ...]

    def build(self, params: dict[str, Any]) -> Any:
        """The estimator, with scikit-learn's `fit_transform`."""
        package = load_extra(self.module, "compare", f"{self.name} in a comparison")
        return getattr(package, self.name)(**params)


EXTERNAL: dict[str, External] = {
    entry.name: entry
    for entry in (
        External(
            "UMAP",
            "umap",
            "neighbour embedding",
            "a fuzzy graph of neighbours",
            "McInnes, Healy & Melville 2018, doi:10.48550/arXiv.1802.03426",
            ("n_components", "n_neighbors", "metric", "random_state"),
        ),
        External(
            "PaCMAP",
            "pacmap",
            "neighbour embedding",
            "near, middle and far pairs",
            "Wang, Huang, Rudin & Shaposhnik 2021, jmlr.org/papers/v22/20-1061.html",
            ("n_components", "n_neighbors", "random_state"),
        ),
    )
}
