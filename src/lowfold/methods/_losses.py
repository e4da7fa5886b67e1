"""What methods lower, made from the method itself as a function of any embedding.

A method's fact `loss` is a `Lowered`, whose `make` is one of these functions or stands in the method's own file:
(model, data, scaled) -> (Y -> `LossValue`). Operators are rebuilt once and serve every Y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import CentredGram
from lowfold._core.types import Floats, Ints
from lowfold.graph._weights import laplacian
from lowfold.kernels._gaussian import weigh
from lowfold.lowrank._independent import spacing_entropy
from lowfold.methods._fit import Data
from lowfold.optimize import _loss_formulas as formulas
from lowfold.optimize._loss_formulas import LossValue

Loss = Callable[[Floats], LossValue]

VARIANCE = "share of the variance of X that no linear map of Y explains, ||X - Yc B||^2 / ||Xc||^2"
STRAIN = "strain ||G - Yc Yc'|| / ||G||, G = -1/2 H (D o D) H"
ALIGN = "tr(Y'KY), Y'Y = I, Y'1 = 0"
SMOOTH = "tr(Y'LY), Y'DY = I, Y'D1 = 0"


@dataclass(frozen=True)
class Lowered:
    """What a method lowers.

    make    (model, data, scaled) -> its value at any embedding; `scaled` takes the unit of Y that suits it best
    what    the formula in words; empty where there is none
    least   over what the method's own embedding is the least: all embeddings of as many columns, linear maps of the
            data, or embeddings nearby
    fitted  whether it is made of the fitted model; else the model is only asked for its parameters
    """

    make: Callable[[Any, Data, bool], Loss]
    what: str
    least: Literal["global", "linear", "local"] = "global"
    fitted: bool = True


def no_loss(why: str) -> Lowered:
    """Of a method that lowers nothing which an embedding alone determines."""

    def refuse(model: Any, data: Data, scaled: bool) -> NoReturn:
        raise InvalidInput(f"{type(model).__name__} has no objective for a given embedding: {why}")

    return Lowered(refuse, "", "local", fitted=False)


def _rows(data: Data) -> Floats:
    return np.asarray(data.points().X, dtype=np.float64)


# Linear and kernel methods ----------------------------------------------------------------------------------------


def principal(model: Any, data: Data, scaled: bool) -> Loss:
    """PCA and what shares its loss."""
    X = _rows(data)
    if not np.isfinite(X).all():
        raise InvalidInput("the variance lost needs complete data; X has NaN")
    Xc = X.reshape(len(X), -1) - X.reshape(len(X), -1).mean(axis=0)
    return lambda Y: formulas.variance_lost(Xc, formulas.orthonormal(Y, np.ones(len(Y))))


def features(model: Any, data: Data, scaled: bool) -> Loss:
    """PCA of explicit features."""
    Phi = model._extend.map(data.points().X)
    null = np.ones(len(Phi)) if model.center else None
    Phi = Phi - Phi.mean(axis=0) if model.center else Phi
    return lambda Y: formulas.variance_lost(Phi, formulas.orthonormal(Y, null))


def kernel_variance(model: Any, data: Data, scaled: bool) -> Loss:
    """PCA in the feature space of a kernel."""
    kernel = model._mercer(data)
    K = model._gram_of(data, kernel, model._run())
    if hasattr(K, "matrix") or isinstance(K, CentredGram):
        whole = K.matrix if hasattr(K, "matrix") else K.distances
        diagonal = np.diagonal(whole).astype(np.float64)
    else:
        diagonal = kernel.diagonal(np.subtract(K.X, K.mean, dtype=np.float64))
    if model.center:
        means = K.row_means()
        diagonal = diagonal - 2 * means + means.mean()
    null = np.ones(K.n) if model.center else None
    return lambda Y: formulas.energy_lost(K, diagonal, formulas.orthonormal(Y, null))


def smooth(model: Any, data: Data, scaled: bool) -> Loss:
    """Laplacian with the mass of the degrees: LPP, kernel LPP."""
    W = weigh(model.graph_, model.weights, model.scale_, 0.0)
    root, L = np.sqrt(W.volumes()), laplacian(W)
    S = L.scaled(1.0 / np.where(root > 0, root, 1.0))
    return lambda Y: formulas.quotient(S, formulas.orthonormal(root[:, None] * Y, root))


def nonnegative(model: Any, data: Data, scaled: bool) -> Loss:
    """NMF."""
    X = _rows(data)
    return lambda Y: formulas.nonnegative_loss(X, Y)


def independent(model: Any, data: Data, scaled: bool) -> Loss:
    """ICA: mutual information up to a constant of the data."""

    def loss(Y: Floats) -> LossValue:
        entropies = spacing_entropy(formulas.white(Y).T)
        return LossValue(float(entropies.sum()))

    return loss


# Distance kernels -------------------------------------------------------------------------------------------------


def strain(model: Any, data: Data, scaled: bool) -> Loss:
    """Classical MDS of the model's distances; with landmarks, of theirs."""
    G = model.operator()
    chosen = getattr(model, "landmarks_", None)
    if chosen is None:
        return lambda Y: formulas.strain(G, Y, scaled)
    return lambda Y: _spread(formulas.strain(G, Y[chosen], scaled), chosen, len(Y))


def _spread(found: LossValue, rows: Ints, n: int) -> LossValue:
    """The shares of landmarks among all points, NaN elsewhere."""
    points = np.full(n, np.nan)
    points[rows] = found.points
    return LossValue(found.value, points, found.parts)


def diffusion(model: Any, data: Data, scaled: bool) -> Loss:
    """Diffusion maps."""
    walk, t, chosen = model.walk(), float(model.t), model.landmarks_
    root = np.sqrt(walk.stationary)
    symmetric = model.convention == "symmetric"

    def loss(Y: Floats) -> LossValue:
        part = Y if chosen is None else Y[chosen]
        Q = formulas.orthonormal(part if symmetric else root[:, None] * part, root)
        found = formulas.diffusion_lost(walk.operator, root, Q, t)
        return found if chosen is None else _spread(found, chosen, len(Y))

    return loss


# Alignment kernels ------------------------------------------------------------------------------------------------


def alignment(model: Any, data: Data, scaled: bool) -> Loss:
    """LLE, LTSA, Hessian LLE, and their linear forms."""
    K = model.operator()
    return lambda Y: formulas.quotient(K, formulas.orthonormal(Y, np.ones(len(Y))))


def harmonic(model: Any, data: Data, scaled: bool) -> Loss:
    """Laplacian eigenmaps, with the constraint of its Laplacian."""
    if model.laplacian == "naive":
        raise InvalidInput("the objective of laplacian='naive' is not offered: its trivial vector is not known")
    K = model.operator()
    if model.laplacian == "unnormalized":
        return lambda Y: formulas.quotient(K, formulas.orthonormal(Y, np.ones(len(Y))))
    root = np.sqrt(model.degrees_)
    lift = root[:, None] if model.laplacian == "random_walk" else 1.0
    return lambda Y: formulas.quotient(K, formulas.orthonormal(lift * Y, root))


def cut(model: Any, data: Data, scaled: bool) -> Loss:
    """Spectral clustering: the constant vector counts."""
    K = model.operator()
    lift: Any = 1.0
    if model.laplacian == "random_walk":
        lift = np.sqrt(model._weighed().volumes())[:, None]
    return lambda Y: formulas.quotient(K, formulas.orthonormal(lift * Y, None))
