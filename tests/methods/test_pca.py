"""PCA: three routes, one answer; energy; exact reconstruction."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn import decomposition

import lowfold
from lowfold._core.errors import AccuracyWarning, FileProblem
from lowfold.lowrank import _principal
from lowfold.lowrank._principal import select_route


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("shape", [(80, 6), (12, 40), (30, 30)])
def test_routes_agree_with_each_other_and_with_scikit_learn(seed: int, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(seed).normal(size=shape) @ np.diag(np.linspace(3, 1, shape[1])) + 5
    reference = decomposition.PCA(4, svd_solver="full").fit(X)
    for solver in ("auto", "covariance", "gram", "svd"):
        model = lowfold.PCA(4, solver=solver).fit(X)
        assert np.allclose(model.eigenvalues_, reference.explained_variance_)
        assert np.allclose(model.explained_variance_ratio_, reference.explained_variance_ratio_)
        assert np.allclose(np.abs(model.components_ @ reference.components_.T), np.eye(4), atol=1e-8)
        assert np.allclose(np.abs(model.embedding_), np.abs(reference.transform(X)), atol=1e-8)


def test_energy_and_eckart_young() -> None:
    X = np.random.default_rng(3).normal(size=(50, 7))
    model = lowfold.PCA(3).fit(X)
    left = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[3:]
    error = np.linalg.norm(X - model.inverse_transform(model.embedding_)) ** 2
    assert np.isclose(error, (left**2).sum())
    full = lowfold.PCA(7).fit(X)
    assert np.allclose(full.inverse_transform(full.embedding_), X)
    assert np.isclose(full.explained_variance_ratio_.sum(), 1)


def test_auto_keeps_digits_of_tiny_directions() -> None:
    rng = np.random.default_rng(4)
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = rng.normal(size=(200, 5)) * [1.0, 1e-3, 1e-9, 1e-10, 1e-11] @ Q
    model = lowfold.PCA(3).fit(X)
    assert model.solver_ == "svd"
    assert np.allclose(np.sqrt(model.eigenvalues_), [1, 1e-3, 1e-9], rtol=0.3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_auto_keeps_digits_at_a_condition_of_a_billion_wherever_it_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 64)) * np.geomspace(1, 1e-9, 64)[rng.permutation(64)]
    for dtype, rtol in ((np.float64, 1e-6), (np.float32, 1e-6)):
        rows = X.astype(dtype)
        exact = np.linalg.svd(rows - rows.mean(axis=0, dtype=np.float64), compute_uv=False) ** 2 / 599
        for k in (2, 30, 40, 64):
            model = lowfold.PCA(k).fit(rows)  # a warning that eigenvalues coincide would be an error here
            assert np.allclose(model.eigenvalues_, exact[:k], rtol=rtol, atol=0)
            assert (model.solver_ == "svd") == (k > 30)


def test_directions_that_really_coincide_are_told_by_the_svd_too() -> None:
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 5)))[0]
    X = (Q - Q.mean(axis=0)) @ np.diag([3.0, 2.0, 2.0, 1.0, 1.0])
    X = np.linalg.qr(X)[0] * [3.0, 2.0, 2.0, 1.0, 1.0]  # columns stay centred and are orthogonal
    for solver in ("auto", "svd"):
        with pytest.warns(AccuracyWarning, match="eigenvalues 2 and 3 coincide"):
            lowfold.PCA(2, solver=solver).fit(X)


@pytest.mark.parametrize("shape", [(1000, 64), (60, 1500)])
@pytest.mark.parametrize("size", [1.0, 1e-25, 1e22])
def test_products_in_float32_are_corrected_or_given_up(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], size: float
) -> None:
    monkeypatch.setattr(_principal, "SINGLE", 0)
    found = []
    corrected = _principal._corrected
    monkeypatch.setattr(_principal, "_corrected", lambda *given: found.append(corrected(*given)) or found[-1])
    for seed, offset in ((0, 0.0), (1, 1000.0)):
        rng = np.random.default_rng(seed)
        r = min(shape)
        Q = np.linalg.qr(rng.normal(size=(shape[1], r)))[0]
        X = (((rng.normal(size=(shape[0], r)) * np.geomspace(1, 1e-2, r)) @ Q.T + offset) * size).astype(np.float32)
        model = lowfold.PCA(4).fit(X)
        _, s, Vt = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)
        assert np.allclose(model.eigenvalues_, s[:4] ** 2 / (shape[0] - 1), rtol=1e-12, atol=0)
        assert model.residual_ <= 1e-6
        assert np.allclose(np.abs(model.components_ @ Vt[:4].T), np.eye(4), atol=1e-5)
        assert np.isclose(model.total_variance_, (s**2).sum() / (shape[0] - 1), rtol=1e-6)  # of float32 rows
    assert all((pairs is None) == (size != 1.0) for pairs in found)  # squares leave the range of float32
    assert len(found) == 2


def test_a_tighter_tolerance_takes_another_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_principal, "SINGLE", 0)
    X = np.random.default_rng(2).normal(size=(3000, 80)).astype(np.float32) * np.geomspace(1, 0.3, 80, dtype=np.float32)
    rough, fine = (lowfold.PCA(3, tol=tol).fit(X) for tol in (1e-3, 1e-10))
    assert 1e-10 < rough.residual_ < 1e-3
    assert fine.residual_ <= 1e-10
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)
    assert np.linalg.norm(fine._extend.W - Vt[:3].T @ (Vt[:3] @ fine._extend.W)) < 1e-10


@pytest.mark.parametrize(("height", "contains_axis"), [(15.0, False), (51.0, True)])
def test_the_plane_of_a_swiss_roll_switches_with_its_height(height: float, contains_axis: bool) -> None:
    roll = lowfold.datasets.swiss_roll(4000, height=height, random_state=0)
    components = lowfold.PCA(2).fit(roll.X).components_
    assert (np.abs(components[:, 1]).max() > 0.9) == contains_axis


def test_power_method_finds_what_lapack_finds() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 9)) * np.geomspace(10, 0.1, 9)
    exact, power = lowfold.PCA(3, solver="svd").fit(X), lowfold.PCA(3, solver="power").fit(X)
    assert np.allclose(power.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert np.allclose(power.components_, exact.components_, atol=1e-5)


def test_power_method_contracts_by_the_ratio_of_eigenvalues() -> None:
    from lowfold._core.operators import DenseOperator
    from lowfold.spectral import power_method

    steps = []
    for ratio in (0.5, 0.9):
        A = np.diag([1.0, ratio, 0.01, 0.001])
        steps.append(power_method(DenseOperator(A, psd=True), 1, run=lowfold._core.run.Run(tol=1e-8)).iterations)
    assert steps[1] > 3 * steps[0]  # log 0.5 / log 0.9 = 6.6 for the first vector


def test_krylov_route_on_many_points_and_features() -> None:
    rng = np.random.default_rng(6)
    X = (rng.normal(size=(2200, 4)) * [9, 6, 4, 2]) @ rng.normal(size=(4, 2100)) + rng.normal(size=(2200, 2100))
    assert select_route(2200, 2100, 2) == "krylov"
    model = lowfold.PCA(2).fit(X)
    assert model.solver_ == "krylov"
    s = np.linalg.norm((X - X.mean(axis=0)) @ model.components_.T, axis=0)
    assert np.allclose(s**2 / 2199, model.eigenvalues_)
    assert model.residual_ < 1e-5


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("solver", ["auto", "covariance"])
def test_blocks_give_what_the_whole_gives(seed: int, solver: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 7)) @ rng.normal(size=(7, 7)) + 1000
    whole = lowfold.PCA(3, solver="svd").fit(X)
    cuts = np.sort(rng.choice(np.arange(1, 300), 6, replace=False))
    streamed = lowfold.PCA(3, solver=solver).fit_blocks(np.split(X, cuts))
    assert np.allclose(streamed.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert np.allclose(streamed.components_, whole.components_, atol=1e-7)
    assert np.allclose(streamed.mean_, whole.mean_)
    assert np.allclose(streamed.transform(X[:9]), whole.transform(X[:9]))
    assert np.allclose(streamed.inverse_transform(streamed.transform(X[:9])), whole.reconstruct(X[:9]))
    assert streamed.n_samples_seen_ == 300
    assert not hasattr(streamed, "embedding_")
    assert np.allclose(streamed.kernel().dense(), np.cov(X.T))


def test_one_pass_keeps_digits_that_a_covariance_loses() -> None:
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X = rng.normal(size=(400, 4)) * [1.0, 1e-4, 1e-9, 1e-11] @ Q + 3
    streamed = lowfold.PCA(3).fit_blocks(np.split(X, 4))
    assert np.allclose(np.sqrt(streamed.eigenvalues_), [1, 1e-4, 1e-9], rtol=0.2)


@pytest.mark.parametrize("normalization", ["natural", "unit", "orthonormal"])
def test_partial_fit_is_up_to_date_after_each_block(normalization: str) -> None:
    X = np.random.default_rng(9).normal(size=(90, 5))
    model = lowfold.PCA(3, normalization=normalization)
    model.partial_fit(X[:2])
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(X)
    for end in (40, 90):
        model.partial_fit(X[2 if end == 40 else 40 : end])
        whole = lowfold.PCA(3, normalization=normalization).fit(X[:end])
        assert np.allclose(model.transform(X), whole.transform(X))
    continued = lowfold.PCA(3, normalization=normalization).fit(X[:40]).partial_fit(X[40:])
    assert np.allclose(continued.transform(X), model.transform(X))


def test_whitening_is_unit_variance() -> None:
    X = np.random.default_rng(10).normal(size=(50, 4)) @ np.random.default_rng(11).normal(size=(4, 4))
    Y = lowfold.PCA(4, normalization="unit").fit_transform(X)
    assert np.allclose(Y.T @ Y / 50, np.eye(4))


def test_blocks_from_files_and_sliceable_arrays(tmp_path) -> None:
    X = np.random.default_rng(12).normal(size=(60, 4)).astype(np.float32)
    expected = lowfold.PCA(2).fit(X).components_
    np.save(tmp_path / "rows.npy", X)

    class Chunked:  # what Zarr and HDF5 arrays have in common
        shape = X.shape

        def __getitem__(self, part: slice) -> np.ndarray:
            return X[part]

    for source in (tmp_path / "rows.npy", str(tmp_path / "rows.npy"), np.load(tmp_path / "rows.npy", "r"), Chunked()):
        model = lowfold.PCA(2).fit_blocks(source)
        assert model.components_.dtype == np.float32
        assert np.allclose(model.components_, expected, atol=1e-5)


@pytest.mark.extra("pyarrow", "pandas")
def test_blocks_from_parquet(tmp_path) -> None:
    import pandas as pd

    X = np.random.default_rng(13).normal(size=(50, 3))
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet", row_group_size=7)
    model = lowfold.PCA(2).fit_blocks(tmp_path / "rows.parquet")
    assert np.allclose(model.components_, lowfold.PCA(2).fit(X).components_)


@pytest.mark.extra("zarr")
def test_blocks_from_zarr(tmp_path) -> None:
    import zarr

    X = np.random.default_rng(16).normal(size=(500, 4)).astype(np.float32) * np.arange(1, 5, dtype=np.float32)
    stored = zarr.create_array(store=str(tmp_path / "rows.zarr"), shape=X.shape, chunks=(64, 4), dtype="float32")
    stored[:] = X
    expected = lowfold.PCA(2).fit(X)
    for source in (stored, zarr.open_array(str(tmp_path / "rows.zarr"), mode="r"), tmp_path / "rows.zarr"):
        model = lowfold.PCA(2).fit_blocks(source)
        assert np.allclose(model.components_, expected.components_, atol=1e-5)
        assert np.allclose(model.eigenvalues_, expected.eigenvalues_)
    group = zarr.open_group(str(tmp_path / "group.zarr"), mode="w")
    group.create_array("rows", shape=X.shape, dtype="float32")
    group.create_array("others", shape=X.shape, dtype="float32")
    for source in (group, tmp_path / "group.zarr"):
        with pytest.raises(ValueError, match=r"group|blocks must be"):
            lowfold.PCA(2).fit_blocks(source)


@pytest.mark.extra("zarr")
@pytest.mark.parametrize(
    ("kind", "filters", "words"),
    [
        ("|O", [{"id": "vlen-utf8"}], "array of numbers"),
        ("|O", [{"id": "pickle"}], "cannot be read as a Zarr array"),
        ("<f8", [{"id": "pickle"}], "cannot be read as a Zarr array"),
    ],
)
def test_zarr_never_unpickles(tmp_path, kind: str, filters: list, words: str) -> None:
    chunk = pickle.dumps(Touch(tmp_path / "executed"))
    header = {"zarr_format": 2, "shape": [10, 3], "chunks": [10, 3], "dtype": kind, "order": "C", "fill_value": None}
    (tmp_path / "rows.zarr").mkdir()
    (tmp_path / "rows.zarr" / "0.0").write_bytes(chunk)
    text = json.dumps({**header, "filters": filters, "compressor": {"id": "pickle"}})
    (tmp_path / "rows.zarr" / ".zarray").write_text(text)
    with pytest.raises(FileProblem, match=words):
        lowfold.PCA(1).fit_blocks(tmp_path / "rows.zarr")
    assert not (tmp_path / "executed").exists()


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.mark.extra("pyarrow", "pandas")
def test_parquet_that_is_not_a_matrix_is_refused_in_words(tmp_path) -> None:
    import pandas as pd

    pd.DataFrame({"a": [1.0, 2.0], "name": ["x", "y"]}).to_parquet(tmp_path / "words.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    for name, words in (("words", "not numbers: name"), ("cut", "cannot be read as a Parquet")):
        with pytest.raises(ValueError, match=words):
            lowfold.PCA(1).fit_blocks(tmp_path / f"{name}.parquet")


def test_blocks_that_cannot_be_are_refused_in_words(tmp_path) -> None:
    X = np.random.default_rng(14).normal(size=(20, 4))
    (tmp_path / "cut.npy").write_bytes(b"not an array")
    with pytest.raises(ValueError, match=r"cut\.npy cannot be read"):
        lowfold.PCA(2).fit_blocks(tmp_path / "cut.npy")
    assert lowfold.PCA(2).fit_blocks([X[:0], X]).n_samples_seen_ == 20
    for bad, words in (([], "no block"), (tmp_path / "no.npy", "does not exist"), (3, "blocks must be")):
        with pytest.raises(ValueError, match=words):
            lowfold.PCA(2).fit_blocks(bad)
    with pytest.raises(ValueError, match="features"):
        lowfold.PCA(2).fit_blocks([X, X[:, :3]])
    with pytest.raises(ValueError, match="n_components"):
        lowfold.PCA(5).fit_blocks([X])
    with pytest.raises(ValueError, match="solver"):
        lowfold.PCA(2, solver="power").fit_blocks([X])


@pytest.mark.parametrize("seed", [0, 1])
def test_three_derivations_give_one_subspace(seed: int) -> None:
    """Least squares, maximal variance, and successive maximisation with deflation."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    Xc = X - X.mean(axis=0)
    model = lowfold.PCA(3).fit(X)
    V = model.components_.T
    error = np.square(Xc - Xc @ V @ V.T).sum()
    values = np.linalg.eigvalsh(Xc.T @ Xc)[::-1]
    assert np.isclose(error, values[3:].sum())  # least squares error = what is left out
    assert np.isclose(np.square(Xc @ V).sum(), values[:3].sum())  # energy kept = what is taken
    for _ in range(20):
        Q = np.linalg.qr(rng.normal(size=(6, 3)))[0]
        assert np.square(Xc - Xc @ Q @ Q.T).sum() >= error
        a = rng.normal(size=6)
        assert np.square(X - a).sum() >= np.square(Xc).sum()  # the mean is the best point
    rest = Xc
    for j in range(3):
        v = np.linalg.svd(rest)[2][0]
        assert np.isclose(abs(v @ V[:, j]), 1)
        rest = rest - np.outer(rest @ v, v)
    assert np.allclose(np.cov(model.embedding_.T), np.diag(model.eigenvalues_))
    assert np.isclose(np.square(X - 1.0).sum(), np.square(Xc).sum() + 60 * np.square(X.mean(axis=0) - 1.0).sum())


def test_reconstruction_at_several_dimensions() -> None:
    X = np.random.default_rng(15).normal(size=(20, 40))
    model = lowfold.PCA(19).fit(X)
    errors = [np.linalg.norm(model.reconstruct(X, d) - X) for d in (0, 1, 2, 3, 10, 19)]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-9
    assert np.isclose(errors[0], np.linalg.norm(X - X.mean(axis=0)))
    one = model.reconstruct(X, 1) - model.mean_
    assert np.linalg.matrix_rank(one, tol=1e-8) == 1
    with pytest.raises(ValueError, match="reconstruct"):
        model.reconstruct(X, 20)


def test_rules_for_the_dimension() -> None:
    from lowfold.lowrank import explained_energy
    from lowfold.lowrank._energy import dimension_by_energy, dimension_by_gap

    rng = np.random.default_rng(16)
    X = (rng.normal(size=(200, 3)) * [5, 4, 3]) @ np.linalg.qr(rng.normal(size=(8, 3)))[0].T
    model = lowfold.PCA(8).fit(X)
    curve = explained_energy(model.eigenvalues_)
    assert np.all(np.diff(curve) >= 0)
    assert np.isclose(curve[2], 1)
    assert dimension_by_energy(model.eigenvalues_, 1.0) == 3
    found = [dimension_by_energy(model.eigenvalues_, share) for share in (0.1, 0.5, 0.9, 0.999)]
    assert found == sorted(found)
    assert dimension_by_gap(model.eigenvalues_) == 3
    assert dimension_by_gap(lowfold.PCA(8).fit(X + 0.01 * rng.normal(size=X.shape)).eigenvalues_) == 3
    with pytest.raises(ValueError, match="share"):
        dimension_by_energy(model.eigenvalues_, 1.5)
    with pytest.raises(ValueError, match="descending"):
        explained_energy([1.0, 2.0])


def test_no_fixed_basis_compresses_better_than_the_principal_axes() -> None:
    from lowfold.lowrank._bases import BASES, compression_error, orthonormal_basis

    W = orthonormal_basis("walsh", 4)
    assert np.allclose(W.T @ W, np.eye(4))
    assert np.allclose(W.T @ np.ones(4), [2, 0, 0, 0])  # a flat image needs one coefficient
    t = np.linspace(0, 1, 16)
    rng = np.random.default_rng(17)
    X = np.array(
        [np.sin(2 * np.pi * (t * f + p)) for f, p in zip(rng.uniform(0.5, 2, 80), rng.random(80), strict=True)]
    )
    terms = np.arange(17)
    axes = lowfold.PCA(16).fit(X)
    best = compression_error(X, axes.components_.T, terms, mean=axes.mean_)
    for name in BASES:
        other = compression_error(X, name, terms, mean=axes.mean_)
        assert np.all(best <= other + 1e-12)
        assert other[-1] < 1e-12
    assert compression_error(X, "standard", 4)[0] > compression_error(X, "cosine", 4)[0]
    with pytest.raises(ValueError, match="power of two"):
        orthonormal_basis("walsh", 6)


def test_projectors_and_hyperplanes_of_rank_deficient_data() -> None:
    from lowfold.geometry._linear import column_projector, hyperplane_coordinates, hyperplane_points, row_projector

    rng = np.random.default_rng(18)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 7)) + rng.normal(size=7)
    model = lowfold.PCA(3).fit(X)
    Xc = X - X.mean(axis=0)
    V = model.components_.T
    assert np.allclose(V @ V.T, row_projector(Xc))
    U = model.embedding_ / np.linalg.norm(model.embedding_, axis=0)
    assert np.allclose(U @ U.T, column_projector(Xc))
    assert np.allclose(column_projector(Xc), Xc @ np.linalg.pinv(Xc))
    assert np.allclose(hyperplane_coordinates(X, model.mean_, V), model.embedding_)
    assert np.allclose(hyperplane_points(model.embedding_, model.mean_, V), X)


def test_points_that_differ_off_the_plane_coincide() -> None:
    """PCA has no local guarantee: what lies along a dropped direction collapses."""
    X = np.random.default_rng(19).normal(size=(50, 3)) * [9, 5, 1]
    model = lowfold.PCA(2).fit(X)
    normal = np.linalg.svd(X - X.mean(axis=0))[2][2]
    pair = np.vstack([X[0], X[0] + 100 * normal])
    assert model.distances(pair)[0, 1] < 1e-8
