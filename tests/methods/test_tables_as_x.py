"""What a reader or a generator returns is taken where X is asked for, with the names of its columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import lowfold
from lowfold._core.errors import InvalidInput, ScaleWarning
from lowfold.datasets._file_table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    X = np.random.default_rng(3).normal(size=(40, 3)) * [3.0, 2.0, 1.0]
    file = tmp_path / "t.csv"
    file.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    return lowfold.datasets.read(file)


def test_a_table_is_fitted_as_its_rows(table: Table) -> None:
    model = lowfold.Isomap(2, n_neighbors=6).fit(table)
    assert np.array_equal(model.embedding_, lowfold.Isomap(2, n_neighbors=6).fit(table.X).embedding_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.transform(table), model.embedding_)
    assert len(table) == 40
    assert table.shape == (40, 3)


def test_columns_in_another_order_are_refused_by_name(table: Table) -> None:
    model = lowfold.PCA(2).fit(table)
    with pytest.raises(InvalidInput, match=r"columns must be those of the fit, in their order: a, b, c; got c, b, a"):
        model.transform(replace(table, X=table.X[:, ::-1], columns=table.columns[::-1]))


def test_numbered_columns_are_no_names(table: Table) -> None:
    model = lowfold.PCA(2).fit(replace(table, columns=["x1", "x2", "x3"]))
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.transform(table.X), model.embedding_)


def test_sparse_rows_of_a_table(table: Table) -> None:
    sparse = replace(table, X=scipy.sparse.csr_array(table.X))
    model = lowfold.PCA(2).fit(sparse)
    assert np.allclose(model.transform(sparse), model.embedding_)
    with pytest.raises(InvalidInput, match="pass its X"):
        np.asarray(sparse)


def test_names_in_warnings_and_findings(table: Table) -> None:
    wide = replace(table, X=table.X * [1.0, 1.0, 1000.0])
    with pytest.warns(ScaleWarning, match="column 'c' spreads"):
        lowfold.LaplacianEigenmaps(1).fit(wide)
    assert "column 'c' spreads" in str(lowfold.diagnose(wide))


def test_a_generated_set_is_its_points() -> None:
    roll = lowfold.datasets.swiss_roll(200, random_state=5)
    assert np.array_equal(lowfold.PCA(2).fit_transform(roll), lowfold.PCA(2).fit_transform(roll.X))
    assert roll.shape == np.asarray(roll).shape == (200, 3)
