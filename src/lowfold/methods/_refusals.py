"""What cannot be a table of numbers, refused in words: what came, counted, and what to do.

scikit-learn reads X; its refusals are told again here. Its checks of estimators look for some of the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput, InvalidType, LowfoldError

FEW = r"(\d+) (sample|feature)\(s\) (\(shape=.*?\)) while a minimum of (\d+) is required(.*?)\.?$"
NUMBERS = "biuf"  # kinds of NumPy's types that are read as numbers

WAYS = (
    ("__next__", "it gives its rows once: pass np.array(list(X)), or blocks of rows to PCA.fit_blocks"),
    ("target", "pass X.data"),
    ("keys", "pass pandas.DataFrame(X), or the array in it that is meant"),
)
"""What an object that is no table can be told by, and what to do: iterators, bunches, dicts."""


@contextmanager
def refused_in_words(X: Any) -> Iterator[None]:
    """Refuse what scikit-learn would read as something else, and tell what it refuses while X is read."""
    for refuse in (_not_two_axes, _masked, _same_names, _dates):
        refuse(X)
    try:
        yield
    except (LowfoldError, MemoryError):
        raise
    except TypeError as error:
        raise _of_type(X, error) from None
    except (ValueError, OverflowError) as error:
        raise _of_value(X, error) from None


def negative(method: Any, least: float) -> InvalidInput:
    """What a method of nonnegative parts says of other numbers."""
    return InvalidInput(
        f"Negative values in data passed to {type(method).__name__}: X must be 0 or more, its smallest is {least:g}; "
        "where its columns have a zero of their own, X - X.min(axis=0) begins there; PCA, ICA and SparsePCA take any "
        "numbers"
    )


def _not_two_axes(X: Any) -> None:
    if X is None:
        raise InvalidInput("X is None, and a table of numbers is needed, a row for each point")
    if type(X).__name__ == "matrix" and isinstance(X, np.ndarray):
        raise InvalidType("X is an np.matrix, whose products are not those of arrays; pass np.asarray(X)")
    if type(X).__name__ == "AnnData":
        raise InvalidType("X is an AnnData object; lowfold.fit_anndata(X, 'pca') fits it in place, or pass X.X")
    if type(X).__name__ == "Series" and len(X) and np.ndim(first := X.iloc[0] if hasattr(X, "iloc") else X[0]):
        raise InvalidInput(f"X is a Series of arrays ({type(first).__name__}); pass np.stack(X), a row for each")
    if type(X).__name__ == "Series":
        raise InvalidInput(
            f"X is a Series of {len(X)} values, and a row is a point. Reshape your data: X.to_frame() for {len(X)} "
            "points of one feature"
        )
    single = isinstance(X, (Number, np.generic)) or (isinstance(X, np.ndarray) and X.ndim == 0)
    if single and not isinstance(X, (str, bytes)):
        raise InvalidInput(
            f"X is a single number ({X}), and a row is a point. Reshape your data: [[{X}]] is one point of one feature"
        )


def _masked(X: Any) -> None:
    if isinstance(X, np.ma.MaskedArray) and (hidden := int(np.ma.getmaskarray(X).sum())):
        raise InvalidInput(
            f"X is a masked array, and {hidden:,} of its {X.size:,} values are masked; fill them, X.filled(value), or "
            "pass X.filled(np.nan) to EMPCA, which fits rows with gaps, or, of distances, to MetricMDS"
        )


def _same_names(X: Any) -> None:
    """scikit-learn refuses them since 1.9, in the words of another package; columns are found by name."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        if len(X.columns) == 0:
            raise InvalidInput(f"X has 0 columns and {len(X)} rows, and a column is a feature of the points")
        counts = Counter(X.columns)
        if twice := [name for name, count in counts.items() if count > 1]:
            names = ", ".join(map(repr, twice))
            raise InvalidInput(f"X has several columns named {names}; give each its own name, or pass X.to_numpy()")


def _dates(X: Any) -> None:
    named = hasattr(X, "columns") and hasattr(X, "dtypes")
    kinds = [getattr(dtype, "kind", "") for dtype in (X.dtypes if named else [getattr(X, "dtype", None)])]
    found = [place for place, kind in enumerate(kinds) if kind in ("m", "M")]
    if found:
        what = f"columns {', '.join(repr(X.columns[place]) for place in found)}" if named else f"dtype {X.dtype}"
        raise InvalidInput(
            f"X holds dates or durations ({what}), and numbers are needed; choose their unit: divide what is left of "
            "(dates - dates.min()) by np.timedelta64(1, 's')"
        )


def _of_type(X: Any, error: TypeError) -> Exception:
    said = str(error)
    if "Feature names are only supported" in said:
        kinds = {type(name).__name__: repr(name) for name in X.columns}
        return InvalidType(
            f"X has columns of which some are named by text and others not ({', '.join(kinds.values())}); make it one "
            "kind: X.columns = X.columns.astype(str), or pass X.to_numpy()"
        )
    if "Sparse data was passed" in said:
        way = "X.toarray()" if issparse(X) else "X.sparse.to_dense(), or X.sparse.to_coo() to a method of sparse rows"
        return InvalidInput(f"X is sparse, and a dense table is needed here; pass {way}")
    if names := getattr(getattr(X, "dtype", None), "names", None):
        return InvalidType(
            f"X has named fields ({', '.join(names)}), and a table of numbers is needed: "
            "numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
    if "float() argument" in said:
        way = next((told for has, told in WAYS if hasattr(X, has)), said)
        return InvalidType(f"X must be a table of numbers, a row for each point; got {type(X).__name__}; {way}")
    return error


def _of_value(X: Any, error: ValueError | OverflowError) -> Exception:
    said = str(error)
    for words, tell in TOLD.items():
        if words in said:
            return InvalidInput(tell(X, said))
    return error


def _ragged(X: Any, said: str) -> str:
    lengths = {len(row) for row in X if hasattr(row, "__len__")} if isinstance(X, (list, tuple)) else set()
    spread = f" ({min(lengths)} to {max(lengths)})" if len(lengths) > 1 else ""
    return f"X has rows of different lengths{spread}; every row needs the same columns"


def _gaps(X: Any, said: str) -> str:
    return (
        f"Input X contains NaN{_where(X, np.isnan)}. Fill the gaps or leave these rows out; EMPCA fits rows with gaps "
        "as they are, and `datasets.read(file, missing='mean')` or missing='drop' mends them where a file is read"
    )


def _infinite(X: Any, said: str) -> str:
    return (
        f"Input X contains infinity{_where(X, np.isinf)}. It comes from a division by zero or a logarithm of it, or "
        "from numbers beyond the range of their type: mend it there, or leave these rows out"
    )


def _where(X: Any, wrong: Callable[[Any], Any]) -> str:
    """How many values are so, and where the first stands; nothing of what is no array of numbers."""
    if wrong is np.isnan and hasattr(X, "isna"):  # of pandas, whose gaps need not be NaN
        X, wrong = X.isna(), np.asarray
    if issparse(X):
        A = X.tocoo()  # type: ignore[attr-defined]
        bad = np.flatnonzero(wrong(A.data))
        count, size, first = len(bad), A.nnz, (A.row[bad[:1]], A.col[bad[:1]])
    else:
        try:
            with np.errstate(over="ignore"):
                values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            return ""
        at = np.nonzero(wrong(values))
        count, size, first = len(at[0]), values.size, tuple(axis[:1] for axis in at)  # type: ignore[assignment]
    if not count or len(first) != 2:
        return ""
    row, column = int(first[0][0]), int(first[1][0])
    return f": {count:,} of {size:,} values, the first in row {row}, column {column}"


def _text_columns(X: Any, said: str) -> str:
    if hasattr(X, "columns"):
        names = [name for name in X.columns if not _numeric(X[name])]
        text = ", ".join(map(repr, names))
        if names and all(_decimal_comma(X[name]) for name in names):
            return f"X has columns of numbers with a decimal comma: {text}; read them with decimal=','"
        return f"X has columns that are no numbers: {text}; leave them out or encode them"
    text = said.rpartition(": ")[2].removeprefix("np.str_(").removesuffix(")")
    return f"X holds text ({text}), and numbers are needed; leave it out or encode it"


def _decimal_comma(column: Any) -> bool:
    """Whether every value of a column of text is written as 1,5 is."""
    return all(isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", value) for value in column)


def _numeric(column: Any) -> bool:
    """Whether the column has numbers; one of pandas with gaps among whole numbers is an array of objects."""
    return getattr(column.dtype, "kind", "O") in NUMBERS or np.asarray(column).dtype.kind in NUMBERS


def _complex(X: Any, said: str) -> str:
    return (
        "Complex data not supported: X holds complex numbers; np.hstack([X.real, X.imag]) has the same distances, "
        "np.abs(X) their sizes"
    )


def _axes(X: Any, said: str) -> str:
    return (
        f"X has {np.ndim(X)} axes, and a row is a point: X.reshape(len(X), -1) makes rows; MultilinearPCA takes "
        "samples of several axes as they are"
    )


def _one_axis(X: Any, said: str) -> str:
    n = int(np.prod(np.shape(X)))
    if n == 0:
        return "X is empty, and a row is a point. Reshape your data: a table of numbers is needed"
    return (
        f"X has shape ({n},), and a row is a point. Reshape your data: X.reshape(-1, 1) for {n} points of one feature, "
        f"X.reshape(1, -1) for one point of {n} features"
    )


def _few(X: Any, said: str) -> str:
    """scikit-learn's "Found array with 0 sample(s) (shape=(0, 4)) while a minimum of 2 is required by PCA."."""
    found = re.search(FEW, said)
    if found is None:
        return said
    count, kind, shape, least, whom = found.groups()
    what = "a row is a point" if kind == "sample" else "a column is a feature of the points"
    return (
        f"X has {count} {kind}(s) {shape} while a minimum of {least} is required{whom}: {what}; look where the others "
        "were lost, or whether X is transposed"
    )


def _other_columns(X: Any, said: str) -> str:
    return f"{said.rstrip('.')}: new points have the columns of those fitted (of distances: one to each), in order"


def _other_order(X: Any, said: str) -> str:
    return f"{said.rstrip()}\nX[list(model.feature_names_in_)] is in that order."


def _other_names(X: Any, said: str) -> str:
    if "yet now missing" in said:
        return f"{said.rstrip()}\nThe model needs them all, under the names of the fit."
    return f"{said.rstrip()}\nX[list(model.feature_names_in_)] takes the columns of the fit."


def _cells(X: Any, said: str) -> str:
    return "X has cells that hold several values, and every cell must be one number; spread them over columns"


def _too_large(X: Any, said: str) -> str:
    return "X has whole numbers beyond float64, which ends at 1.8e308; divide them first, or take their logarithms"


def _other_fill(X: Any, said: str) -> str:
    return "X has sparse columns that are no zeros where nothing is stored; pass X.sparse.to_dense()"


TOLD: dict[str, Callable[[Any, str], str]] = {
    "inhomogeneous": _ragged,
    "contains NaN": _gaps,
    "contains infinity": _infinite,
    "could not convert": _text_columns,
    "Cannot cast": _text_columns,  # the same of pandas 3, of categories
    "Complex data": _complex,
    "dim <= 2 is required": _axes,
    "expected <= 2": _axes,  # the same of scikit-learn 1.6
    "2D array, got 1D": _one_axis,
    "2D input, got": _one_axis,  # the same of a sparse one
    "while a minimum of": _few,
    "features as input": _other_columns,
    "must be in the same order": _other_order,
    "Feature names unseen": _other_names,
    "yet now missing": _other_names,
    "setting an array element with a sequence": _cells,
    "too large to convert": _too_large,
    "fill value must be 0": _other_fill,
}
