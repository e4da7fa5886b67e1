"""The commands and how they end. Heavy packages are imported inside them: `--help` and `list` stay quick."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lowfold.cli._cite import register as register_cite
from lowfold.cli._classify import register as register_classify
from lowfold.cli._compare import register as register_compare
from lowfold.cli._cube import register as register_cube
from lowfold.cli._diagnose import register as register_diagnose
from lowfold.cli._dimension import register as register_dimension
from lowfold.cli._documents import register as register_documents
from lowfold.cli._errors import UsageError, guarded, told_once
from lowfold.cli._faces import register as register_faces
from lowfold.cli._locate import register as register_locate
from lowfold.cli._order import register as register_order
from lowfold.cli._shared import (
    Cluster,
    Debug,
    Device,
    Files,
    Labels,
    Memory,
    Out,
    Overwrite,
    Quiet,
    Read,
    Settings,
    Workers,
)
from lowfold.cli._studio import register as register_studio
from lowfold.cli._tune import register as register_tune
from lowfold.cli._warmup import register as register_warmup

PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}

# Commands whose flags are made from the registry, which takes loading a method: only when one of them runs.
GENERATED = {
    "embed": "Embed the rows of a file: coordinates, a picture, the fitted model.",
    "plan": "Say beforehand what a method would do with a file: stages, solver, memory.",
}

EXAMPLES = {
    "lowfold": ["lowfold embed data.csv --method isomap --n-neighbors 12 --out out.csv --plot out.png"],
    "embed": [
        "lowfold embed data.csv -m isomap --n-neighbors 12 -o out.csv --plot out.png",
        "lowfold embed -m isomap --help",
        "lowfold embed distances.csv -m classical-mds --metric precomputed -o out.csv",
        "lowfold embed monday.csv tuesday.csv -m weighted-mds -o common.csv",
        "lowfold embed data.zarr -m laplacian-eigenmaps --workers 4 -o out.parquet",
        "cat data.csv | lowfold embed - -m laplacian-eigenmaps --label class > out.csv",
    ],
    "plan": ["lowfold plan data.csv -m isomap --n-neighbors 12 --memory 4GB"],
    "transform": [
        "lowfold transform model.lowfold new.csv --out placed.csv",
        "lowfold transform model.lowfold big.parquet --out placed.parquet --memory 1GB",
    ],
    "list": ["lowfold list", "lowfold list isomap"],
    "datasets": ["lowfold datasets", "lowfold datasets swiss_roll --n 1000 --noise 0.1 --out roll.csv"],
}


def _examples(name: str) -> str:
    """The examples of a command, one per line; the control character in front keeps them from being joined."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES[name])


class Commands(TyperGroup):
    """Ends every command with its exit code, and gives the generated commands their flags when one is called."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        standalone = kwargs.pop("standalone_mode", True)
        words = sys.argv[1:] if kwargs.get("args") is None else list(kwargs["args"])
        kwargs["standalone_mode"] = False
        code = guarded(lambda: super(Commands, self).main(*args, **kwargs), words)
        if standalone:
            sys.exit(code)
        return code

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0].startswith(("/", ".", "~")):  # click 8.1 takes a path for an option, and answers with the help
            ctx.fail(f"No such command {args[0]!r}.")
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except UsageError:
            if method := _method_called(args[0]):
                ctx.fail(f"No such command {args[0]!r}: it is a method; try lowfold embed FILE --method {method}")
            if words := _not_here(args[0]):
                ctx.fail(words)
            raise
        return name, _with_flags(name, rest) if name in GENERATED else command, rest


def _method_called(word: str) -> str | None:
    """The name of a method that was typed where a command belongs."""
    from lowfold._core.errors import InvalidInput
    from lowfold.methods.registry import find

    try:
        return find(word).name
    except InvalidInput:
        return None


def _not_here(word: str) -> str | None:
    """The answer to a method of another package that was typed where a command belongs."""
    from lowfold.cli._values import in_commands
    from lowfold.methods.registry import elsewhere_alone

    words = elsewhere_alone(word)
    return None if words is None else in_commands(word, words)


app = typer.Typer(
    cls=Commands,
    name="lowfold",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=_examples("lowfold"),
    **PLAIN,
)


def _with_flags(name: str, words: list[str]) -> Any:
    """The command with its flags; where a method is named, its help is about that method."""
    from lowfold.cli import _embed
    from lowfold.cli._options import MethodCommand, named_method, with_parameters

    single = typer.Typer(**PLAIN)
    method = named_method(words)
    flags = with_parameters(getattr(_embed, name), method, words)
    single.command(name, cls=MethodCommand, epilog=_examples(name))(flags)
    command: Any = typer.main.get_command(single)
    command.about = method or command.about
    return command


def _version(wanted: bool) -> None:
    if wanted:
        from lowfold import __version__

        print(f"lowfold {__version__}")
        raise typer.Exit


@app.callback()
def lowfold(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the low-dimensional manifold in high-dimensional data."""


def _stub() -> None:
    """Replaced by the command with its flags as soon as it is called."""


for _name, _help in GENERATED.items():
    app.command(_name, help=_help)(_stub)


@app.command(epilog=_examples("transform"))
def transform(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file written by `lowfold embed --save`.")],
    files: Files,
    out: Out = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="Lead coordinates back to data space instead.")] = False,
    label: Labels = None,
    read: Read = None,
    memory: Memory = None,
    device: Device = None,
    workers: Workers = None,
    cluster: Cluster = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Place new points with a saved model; a large .npy or .parquet file, and any .zarr or .h5, block by block."""
    from lowfold._core.config import config_context
    from lowfold._core.errors import InvalidInput
    from lowfold.cli._blocks import in_blocks, transform_blocks
    from lowfold.cli._data import (
        carried,
        check_ending,
        columns_of_the_fit,
        read_for,
        read_input,
        refuse_existing,
        tell,
        write_output,
    )
    from lowfold.cli._values import parse_settings
    from lowfold.datasets._file_table import numbered

    out = out or "-"
    with config_context(memory=memory, device=device), told_once(quiet):
        refuse_existing(out, overwrite=overwrite, read=[model, *files])
        check_ending(out)
        fitted = _placing(model)
        options = parse_settings(read or [], "--read")
        streams = out != "-" and getattr(fitted, "input_scaling_", None) is None
        columns_in = columns_of_the_fit(fitted)
        named = None if inverse or columns_in is None else columns_in.tolist()
        with in_blocks(files, label or [], options, fitted, workers, cluster, streams=streams, wanted=named) as blocks:
            if blocks is not None:
                transform_blocks(fitted, blocks, out, inverse=inverse, overwrite=overwrite, quiet=quiet)
                return
        if inverse and len(files) == 1:
            table = read_input(files[0], label or [], options, matrix=False)
        elif inverse:
            raise InvalidInput(f"--inverse takes one file of coordinates; got {len(files)}")
        else:
            table = read_for(fitted, files, label or [], options)
        tell(table.notices, quiet=quiet)
        Y = _transformed(fitted, table.X, inverse=inverse)
        back = numbered(Y.shape[1]) if columns_in is None else columns_in
        columns = [str(name) for name in (back if inverse else fitted.get_feature_names_out())]
        write_output(out, Y, columns, carried(table, columns), overwrite=overwrite, quiet=quiet)


def _placing(path: str) -> Any:
    """The model or pipeline of a file, known to place points."""
    from lowfold._core.errors import InvalidInput
    from lowfold.methods.files import load

    fitted = load(path)
    if not hasattr(fitted, "transform"):
        last = type(fitted.steps[-1][1]).__name__
        raise InvalidInput(f"{path}: a pipeline that ends in {last} places no points; in Python lowfold.load reads it")
    return fitted


def _transformed(fitted: Any, X: Any, *, inverse: bool) -> Any:
    """Through the model, and through what `embed --standardize` did before it."""
    from lowfold.metrics._scales import standardized

    found = getattr(fitted, "input_scaling_", None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # `read_for` has compared the names
        if found is None:
            return fitted.inverse_transform(X) if inverse else fitted.transform(X)
        if inverse:
            return fitted.inverse_transform(X) * found[1] + found[0]
        return fitted.transform(standardized(X, found))


@app.command("list", epilog=_examples("list"))
def list_methods(
    method: Annotated[str | None, typer.Argument(metavar="METHOD", help="Show the text of one method.")] = None,
) -> None:
    """The methods, or the documentation of one."""
    from lowfold.cli._tables import methods_table
    from lowfold.cli._values import find_method
    from lowfold.methods.registry import load

    if method is None:
        print(methods_table())
        return
    entry = find_method(method)
    print(f"{entry.name} ({entry.family}): {entry.line}\n{entry.citation}\n\n{load(entry.name).__doc__}")


@app.command(epilog=_examples("datasets"))
def datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Make this one; without it, list all.")] = None,
    n: Annotated[int, typer.Option("--n", metavar="N", help="Number of points.")] = 1000,
    noise: Annotated[float, typer.Option(metavar="SIZE", help="Standard deviation of the noise added.")] = 0.0,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    truth: Annotated[bool, typer.Option("--truth", help="Also write color, class and true coordinates.")] = False,
    out: Out = None,
    settings: Settings = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the data sets, or write one as a table; hyperspectral_cube as an ENVI cube (.hdr) as well.

    With --truth further columns follow: color, class, u1, u2, ...; keep them aside when embedding, by --label.
    """
    from lowfold.cli._data import refuse_existing, write_output
    from lowfold.cli._tables import datasets_table, made, truth_columns

    if name is None:
        print(datasets_table())
        return
    out = out or "-"
    refuse_existing(out, overwrite=overwrite)
    data = made(name, {"n": n, "noise": noise, "random_state": random_state}, settings or [])
    if out.lower().endswith(".hdr") and hasattr(data, "cube"):
        from lowfold.datasets._write_envi import write_envi

        write_envi(out, [data.cube], data.cube.shape, wavelengths=data.wavelengths, overwrite=overwrite)
        return
    columns = [f"x{i + 1}" for i in range(data.X.shape[1])]
    write_output(out, data.X, columns, truth_columns(data) if truth else {}, overwrite=overwrite, quiet=quiet)


@app.command()
def versions() -> None:
    """Versions of lowfold and of every package it can use, cores, memory budget."""
    from lowfold._core.versions import show_versions

    show_versions()


register_locate(app)
register_compare(app)
register_dimension(app)
register_diagnose(app)
register_tune(app)
register_faces(app, PLAIN)
register_cube(app)
register_order(app)
register_documents(app)
register_classify(app)
register_cite(app)
register_studio(app)
register_warmup(app)
