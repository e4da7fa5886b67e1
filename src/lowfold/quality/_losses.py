"""How each method's loss is made from the method itself: a function of any embedding.

Each takes a `Case` and returns Y -> `LossValue`; operators are rebuilt once and serve every Y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import CentredGram
from lowfold._core.parallel import block_slices
from lowfold._core.types import Floats
from lowfold.graph._weights import laplacian
from lowfold.lowrank._independent import spacing_entropy
from lowfold.quality import _loss_formulas as formulas
from lowfold.quality._loss_formulas import LossValue

Loss = Callable[[Floats], LossValue]


@dataclass(frozen=True)
class Case:
    """A method, fitted or not, with the data and whether the best unit of Y is taken."""

    model: Any
    X: Any
    scaled: bool

    @property
    def fitted(self) -> bool:
        """Whether the model has an embedding of its own."""
        return hasattr(self.model, "embedding_")

    def data(self) -> Any:
        """The data as the model reads them: what it keeps, or X."""
        from lowfold.methods._fit import Data

        if self.fitted and self.X is None:
            trained = self.model._trained
            return Data(trained.source, graph=trained.graph)
        model = fresh(self.model)
        return model.reader.data(model, self.X, None)

    def points(self) -> Floats:
        """The rows of X in float64."""
        return np.asarray(self.data().points().X, dtype=np.float64)


def fresh(model: Any) -> Any:
    """The same estimator, not fitted: reading data sets attributes."""
    return type(model)(**model.get_params(deep=False))


# Linear and kernel methods ----------------------------------------------------------------------------------------


def principal(case: Case) -> Loss:
    """PCA and what shares its loss."""
    X = case.points()
    if not np.isfinite(X).all():
        raise InvalidInput("the variance lost needs complete data; X has NaN")
    Xc = X.reshape(len(X), -1) - X.reshape(len(X), -1).mean(axis=0)
    return lambda Y: formulas.variance_lost(Xc, formulas.orthonormal(Y, np.ones(len(Y))))


def features(case: Case) -> Loss:
    """PCA of explicit features."""
    Phi = case.model._extend.map(case.data().points().X)
    null = np.ones(len(Phi)) if case.model.center else None
    Phi = Phi - Phi.mean(axis=0) if case.model.center else Phi
    return lambda Y: formulas.variance_lost(Phi, formulas.orthonormal(Y, null))


def kernel_variance(case: Case) -> Loss:
    """PCA in the feature space of a kernel."""
    model, data = case.model, case.data()
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


def smooth(case: Case) -> Loss:
    """Laplacian with the mass of the degrees: LPP, kernel LPP."""
    from lowfold.kernels._gaussian import weigh

    model = case.model
    W = weigh(model.graph_, model.weights, model.scale_, 0.0)
    root, L = np.sqrt(W.volumes()), laplacian(W)
    scaled = L.scaled(1.0 / np.where(root > 0, root, 1.0))
    return lambda Y: formulas.quotient(scaled, formulas.orthonormal(root[:, None] * Y, root))


def nonnegative(case: Case) -> Loss:
    """NMF."""
    X = case.points()
    return lambda Y: formulas.nonnegative_loss(X, Y)


def independent(case: Case) -> Loss:
    """ICA: mutual information up to a constant of the data."""

    def loss(Y: Floats) -> LossValue:
        entropies = spacing_entropy(formulas.white(Y).T)
        return LossValue(float(entropies.sum()))

    return loss


# Distance kernels -------------------------------------------------------------------------------------------------


def strain(case: Case) -> Loss:
    """Classical MDS of the model's distances; with landmarks, of theirs."""
    G = case.model.kernel()
    chosen = getattr(case.model, "landmarks_", None)
    if chosen is None:
        return lambda Y: formulas.strain(G, Y, case.scaled)
    return lambda Y: _spread(formulas.strain(G, Y[chosen], case.scaled), chosen, len(Y))


def _spread(found: LossValue, rows: Any, n: int) -> LossValue:
    """The shares of landmarks among all points, NaN elsewhere."""
    points = np.full(n, np.nan)
    points[rows] = found.points
    return LossValue(found.value, points, found.parts)


def diffusion(case: Case) -> Loss:
    """Diffusion maps."""
    walk, t, chosen = case.model.walk(), float(case.model.t), case.model.landmarks_
    root = np.sqrt(walk.stationary)
    symmetric = case.model.convention == "symmetric"

    def loss(Y: Floats) -> LossValue:
        part = Y if chosen is None else Y[chosen]
        Q = formulas.orthonormal(part if symmetric else root[:, None] * part, root)
        found = formulas.diffusion_lost(walk.operator, root, Q, t)
        return found if chosen is None else _spread(found, chosen, len(Y))

    return loss


def unfolding(case: Case) -> Loss:
    """MVU; the part "bound" is the loss of the solution in all its dimensions."""
    from lowfold.methods._fit import Connected
    from lowfold.methods._unfolding import pair_distances

    model = case.model
    kept = Connected(model._trained.source, None, model._trained.graph)
    squared = pair_distances(kept, model.pairs_) ** 2
    settings = (model.constraints, float(model.nu_), case.scaled)
    whole = formulas.spring_loss(model.pairs_, squared, model.factor_, *settings).value

    def loss(Y: Floats) -> LossValue:
        found = formulas.spring_loss(model.pairs_, squared, Y, *settings)
        return LossValue(found.value, found.points, (*found.parts, ("bound", whole)))

    return loss


# Alignment kernels ------------------------------------------------------------------------------------------------


def alignment(case: Case) -> Loss:
    """LLE, LTSA, Hessian LLE, and their linear forms."""
    K = case.model.kernel()
    return lambda Y: formulas.quotient(K, formulas.orthonormal(Y, np.ones(len(Y))))


def harmonic(case: Case) -> Loss:
    """Laplacian eigenmaps, with the constraint of its Laplacian."""
    model = case.model
    if model.laplacian == "naive":
        raise InvalidInput("the objective of laplacian='naive' is not offered: its trivial vector is not known")
    K = model.kernel()
    if model.laplacian == "unnormalized":
        return lambda Y: formulas.quotient(K, formulas.orthonormal(Y, np.ones(len(Y))))
    root = np.sqrt(model.degrees_)
    lift = root[:, None] if model.laplacian == "random_walk" else 1.0
    return lambda Y: formulas.quotient(K, formulas.orthonormal(lift * Y, root))


def cut(case: Case) -> Loss:
    """Spectral clustering: the constant vector counts."""
    from lowfold.kernels._gaussian import weigh

    model = case.model
    K = model.kernel()
    lift: Any = 1.0
    if model.laplacian == "random_walk":
        lift = np.sqrt(weigh(model.graph_, model.weights, model.scale_, 0.0).volumes())[:, None]
    return lambda Y: formulas.quotient(K, formulas.orthonormal(lift * Y, None))


# Several matrices -------------------------------------------------------------------------------------------------


def replicated(case: Case) -> Loss:
    """The loss of the MDS that the model uses, of the merged matrix."""
    from lowfold.methods._several_matrices import merge

    data = case.data()
    if data.given is None:
        raise InvalidInput("X must be given: the model does not keep the matrices it was fitted to")
    D, counts = merge(data.stack(), case.model.merge)
    inner = case.model._model(None if (counts == len(data.stack())).all() else counts)
    make = {"classical": strain, "metric": stress, "nonmetric": ordinal}[case.model.method]
    return make(Case(inner.fit(D) if case.model.method == "classical" else inner, D, case.scaled))


def weighted(case: Case) -> Loss:
    """Individual differences scaling; with given weights, classical MDS of their mean."""
    data = case.data()
    if data.given is None:
        raise InvalidInput("X must be given: the model does not keep the matrices it was fitted to")
    if case.model.weights is not None:
        return lambda Y: formulas.strain(CentredGram(data.source.distances), Y, case.scaled)
    B = np.stack([CentredGram(D).dense() for D in data.stack()])
    return lambda Y: formulas.individual_loss(B, Y)


# Methods that descend ---------------------------------------------------------------------------------------------


def stress(case: Case) -> Loss:
    """Metric MDS."""
    from lowfold.methods._descent import stress_terms
    from lowfold.methods.metric_mds import point_stress

    p = float(case.model.p)
    terms = stress_terms(case.data(), case.model.weights, case.model._run())

    def loss(Y: Floats) -> LossValue:
        Y = np.ascontiguousarray(Y)
        error, size = point_stress(terms, Y, p)
        total = point_stress(terms, np.zeros_like(Y), p)[0]
        if total.sum() == 0:
            raise InvalidInput("all dissimilarities are 0; stress has no unit")
        cross = (total + size - error) / 2
        s = float(cross.sum() / size.sum()) if case.scaled and size.sum() > 0 else 1.0
        left = np.maximum(total - 2 * s * cross + s * s * size, 0.0) if case.scaled else error
        points = np.sqrt(left / np.where(total > 0, total, 1.0))
        return LossValue(float(np.sqrt(left.sum() / total.sum())), points)

    return loss


def ordinal(case: Case) -> Loss:
    """Nonmetric MDS."""
    from lowfold.optimize._isotonic import Ranking

    model = fresh(case.model)
    data = case.data() if case.X is None else model.reader.data(model, case.X, None)
    edges = model._edges(data, model._run())
    ranking = Ranking.of(edges.delta, model.ties)

    def loss(Y: Floats) -> LossValue:
        d = edges.distances(np.ascontiguousarray(Y))
        if not d.any():
            raise InvalidInput("Y has no two different points; stress-1 compares distances with their own size")
        left = (d - ranking.disparities(d)) ** 2
        error, size = (np.bincount(edges.i, v, edges.n) + np.bincount(edges.j, v, edges.n) for v in (left, d * d))
        points = np.sqrt(error / np.where(size > 0, size, 1.0))
        return LossValue(float(np.sqrt(error.sum() / size.sum())), points)

    return loss


def divergence(case: Case) -> Loss:
    """SNE, symmetric SNE, t-SNE."""
    from lowfold.methods._neighbor_affinity import resolve_perplexity

    model, data = case.model, case.data()
    run = model._run()
    P = model._affinities(data, resolve_perplexity(model.perplexity, data.n), run)
    cost = model._cost(P, run)

    def loss(Y: Floats) -> LossValue:
        if case.scaled:
            size = float(np.sqrt(((Y - Y.mean(axis=0)) ** 2).mean())) or 1.0
            Y = Y / size
            Y = formulas.best_scale(lambda s: float(cost.value(np.ascontiguousarray(s * Y)))) * Y
        Y = np.ascontiguousarray(Y)
        return LossValue(float(cost.value(Y)), _divergence_points(case, data, P, Y))

    return loss


def _divergence_points(case: Case, data: Any, P: Any, Y: Floats) -> Floats:
    """KL(P_i || Q_i) of SNE; else sum_j p_ij log(p_ij / q_ij), which adds up to the divergence."""
    from lowfold.methods._neighbor_affinity import resolve_perplexity, squared_rows
    from lowfold.optimize._perplexity import row_bandwidths, row_probabilities

    n, student = len(Y), case.model.student
    mass = formulas.weight_mass(Y, student)
    if isinstance(getattr(P, "matrix", None), csr_array):
        return formulas.divergence_points(P.matrix, Y, student, 0, float(mass.sum()))
    alone = type(case.model).__name__ == "SNE"
    rows = squared_rows(data) if alone else None
    perplexity = resolve_perplexity(case.model.perplexity, n)
    out = np.empty(n)
    for part in block_slices(n, 256):
        if rows is not None:
            squared = rows(part)
            p = row_probabilities(squared, row_bandwidths(squared, perplexity))
            own = np.log(mass[part]) * p.sum(axis=1)
            out[part] = formulas.divergence_points(p, Y, student, part.start, 1.0) + own
        else:
            block, first = P.columns(part)
            p = np.ascontiguousarray(block[:, first : first + part.stop - part.start].T)
            out[part] = formulas.divergence_points(p, Y, student, part.start, float(mass.sum()))
    return out
