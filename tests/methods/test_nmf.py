"""NMF: nonnegative parts; scikit-learn's parts, exact coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn import datasets, decomposition

import lowfold
from lowfold._core.errors import AccuracyWarning
from lowfold._core.run import Run
from lowfold.lowrank._nmf_start import nonnegative_start


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the reference
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parts_and_coordinates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((40, 3)) @ (rng.random((3, 10)) * (rng.random((3, 10)) < 0.6))
    model = lowfold.NMF(3).fit(X)
    assert model.components_.min() >= 0
    assert model.embedding_.min() >= 0
    assert model.reconstruction_error_ < 0.05 * np.linalg.norm(X)
    assert np.isclose(np.linalg.norm(X - model.inverse_transform(model.embedding_)), model.reconstruction_error_)
    reference = decomposition.NMF(3, init="nndsvda", max_iter=1000, tol=1e-4).fit(X)
    assert (
        model.reconstruction_error_ <= reference.reconstruction_err_ * 1.05 + 1e-9
    )  # it works on X divided by its maximum
    new = rng.random((5, 10))
    expected = np.array([nnls(model.components_.T, x)[0] for x in new])
    assert np.allclose(model.transform(new), expected)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_parts_have_length_1_so_that_coordinates_are_as_far_apart_as_rows(loss: str) -> None:
    rng = np.random.default_rng(3)
    H = np.kron(np.diag([1.0, 5.0, 25.0]), rng.random(4))  # parts that share no column
    X = rng.gamma(1.0, size=(80, 3)) * (rng.random((80, 3)) < 0.6) @ H  # zeros leave one factorisation alone
    model = lowfold.NMF(3, beta_loss=loss, tol=1e-6).fit(X)
    assert np.allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert np.allclose(pdist(model.embedding_), pdist(X), rtol=0.01, atol=0.01)


def test_more_parts_fit_better_and_negative_values_are_refused() -> None:
    X = np.random.default_rng(3).random((30, 8))
    errors = [lowfold.NMF(d).fit(X).reconstruction_error_ for d in (1, 3, 6)]
    assert errors == sorted(errors, reverse=True)
    with pytest.raises(ValueError, match="Negative values"):
        lowfold.NMF(2).fit(X - 1)
    with pytest.raises(ValueError, match="Negative values"):
        lowfold.NMF(2).fit(X).transform(X - 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the reference
@pytest.mark.parametrize("seed", [10, 11])
def test_the_error_is_scikit_learns_or_lower_in_fewer_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((300, 6)) @ (rng.random((6, 40)) * (rng.random((6, 40)) < 0.5)) + 0.1 * rng.random((300, 40))
    model = lowfold.NMF(6).fit(X)
    reference = decomposition.NMF(6, init="nndsvda").fit(X)
    assert model.reconstruction_error_ <= 1.001 * reference.reconstruction_err_
    assert model.n_iter_ < reference.n_iter_
    one, two, sparse = (lowfold.NMF(6, n_jobs=j).fit(A) for j, A in ((1, X), (2, X), (1, csr_array(X))))
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.allclose(sparse.reconstruction_error_, one.reconstruction_error_, rtol=1e-6)


@pytest.mark.parametrize("kind", ["nndsvd", "nndsvda"])
@pytest.mark.parametrize("shape", [(60, 8), (9, 30)])
def test_the_start_is_scikit_learns(kind: str, shape: tuple[int, int]) -> None:
    """With all singular vectors, where its random projection of them is exact too."""
    from sklearn.decomposition._nmf import _initialize_nmf

    X = np.abs(np.random.default_rng(13).normal(size=shape)) ** 3
    X /= X.max()
    W, H = nonnegative_start(X, min(shape), kind, Run())
    expected = _initialize_nmf(X, min(shape), init=kind, random_state=0)
    assert np.allclose(W, expected[0])
    assert np.allclose(H, expected[1])
    sparse = nonnegative_start(csr_array(X), min(shape), kind, Run())
    assert np.allclose(W @ H, sparse[0] @ sparse[1])


def test_a_sharper_tolerance_leaves_less_gradient() -> None:
    X = np.random.default_rng(12).random((200, 12)) ** 2
    errors = [lowfold.NMF(4, tol=tol, max_iter=5_000).fit(X).reconstruction_error_ for tol in (1e-2, 1e-4, 1e-7)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_that_was_carried_too_far_is_not_rest(seed: int) -> None:
    table = datasets.load_iris().data
    X = table[np.random.default_rng(seed).permutation(len(table))[:110]]
    best = decomposition.NMF(3, init="nndsvda", max_iter=20_000, tol=1e-7).fit(X).reconstruction_err_
    assert lowfold.NMF(3, tol=1e-6).fit(X).reconstruction_error_ < 1.001 * best
    assert lowfold.NMF(3).fit(X).reconstruction_error_ < 1.02 * best


def test_rows_that_the_active_set_does_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy's solver gives up on nearly dependent parts: another one has the same minimum."""
    X = np.random.default_rng(402).random((40, 12)) ** 3
    model = lowfold.NMF(5).fit(X)
    expected = model.transform(X)

    def gives_up(*_: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    assert np.allclose(model.transform(X), expected, atol=1e-10)


LOSSES = [("frobenius", 2.0), ("kullback-leibler", 1.0), ("itakura-saito", 0.0), (0.5, 0.5), (1.5, 1.5), (2.5, 2.5)]


def objective(X: np.ndarray, model: lowfold.NMF, W: np.ndarray, H: np.ndarray) -> float:
    """What scikit-learn documents: the divergence and the penalties."""
    beta = dict(LOSSES)[model.beta_loss]
    if beta == 1:
        loss = float((X * np.log(np.where(X > 0, X / (W @ H), 1.0)) - X + W @ H).sum())
    elif beta == 0:
        loss = float((X / (W @ H) - np.log(X / (W @ H)) - 1).sum())
    else:
        V = W @ H
        loss = float((X**beta + (beta - 1) * V**beta - beta * X * V ** (beta - 1)).sum()) / (beta * (beta - 1))
    share = model.l1_ratio
    for A, alpha in ((W, model.alpha_W * X.shape[1]), (H, model.alpha_H * X.shape[0])):
        loss += alpha * (share * float(A.sum()) + (1 - share) / 2 * float((A**2).sum()))
    return loss


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the reference
@pytest.mark.parametrize("size", [0.1, 100.0])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.0, 0.0), (0.001, 0.5)])
@pytest.mark.parametrize(("loss", "beta"), LOSSES)
def test_every_loss_and_penalty_ends_where_scikit_learns_does_or_lower(
    loss: str | float, beta: float, alpha: float, l1_ratio: float, size: float
) -> None:
    rng = np.random.default_rng(20)
    X = size * (rng.random((80, 4)) @ rng.random((4, 12)) + 0.05 * rng.random((80, 12)))
    given = {"beta_loss": loss, "alpha_W": alpha, "alpha_H": alpha, "l1_ratio": l1_ratio, "max_iter": 1000}
    model = lowfold.NMF(3, **given).fit(X)
    solver = "cd" if beta == 2 else "mu"
    reference = decomposition.NMF(3, init="nndsvda", solver=solver, **given)
    W = reference.fit_transform(X)
    ours = objective(X, model, model.embedding_, model.components_)
    # local minima from starts that differ by the size of X: 0.98 to 1.05 on four other seeds
    assert ours <= 1.06 * objective(X, model, W, reference.components_)
    np.testing.assert_allclose(model.transform(X[:7]), model.embedding_[:7], rtol=1e-8, atol=1e-10)
    sparse = lowfold.NMF(3, **given).fit(csr_array(X))
    np.testing.assert_allclose(objective(X, model, sparse.embedding_, sparse.components_), ours, rtol=0.02)


@pytest.mark.parametrize("loss", ["kullback-leibler", 1.5])
def test_zeros_of_sparse_rows_count(loss: str | float) -> None:
    rng = np.random.default_rng(21)
    X = rng.poisson(rng.gamma(1.0, 1.0, (60, 3)) @ rng.gamma(0.5, 1.0, (3, 25))).astype(float)
    dense, sparse = (lowfold.NMF(3, beta_loss=loss).fit(A) for A in (X, csr_array(X)))
    np.testing.assert_allclose(sparse.components_, dense.components_, rtol=1e-3, atol=1e-6)
    one, two = (lowfold.NMF(3, beta_loss=loss, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert np.array_equal(one.embedding_, two.embedding_)


def test_a_divergence_that_needs_values_above_zero_says_so() -> None:
    with pytest.raises(ValueError, match=r"beta_loss='itakura-saito' needs X above 0, and 3 of its values are 0"):
        lowfold.NMF(1, beta_loss="itakura-saito").fit(np.eye(2) + np.array([[0, 0], [0, -1]]))


def test_penalties_that_leave_nothing_are_told() -> None:
    X = np.random.default_rng(22).random((30, 8))
    with pytest.warns(lowfold.errors.AccuracyWarning, match="leave 2 of 2 parts of NMF empty"):
        model = lowfold.NMF(2, alpha_W=10.0, alpha_H=10.0, l1_ratio=1.0).fit(X)
    assert not model.embedding_.any()
    assert not model.transform(X).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the reference
@pytest.mark.parametrize("loss", ["kullback-leibler", "itakura-saito", 1.5, 2])
def test_the_error_under_scikit_learns_name_is_its_root_of_twice_the_divergence(loss: str | float) -> None:
    X = np.random.default_rng(3).random((30, 6)) + 0.1
    model = lowfold.NMF(2, beta_loss=loss).fit(X)
    twin = decomposition.NMF(2, beta_loss=loss, solver="mu", init="custom", max_iter=1, tol=1e9)
    twin.fit_transform(X, W=model.embedding_.copy(), H=model.components_.copy())
    assert model.reconstruction_err_ == pytest.approx(twin.reconstruction_err_, rel=0.01)
    assert model.reconstruction_err_ >= twin.reconstruction_err_ * (1 - 1e-9)


@pytest.mark.parametrize("given", [{"beta_loss": "kullback-leibler"}, {"alpha_W": 1e-3}])
def test_a_descent_of_any_loss_that_was_cut_short_says_so(given: dict[str, Any]) -> None:
    X = np.random.default_rng(3).random((30, 6))
    with pytest.warns(AccuracyWarning, match=r"not come to rest after max_iter = 2 steps \(its loss"):
        lowfold.NMF(2, max_iter=2, **given).fit(X)
