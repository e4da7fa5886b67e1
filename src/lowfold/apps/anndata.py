"""AnnData: a method's result written where scanpy looks for it (extra `anndata`)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.warn import warn
from lowfold.apps._models import model_of
from lowfold.datasets._read_h5ad import representation, rows_of
from lowfold.graph._types import Graph

PLAIN = (bool, int, float, str)  # parameters that an .h5ad file can hold


def fit_anndata(
    adata: Any,
    method: Any = "diffusion_maps",
    *,
    use_rep: str | None = None,
    key_added: str | None = None,
    label: str | None = None,
    **parameters: Any,
) -> Any:
    """Fit a method on the cells of an AnnData object, and write what it found there, as scanpy's functions do.

    Written are `obsm["X_<key>"]`, the embedding; `obsp["<key>_distances"]`, the neighbourhood graph, where the method
    has one; and `uns["<key>"]`, a dict of parameters, eigenvalues, solver, residual and seconds.

    Parameters
    ----------
    adata : AnnData; it is changed.
    method : name in any spelling, or a model.
    use_rep : "X", a key of `adata.obsm` or `adata.layers`, or None: scanpy's rule, "X_pca" where it is there and there
        are more than 50 variables, else X. With metric="precomputed" and the like, a key of `adata.obsp`, as
        "connectivities".
    key_added : the key; None is the method's own name, as "diffusion_maps".
    label : the column of `adata.obs` that a supervised method learns from.
    parameters : of the method, where it is a name.

    Returns the fitted model.
    """
    for part in ("obs", "obsm", "obsp", "layers", "uns", "X", "n_vars"):
        if not hasattr(adata, part):
            raise InvalidInput(f"adata must be an AnnData object; got {type(adata).__name__}")
    model = model_of(method, None, parameters)
    rep, rows = _rows(adata, use_rep, str(getattr(model, "metric", "")).startswith("precomputed"))
    classes = _classes(adata, label, model)
    key = key_added or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(model).__name__).lower()
    start = time.perf_counter()
    try:
        Y = model.fit_transform(rows, classes) if classes is not None else model.fit_transform(rows)
    except InvalidInput as error:
        if rep != "X" or not issparse(adata.X):
            raise
        raise InvalidInput(f"{error}; or reduce the cells first and pass use_rep='X_pca'") from error
    _tell_replaced(adata, key)
    adata.obsm[f"X_{key}"] = np.asarray(Y)
    graph = getattr(model, "graph_", None)
    about = _about(model, rep, time.perf_counter() - start)
    if isinstance(graph, Graph) and graph.n == adata.n_obs:
        adata.obsp[f"{key}_distances"] = graph.to_scipy()
        about["distances_key"] = f"{key}_distances"
    adata.uns[key] = about
    return model


def _rows(adata: Any, use_rep: str | None, square: bool) -> tuple[str, Any]:
    """The name of what the model is fitted on, and it: rows, or a square of cells by cells."""
    if square:
        if use_rep is None or use_rep not in adata.obsp:
            there = ", ".join(adata.obsp) or "none"
            raise InvalidInput(f"a precomputed metric needs use_rep, a key of adata.obsp ({there}); got {use_rep!r}")
        return use_rep, adata.obsp[use_rep]
    rep = representation(adata, use_rep)
    if rep != "X" and rep not in adata.obsm and rep not in adata.layers:
        there = ", ".join([*adata.obsm, *adata.layers]) or "none"
        raise InvalidInput(f"use_rep must be 'X' or a key of adata.obsm or adata.layers ({there}); got {use_rep!r}")
    rows = rows_of(adata, rep)
    if rows is None:
        there = ", ".join([*adata.obsm, *adata.layers]) or "none"
        raise InvalidInput(f"adata.X is None; pass use_rep, a key of adata.obsm or adata.layers ({there})")
    return rep, rows if issparse(rows) else np.asarray(rows)


def _classes(adata: Any, label: str | None, model: Any) -> Any:
    if not getattr(model, "supervised", False):
        if label is not None:
            raise InvalidInput(f"{type(model).__name__} learns from no classes; leave label out")
        return None
    if label is None or label not in adata.obs:
        there = ", ".join(map(str, adata.obs.columns)) or "none"
        raise InvalidInput(
            f"{type(model).__name__} learns from classes: label must be a column of adata.obs ({there}); got {label!r}"
        )
    return np.asarray(adata.obs[label])


def _tell_replaced(adata: Any, key: str) -> None:
    """A word before an embedding of another program is lost, on which later steps may rest."""
    ours = isinstance(adata.uns.get(key), Mapping) and "lowfold" in adata.uns[key]
    if f"X_{key}" in adata.obsm and not ours:
        warn(f"obsm['X_{key}'], which lowfold did not write, is replaced; key_added= gives another name", RepairWarning)


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
