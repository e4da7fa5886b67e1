"""The commands that run a method: `embed` and `plan`. Their flags for parameters are added by `_options`."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from lowfold._core.config import config_context
from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.cli._blocks import embed_blocks, in_blocks
from lowfold.cli._data import (
    carried,
    check_ending,
    classes,
    colouring,
    is_matrix,
    read_inputs,
    reading,
    refuse_existing,
    remember_input,
    tell,
    tell_table,
    write_output,
)
from lowfold.cli._errors import told_once
from lowfold.cli._options import as_flags
from lowfold.cli._shared import (
    Cluster,
    Debug,
    Device,
    Files,
    Labels,
    Memory,
    MethodName,
    Out,
    Overwrite,
    Quiet,
    Read,
    Settings,
    Standardize,
    Verbose,
    Workers,
)
from lowfold.cli._values import find_method, parameters_for, parse_settings
from lowfold.methods.registry import load

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")


def embed(
    files: Files,
    *,
    method: MethodName,
    parameters: Mapping[str, str],
    out: Out = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Picture: .png, .svg, .pdf or .jpg.")] = None,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="The fitted model, for `lowfold transform`.")] = None,
    label: Labels = None,
    color: Annotated[str | None, typer.Option(metavar="NAME", help="Column that colours the picture.")] = None,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    memory: Memory = None,
    device: Device = None,
    workers: Workers = None,
    cluster: Cluster = None,
    overwrite: Overwrite = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Embed the rows of a file: coordinates, a picture, the fitted model.

    Without --out, --plot and --save the coordinates go to standard output. Columns that are not numeric, and those
    named by --label, are kept aside, written beside the coordinates, and the first of them colours the picture.
    WeightedMDS and ReplicatedMDS take several files, each a matrix of the same points. A .npy or .parquet file that is
    large against the memory budget, and any .zarr or .h5 file, is read in blocks.
    """
    if out is None and plot is None and save is None:
        out = "-"
    with config_context(memory=memory, device=device), told_once(quiet, partial(as_flags, method)):
        model = _model(method, parameters, settings, verbose=verbose or (sys.stderr.isatty() and not quiet))
        refuse_existing(out, plot, save, overwrite=overwrite, read=files)
        _check_picture(plot)
        check_ending(out)
        options = reading(read, standardize)
        with in_blocks(files, label or [], options, model, workers, cluster) as blocks:
            if blocks is not None:
                if plot is not None:
                    raise InvalidInput("a file in blocks is not drawn; write --out, and draw a part of it")
                embed_blocks(model, blocks, out, save, overwrite=overwrite, quiet=quiet)
                return
        table = read_inputs(files, label or [], options, model)
        tell_table(table, getattr(model, "metric", "euclidean"), by_size=model.by_size, quiet=quiet)
        shown = {} if plot is None else colouring(table, color, label or [])
        y = classes(table, label or [], model, quiet=quiet)
        start = time.perf_counter()
        Y = model.fit(table.X, y).embedding_
        remember_input(model, table)
        took = time.perf_counter() - start
        _write(model, Y, table, out, save, overwrite=overwrite, quiet=quiet)
        if plot is not None:
            from lowfold.viz._scatter import scatter

            scatter(Y, path=plot, title=f"{type(model).__name__}, {len(Y)} points", **shown)
        tell(_weights(model, files), quiet=quiet)
        tell([_summary(model, table.X, took, [p for p in (out, save, plot) if p not in (None, "-")])], quiet=quiet)


def plan(
    files: Files,
    *,
    method: MethodName,
    parameters: Mapping[str, str],
    label: Labels = None,
    read: Read = None,
    standardize: Standardize = "none",
    settings: Settings = None,
    memory: Memory = None,
    device: Device = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say beforehand what a method would do with a file: stages, search, solver, memory, whether it fits."""
    from lowfold.methods.plan import plan as make_plan

    with config_context(memory=memory, device=device), told_once(quiet, partial(as_flags, method)):
        model = _model(method, parameters, settings, verbose=False)
        options = reading(read, standardize)
        table = read_inputs(files, label or [], options, model)
        tell_table(table, getattr(model, "metric", "euclidean"), by_size=model.by_size, quiet=quiet)
        print(make_plan(table.X, model))


def _model(method: str, flags: Mapping[str, str], settings: Sequence[str] | None, *, verbose: bool) -> Any:
    """The method with its parameters, checked before any file is read."""
    from lowfold._core.limits import check_limits

    cls = load(find_method(method).name)
    given = {**flags, **parse_settings(settings or [], "--set", flags)}
    model = cls(**parameters_for(cls, given))
    if "verbose" in cls.parameters and "verbose" not in given:
        model.set_params(verbose=verbose)
    check_limits(cls.__name__, model.get_params(deep=False), cls.limits)
    return model


def _check_picture(plot: str | None) -> None:
    """A picture that cannot be drawn is refused before the work, not after."""
    if plot is None:
        return
    if not plot.lower().endswith(PICTURES):
        raise FileProblem(f"{plot}: pictures are written as {', '.join(PICTURES)}; choose one of these endings")
    from lowfold._core.extras import load_extra

    load_extra("matplotlib", "plot", "--plot")


def _write(model: Any, Y: Any, table: Any, out: str | None, save: str | None, *, overwrite: bool, quiet: bool) -> None:
    if out is not None:
        columns = [str(name) for name in model.get_feature_names_out()]
        aside = carried(table, columns)
        clusters = getattr(model, "labels_", None)
        if clusters is not None and len(clusters) == len(Y):
            aside["cluster"] = clusters
        write_output(out, Y, columns, aside, overwrite=overwrite, quiet=quiet)
    if save is not None:
        from lowfold.methods.files import save as save_model

        save_model(save, model, overwrite=overwrite)


def _weights(model: Any, files: Sequence[str]) -> list[str]:
    """What WeightedMDS found for each matrix: the weight of every axis, and the share explained."""
    if getattr(model, "weights", "given") is not None or len(getattr(model, "weights_", ())) != len(files):
        return []
    rows = zip(files, model.weights_, model.explained_, strict=True)
    return [
        f"{file}: weights {', '.join(f'{w:.4g}' for w in found)}; {share:.1%} explained" for file, found, share in rows
    ]


def _summary(model: Any, X: Any, took: float, written: Sequence[str | None]) -> str:
    """One line: what was done, what the solve was worth, how long it took, where it is."""
    n, D = X.shape[-2:]
    what = f"{n} points" if is_matrix(model) else f"{n} points in {D} columns"
    what += f" in {len(X)} matrices" if X.ndim == 3 else ""
    words = f"{type(model).__name__}: {what} -> {model.embedding_.shape[1]}"
    if hasattr(model, "solver_"):
        words += f"; solver {model.solver_}, residual {model.residual_:.1e}"
    words += f"; {took:.1f} s"
    return words + (f"; wrote {', '.join(str(name) for name in written)}" if written else "")
