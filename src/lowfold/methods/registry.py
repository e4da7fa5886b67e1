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
        "KernelPCA",
        "kernel_pca",
        "kernel",
        "variance in the feature space of a kernel",
        ("points",),
        "top d of the centred kernel matrix",
        "",
        "Schoelkopf, Smola & Mueller 1998, doi:10.1162/089976698300017467",
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
    Entry(
        "SpectralClustering",
        "spectral_clustering",
        "clustering",
        "clusters: the sparsest cuts of the graph",
        ("points", "distances", "graph"),
        "1..k from the bottom of the graph Laplacian",
        "",
        "Shi & Malik 2000, doi:10.1109/34.868688",
    ),
    Entry(
        "KernelIsomap",
        "kernel_isomap",
        "spectral",
        "geodesic distances plus the constant that makes them Euclidean",
        ("points", "distances", "graph"),
        "top d of the shifted Gram matrix of geodesics",
        "",
        "Choi & Choi 2007, doi:10.1016/j.patcog.2006.04.025",
    ),
    Entry(
        "LandmarkIsomap",
        "landmark_isomap",
        "spectral",
        "geodesic distances to a few landmarks",
        ("points", "distances", "graph"),
        "top d of the landmarks' centred Gram matrix",
        "",
        "de Silva & Tenenbaum 2003, doi:10.5555/2968618.2968708",
    ),
    Entry(
        "ConformalIsomap",
        "conformal_isomap",
        "spectral",
        "angles: geodesics in units of the local spacing",
        ("points", "distances", "graph"),
        "top d of the centred Gram matrix of geodesics",
        "",
        "de Silva & Tenenbaum 2003, doi:10.5555/2968618.2968708",
    ),
    Entry(
        "MetricMDS",
        "metric_mds",
        "MDS",
        "given dissimilarities, in the sense of stress; weights and missing pairs",
        ("points", "distances", "graph"),
        "none: stress is lowered by majorisation",
        "",
        "de Leeuw 1977; Kruskal 1964, doi:10.1007/BF02289565",
    ),
    Entry(
        "LLE",
        "lle",
        "spectral",
        "every point's affine combination of its neighbours",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of (I - W)'(I - W)",
        "",
        "Roweis & Saul 2000, doi:10.1126/science.290.5500.2323",
    ),
    Entry(
        "ModifiedLLE",
        "modified_lle",
        "spectral",
        "all affine combinations that rebuild a point about equally well",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of the alignment kernel",
        "",
        "Zhang & Wang 2007, Advances in Neural Information Processing Systems 19",
    ),
    Entry(
        "SupervisedLLE",
        "supervised_lle",
        "spectral",
        "affine combinations of neighbours, those of the own class first",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of (I - W)'(I - W)",
        "",
        "Wang 2012, doi:10.1007/978-3-642-27497-8, Section 10.3.3",
    ),
    Entry(
        "LTSA",
        "ltsa",
        "spectral",
        "tangent coordinates of every neighbourhood, up to affine maps",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of the alignment kernel",
        "",
        "Zhang & Zha 2004, doi:10.1137/S1064827502419154",
    ),
    Entry(
        "HessianLLE",
        "hessian_lle",
        "spectral",
        "coordinates without second derivatives along the manifold",
        ("points", "distances", "graph"),
        "2..d+1 from the bottom of the Hessian form",
        "",
        "Donoho & Grimes 2003, doi:10.1073/pnas.1031596100",
    ),
    Entry(
        "NonmetricMDS",
        "nonmetric_mds",
        "MDS",
        "the order of the dissimilarities",
        ("points", "distances", "graph"),
        "none: stress of the best monotone fit is lowered",
        "",
        "Kruskal 1964, doi:10.1007/BF02289694",
    ),
    Entry(
        "LocallyLinearIsomap",
        "locally_linear_isomap",
        "spectral",
        "geodesic distances among neighbours that span the tangent plane",
        ("points",),
        "top d of the centred Gram matrix of geodesics",
        "",
        "Saxena, Gupta & Mukerjee 2004, doi:10.1007/978-3-540-30499-9_161",
    ),
)

BY_NAME: dict[str, Entry] = {entry.name: entry for entry in REGISTRY}
