"""NMF: nonnegative parts; scikit-learn's parts, exact coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array
from sklearn import decomposition

import lowfold
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
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
    W, H = nonnegative_start(X, min(shape), kind, Run())
    expected = _initialize_nmf(X, min(shape), init=kind, eps=0.0, random_state=0)
    assert np.allclose(W, expected[0])
    assert np.allclose(H, expected[1])
    sparse = nonnegative_start(SparseRows(csr_array(X)), min(shape), kind, Run())
    assert np.allclose(W @ H, sparse[0] @ sparse[1])


def test_a_sharper_tolerance_leaves_less_gradient() -> None:
    X = np.random.default_rng(12).random((200, 12)) ** 2
    errors = [lowfold.NMF(4, tol=tol, max_iter=5_000).fit(X).reconstruction_error_ for tol in (1e-2, 1e-4, 1e-7)]
    assert errors == sorted(errors, reverse=True)


def test_rows_that_the_active_set_does_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy's solver gives up on nearly dependent parts: another one has the same minimum."""
    X = np.random.default_rng(402).random((40, 12)) ** 3
    model = lowfold.NMF(5).fit(X)
    expected = model.transform(X)

    def gives_up(*_: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    assert np.allclose(model.transform(X), expected, atol=1e-10)
