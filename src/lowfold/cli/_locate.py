"""`lowfold locate`: positions of sensors from a table of distances between some of them."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lowfold._core.errors import FileProblem, InvalidInput

EXAMPLES = ["lowfold locate distances.csv --anchors anchors.csv --out positions.csv"]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("locate", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(locate)


def locate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="DISTANCES", help='Rows "a,b,distance" of measured pairs, or a square matrix; empty: not measured.'
        ),
    ],
    anchors: Annotated[
        str | None, typer.Option("--anchors", metavar="FILE", help='Known positions, rows "name,x,y".')
    ] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="FILE", help="True positions, to report the error against.")
    ] = None,
    dimension: Annotated[int, typer.Option("--dimension", "-d", metavar="D", help="Dimension of the space.")] = 2,
    relaxation: Annotated[
        str,
        typer.Option(
            metavar="KIND", help='"variance" (distances and variance) or "fit" (distances alone, to compare).'
        ),
    ] = "variance",
    nu: Annotated[
        float | None, typer.Option(metavar="NU", help="Weight of the distances against the variance; else by size.")
    ] = None,
    refine: Annotated[
        bool, typer.Option("--refine/--no-refine", help="Correct the positions by conjugate gradients.")
    ] = True,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help='Table of positions; "-" is standard output.')
    ] = "-",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Find positions of sensors from noisy distances between near ones.

    Without anchors the positions are centred, up to rotation and reflection.
    """
    import numpy as np

    from lowfold.apps.sensor_network import locate as find
    from lowfold.apps.sensor_network import position_error
    from lowfold.cli._data import refuse_existing

    refuse_existing(out, overwrite=overwrite, read=[file])
    names, matrix = read_distances(file)
    known = {} if anchors is None else read_positions(anchors, names, dimension)
    weight: Any = "auto" if nu is None else nu
    kind: Any = relaxation
    found = find(matrix, known or None, n_components=dimension, relaxation=kind, nu=weight, refine=refine)
    _write(out, names, found.positions)
    if not quiet:
        known_pairs = np.isfinite(matrix)
        count = int((known_pairs | known_pairs.T).sum() - len(names)) // 2
        _tell(f"{len(names)} sensors, {count} measured pairs, {len(known)} anchors")
        if truth is not None:
            true = read_positions(truth, names, dimension)
            if len(true) < len(names):
                raise InvalidInput(f"{truth} has {len(true)} of {len(names)} sensors; the error needs all of them")
            T = np.array([true[i] for i in range(len(names))])
            _tell(f"root mean square error {position_error(found.positions, T, align=not known):.6g}")


def read_distances(path: str) -> tuple[list[str], Any]:
    """Names and a square matrix with NaN where a pair was not measured, from a list of pairs or a matrix."""
    import numpy as np

    rows = _rows(path)
    head, body = (rows[0], rows[1:]) if rows and _is_header(rows[0]) else (None, rows)
    if not body:
        raise FileProblem(f"{path}: holds a header but no rows; rows of two names and a distance are needed")
    width = len(body[0])
    if width == 3 and not (len(body) == 3 and head is None):
        names: list[str] = []
        place: dict[str, int] = {}
        for row in body:
            for name in row[:2]:
                if name not in place:
                    place[name] = len(names)
                    names.append(name)
        total = np.zeros((len(names), len(names)))
        count = np.zeros((len(names), len(names)))
        for line, row in enumerate(body, start=1 + (head is not None)):
            i, j, d = place[row[0]], place[row[1]], _number(path, line, row[2])
            total[[i, j], [j, i]] += d
            count[[i, j], [j, i]] += 1
        with np.errstate(invalid="ignore"):
            D = total / count
        np.fill_diagonal(D, 0.0)
        return names, D
    labelled = head is not None and width == len(head) and width == len(body) + 1
    if not labelled and width != len(body):
        raise FileProblem(f"{path}: neither rows a,b,distance nor a square matrix ({len(body)} x {width})")
    names = [row[0] for row in body] if labelled else head or [str(i) for i in range(width)]
    values = [[_number(path, i + 1, cell) for cell in (row[1:] if labelled else row)] for i, row in enumerate(body)]
    return list(names), np.array(values, dtype=np.float64)


def read_positions(path: str, names: list[str], dimension: int) -> dict[int, Any]:
    """Row number -> position, for rows "name,x,y,..."; names that no distance mentions are an error."""
    import numpy as np

    place = {name: i for i, name in enumerate(names)}
    rows = _rows(path)
    first = 1 if rows[0][0] not in place and _is_header(rows[0]) else 0
    known: dict[int, Any] = {}
    for line, row in enumerate(rows[first:], start=first + 1):
        if row[0] not in place:
            raise FileProblem(f"{path}, row {line}: {row[0]!r} is in no measured pair")
        if len(row) != dimension + 1:
            raise FileProblem(f"{path}, row {line}: a name and {dimension} coordinates needed; got {len(row)} cells")
        known[place[row[0]]] = np.array([_number(path, line, cell) for cell in row[1:]])
    if not known:
        raise FileProblem(f"{path} has no positions; rows of a name and {dimension} coordinates are needed")
    return known


def _rows(path: str) -> list[list[str]]:
    from lowfold.datasets._read_table import read_fields

    return [row for row in read_fields(path) if any(row)]


def _is_header(row: list[str]) -> bool:
    """A first row whose last cell is no number."""
    try:
        float(row[-1] or "nan")
    except ValueError:
        return True
    return False


def _number(path: str, line: int, cell: str) -> float:
    try:
        return float(cell) if cell else float("nan")
    except ValueError as error:
        raise FileProblem(f"{path}, row {line}: {cell!r} is not a number") from error


def _write(out: str, names: list[str], positions: Any) -> None:
    head = ["name", *("xyz"[c] if positions.shape[1] <= 3 else f"x{c + 1}" for c in range(positions.shape[1]))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([name, *(repr(float(v)) for v in row)] for name, row in zip(names, positions))
    if out == "-":
        sys.stdout.write(text.getvalue())
    else:
        Path(out).write_text(text.getvalue(), encoding="utf-8")


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")
