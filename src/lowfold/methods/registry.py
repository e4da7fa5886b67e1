"""Every method, one row each: the literal table that names, loads, tests and documents them.

No method is imported here; `lowfold.__getattr__`, the command line, the documentation and the contract test read it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from lowfold._core.errors import InvalidInput
from lowfold._core.names import find_name, plain
from lowfold.methods._elsewhere import ALSO_KNOWN_AS, NOT_HERE


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
        "RobustPCA",
        "robust_pca",
        "linear",
        "variance, outliers not counted",
        ("points",),
        "top d by robust scale, by L1 norm, of the covariance of signs, or of the low-rank part",
        "",
        "Croux & Ruiz-Gazen 2005, doi:10.1016/j.jmva.2004.08.002; Kwak 2008, doi:10.1109/TPAMI.2008.114; Candes, Li, "
        "Ma & Wright 2011, doi:10.1145/1970392.1970395",
    ),
    Entry(
        "MultilinearPCA",
        "multilinear_pca",
        "linear",
        "variance of images and cubes, axis by axis",
        ("points",),
        "top d of the covariance of the projected arrays",
        "",
        "Lu, Plataniotis & Venetsanopoulos 2008, doi:10.1109/TNN.2007.901277",
    ),
    Entry(
        "RandomProjection",
        "random_projection",
        "linear",
        "all distances within a factor 1 +- eps, data unseen",
        ("points",),
        "none: random directions",
        "",
        "Johnson & Lindenstrauss 1984; Achlioptas 2003, doi:10.1016/S0022-0000(03)00025-4",
    ),
    Entry(
        "LPP",
        "lpp",
        "linear",
        "nearness, by a linear map",
        ("points",),
        "bottom d of X'LX against X'DX",
        "",
        "He & Niyogi 2003",
    ),
    Entry(
        "KernelLPP",
        "kernel_lpp",
        "linear",
        "nearness, by a linear map in the feature space of a kernel",
        ("points",),
        "bottom d of KLK against KDK",
        "",
        "He & Niyogi 2003",
    ),
    Entry(
        "NPE",
        "npe",
        "linear",
        "reconstruction by neighbours, by a linear map",
        ("points",),
        "bottom d of X'(I - W)'(I - W)X against X'X",
        "",
        "He, Cai, Yan & Zhang 2005, doi:10.1109/ICCV.2005.167",
    ),
    Entry(
        "LinearLTSA",
        "linear_ltsa",
        "linear",
        "local tangent coordinates, by a linear map",
        ("points",),
        "bottom d of X'KX against X'X",
        "",
        "Zhang, Yang, Zhao & Ge 2007, doi:10.1016/j.neucom.2006.11.007",
    ),
    Entry(
        "ICA",
        "ica",
        "linear",
        "independence of the coordinates",
        ("points",),
        "a rotation of the whitened data",
        "",
        "Hyvaerinen & Oja 2000, doi:10.1016/S0893-6080(00)00026-5",
    ),
    Entry(
        "NMF",
        "nmf",
        "linear",
        "sums of nonnegative parts",
        ("points",),
        "none: alternating least squares",
        "",
        "Lee & Seung 1999, doi:10.1038/44565",
    ),
    Entry(
        "SparsePCA",
        "sparse_pca",
        "linear",
        "variance, with few loadings",
        ("points",),
        "none: penalised least squares",
        "",
        "Zou, Hastie & Tibshirani 2006, doi:10.1198/106186006X113430",
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
        "NonlinearPCA",
        "nonlinear_pca",
        "kernel",
        "variance of explicit features, Veronese included",
        ("points",),
        "top d of the covariance of the features",
        "",
        "Vidal, Ma & Sastry 2016, doi:10.1007/978-0-387-87811-9",
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
        "WeightedMDS",
        "weighted_mds",
        "MDS",
        "several matrices of dissimilarities by one space with weights of its axes",
        ("matrices",),
        "none: alternating least squares",
        "",
        "Carroll & Chang 1970, doi:10.1007/BF02310791",
    ),
    Entry(
        "ReplicatedMDS",
        "replicated_mds",
        "MDS",
        "several matrices of dissimilarities by one configuration per group",
        ("matrices",),
        "as the method it is run with",
        "",
        "Borg & Groenen 2005, doi:10.1007/0-387-28981-X",
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
        "LocallyLinearIsomap",
        "locally_linear_isomap",
        "spectral",
        "geodesic distances among neighbours that span the tangent plane",
        ("points",),
        "top d of the centred Gram matrix of geodesics",
        "",
        "Saxena, Gupta & Mukerjee 2004, doi:10.1007/978-3-540-30499-9_161",
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
        "VectorDiffusionMaps",
        "vector_diffusion_maps",
        "spectral",
        "how vectors turn when carried along paths",
        ("points",),
        "top of the connection Laplacian's averaging matrix",
        "",
        "Singer & Wu 2012, doi:10.1002/cpa.21395",
    ),
    Entry(
        "MVU",
        "mvu",
        "semidefinite",
        "local distances and angles, at the largest variance",
        ("points", "distances", "graph"),
        "top d of the learned kernel",
        "",
        "Weinberger & Saul 2006, doi:10.1007/s11263-005-4939-z",
    ),
    Entry(
        "LandmarkMVU",
        "landmark_mvu",
        "semidefinite",
        "local distances around landmarks, at the largest variance; other points follow by fixed weights",
        ("points", "distances"),
        "top d of the landmarks' kernel",
        "",
        "Weinberger, Packer & Saul 2005, AISTATS",
    ),
    Entry(
        "SNE",
        "sne",
        "neighbour embedding",
        "each point's probabilities of its neighbours",
        ("points", "distances"),
        "none: gradient descent",
        "",
        "Hinton & Roweis 2002, Advances in Neural Information Processing Systems 15",
    ),
    Entry(
        "SymmetricSNE",
        "symmetric_sne",
        "neighbour embedding",
        "joint probabilities of pairs, with Gaussian tails",
        ("points", "distances"),
        "none: gradient descent",
        "",
        "Cook et al. 2007",
    ),
    Entry(
        "TSNE",
        "tsne",
        "neighbour embedding",
        "joint probabilities of pairs, with heavy tails",
        ("points", "distances"),
        "none: gradient descent",
        "",
        "van der Maaten & Hinton 2008; Poličar et al. 2024, doi:10.18637/jss.v109.i03",
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
)

BY_NAME: dict[str, Entry] = {entry.name: entry for entry in REGISTRY}


def find(name: str) -> Entry:
    """The row of a method, by its name or another that people know it by, in any case, with or without dashes.

    `InvalidInput` where there is none.

    >>> find("laplacian-eigenmaps").name, find("hlle").name
    ('LaplacianEigenmaps', 'HessianLLE')
    """
    others = {plain(other): name for name, names in ALSO_KNOWN_AS.items() for other in names}
    if plain(name) in map(plain, NOT_HERE):
        raise InvalidInput(
            f"lowfold has no {name}; `lowfold.compare` takes any estimator with fit_transform and measures it beside "
            "lowfold's own, TSNE and LaplacianEigenmaps are near to it"
        )
    return BY_NAME[others.get(plain(name)) or find_name(name, BY_NAME, "method")]


def load(name: str) -> Any:
    """The class of a method, by any name that `find` takes; this loads scikit-learn."""
    entry = find(name)
    return getattr(importlib.import_module(f"lowfold.methods.{entry.module}"), entry.name)


def entry_of(method: object) -> Entry:
    """The row of a class, a model, or what inherits from one; `InvalidInput` where it is none of lowfold's."""
    cls = method if isinstance(method, type) else type(method)
    found = _row(cls)
    if found is None:
        raise InvalidInput(f"method must be a name, a class or a model of lowfold; got {cls.__name__}")
    return found


def is_method(model: object) -> bool:
    """Whether a model is one of lowfold's."""
    return _row(type(model)) is not None


def _row(cls: type) -> Entry | None:
    rows = (BY_NAME.get(base.__name__) for base in cls.__mro__ if base.__module__.startswith("lowfold.methods."))
    return next((row for row in rows if row is not None), None)


def model_of(method: Any, params: Mapping[str, Any]) -> Any:
    """A model, not fitted, from a name, a class or a model, with these parameters."""
    if isinstance(method, str):
        method = load(method)
    name = entry_of(method).name
    cls: Any = method if isinstance(method, type) else type(method)
    for key in params:
        if key not in cls._get_param_names():
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(cls._get_param_names())}")
    return cls(**params) if isinstance(method, type) else cls(**{**method.get_params(deep=False), **params})
