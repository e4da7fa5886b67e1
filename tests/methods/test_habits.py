"""What code written for other libraries relies on, and what their tests found."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import lowfold
from lowfold._core.errors import AccuracyWarning, Disconnected, InvalidInput, LowfoldWarning, RepairWarning


def test_tsne_leaves_a_layout_that_exaggeration_drew_together() -> None:
    X = load_digits().data[:50]
    model = lowfold.TSNE(perplexity=30).fit(X)
    assert np.abs(model.embedding_).max() > 0.1
    assert model.kl_divergence_ < 0.16


@pytest.mark.filterwarnings("ignore:the descent of TSNE has not lowered its cost")
def test_tsne_places_new_points_of_a_collapsed_layout_inside_it() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = lowfold.TSNE(perplexity=30, max_iter=100, early_exaggeration_iter=100, learning_rate=3.4)
    with pytest.warns(AccuracyWarning, match="ends while P is still multiplied"):
        model.fit(X)  # collapsed: exaggeration rules
    assert np.abs(model.embedding_).max() < 1e-3
    assert np.abs(model.transform(X + 0.3)).max() < 10 * np.abs(model.embedding_).max()


def test_warnings_and_errors_are_also_those_of_scikit_learn_and_python() -> None:
    assert issubclass(AccuracyWarning, ConvergenceWarning)
    assert issubclass(AccuracyWarning, LowfoldWarning)
    assert issubclass(Disconnected, RuntimeError)
    assert issubclass(Disconnected, ValueError)


@pytest.mark.extra("pyamg")
def test_amg_of_a_dozen_points_is_solved_directly() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = lowfold.LaplacianEigenmaps(2, n_neighbors=5, solver="amg").fit(X)
    reference = lowfold.LaplacianEigenmaps(2, n_neighbors=5, solver="dense").fit(X)
    assert np.allclose(model.embedding_, reference.embedding_)
    assert model.solver_ == "dense"


@pytest.mark.parametrize("density", [0.0, -0.1, 1.5, np.nan])
def test_a_density_that_leaves_nothing_is_refused(density: float) -> None:
    with pytest.raises(InvalidInput, match="density must be above 0"):
        lowfold.lowrank.random_matrix("sparse", 2, 10, density=density)


@pytest.mark.parametrize("name", ["WeightedMDS", "ReplicatedMDS"])
def test_several_matrices_keep_float32(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    stack = np.stack([D, D * 1.1])
    single = getattr(lowfold, name)(2).fit(stack.astype(np.float32))
    double = getattr(lowfold, name)(2).fit(stack)
    assert single.embedding_.dtype == np.float32
    assert double.embedding_.dtype == np.float64
    lengths = [np.linalg.norm(Y[:, None] - Y, axis=2) for Y in (single.embedding_, double.embedding_)]
    assert np.allclose(*lengths, atol=1e-3)  # equal weights leave the axes free
    assert single.transform(stack[:, :3].astype(np.float32)).dtype == np.float32


def test_a_kernel_with_negative_eigenvalues_is_told() -> None:
    K = np.diag([3.0, 1.0, -2.0, -4.0, 0.5])
    with pytest.warns(AccuracyWarning, match="not positive semidefinite.*at most"):
        model = lowfold.KernelPCA(4, kernel="precomputed", center=False).fit(K)
    assert (model.embedding_[:, 3] == 0).all()


def test_an_asymmetric_matrix_is_told() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.Isomap(2, n_neighbors=8, metric="precomputed").fit(D)
        lowfold.Isomap(2, n_neighbors=8, metric="precomputed").fit(D.astype(np.float32))
    D[0, 1] *= 2
    with pytest.warns(RepairWarning, match="not symmetric.*the shorter"):
        lowfold.Isomap(2, n_neighbors=8, metric="precomputed").fit(D)


def test_a_start_given_in_the_call_is_used_and_forgotten() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    first = np.random.default_rng(1).normal(size=(30, 2))
    for name in ("MetricMDS", "NonmetricMDS"):
        model = getattr(lowfold, name)(2, max_iter=5)
        here = model.fit_transform(X, init=first)
        assert np.array_equal(here, getattr(lowfold, name)(2, max_iter=5, init=first).fit_transform(X))
        assert model.init == "classical"


def test_labels_by_a_pivoted_factorisation() -> None:
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(c, 0.3, size=(40, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    model = lowfold.SpectralClustering(3, n_neighbors=15, radius=9.0, assign_labels="cluster_qr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        labels = model.fit_predict(X)
    assert [len(set(labels[i : i + 40])) for i in (0, 40, 80)] == [1, 1, 1]
    assert len(set(labels)) == 3
    assert np.array_equal(model.predict(X[::7] + 1e-3), labels[::7])


def test_losses_and_penalties_of_nmf_are_scikit_learns() -> None:
    from sklearn import decomposition

    X = np.random.default_rng(3).poisson(3.0, size=(40, 12)).astype(float) + 1
    for options in ({"beta_loss": "kullback-leibler"}, {"alpha_W": 0.05, "l1_ratio": 0.5}):
        extra = {"solver": "mu"} if "beta_loss" in options else {"alpha_H": 0.0}
        theirs = decomposition.NMF(3, init="nndsvda", tol=1e-6, max_iter=1000, **options, **extra)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of both: with this tol 1,000 steps are few
            ours = lowfold.NMF(3, init="nndsvda", tol=1e-6, **options).fit(X)
            W = theirs.fit_transform(X)
        loss = "kullback-leibler" if "beta_loss" in options else "frobenius"
        cost = [_divergence(X, Y @ H, loss) for Y, H in ((ours.embedding_, ours.components_), (W, theirs.components_))]
        assert cost[0] < 1.05 * cost[1]
        assert np.allclose(ours.transform(X), ours.embedding_, rtol=1e-6)


def _divergence(X: np.ndarray, Z: np.ndarray, loss: str) -> float:
    return float((X * np.log(X / Z) - X + Z).sum() if loss == "kullback-leibler" else ((X - Z) ** 2).sum())


def test_a_plan_of_landmark_isomap_counts_its_default_landmarks() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 3))
    made = str(lowfold.plan(X, lowfold.LandmarkIsomap(2)))
    assert f"{lowfold.LandmarkIsomap.default_landmarks} x 3000 shortest paths" in made


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("LTSA", lambda part: part.indptr.__setitem__(0, -(10**6))),
        ("HessianLLE", lambda part: part.members.__setitem__(0, 10**6)),
        ("NMF", lambda part: object.__setattr__(part, "H", np.empty((0, 3)))),
        ("PCA", lambda part: object.__setattr__(part, "W", part.W[:, :1].astype(int))),
        ("ClassicalMDS", lambda part: object.__setattr__(part, "vectors", part.vectors[:5])),
        ("Isomap", lambda part: object.__setattr__(part, "values", part.values[:1])),
    ],
)
def test_parts_that_do_not_fit_are_refused_at_load(name: str, spoil, tmp_path) -> None:
    X = np.abs(np.random.default_rng(0).normal(size=(60, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        model = getattr(lowfold, name)(2).fit(X)
    lowfold.save(tmp_path / "good.lowfold", model)
    assert np.array_equal(lowfold.load(tmp_path / "good.lowfold").embedding_, model.embedding_)
    for field in ("indptr", "members"):
        if hasattr(model._extend, field):
            object.__setattr__(model._extend, field, np.array(getattr(model._extend, field)))
    spoil(model._extend)
    lowfold.save(tmp_path / "forged.lowfold", model)
    with pytest.raises(InvalidInput, match=r"is damaged|must be a matrix"):
        lowfold.load(tmp_path / "forged.lowfold")


def test_fitted_values_have_the_names_that_scikit_learn_gives_them() -> None:
    X = np.random.default_rng(0).uniform(size=(40, 3))
    D = lowfold.metrics.pairwise(X)
    for method in (lowfold.ClassicalMDS, lowfold.MetricMDS, lowfold.NonmetricMDS):
        assert np.allclose(method(2).fit(X).dissimilarity_matrix_, D)
        assert np.allclose(method(2, metric="precomputed").fit(D).dissimilarity_matrix_, D)
    assert lowfold.Isomap(2).fit(X).dist_matrix_.shape == (40, 40)
    assert lowfold.LaplacianEigenmaps(2).fit(X).affinity_matrix_.shape == (40, 40)
    assert lowfold.SpectralClustering(2).fit(X).affinity_matrix_.shape == (40, 40)
    assert lowfold.KernelPCA(2).fit(X).eigenvectors_.shape == (40, 2)
    assert lowfold.NMF(2).fit(X).reconstruction_err_ > 0
    gaps = lowfold.MetricMDS(2).fit(lowfold.graph.find_neighbors(X, n_neighbors=10).union())
    with pytest.raises(InvalidInput, match="not all pairs"):
        _ = gaps.dissimilarity_matrix_


def test_kernel_pca_without_a_number_has_all_that_exist() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = lowfold.KernelPCA(None, kernel="linear").fit(X)
    assert model.embedding_.shape == (30, 4)
    assert model.transform(X + 0.1).shape == (30, 4)
    assert np.isclose(model.explained_variance_ratio_.sum(), 1)
    few = lowfold.KernelPCA(2, kernel="linear").fit(X)
    assert np.allclose(np.abs(model.embedding_[:, :2]), np.abs(few.embedding_))
    assert lowfold.KernelPCA(None, kernel="rbf", center=False).fit(X).embedding_.shape == (30, 30)
    with pytest.raises(InvalidInput, match="all eigenvectors, of up to 5000 points"):
        lowfold.KernelPCA(None).fit(np.zeros((5001, 1)) + np.arange(5001)[:, None])


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.AccuracyWarning")  # forty rows show few sources
@pytest.mark.parametrize("name", ["ICA", "NMF", "SparsePCA", "PCA"])
def test_linear_methods_without_a_number_have_all_columns(name: str) -> None:
    X = np.random.default_rng(3).random((40, 5))
    model = getattr(lowfold, name)(None).fit(X)
    assert model.transform(X).shape == (40, 5)
    assert lowfold.plan(X, name, n_components=None).fits


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the reference
def test_a_number_is_the_beta_of_a_loss_of_nmf(tmp_path: Path) -> None:
    X = np.random.default_rng(4).random((30, 6)) + 0.1
    model = lowfold.NMF(2, beta_loss=1.5, max_iter=400).fit(X)
    reference = decomposition.NMF(2, init="nndsvda", beta_loss=1.5, solver="mu", max_iter=400).fit(X)
    divergence = _beta_divergence(X, reference.transform(X), reference.components_, 1.5)
    assert _beta_divergence(X, model.embedding_, model.components_, 1.5) <= 1.01 * divergence
    lowfold.save(tmp_path / "m.lowfold", model)
    assert np.array_equal(lowfold.load(tmp_path / "m.lowfold").transform(X), model.transform(X))


def _beta_divergence(X: np.ndarray, W: np.ndarray, H: np.ndarray, beta: float) -> float:
    Z = W @ H
    return float((X**beta + (beta - 1) * Z**beta - beta * X * Z ** (beta - 1)).sum() / (beta * (beta - 1)))


def test_blocks_of_sparse_rows_are_taken() -> None:
    X = np.random.default_rng(6).random((60, 5)) * (np.random.default_rng(7).random((60, 5)) < 0.3)
    model = lowfold.PCA(2).fit(csr_array(X[:20]))
    for part in (X[20:45], X[45:]):
        model.partial_fit(csr_array(part))
    assert np.allclose(model.eigenvalues_, lowfold.PCA(2).fit(X).eigenvalues_)


def test_save_says_which_comes_first(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"save\(path, model\)"):
        lowfold.save(lowfold.PCA(2), tmp_path / "m.lowfold")


@pytest.mark.parametrize("name", ["ClassicalMDS", "NonlinearPCA", "RandomProjection"])
def test_float32_near_its_end_is_refused_in_words(name: str) -> None:
    X = np.random.default_rng(0).random((12, 4)).astype(np.float32) * np.float32(3e38)
    with pytest.raises(InvalidInput, match="float32 does not hold"):
        getattr(lowfold, name)(2).fit(X)
    assert np.isfinite(getattr(lowfold, name)(2).fit(X / np.float32(1e25)).embedding_).all()
