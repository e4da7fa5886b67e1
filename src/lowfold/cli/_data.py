"""Files in and out: what is read for a method, which labels travel along, what may be written."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import FileProblem, InvalidInput, ScaleWarning
from lowfold.cli._errors import in_options
from lowfold.cli._values import parse_settings, parse_value
from lowfold.methods.registry import entry_of, is_method

FEW = 20  # numeric labels with at most so many values are classes, others a scale


def read_input(file: str, labels: Sequence[str], options: Mapping[str, str], *, matrix: bool) -> Any:
    """A Table. `labels` are kept aside; a matrix of distances keeps every column, and its gaps as NaN."""
    from lowfold.datasets._edges import edge_table, may_be_edges
    from lowfold.datasets._readers import _reader_for, read

    known = inspect.signature(_reader_for(file)).parameters
    chosen = {name: parse_value(text) for name, text in options.items()}
    if "label" in known and labels:
        chosen.setdefault("label", list(labels))
    if matrix:
        chosen |= {name: value for name, value in (("ids", False), ("missing", "keep")) if name in known | chosen}
    table = read(file, **chosen)
    if matrix and may_be_edges(table):
        table = edge_table(table)
    for name in labels:
        if name not in table.labels:
            there = f"there are {', '.join(table.labels)}" if table.labels else "there are none"
            raise InvalidInput(f"{table.source}: no label {name!r} was kept aside; {there}")
    return table


def read_inputs(files: Sequence[str], labels: Sequence[str], options: Mapping[str, str], model: Any) -> Any:
    """A Table for the model; of methods that take several matrices, X holds one for each file, (files, rows, n).

    Ids and labels are those of the first file.
    """
    several = takes_several(model)
    if len(files) > 1 and not several:
        raise InvalidInput(
            f"{type(model).__name__} takes one file; got {len(files)}. WeightedMDS and ReplicatedMDS take several "
            "matrices of the same points"
        )
    tables = [read_input(file, labels, options, matrix=is_matrix(model)) for file in files]
    first = tables[0]
    if not several:
        return first
    for table in tables[1:]:
        if table.X.shape != first.X.shape:
            raise FileProblem(
                f"{table.source}: has {' x '.join(map(str, table.X.shape))} numbers, {first.source} has "
                f"{' x '.join(map(str, first.X.shape))}; the matrices must be of the same points"
            )
    notices = tuple(dict.fromkeys(words for table in tables for words in table.notices))
    return replace(first, X=np.stack([table.X for table in tables]), notices=notices)


def reading(read: Sequence[str] | None, standardize: str) -> dict[str, str]:
    """Options of the reader, from --read and --standardize."""
    options = parse_settings(read or [], "--read")
    return options if standardize == "none" else options | {"standardize": standardize}


def tell_table(table: Any, metric: Any, *, by_size: bool = True, quiet: bool) -> None:
    """What the reader decided, and a word where the columns differ in size; not for pictures, spectra, distances.

    To be called where warnings are caught: that of the library, which knows no names and no flags, is not shown then.
    """
    from lowfold.metrics._scales import BY_SIZE, uneven_columns

    pictured = table.point_shape is not None or table.grid_shape is not None or table.X.ndim != 2
    words = None
    if not pictured and table.scaling is None and by_size and metric in BY_SIZE:
        words = uneven_columns(table.X, table.columns)
    tell(
        [*table.notices, *([] if words is None else [f"{words}; where their units differ, use --standardize unit"])],
        quiet=quiet,
    )
    warnings.simplefilter("ignore", ScaleWarning)


def classes(table: Any, labels: Sequence[str], model: Any, *, quiet: bool) -> NDArray[Any] | None:
    """What a method learns from: the first of `labels`, or the first column kept aside; told where it counts."""
    name = next(iter([*labels, *table.labels]), None)
    if model.supervised and name is not None:
        there = len(table.labels) > 1
        tell([f"the classes are those of column {name!r}{'; --label names another' if there else ''}"], quiet=quiet)
    return None if name is None else table.labels[name]


def remember_input(model: Any, table: Any) -> None:
    """What `lowfold transform` does to new points as well: the same columns, on the same scale."""
    if table.scaling is not None:
        model.input_scaling_ = table.scaling
    if table.X.ndim == 2 and not is_matrix(model):
        model.input_columns_ = np.array(table.columns)


def columns_of_the_fit(model: Any) -> NDArray[Any] | None:
    """Those of the file that `embed` read, or of the table that Python was given; None where they had no names."""
    return getattr(model, "input_columns_", getattr(model, "feature_names_in_", None))


def read_for(model: Any, files: Sequence[str], labels: Sequence[str], options: Mapping[str, str]) -> Any:
    """New points for a fitted model: the columns of the fit, found by their names; others are kept aside as labels."""
    from lowfold.datasets._gaps import with_gaps
    from lowfold.datasets._readers import _reader_for

    wanted = columns_of_the_fit(model)
    known = inspect.signature(_reader_for(files[0])).parameters
    if wanted is None or "ids" not in known:
        return read_inputs(files, labels, options, model)
    chosen = {"ids": "False", **options, "missing": "keep"}  # a gap in a column that is not used does not matter
    table = _of_the_fit(read_inputs(files, labels, chosen, model), wanted.tolist())
    notices = [words for words in table.notices if "values are missing" not in words]
    return with_gaps(replace(table, notices=notices), options.get("missing", "error"))  # type: ignore[arg-type]


def _of_the_fit(table: Any, wanted: list[str]) -> Any:
    """The columns of the fit; the others are kept aside."""
    names = names_of_the_fit(table.columns, wanted, table.source)
    if names == table.columns:
        return table
    there = {name: j for j, name in enumerate(table.columns)}
    others = {name: table.X[:, j] for name, j in there.items() if name not in set(names)}
    X = np.ascontiguousarray(table.X[:, [there[name] for name in names]])
    return replace(table, X=X, columns=names, labels={**table.labels, **others})


def names_of_the_fit(columns: list[str], wanted: list[str], source: object) -> list[str]:
    """The columns of a file that a model takes, found by name; those of other names in their order, where their number
    is right.
    """
    absent = [name for name in wanted if name not in columns]
    if len(absent) == len(wanted) == len(columns):
        return columns
    if absent:
        some = ", ".join(map(repr, absent[:5])) + (", ..." if len(absent) > 5 else "")
        raise FileProblem(
            f"{source}: the model was fitted on {len(wanted)} columns, of which {some} "
            f"{'is' if len(absent) == 1 else 'are'} not in this file; it has {', '.join(columns[:30])}"
        )
    return wanted


def check_ending(out: str | None) -> None:
    """The ending of --out says how to write: one that is unknown, or needs what is not installed, is refused before."""
    from lowfold._core.extras import load_extra
    from lowfold.datasets._write_table import check_table_ending

    if out not in (None, "-"):
        check_table_ending(str(out))
    if str(out).lower().endswith(".parquet"):
        load_extra("pyarrow", "tables", "writing Parquet")


def takes_several(model: Any) -> bool:
    """Whether the model takes several matrices of the same points."""
    return is_method(model) and entry_of(model).inputs == ("matrices",)


def tell(notices: Sequence[str], *, quiet: bool) -> None:
    """Sentences on standard error."""
    if not quiet:
        for words in notices:
            sys.stderr.write(f"lowfold: {in_options(words)}\n")


def carried(table: Any, taken: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Columns that go along to the output: ids first, then the labels, under names that are free."""
    aside = ({} if table.ids is None else {"id": table.ids}) | table.labels
    found: dict[str, NDArray[Any]] = {}
    for name, values in aside.items():
        free = name
        while free in taken or free in found:
            free += "_"
        found[free] = values
    return found


def refuse_existing(*paths: str | None, overwrite: bool, read: Sequence[str] = ()) -> None:
    """Before any work: nothing is overwritten without `--overwrite`, what is `read` never, and every target has a
    folder and a name of its own.
    """
    taken = {Path(path).resolve(): "the file that is read" for path in read if path not in ("", "-")}
    for path in paths:
        if path is None or path == "-":
            continue
        if not path.strip():
            raise FileProblem(f"{path!r} is no name of a file")
        target = Path(path)
        if (what := taken.get(target.resolve())) is not None and not target.is_dir():
            raise FileProblem(f"{path}: is {what}; choose another name")
        taken[target.resolve()] = "named for two results"
        if target.is_dir():
            raise FileProblem(f"{path}: is a folder; name a file")
        if target.exists() and not target.is_file():
            raise FileProblem(f"{path}: is no ordinary file; name a file, or write to standard output with --out -")
        if os.path.lexists(target) and not overwrite:  # a link that leads nowhere is there too
            raise FileProblem(f"{path}: the file exists; choose another name, or replace it with --overwrite")
        if not target.parent.is_dir():
            raise FileProblem(f"{path}: there is no folder {target.parent}; make it first")


def write_output(
    path: str,
    Y: NDArray[Any],
    columns: Sequence[str],
    aside: Mapping[str, NDArray[Any]],
    *,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Coordinates with the columns kept aside; an .npy file has room for the coordinates only."""
    from lowfold.datasets._readers import write_table

    if aside and path.lower().endswith(".npy"):
        tell([f"{path}: .npy holds the coordinates only; {', '.join(aside)} left out"], quiet=quiet)
        aside = {}
    write_table(path, Y, list(columns), labels=dict(aside), overwrite=overwrite)


def colouring(table: Any, name: str | None, labels: Sequence[str]) -> dict[str, Any]:
    """`labels=` or `color=` of a picture: the named column kept aside, or the first one whose values come again.

    Those of --label come before the others. A column of names that are all different (of files, say) says nothing
    about groups.
    """
    if name is None:
        name = next((label for label in [*labels, *table.labels] if _tells_groups(table.labels[label])), None)
        if name is None:
            return {}
    if name in table.labels:
        values = table.labels[name]
    elif name in table.columns:
        X = table.X[0] if table.X.ndim == 3 else table.X
        values = X[:, table.columns.index(name)]
    else:
        there = ", ".join([*table.labels, *table.columns][:30])
        raise InvalidInput(f"--color names no column {name!r}; there are {there}")
    classes = values.dtype.kind not in "fiu" or (values.dtype.kind in "iu" and len(np.unique(values)) <= FEW)
    return {"labels" if classes else "color": values, "legend": name}


def _tells_groups(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "f" or len(np.unique(values.astype(str))) < len(values)


def is_matrix(model: Any) -> bool:
    """Whether the model takes a matrix of distances instead of points."""
    metric = getattr(model, "metric", None)
    return isinstance(metric, str) and metric.startswith("precomputed")
