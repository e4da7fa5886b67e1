"""Each method's own objective, for any embedding: how far is this picture from what the method would call best?

The operators come from the method's own stages: it is fitted to X, or given fitted, and its kernel is rebuilt. Methods
that descend are only asked for their loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.types import Floats
from lowfold.methods.registry import load
from lowfold.quality import _losses as losses
from lowfold.quality._loss_formulas import LossValue
from lowfold.quality._losses import Case, Loss
from lowfold.quality._score import Score
from lowfold.quality._spaces import read_coordinates, same_length


@dataclass(frozen=True, eq=False)
class Objective(Score):
    """A method's objective at one embedding; smaller is better.

    value    the objective at Y
    perfect  the least value there is (`least` "global"), the method's own ("linear"), or 0, which bounds it ("local")
    points   (n,) the share of every point, or its own error; None where there is none
    method   the class that lowers it
    what     the formula in words
    least    over what the method's own embedding is the least: "global" all embeddings of as many columns, "linear"
             linear maps of the data (of its features), "local" embeddings nearby
    own      the value at the method's own embedding; None for a method that was not fitted, or whose embedding has too
             few directions
    parts    named parts of the value
    """

    method: str = ""
    what: str = ""
    least: str = "global"
    own: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Entry:
    """How to make the loss, what it is in words, over what the own embedding is the least, whether a fit is needed."""

    make: Callable[[Case], Loss]
    what: str
    least: str = "global"
    fit: bool = True


def objective(X: Any, Y: ArrayLike, method: Any, *, scaled: bool = False, **params: Any) -> Objective:
    """What `method` lowers, at the embedding Y of X, whichever way Y was made.

    Parameters
    ----------
    X : the data, as the method takes them; None for a fitted model that keeps them.
    Y : array (n, d), any embedding.
    method : name of a method ("LLE"), its class, or a model; a model that is fitted is not fitted again.
    scaled : bool, where the objective has a unit of length (strain, stress, springs, divergences), take the unit of Y
        that suits it best, for embeddings whose unit means nothing.
    **params : parameters of the method, where `method` is a name or a class; n_components is the width of Y.

    Returns
    -------
    Objective
        For spectral methods `perfect` is the least value that any embedding of d columns can have, and `own` equals
        it up to the solver.

    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(900, random_state=0)
    >>> flat, folded = roll.coordinates, lowfold.PCA(2).fit_transform(roll.X)
    >>> objective(roll.X, flat, "LTSA").value < objective(roll.X, folded, "LTSA").value
    True
    >>> objective(roll.X, flat, "PCA").value > objective(roll.X, folded, "PCA").value
    True
    """
    check_limits("objective", {"scaled": scaled}, {"scaled": (Flag(),)})
    image = np.asarray(read_coordinates(Y, "Y").X, dtype=np.float64)
    model = _model(method, image.shape[1], params)
    name = type(model).__name__
    if name in NONE:
        raise InvalidInput(f"{name} has no objective for a given embedding: {NONE[name]}")
    if name not in TABLE:
        raise InvalidInput(f"{name} is no method of lowfold with a known objective; there are {', '.join(TABLE)}")
    entry = TABLE[name]
    if entry.fit and not hasattr(model, "embedding_"):
        if X is None:
            raise InvalidInput(f"X must be given: this {name} is not fitted")
        model = model.fit(X)
    case = Case(model, X, bool(scaled))
    if case.fitted:
        _same_shape(model, image)
    with single_threaded_blas():
        loss = entry.make(case)
        found = loss(image)
        own = _own(loss, model) if case.fitted else None
    least = _least(entry, own)
    return Objective(
        f"{name}'s objective",
        found.value,
        least,
        found.points,
        method=name,
        what=entry.what,
        least=entry.least,
        own=None if own is None else own.value,
        parts=MappingProxyType(dict(found.parts)),
    )


def _own(loss: Loss, model: Any) -> LossValue | None:
    """The loss of the model's own embedding; None where that has too few directions to be judged."""
    try:
        return loss(np.asarray(model._trained.coordinates, dtype=np.float64))
    except InvalidInput:
        return None


def _least(entry: _Entry, own: LossValue | None) -> float:
    if entry.least == "local":
        return 0.0
    if own is None:
        return float("nan")
    bound = dict(own.parts).get("bound")
    return own.value if bound is None else bound


def _model(method: Any, d: int, params: dict[str, Any]) -> Any:
    """An estimator from a name, a class or an estimator."""
    if isinstance(method, str):
        method = load(method)
    if not isinstance(method, type):
        if params:
            raise InvalidInput(f"{', '.join(params)}: parameters go with a name or a class; this is a model already")
        return method
    width = "n_clusters" if method.__name__ == "SpectralClustering" else "n_components"
    if params.get(width, d) != d:
        raise InvalidInput(f"{width} must be the number of columns of Y, {d}; got {params[width]!r}")
    return method(**{**params, width: d})


def _same_shape(model: Any, Y: Floats) -> None:
    n, d = model._trained.coordinates.shape
    if n == 0:
        raise InvalidInput("this model keeps no embedding of its data (it was fitted in blocks); fit it to X whole")
    same_length(n, len(Y), "the model's data and Y")
    if d != Y.shape[1]:
        raise InvalidInput(f"Y has {Y.shape[1]} columns and the model {d}; fit the model with as many")
    labels = getattr(model, "component_labels_", None)
    apart = getattr(model, "on_disconnected", None) in ("largest", "separate")
    if labels is not None and apart and labels.max(initial=0) > 0:
        raise InvalidInput("the pieces of this model were embedded one by one; fit with on_disconnected='connect'")


VARIANCE = "share of the variance of X that no linear map of Y explains, ||X - Yc B||^2 / ||Xc||^2"
STRAIN = "strain ||G - Yc Yc'|| / ||G||, G = -1/2 H (D o D) H"
ALIGN = "tr(Y'KY), Y'Y = I, Y'1 = 0"
SMOOTH = "tr(Y'LY), Y'DY = I, Y'D1 = 0"

TABLE: dict[str, _Entry] = {
    "PCA": _Entry(losses.principal, VARIANCE),
    "EMPCA": _Entry(losses.principal, VARIANCE),
    "MultilinearPCA": _Entry(losses.principal, VARIANCE, "linear"),
    "LPP": _Entry(losses.smooth, SMOOTH, "linear"),
    "KernelLPP": _Entry(losses.smooth, SMOOTH, "linear"),
    "NPE": _Entry(losses.alignment, ALIGN + ", K = (I - W)'(I - W)", "linear"),
    "LinearLTSA": _Entry(losses.alignment, ALIGN + " with the alignment kernel of LTSA", "linear"),
    "ICA": _Entry(losses.independent, "sum of the entropies of the columns of Y, whitened, in nats", "linear"),
    "NMF": _Entry(losses.nonnegative, "min over H >= 0 of ||X - YH|| / ||X||", "local"),
    "KernelPCA": _Entry(
        losses.kernel_variance, "share of the variance of the kernel's features that Y does not explain"
    ),
    "NonlinearPCA": _Entry(losses.features, "share of the variance of the features that Y does not explain"),
    "ClassicalMDS": _Entry(losses.strain, STRAIN),
    "MetricMDS": _Entry(losses.stress, "stress, sqrt(sum w (delta - d)^2 / sum w delta^2)", "local", fit=False),
    "NonmetricMDS": _Entry(losses.ordinal, "stress-1, sqrt(sum (d - dhat)^2 / sum d^2)", "local", fit=False),
    "WeightedMDS": _Entry(losses.weighted, "min over w of sum_k ||B_k - Y diag(w_k) Y'||^2 / sum_k ||B_k||^2", "local"),
    "ReplicatedMDS": _Entry(losses.replicated, "the objective of the MDS it uses, of the merged matrix", "local"),
    "Isomap": _Entry(losses.strain, STRAIN + " of geodesic distances"),
    "LandmarkIsomap": _Entry(losses.strain, STRAIN + " of geodesic distances among the landmarks"),
    "ConformalIsomap": _Entry(losses.strain, STRAIN + " of geodesic distances in units of the local spacing"),
    "KernelIsomap": _Entry(losses.strain, STRAIN + " of geodesic distances plus the constant"),
    "LocallyLinearIsomap": _Entry(losses.strain, STRAIN + " of geodesic distances"),
    "LLE": _Entry(losses.alignment, ALIGN + ", K = (I - W)'(I - W)"),
    "ModifiedLLE": _Entry(losses.alignment, ALIGN),
    "SupervisedLLE": _Entry(losses.alignment, ALIGN + ", K = (I - W)'(I - W)"),
    "LTSA": _Entry(losses.alignment, ALIGN),
    "HessianLLE": _Entry(losses.alignment, ALIGN),
    "LaplacianEigenmaps": _Entry(losses.harmonic, SMOOTH + " (or the constraint of its Laplacian)"),
    "DiffusionMaps": _Entry(losses.diffusion, "share of the variance of t-step probabilities that Y does not explain"),
    "MVU": _Entry(
        losses.unfolding, "(nu sum (d^2 - s)^2 - tr K) / n in units of the mean s; least over all dimensions"
    ),
    "SNE": _Entry(losses.divergence, "sum_i KL(P_i || Q_i)", "local", fit=False),
    "SymmetricSNE": _Entry(losses.divergence, "KL(P || Q)", "local", fit=False),
    "TSNE": _Entry(losses.divergence, "KL(P || Q)", "local", fit=False),
    "SpectralClustering": _Entry(losses.cut, "the relaxed cut tr(Y'LY), Y'DY = I, the constant included"),
}

NONE: dict[str, str] = {
    "RobustPCA": "it weighs the entries or directions of X, of which an embedding keeps no trace; use PCA's",
    "SparsePCA": "it penalises loadings, which an embedding does not have; use PCA's",
    "RandomProjection": "it draws its directions and lowers nothing; use quality.stress for what it promises",
    "VectorDiffusionMaps": "its coordinates are products of vector fields, which an embedding does not determine",
    "LandmarkMVU": "its points follow the landmarks by fixed weights, other embeddings do not; use MVU's",
}
