"""The publications of every method as BibTeX: `lowfold cite isomap`, `lowfold.cite("Isomap")`, `model.cite()`.

The entries stand in `publications.bib`; here is which method rests on which. Of a method that is not listed the
registry's own line is made an entry.
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
    "RobustPCA": ("croux2005", "kwak2008", "candes2011"),
    "MultilinearPCA": ("lu2008",),
    "RandomProjection": ("johnson1984", "achlioptas2003"),
    "LPP": ("he2003",),
    "KernelLPP": ("he2003",),
    "NPE": ("he2005",),
    "LinearLTSA": ("zhang2007",),
    "ICA": ("hyvarinen2000",),
    "NMF": ("lee1999",),
    "SparsePCA": ("zou2006",),
    "KernelPCA": ("schoelkopf1998",),
    "NonlinearPCA": ("vidal2016",),
    "ClassicalMDS": ("torgerson1952", "gower1966"),
    "MetricMDS": ("kruskal1964", "deleeuw1977"),
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
    "SNE": ("hinton2002",),
    "SymmetricSNE": ("cook2007",),
    "TSNE": ("vandermaaten2008", "policar2024"),
    "SpectralClustering": ("shi2000",),
}


def cite(method: Any) -> str:
    """BibTeX of the publications that a method rests on; a name, a class or a model.

    >>> print(cite("LPP"))
    @inproceedings{he2003,
      author = {He, Xiaofei and Niyogi, Partha},
      title = {Locality preserving projections},
      booktitle = {Advances in Neural Information Processing Systems 16},
      pages = {153-160},
      year = {2003}
    }
    """
    name = method if isinstance(method, str) else getattr(method, "__name__", type(method).__name__)
    if name not in BY_NAME:
        raise InvalidInput(f"there is no method {name!r}; there are {', '.join(BY_NAME)}")
    if name not in CITED:
        return _from_registry(BY_NAME[name])
    found = entries()
    return "\n\n".join(found[key] for key in CITED[name])


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
