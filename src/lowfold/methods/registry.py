"""Every method, one row each: the literal table that names, loads, tests and documents them.

Nothing is imported here; `lowfold.__getattr__`, the command line, README's table and the contract test read it.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One method.

    name      the class, as in `lowfold.Isomap`
    module    the file under `lowfold.methods`
    family    linear, MDS, kernel, spectral, semidefinite, neighbour embedding, clustering
    line      what it preserves, in one line
    inputs    points (rows), distances (precomputed matrices), graph (a ready Graph or Neighbors)
    vectors   which eigenvectors give the answer
    extra     optional dependency it needs, or ""
    citation  author, year, DOI
    """

    name: str
    module: str
    family: str
    line: str
    inputs: tuple[str, ...]
    vectors: str
    extra: str
    citation: str


REGISTRY: tuple[Entry, ...] = (
    Entry(
        "PCA",
        "pca",
        "linear",
        "variance: the best linear projection",
        ("points",),
        "top d of the covariance",
        "",
        "Pearson 1901, doi:10.1080/14786440109462720",
    ),
    Entry(
        "EMPCA",
        "empca",
        "linear",
        "variance, with a density and with missing values",
        ("points",),
        "axes of the fitted factor model",
        "",
        "Roweis 1998; Tipping & Bishop 1999, doi:10.1111/1467-9868.00196",
    ),
    Entry(
        "ClassicalMDS",
        "classical_mds",
        "MDS",
        "given dissimilarities, in the sense of strain",
        ("points", "distances"),
        "top d of the centred Gram matrix",
        "",
        "Torgerson 1952, doi:10.1007/BF02288916",
    ),
    Entry(
        "Isomap",
        "isomap",
        "spectral",
        "geodesic distances along the manifold",
        ("points", "distances", "graph"),
        "top d of the centred Gram matrix of geodesics",
        "",
        "Tenenbaum, de Silva & Langford 2000, doi:10.1126/science.290.5500.2319",
    ),
    Entry(
        "LaplacianEigenmaps",
        "laplacian_eigenmaps",
        "spectral",
        "nearness: the smoothest functions on the graph",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of the graph Laplacian",
        "",
        "Belkin & Niyogi 2003, doi:10.1162/089976603321780317",
    ),
    Entry(
        "DiffusionMaps",
        "diffusion_maps",
        "spectral",
        "diffusion distances: how differently walks spread",
        ("points", "distances", "graph"),
        "2..d+1 from the top of the Markov matrix",
        "",
        "Coifman & Lafon 2006, doi:10.1016/j.acha.2006.04.006",
    ),
)

BY_NAME: dict[str, Entry] = {entry.name: entry for entry in REGISTRY}
