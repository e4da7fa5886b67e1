"""AnnData: a method's result written where scanpy looks for it (extra `anndata`)."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold.apps._models import model_of
from lowfold.graph._types import Graph

MANY = 50  # variables above which scanpy's rule takes the principal components instead, where they are there
PLAIN = (bool, int, float, str)  # parameters that an .h5ad file can hold


def fit_anndata(
    adata: Any,
    method: Any = "diffusion_maps",
    *,
    use_rep: str | None = None,
    key_added: str | None = None,
    **parameters: Any,
) -> Any:
    """Fit a method on the cells of an AnnData object, and write what it found there, as scanpy's functions do.

    Written are `obsm["X_<key>"]`, the embedding; `obsp["<key>_distances"]`, the neighbourhood graph, where the method
    has one; and `uns["<key>"]`, a dict of parameters, eigenvalues, solver, residual and seconds.

    Parameters
    ----------
    adata : AnnData; it is changed.
    method : name in any spelling, or a model.
    use_rep : "X", a key of `adata.obsm`, or None: scanpy's rule, "X_pca" where it is there and there are more than 50
        variables, else X.
    key_added : the key; None is the method's own name, as "diffusion_maps".
    parameters : of the method, where it is a name.

    Returns the fitted model.
    """
    for part in ("obsm", "obsp", "uns", "X", "n_vars"):
        if not hasattr(adata, part):
            raise InvalidInput(f"adata must be an AnnData object; got {type(adata).__name__}")
    model = model_of(method, None, parameters)
    rep = _representation(adata, use_rep)
    key = key_added or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(model).__name__).lower()
    start = time.perf_counter()
    try:
        Y = model.fit_transform(_rows(adata, rep))
    except InvalidInput as error:
        if rep != "X" or not issparse(adata.X):
            raise
        raise InvalidInput(f"{error}; or reduce the cells first and pass use_rep='X_pca'") from error
    adata.obsm[f"X_{key}"] = np.asarray(Y)
    graph = getattr(model, "graph_", None)
    about = _about(model, rep, time.perf_counter() - start)
    if isinstance(graph, Graph) and graph.n == adata.n_obs:
        adata.obsp[f"{key}_distances"] = graph.to_scipy()
        about["distances_key"] = f"{key}_distances"
    adata.uns[key] = about
    return model


def _representation(adata: Any, use_rep: str | None) -> str:
    if use_rep is None:
        return "X_pca" if "X_pca" in adata.obsm and adata.n_vars > MANY else "X"
    if use_rep != "X" and use_rep not in adata.obsm:
        there = ", ".join(adata.obsm) or "none"
        raise InvalidInput(f"use_rep must be 'X' or a key of adata.obsm ({there}); got {use_rep!r}")
    return use_rep


def _rows(adata: Any, rep: str) -> Any:
    rows = adata.X if rep == "X" else adata.obsm[rep]
    if rows is None:
        raise InvalidInput("adata.X is None; pass use_rep, a key of adata.obsm")
    return rows if issparse(rows) else np.asarray(rows)


def _about(model: Any, rep: str, seconds: float) -> dict[str, Any]:
    """What happened, in values that an .h5ad file can hold."""
    from lowfold import __version__

    given = {name: value for name, value in model.get_params(deep=False).items() if isinstance(value, PLAIN)}
    about: dict[str, Any] = {"params": given | {"method": type(model).__name__, "use_rep": rep}}
    about |= {"seconds": seconds, "lowfold": __version__}
    for name in ("eigenvalues_", "solver_", "residual_", "gap_", "n_neighbors_"):
        value = getattr(model, name, None)
        if isinstance(value, (*PLAIN, np.ndarray, np.floating, np.integer)):
            about[name.removesuffix("_")] = value if isinstance(value, (*PLAIN, np.ndarray)) else value.item()
    return about
