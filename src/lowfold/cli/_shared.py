"""Flags that several commands have, spelled and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

Memory = Annotated[str | None, typer.Option(metavar="SIZE", help='Memory budget, as "8GB"; else half of the memory.')]
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help='Where to compute: "cpu", "cuda" or "auto"; else LOWFOLD_DEVICE.')
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the stages even when no terminal watches.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")]
File = Annotated[str, typer.Argument(metavar="FILE", help='Table, array, cube or folder; "-" is standard input.')]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help='Table, array, cube or folder; "-" is standard input. Several matrices of the same points for WeightedMDS '
        "and ReplicatedMDS.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help='As .csv, .tsv, .parquet or .npy; "-" is standard output.'),
]
MethodName = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="A method of `lowfold list`, in any spelling.")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", metavar="NAME", help="Column to keep aside; may be given again.")
]
Read = Annotated[
    list[str] | None,
    typer.Option("--read", metavar="NAME=VALUE", help="Option of the reader, as delimiter=; or variable=X."),
]
Standardize = Annotated[
    str,
    typer.Option(
        "--standardize",
        metavar="none|unit|robust",
        help="Make columns alike: less their mean over their standard deviation, or median and quartiles.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any parameter that has no flag; values as in Python."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Read the file in blocks and work on them in so many processes."),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The same on a Dask cluster, as tcp://host:8786, that has the file."),
]
