"""Annotated matrices of cells, .h5ad, by anndata (the extra "anndata")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.extras import load_extra
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold.datasets._file_table import Table, numbered, small_float


def read_h5ad(path: str | Path, *, rep: str | None = None) -> Table:
    """Read the cells of an .h5ad file as rows; their annotations (`obs`) are labels, their names ids.

    rep : "X", or a key of `obsm` as "X_pca"; None takes "X_pca" where it is there, else X.
    """
    anndata = load_extra("anndata", "anndata", "reading .h5ad")
    file = existing_file(path)
    with parsing(path, ".h5ad file"):
        adata = anndata.read_h5ad(file)
    chosen = rep or ("X_pca" if "X_pca" in adata.obsm else "X")
    if chosen != "X" and chosen not in adata.obsm:
        refuse(path, f"there is no representation {chosen!r}; there are X, {', '.join(adata.obsm)}")
    rows = adata.X if chosen == "X" else adata.obsm[chosen]
    if rows is None or 0 in rows.shape:
        refuse(path, f"{chosen} holds no values")
    notices = [f"rows are {chosen} of {adata.n_obs} cells"] if rep is None else []
    if hasattr(rows, "toarray"):
        require_room(path, 8 * rows.shape[0] * rows.shape[1], f"the dense form of {rows.shape[0]} x {rows.shape[1]}")
        rows = rows.toarray()
    X = np.asarray(rows)
    if X.dtype.kind not in "fiub":
        refuse(path, f"{chosen} holds {X.dtype}, not numbers")
    X = np.ascontiguousarray(X, dtype=small_float(X.dtype))
    columns = [str(name) for name in adata.var_names] if chosen == "X" else numbered(X.shape[1], f"{chosen}_")
    labels = {str(name): _values(adata.obs[name]) for name in adata.obs.columns}
    return Table(X, columns, labels, np.asarray(adata.obs_names).astype(str), notices, str(path))


def _values(column: Any) -> NDArray[Any]:
    """Numbers as numbers; categories, words and truth values as text."""
    kind = getattr(column.dtype, "kind", "O")
    return np.asarray(column) if kind in "fiu" else np.asarray(column.astype(str), dtype=np.str_)
