"""X as a table of numbers: a plain array is looked at here, and whatever else people bring by scikit-learn."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.types import AnyFloats
from lowfold.methods._refusals import refused_in_words

if TYPE_CHECKING:
    from lowfold.datasets._file_table import Table

FLOATS = [np.float64, np.float32]


def read_rows(
    model: Any,
    X: Any,
    *,
    reset: bool,
    least: int = 1,
    finite: bool | str = True,
    sparse: bool = False,
    nd: bool = False,
) -> Any:
    """Rows in C order, float32 where they came so and else float64; `reset` notes their columns, else they must agree.

    `finite`: every value is; "allow-nan" lets gaps pass, False anything. `sparse` allows CSR, `nd` samples of several
    axes. What scikit-learn refuses is told in our words.
    """
    if type(X) is np.ndarray:
        rows = _plain(X, least, finite, nd)
        if rows is not None and _agree(model, rows, reset):
            return rows
    else:
        from lowfold.datasets._file_table import Table

        if isinstance(X, Table):
            rest = {"reset": reset, "least": least, "finite": finite, "sparse": sparse, "nd": nd}
            return _of_table(model, X, rest)
    shape = getattr(X, "shape", ())
    if nd and len(shape) > 2 and 0 in shape[1:]:
        raise InvalidInput(f"X has shape {shape}, so that a sample has no values; look where its axes were lost")
    with refused_in_words(X), np.errstate(over="ignore", invalid="ignore"):  # so is what is too large or no number
        from sklearn.utils.validation import validate_data

        return validate_data(
            model,
            X,
            reset=reset,
            dtype=FLOATS,
            order="C",
            accept_sparse="csr" if sparse else False,
            allow_nd=nd,
            ensure_min_samples=least,
            ensure_all_finite=finite,
        )


def _of_table(model: Any, table: Table, rest: dict[str, Any]) -> Any:
    """Rows of a file that was read: the names of its columns are noted as those of a data frame are, or compared."""
    from lowfold.datasets._file_table import numbered

    known, named = getattr(model, "feature_names_in_", None), table.columns != numbered(len(table.columns))
    if rest["reset"] or known is None or not named:
        rows = read_rows(model, table.X, **rest)
        if rest["reset"] and named:
            model.feature_names_in_ = np.array(table.columns, dtype=object)
        return rows
    if list(known) != table.columns:
        raise InvalidInput(
            f"{table.source}: the columns must be those of the fit, in their order: {', '.join(map(str, known))}; got "
            f"{', '.join(table.columns)}"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they have been compared
        return read_rows(model, table.X, **rest)


def _plain(X: Any, least: int, finite: bool | str, nd: bool) -> AnyFloats | None:
    """A plain array of numbers with which all is well, or None."""
    if X.dtype.kind not in "fiub" or X.ndim < 2 or (X.ndim > 2 and not nd) or len(X) < least or 0 in X.shape:
        return None
    kept = X.dtype.newbyteorder("=")  # float32 of another machine is float32
    with np.errstate(over="ignore"):  # long doubles beyond float64 become infinite, and are refused for it
        rows: AnyFloats = np.asarray(X, dtype=kept if kept in FLOATS else np.float64, order="C")
    return rows if not finite or _finite(rows, gaps=finite == "allow-nan") else None


def _finite(X: AnyFloats, *, gaps: bool) -> bool:
    if gaps:
        return not np.isinf(X).any()
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum())) or bool(np.isfinite(X).all())


def _agree(model: Any, rows: AnyFloats, reset: bool) -> bool:
    """Note the columns, which have no names; or say whether they are those of the fit."""
    if reset:
        model.n_features_in_ = rows.shape[1]
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        return True
    return not hasattr(model, "feature_names_in_") and rows.shape[1] == getattr(model, "n_features_in_", rows.shape[1])
