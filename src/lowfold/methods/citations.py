"""The publications of every method as BibTeX: `lowfold cite isomap`, `lowfold.cite("Isomap")`, `model.cite()`.

The entries stand in `publications.bib`; here is which method rests on which, and which option on what else: a model
cites what it was asked to do. Of a method that is not listed the registry's own line is made an entry.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.methods.registry import BY_NAME, Entry

CITED: dict[str, tuple[str, ...]] = {
    "PCA": ("pearson1901", "hotelling1933"),
    "EMPCA": ("roweis1998", "tipping1999"),
    "RobustPCA": ("croux2005", "hubert2005", "kwak2008", "locantore1999", "candes2011"),
    "MultilinearPCA": ("lu2008",),
    "RandomProjection": ("johnson1984", "achlioptas2003"),
    "LPP": ("he2003",),
    "KernelLPP": ("he2003",),
    "NPE": ("he2005",),
    "LinearLTSA": ("zhang2007",),
    "ICA": ("hyvarinen2000", "lee1999infomax", "learnedmiller2003"),
    "NMF": ("lee1999",),
    "SparsePCA": ("zou2006",),
    "KernelPCA": ("schoelkopf1998",),
    "NonlinearPCA": ("vidal2016",),
    "ClassicalMDS": ("torgerson1952", "gower1966"),
    "MetricMDS": ("kruskal1964", "deleeuw1977", "borg2005"),
    "NonmetricMDS": ("shepard1962", "kruskal1964b"),
    "WeightedMDS": ("carroll1970",),
    "ReplicatedMDS": ("borg2005", "wang2012"),
    "Isomap": ("tenenbaum2000",),
    "LandmarkIsomap": ("desilva2003",),
    "ConformalIsomap": ("desilva2003",),
    "KernelIsomap": ("choi2007",),
    "LocallyLinearIsomap": ("saxena2004",),
    "LLE": ("roweis2000",),
    "ModifiedLLE": ("zhang2007mlle",),
    "SupervisedLLE": ("wang2012",),
    "LTSA": ("zhang2004",),
    "HessianLLE": ("donoho2003",),
    "LaplacianEigenmaps": ("belkin2003",),
    "DiffusionMaps": ("coifman2006",),
    "VectorDiffusionMaps": ("singer2012",),
    "MVU": ("weinberger2006",),
    "LandmarkMVU": ("weinberger2005",),
    "SNE": ("hinton2002", "vladymyrov2012"),
    "SymmetricSNE": ("cook2007", "vandermaaten2008", "vladymyrov2012"),
    "TSNE": ("vandermaaten2008", "policar2024"),
    "SpectralClustering": ("shi2000", "ng2001", "vonluxburg2007"),
}

INDEPENDENT = ("select", "independent", ("dsilva2018", "blau2017"))
GEODESIC = (
    ("landmarks", ..., ("desilva2003",)),
    ("conformal", True, ("desilva2003",)),
    ("shift", ..., ("choi2007", "wang2012")),
)
# Method -> (parameter, the value that rests on more or ... for any but the default, what it rests on).
OPTIONS: dict[str, tuple[tuple[str, Any, tuple[str, ...]], ...]] = {
    "DiffusionMaps": (
        ("weights", "self_tuning", ("zelnik2004",)),
        ("weights", "variable", ("berry2016",)),
        ("target", ..., ("banisch2020",)),
        ("scale", "slope", ("coifman2008",)),
        INDEPENDENT,
    ),
    "Isomap": GEODESIC,
    "ConformalIsomap": GEODESIC[2:],
    "KernelIsomap": GEODESIC[:2],
    "LandmarkIsomap": GEODESIC[2:],
    "LocallyLinearIsomap": GEODESIC,
    "LLE": (INDEPENDENT,),
    "LaplacianEigenmaps": (INDEPENDENT,),
    "MetricMDS": (("weights", "sammon", ("sammon1969",)),),
    "ModifiedLLE": (INDEPENDENT,),
    "RandomProjection": (("density", ..., ("li2006",)),),
    "SpectralClustering": (
        ("assign_labels", "discretize", ("yu2003",)),
        ("assign_labels", "cluster_qr", ("damle2019",)),
    ),
    "TSNE": (("method", "fft", ("linderman2019",)),),
}


def cite(method: Any) -> str:
    """BibTeX of the publications that a method rests on; a name, a class or a model, which adds those of its options.

    >>> print(cite("LPP"))
    @inproceedings{he2003,
      author = {He, Xiaofei and Niyogi, Partha},
      title = {Locality preserving projections},
      booktitle = {Advances in Neural Information Processing Systems 16},
      pages = {153--160},
      year = {2003}
    }
    """
    name = method if isinstance(method, str) else getattr(method, "__name__", type(method).__name__)
    if name not in BY_NAME:
        raise InvalidInput(f"there is no method {name!r}; there are {', '.join(BY_NAME)}")
    if name not in CITED:
        return _from_registry(BY_NAME[name])
    found = entries()
    return "\n\n".join(found[key] for key in dict.fromkeys([*CITED[name], *_of_options(name, method)]))


def _of_options(name: str, model: Any) -> list[str]:
    """Keys for what a model was asked to do beyond its defaults; of a name or a class none."""
    if isinstance(model, str | type):
        return []
    given, usual = model.get_params(deep=False), type(model)().get_params(deep=False)

    def meant(parameter: str, value: Any) -> bool:
        one = given.get(parameter)
        return one is not usual.get(parameter) if value is ... else isinstance(one, type(value)) and one == value

    return [key for parameter, value, keys in OPTIONS.get(name, ()) if meant(parameter, value) for key in keys]


def _from_registry(entry: Entry) -> str:
    doi = re.search(r"doi:(\S+?)(?=[;,]?(?:\s|$))", entry.citation)
    year = re.search(r"\b(?:19|20)\d\d\b", entry.citation)
    fields = {"note": entry.citation, "year": year and year[0], "doi": doi and doi[1]}
    body = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items() if value)
    return f"@misc{{{entry.module},\n{body}\n}}"


def entries() -> dict[str, str]:
    """Key -> entry of `publications.bib`; entries begin at the start of a line and end in a line of one brace."""
    text = files("lowfold.methods").joinpath("publications.bib").read_text(encoding="utf-8")
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    return {part[part.index("{") + 1 : part.index(",")]: part for part in parts}
