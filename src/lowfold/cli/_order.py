"""`lowfold order` and `lowfold reveal`: a collection of images, or the rows of a table, put in order or in a plane."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowfold.cli._errors import told_once, wrong_usage
from lowfold.cli._shared import Debug, File, Labels, Out, Overwrite, Quiet, Read, Settings, Standardize

ORDER = ["lowfold order frames --picture strip.png --out order.csv", "lowfold order spectra.csv --closed no"]
REVEAL = ["lowfold reveal frames --picture plane.png", "lowfold reveal table.csv --label angle -o plane.csv"]
CLOSED = {"auto": "auto", "yes": True, "no": False}

Method = Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="A method of `lowfold list`.")]


def register(app: typer.Typer) -> None:
    """Add the two commands to the app."""
    app.command("order", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in ORDER))(order)
    app.command("reveal", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in REVEAL))(reveal)


def order(
    file: File,
    method: Method = "diffusion-maps",
    closed: Annotated[str, typer.Option(metavar="auto|yes|no", help="Whether the last is next to the first.")] = "auto",
    out: Out = None,
    picture: Annotated[str | None, typer.Option(metavar="FILE", help="Images in order, as a filmstrip.")] = None,
    most: Annotated[int, typer.Option(metavar="N", help="Images on the filmstrip at most.")] = 120,
    metric: Annotated[str, typer.Option(metavar="NAME", help="How rows are compared.")] = "euclidean",
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Put a shuffled collection that depends on one parameter in its order.

    The table has a row for each item, first to last: its place along the sequence from 0 to 1, and its number from 0.
    """
    from lowfold.apps import order_collection
    from lowfold.cli._data import carried, read_input, reading, refuse_existing, tell, tell_table, write_output
    from lowfold.cli._values import parse_given

    if closed not in CLOSED:
        wrong_usage(f"--closed is auto, yes or no; got {closed!r}")
    with told_once(quiet):
        refuse_existing(out, picture, overwrite=overwrite, read=[file])
        table = read_input(file, label or [], reading(read, standardize), matrix=False)
        tell_table(table, metric, quiet=quiet)
        given = parse_given(settings, ("method", "closed", "metric"))
        found = order_collection(table.X, method, closed=CLOSED[closed], metric=metric, **given)  # type: ignore[arg-type]
        if picture is not None:
            from lowfold.viz import filmstrip

            filmstrip(_images(table, file), found.order, most=most, path=picture)
        columns = ["place"]
        values = found.place[found.order][:, None]
        aside = {name: kept[found.order] for name, kept in carried(table, ["row", *columns]).items()}
        aside = {"row": found.order, **aside}  # a whole number, which a column beside `place` would not stay
        if out is not None or picture is None:
            write_output(out or "-", values, columns, aside, overwrite=overwrite, quiet=quiet)
        kind = "a ring" if found.closed else "an open sequence"
        tell(
            [f"{len(found.order)} items, {kind}; {found.linked:.0%} of the neighbours in the order are near"],
            quiet=quiet,
        )
        tell([f"wrote {path}" for path in (out, picture) if path not in (None, "-")], quiet=quiet)


def reveal(
    file: File,
    method: Method = "diffusion-maps",
    out: Out = None,
    picture: Annotated[str | None, typer.Option(metavar="FILE", help="Images at their place, or points.")] = None,
    n_images: Annotated[int, typer.Option("--images", metavar="N", help="Images in the picture at most.")] = 80,
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the two parameters behind a collection; columns of --label that hold numbers are compared with them."""
    import numpy as np

    from lowfold.apps import reveal as find
    from lowfold.cli._data import carried, read_input, reading, refuse_existing, tell, tell_table, write_output
    from lowfold.cli._values import parse_given

    with told_once(quiet):
        refuse_existing(out, picture, overwrite=overwrite, read=[file])
        table = read_input(file, label or [], reading(read, standardize), matrix=False)
        tell_table(table, "euclidean", quiet=quiet)
        given = parse_given(settings, ("method",))
        names = [name for name in label or [] if table.labels[name].dtype.kind in "fiu"][:2]
        known = np.column_stack([table.labels[name] for name in names]) if names else None
        found = find(table.X, method, known=known, **given)
        if picture is not None:
            _place(table, found, picture, n_images, names)
        columns = ["coordinate1", "coordinate2"]
        if out is not None or picture is None:
            write_output(
                out or "-", found.coordinates, columns, carried(table, columns), overwrite=overwrite, quiet=quiet
            )
        matched = zip(names, found.matches, found.correlation)
        told = [f"{name} goes with coordinate {c + 1}: rank correlation {r:.3f}" for name, c, r in matched]
        tell([*told, *(f"wrote {path}" for path in (out, picture) if path not in (None, "-"))], quiet=quiet)


def _images(table: Any, file: str) -> Any:
    if table.point_shape is None:
        wrong_usage(f"--picture draws images; the rows of {file} are none")
    return table.X.reshape(-1, *table.point_shape)


def _place(table: Any, found: Any, path: str, most: int, names: list[str]) -> None:
    from lowfold.viz import images_at, scatter

    if table.point_shape is not None:
        images_at(found.coordinates, _images(table, ""), n_images=most, path=path)
    else:
        color = table.labels[names[0]] if names else None
        scatter(found.coordinates, color, path=path, legend=names[0] if names else None)
