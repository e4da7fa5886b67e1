"""AnnData: written where scanpy looks, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput, RepairWarning
from lowfold.cli import main

pytestmark = pytest.mark.extra("anndata")


def cells(n: int = 120, wide: int = 60) -> object:
    import anndata
    import pandas as pd

    def names(letter: str, count: int) -> object:
        return pd.Index([f"{letter}{i}" for i in range(count)], dtype=object)

    data = lowfold.datasets.s_curve(n, random_state=5)
    kind = pd.Categorical(pd.Index(np.where(data.color > 0, "late", "early"), dtype=object))
    obs = pd.DataFrame({"kind": kind, "depth": np.arange(n)}, index=names("c", n))
    noise = np.random.default_rng(0).normal(size=(n, wide))
    adata = anndata.AnnData(noise, obs=obs, var=pd.DataFrame(index=names("g", wide)))
    adata.obsm["X_pca"] = data.X
    return adata


def test_the_embedding_the_graph_and_the_account_are_written() -> None:
    adata = cells()
    model = lowfold.fit_anndata(adata, "diffusion_maps", n_neighbors=8)
    assert np.array_equal(adata.obsm["X_diffusion_maps"], model.embedding_)  # type: ignore[attr-defined]
    D = adata.obsp["diffusion_maps_distances"]  # type: ignore[attr-defined]
    assert (model.graph_.to_scipy() != D).nnz == 0
    about = adata.uns["diffusion_maps"]  # type: ignore[attr-defined]
    assert about["params"]["use_rep"] == "X_pca"
    assert np.array_equal(about["eigenvalues"], model.eigenvalues_)
    direct = lowfold.DiffusionMaps(2, n_neighbors=8).fit_transform(adata.obsm["X_pca"])  # type: ignore[attr-defined]
    assert np.array_equal(direct, model.embedding_)


def test_key_rep_and_a_model_of_ones_own() -> None:
    adata = cells()
    lowfold.fit_anndata(adata, lowfold.PCA(3), use_rep="X", key_added="mine")
    assert adata.obsm["X_mine"].shape == (120, 3)  # type: ignore[attr-defined]
    assert "mine_distances" not in adata.obsp  # type: ignore[attr-defined]


def test_a_file_goes_round_and_through_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adata = cells()
    lowfold.fit_anndata(adata, "isomap", n_neighbors=8)
    adata.write_h5ad(tmp_path / "a.h5ad")  # type: ignore[attr-defined]
    table = lowfold.datasets.read(tmp_path / "a.h5ad", rep="X_isomap")
    assert np.array_equal(table.X, adata.obsm["X_isomap"])  # type: ignore[attr-defined]
    assert set(table.labels) == {"kind", "depth"}
    assert table.ids is not None
    assert table.ids[3] == "c3"
    assert lowfold.datasets.read(tmp_path / "a.h5ad", rep="X").columns[:2] == ["g0", "g1"]
    assert main(["embed", str(tmp_path / "a.h5ad"), "-m", "pca", "-q"]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head == "pca0,pca1,id,kind,depth"


def test_bad_input_ends_in_words(tmp_path: Path) -> None:
    adata = cells()
    with pytest.raises(InvalidInput, match="AnnData object"):
        lowfold.fit_anndata(np.eye(3))
    with pytest.raises(InvalidInput, match="X_umap"):
        lowfold.fit_anndata(adata, use_rep="X_umap")
    (tmp_path / "bad.h5ad").write_bytes(b"no HDF5 at all")
    with pytest.raises(InvalidInput, match="not a readable"):
        lowfold.datasets.read(tmp_path / "bad.h5ad")


def test_sparse_counts_are_taken_or_refused_with_the_way_out() -> None:
    adata = cells()
    adata.X = csr_array(np.maximum(adata.X, 0))  # type: ignore[attr-defined]
    lowfold.fit_anndata(adata, "random-projection", use_rep="X", n_components=5)
    assert adata.obsm["X_random_projection"].shape == (120, 5)  # type: ignore[attr-defined]


def test_layers_squares_and_classes() -> None:
    adata: Any = cells()
    adata.layers["less"] = adata.X - 1
    model = lowfold.fit_anndata(adata, "pca", use_rep="less", key_added="layer")
    assert np.array_equal(model.embedding_, lowfold.PCA(2).fit_transform(adata.X - 1))
    lowfold.fit_anndata(adata, "diffusion_maps", n_neighbors=8)
    near = adata.obsp["diffusion_maps_distances"] > 0
    adata.obsp["near"] = csr_array(near, dtype=float)
    model = lowfold.fit_anndata(adata, "laplacian_eigenmaps", metric="precomputed_affinity", use_rep="near")
    direct = lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit_transform(adata.obsp["near"])
    assert np.array_equal(model.embedding_, direct)
    with pytest.raises(InvalidInput, match=r"key of adata.obsp \(diffusion_maps_distances, near"):
        lowfold.fit_anndata(adata, "isomap", metric="precomputed")
    model = lowfold.fit_anndata(adata, "supervised_lle", label="kind")
    assert np.array_equal(
        model.embedding_, lowfold.SupervisedLLE(2).fit_transform(adata.obsm["X_pca"], adata.obs["kind"])
    )
    with pytest.raises(InvalidInput, match=r"label must be a column of adata.obs \(kind, depth\)"):
        lowfold.fit_anndata(adata, "supervised_lle")
    with pytest.raises(InvalidInput, match="learns from no classes"):
        lowfold.fit_anndata(adata, "pca", label="kind")


def test_an_embedding_of_another_program_is_not_lost_without_a_word() -> None:
    adata: Any = cells()
    with pytest.warns(RepairWarning, match=r"obsm\['X_pca'\], which lowfold did not write, is replaced"):
        lowfold.fit_anndata(adata, "pca", use_rep="X")
    lowfold.fit_anndata(adata, "pca", use_rep="X")  # its own may go


def test_the_file_and_the_object_follow_one_rule(tmp_path: Path) -> None:
    adata: Any = cells(wide=40)  # few variables: X itself
    adata.layers["less"] = adata.X - 1
    adata.write_h5ad(tmp_path / "a.h5ad")
    assert lowfold.datasets.read(tmp_path / "a.h5ad").X.shape == (120, 40)
    assert lowfold.fit_anndata(adata, "random_projection").n_features_in_ == 40
    assert np.array_equal(lowfold.datasets.read(tmp_path / "a.h5ad", rep="less").X, adata.layers["less"])
    adata.X = None
    adata.write_h5ad(tmp_path / "b.h5ad")
    with pytest.raises(FileProblem, match="rep= takes X_pca, X_random_projection, less"):
        lowfold.datasets.read(tmp_path / "b.h5ad")
    with pytest.raises(InvalidInput, match=r"key of adata.obsm or adata.layers \(X_pca, X_random_projection, less\)"):
        lowfold.fit_anndata(adata, "pca")


def test_sparse_counts_too_wide_for_memory_stay_sparse(tmp_path: Path) -> None:
    adata: Any = cells(wide=50)
    adata.X = csr_array(np.maximum(adata.X, 0) * (adata.X > 1))
    adata.write_h5ad(tmp_path / "a.h5ad")
    assert isinstance(lowfold.datasets.read(tmp_path / "a.h5ad").X, np.ndarray)
    with lowfold.config_context(memory=30_000):  # 120 x 50 numbers need 48,000
        table = lowfold.datasets.read(tmp_path / "a.h5ad")
    assert issparse(table.X)
    assert np.array_equal(table.X.toarray(), adata.X.toarray())
