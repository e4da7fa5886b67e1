"""Reading the data: the first task of a session, so that nothing is loaded here that only methods need."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold.datasets._file_table import Table
from lowfold.datasets._gaps import Missing, with_gaps
from lowfold.datasets._read_text import read_documents, read_texts
from lowfold.datasets._readers import _reader_for
from lowfold.datasets._table import SURFACES
from lowfold.metrics._scales import scaling, standardized
from lowfold.studio import _columns
from lowfold.studio._protocol import ColumnInfo
from lowfold.studio._stored import MOST_ROWS, Stored, column, in_units, matrix, more, stored

MOST_COLUMNS = 400  # columns that are listed one by one
CURVE = 16  # from so many columns on, a row is also drawn as a curve
WORDS = 400  # letters of a text that are shown
LABEL_NAMES = frozenset({"class", "label", "labels", "target", "species", "category", "digit"})
LABEL_VALUES = 50  # different whole numbers that a column of such a name may hold

Say = Callable[[dict[str, Any]], None]


def read(
    say: Say,
    source: dict[str, Any],
    folder: str,
    columns: str,
    roles: dict[str, str] | None = None,
    missing: Missing = "keep",
    matrix: bool = False,
    standardize: str = "none",
    header: str = "auto",
) -> dict[str, Any]:
    """Read the source into the folder, and describe it as `DataInfo`."""
    table, reader = _made(source) if source["kind"] == "set" else _from_file(Path(source["path"]), matrix, header)
    notices = [_without_folder(words, source) for words in table.notices]
    roles = _first_roles(table, notices, matrix) if roles is None else roles
    part, gaps = _apart(table, roles, source["name"]), 0
    total = len(part.X)
    if np.isnan(part.X).any():
        gaps = int(np.isnan(part.X).sum())
        part = part if missing == "keep" else with_gaps(part, missing)
    dropped, names = total - len(part.X), part.columns
    arrays: dict[str, NDArray[Any]] = {}
    if standardize != "none" and not matrix:
        arrays["scaling"] = scaling(part.X, standardize)
        part = replace(part, X=standardized(part.X, arrays["scaling"]))
    if len(part.X) > MOST_ROWS:
        part = _drawn(part)
        notices.append(f"showing {MOST_ROWS:,} of {total:,} rows, random")
    X, aside = part.X, part.labels
    if len(X) < 3:
        raise InvalidInput(f"there are {len(X)} rows; an embedding needs at least 3")
    if len(X) < total:
        assert part.ids is not None
        arrays["rows"] = part.ids
    shape = [] if table.point_shape is None or X.shape[1] != int(np.prod(table.point_shape)) else table.point_shape
    there = set(table.columns)
    known = Stored(
        source, names, list(aside), roles, len(X), total, dropped, missing, matrix,
        [int(side) for side in shape],
        reader,
        stacked=[name for name in names if name not in there],
        taken=[name for name in aside if name in there],
        gaps=gaps,
        standardize=standardize,
        header=header,
    )  # fmt: skip
    known.write(Path(folder), X, aside, arrays)
    return describe(Path(folder), Path(columns), [*notices, *part.notices])


def _drawn(part: Table) -> Table:
    """As many rows as a session works with, at random."""
    keep = np.sort(np.random.default_rng(0).choice(len(part.X), MOST_ROWS, replace=False))
    assert part.ids is not None
    aside = {name: values[keep] for name, values in part.labels.items()}
    return replace(part, X=part.X[keep], labels=aside, ids=part.ids[keep])


def describe(folder: Path, columns: Path, notices: list[str]) -> dict[str, Any]:
    """`DataInfo` of a stored folder."""
    X, known = matrix(folder), stored(folder)
    gaps = np.isnan(X).sum(axis=0)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    listed = [
        ColumnInfo(name, "number", "data", int(gaps[j]), bool(low[j] == high[j]))
        for j, name in enumerate(known.columns[:MOST_COLUMNS])
    ]
    constant = int((low == high).sum())
    if constant:
        notices = [*notices, f"{constant} of {X.shape[1]} columns are constant; they change no distance"]
    colours = {}
    for name in known.aside:
        values = column(folder, name)
        assert values is not None
        kind = "known" if known.source["kind"] == "set" else "number" if values.dtype.kind in "fiu" else "text"
        listed.append(ColumnInfo(name, kind, known.roles.get(name, "label")))  # type: ignore[arg-type]
        if known.roles.get(name) != "ignored":
            colours[name] = asdict(_columns.any_column(columns, values))
    (n, D), rows = X.shape, more(folder, "rows")
    least, most = in_units(folder, low), in_units(folder, high)
    return {
        "name": known.source["name"],
        "n": known.total,
        "features": D,
        "shown": n,
        "columns": [asdict(one) for one in listed],
        "more_columns": max(0, len(known.columns) - MOST_COLUMNS),
        "notices": notices,
        "item": _item(known, D),
        "shape": known.shape,
        "low": float(np.nanmin(least)),
        "high": float(np.nanmax(most)),
        "colours": colours,
        "missing": int(gaps.sum()),
        "dropped": known.dropped,
        "gaps": known.gaps,
        "filled": known.missing,
        "standardize": known.standardize,
        "header": _header(known),
        "rows": None if rows is None else asdict(_columns.whole(columns, rows)),
        "matrix": known.matrix,
        "square": bool(n == D and np.all(np.diagonal(X) == 0)),
        "picture": [] if known.matrix else [asdict(one) for one in _picture(X, columns)],
    }


def _header(known: Stored) -> bool | None:
    """Whether the first line of a table was taken for names: a table without any has numbers for names."""
    if "header" not in known.reader:
        return None
    return not all(re.fullmatch(r"x\d+", name) for name in (*known.columns, *known.aside))


def _item(known: Stored, D: int) -> str:
    """How a row is best shown."""
    if known.shape:
        return "image"
    if "read_documents" in known.reader:
        return "words"
    return "curve" if D >= CURVE and not known.matrix else "row"


def _picture(X: NDArray[Any], columns: Path) -> list[Any]:
    """The data themselves where they have at most three columns, else along their principal axes."""
    n, D = X.shape
    if D <= 3:
        return _columns.places(columns, X)
    whole = np.flatnonzero(np.isfinite(X).all(axis=1))
    if len(whole) < 4:
        return []
    from lowfold.methods.pca import PCA

    return _columns.places(columns, PCA(min(3, D, len(whole) - 1)).fit_transform(X[whole]), whole, n)


def _made(source: dict[str, Any]) -> tuple[Table, list[str]]:
    """A built-in set as a table; what is known of its points is kept aside."""
    if source["name"] == "digits":
        from sklearn.datasets import load_digits

        bunch = load_digits()
        X = np.asarray(bunch.data, dtype=np.float64)
        names = [f"pixel{j + 1}" for j in range(64)]
        return Table(X, names, {"digit": np.asarray(bunch.target)}, point_shape=(8, 8)), []
    data = SURFACES[source["name"]].make(source["n"], noise=source["noise"], random_state=source["seed"])
    aside: dict[str, NDArray[Any]] = {"colour": data.color}
    if data.labels is not None:
        aside = {"class": data.labels, **aside}
    truth, word = (data.parameters, "parameter") if data.coordinates is None else (data.coordinates, "true coordinate")
    aside |= {f"{word} {j + 1}": truth[:, j] for j in range(truth.shape[1])}
    shape = data.image_shape
    return Table(data.X, [f"x{j + 1}" for j in range(data.X.shape[1])], aside, point_shape=shape), []


def _from_file(path: Path, square: bool, header: str = "auto") -> tuple[Table, list[str]]:
    reader = _reader_for(path)
    known = inspect.signature(reader).parameters
    options: dict[str, Any] = {"missing": "keep"} if "missing" in known else {}
    if square and "ids" in known:
        options["ids"] = False
    if header != "auto" and "header" in known:
        options["header"] = header == "yes"
    table = reader(path, **options)
    if reader is read_documents:
        texts = dict(zip(*read_texts(path)))
        begins = [" ".join(texts[name][: 2 * WORDS].split())[:WORDS] for name in table.labels["document"].tolist()]
        table.labels["text"] = np.array(begins)
    return table, [reader.__name__, *(name for name in ("label", "missing", "header") if name in known)]


def _first_roles(table: Table, notices: list[str], square: bool) -> dict[str, str]:
    """Roles as they are before anybody chose: what is not data is kept aside."""
    roles = {}
    for name, values in table.labels.items():
        words = 0 if values.dtype.kind in "fiu" else len(np.unique(values))
        many = words > min(_columns.CLASSES, len(values) / 2)
        roles[name] = "ignored" if many else "colour" if values.dtype.kind == "f" else "label"
        if many and words < len(values):
            notices.append(f"column {name!r} holds {words} different words, too many to colour by")
    if table.ids is not None:
        roles["id"] = "ignored"
    for j, name in enumerate([] if square else table.columns):
        if name.lower() in LABEL_NAMES and len(table.columns) > 1 and _few_whole_numbers(table.X[:, j]):
            roles[name] = "label"
            notices.append(f"column {name!r} is named like a label and holds few whole numbers: kept aside as one")
    return roles


def _few_whole_numbers(values: NDArray[Any]) -> bool:
    return bool(np.array_equal(values, np.round(values))) and len(np.unique(values)) <= LABEL_VALUES


def _apart(table: Table, roles: dict[str, str], source: str) -> Table:
    """The data, rows numbered, and the columns kept aside; those ignored too, for they can be chosen again."""
    aside = dict(table.labels) | ({} if table.ids is None else {"id": table.ids})
    taken = [j for j, name in enumerate(table.columns) if roles.get(name, "data") != "data"]
    for j in taken:
        values = np.asarray(table.X[:, j])
        whole = bool(np.isfinite(values).all() and (values == np.round(values)).all() and (abs(values) < 2**53).all())
        aside[table.columns[j]] = values.astype(np.int64) if whole else values
    X, names = table.X, list(table.columns)
    for name in [name for name, role in roles.items() if role == "data" and name in aside]:
        if aside[name].dtype.kind not in "fiu":
            raise InvalidInput(f"column {name!r} holds words; only numbers can be data")
        X, names = np.column_stack([X, aside.pop(name)]), [*names, name]
    if len(taken) == len(names):
        raise InvalidInput("no column is left as data; give at least one that role")
    if taken:
        X = np.delete(X, taken, axis=1)
        names = [name for j, name in enumerate(names) if j not in set(taken)]
    return Table(X, names, aside, np.arange(len(X)), source=source)


def _without_folder(words: str, source: dict[str, Any]) -> str:
    return words if source["kind"] == "set" else words.replace(str(Path(source["path"]).parent) + "/", "")
