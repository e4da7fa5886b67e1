"""Nonlinear PCA: Veronese maps, conics, unions of subspaces, the dual route."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lowfold
from lowfold.lowrank import vanishing, veronese
from lowfold.lowrank._veronese import monomial_exponents


@pytest.mark.parametrize(("D", "degree"), [(1, 3), (2, 2), (3, 2), (3, 4), (5, 3)])
def test_the_map_has_all_monomials_in_order(D: int, degree: int) -> None:
    exponents = monomial_exponents(D, degree)
    assert len(exponents) == math.comb(degree + D - 1, degree)
    assert (exponents.sum(axis=1) == degree).all()
    assert [tuple(e) for e in exponents] == sorted({tuple(e) for e in exponents}, reverse=True)
    X = np.random.default_rng(0).normal(size=(6, D))
    assert np.allclose(veronese(X, degree), np.prod(X[:, None, :] ** exponents, axis=2))
    weighted = veronese(X, degree, weighted=True)
    assert np.allclose(weighted @ weighted.T, (X @ X.T) ** degree)


@pytest.mark.parametrize("coefficients", [(1, 0, 1, -4), (1, 0.5, 2, -3), (1, 0, -1, -1)])
def test_a_conic_is_recovered(coefficients: tuple[float, ...]) -> None:
    c1, c2, c3, c4 = coefficients
    X = lowfold.datasets.conic(120, coefficients=coefficients, random_state=0).X
    model = lowfold.NonlinearPCA(2, weighted=True).fit(X)  # features x^2, sqrt(2) x y, y^2
    found = model.vanishing(X)
    assert len(found.coefficients) == 1
    normal = np.array([c1, c2 / np.sqrt(2), c3])
    size = np.linalg.norm(normal)
    sign = np.sign(found.coefficients[0] @ normal)
    assert np.allclose(sign * found.coefficients[0], normal / size, atol=1e-8)
    assert np.isclose(sign * found.constants[0], c4 / size)
    assert np.abs(veronese(X, 2, weighted=True) @ found.coefficients[0] + found.constants[0]).max() < 1e-8
    assert np.isclose(model.explained_variance_ratio_.sum(), 1)


@pytest.mark.parametrize(("dims", "ambient", "rank"), [((2, 2), 3, 5), ((1, 1), 2, 2)])
def test_a_union_of_subspaces_is_recovered(dims: tuple[int, ...], ambient: int, rank: int) -> None:
    data = lowfold.datasets.union_of_subspaces(200, dims=dims, ambient_dim=ambient, random_state=1)
    model = lowfold.NonlinearPCA(rank, center=False).fit(data.X)
    found = model.vanishing(data.X)
    assert len(found.coefficients) == 1  # the product of the two linear forms
    assert (model.eigenvalues_ > 1e-9).all()
    assert np.isclose(model.explained_variance_ratio_.sum(), 1)
    normals = [np.linalg.svd(data.X[np.asarray(data.labels) == c])[2][-1] for c in (0, 1)]
    outer = np.outer(*normals)
    product = [outer[i, j] + (outer[j, i] if i != j else 0) for i in range(ambient) for j in range(i, ambient)]
    product = np.array(product) / np.linalg.norm(product)
    assert np.isclose(abs(found.coefficients[0] @ product), 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_direct_and_dual_routes_agree(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(25, 6))  # 56 features of degree 3: more than points
    assert lowfold.NonlinearPCA(3, degree=3).fit(X).solver_ == "gram"
    direct, dual = (lowfold.NonlinearPCA(3, degree=3, solver=s).fit(X) for s in ("covariance", "gram"))
    assert np.allclose(direct.eigenvalues_, dual.eigenvalues_)
    assert np.allclose(direct.embedding_, dual.embedding_, atol=1e-7)


@pytest.mark.parametrize("center", [True, False])
def test_weighted_it_is_kernel_pca(center: bool) -> None:
    X = np.random.default_rng(3).normal(size=(40, 3))
    model = lowfold.NonlinearPCA(3, weighted=True, center=center).fit(X)
    kernel = lowfold.KernelPCA(3, kernel="poly", degree=2, coef0=0.0, gamma=1.0, center=center).fit(X)
    assert np.allclose(np.abs(model.embedding_), np.abs(kernel.embedding_), atol=1e-8)
    assert np.allclose(model.eigenvalues_ * (39 if center else 40), kernel.eigenvalues_)
    new = np.random.default_rng(4).normal(size=(6, 3))
    assert np.allclose(np.abs(model.transform(new)), np.abs(kernel.transform(new)), atol=1e-8)


def test_the_identity_is_pca_and_functions_are_checked() -> None:
    X = np.random.default_rng(5).normal(size=(30, 4))
    own = lowfold.NonlinearPCA(2, feature_map=np.asarray).fit(X)
    assert np.allclose(own.embedding_, lowfold.PCA(2).fit_transform(X))
    for bad in (lambda X: X[:3], lambda X: X[:, 0], lambda X: np.full_like(X, np.inf)):
        with pytest.raises(ValueError, match="feature_map must give"):
            lowfold.NonlinearPCA(2, feature_map=bad).fit(X)
    with pytest.raises(ValueError, match="degree and weighted"):
        lowfold.NonlinearPCA(2, feature_map=np.asarray, degree=3).fit(X)
    with pytest.raises(ValueError, match="the features of X reach"):
        lowfold.NonlinearPCA(2).fit(1e60 * X)


def test_vanishing_of_noise_is_empty() -> None:
    X = np.random.default_rng(6).normal(size=(50, 2))
    F = veronese(X, 2)
    assert len(vanishing(F, F.mean(axis=0)).energies) == 0
