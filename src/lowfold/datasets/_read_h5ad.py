"""Annotated matrices of cells, .h5ad, by anndata (the extra "anndata")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.extras import load_extra
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold._core.memory import fits
from lowfold.datasets._file_table import Table, numbered, small_float

MANY = 50  # variables above which scanpy's rule takes the principal components instead, where they are there


def read_h5ad(path: str | Path, *, rep: str | None = None) -> Table:
    """Read the cells of an .h5ad file as rows; their annotations (`obs`) are labels, their names ids.

    rep : "X", or a key of `obsm` or `layers`, as "X_pca"; None is scanpy's rule, "X_pca" where it is there and
        variables are more than 50, else X. Sparse rows stay sparse where the memory budget does not hold their zeros.
    """
    anndata = load_extra("anndata", "anndata", "reading .h5ad")
    file = existing_file(path)
    with parsing(path, ".h5ad file"):
        adata = anndata.read_h5ad(file)
    chosen = representation(adata, rep)
    there = [*(["X"] if adata.X is not None else []), *adata.obsm, *adata.layers]
    if chosen not in there:
        refuse(path, f"there is no representation {chosen!r}; rep= takes {', '.join(there) or 'none'}")
    rows: Any = rows_of(adata, chosen)
    if 0 in rows.shape:
        refuse(path, f"{chosen} holds no values")
    notices = [f"rows are {chosen} of {adata.n_obs} cells"] if rep is None else []
    wide = chosen == "X" or chosen not in adata.obsm
    columns = [str(name) for name in adata.var_names] if wide else numbered(rows.shape[1], f"{chosen}_")
    labels = {str(name): _values(adata.obs[name]) for name in adata.obs.columns}
    ids = np.asarray(adata.obs_names).astype(str)
    if hasattr(rows, "toarray"):
        if not fits(8 * rows.shape[0] * rows.shape[1]) and rows.dtype.kind in "fiub":
            sparse: Any = csr_array(rows, dtype=small_float(rows.dtype))
            return Table(sparse, columns, labels, ids, notices, str(path))
        require_room(path, 8 * rows.shape[0] * rows.shape[1], f"the dense form of {chosen}")
        rows = rows.toarray()
    X = np.asarray(rows)
    if X.dtype.kind not in "fiub":
        refuse(path, f"{chosen} holds {X.dtype}, not numbers")
    X = np.ascontiguousarray(X, dtype=small_float(X.dtype))
    return Table(X, columns, labels, ids, notices, str(path))


def representation(adata: Any, rep: str | None) -> str:
    """The one asked for, else that of scanpy's rule."""
    return rep or ("X_pca" if "X_pca" in adata.obsm and adata.n_vars > MANY else "X")


def rows_of(adata: Any, rep: str) -> Any:
    """Rows of X, of `obsm` or of `layers`."""
    return adata.X if rep == "X" else adata.obsm[rep] if rep in adata.obsm else adata.layers[rep]


def _values(column: Any) -> NDArray[Any]:
    """Numbers as numbers; categories, words and truth values as text."""
    kind = getattr(column.dtype, "kind", "O")
    return np.asarray(column) if kind in "fiu" else np.asarray(column.astype(str), dtype=np.str_)
