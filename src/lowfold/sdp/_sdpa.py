"""Unfolding programs as files in SDPA's sparse format, which CSDP, SDPA, SDPT3 and DSDP read.

Fujisawa, Kojima, Nakata & Yamashita, SDPA user's manual (2002); the format states the pair

    minimise c'x  with  sum_i x_i F_i - F_0 psd        maximise <F_0, Y>  with  <F_i, Y> = c_i,  Y psd

and an unfolding program is the second of them: Y is K, with a second block where distances may be off.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from lowfold._core.types import Floats, Ints
from lowfold.sdp._program import Unfolding

Entries = tuple[Ints, Ints, Ints, Ints, Floats]  # constraint (0 the objective), block, row, column, value; from 1 on


def write_sdpa(path: str | Path, program: Unfolding, *, overwrite: bool = False) -> None:
    """Write a program for another solver; an existing file is left alone unless `overwrite`.

    Constraint 1 is the centring <11', K> = 0, constraint 1 + e the e-th pair. Lengths are in units of `program.unit`,
    as solvers here work: multiply the solver's K by it. "ineq" adds a diagonal block of what is left of each squared
    distance, "slack" a block [[1, r], [r, u]] for every pair, with r = d_e(K) - s_e and a cost of nu u, u >= r^2.

    >>> import tempfile
    >>> from lowfold.sdp._program import unfolding
    >>> chain = unfolding(3, [[0, 1], [1, 2]], [1.0, 1.0], form="eq")
    >>> file = Path(tempfile.mkdtemp()) / "chain.dat-s"
    >>> write_sdpa(file, chain)
    >>> file.read_text().splitlines()[:4]
    ['3 = m, the centring and 2 pairs', '1 = blocks', '3', '0 1 1']
    """
    from lowfold.datasets._write_table import replacing

    blocks, sides = _shape(program)
    with replacing(Path(path), overwrite=overwrite) as part, part.open("w", encoding="ascii") as file:
        file.write(f"{len(sides)} = m, the centring and {program.m} pairs\n{len(blocks)} = blocks\n")
        file.write(" ".join(map(str, blocks)) + "\n" + " ".join(f"{side:.17g}" for side in sides) + "\n")
        for entries in _entries(program):
            _put(file, entries)


def _shape(program: Unfolding) -> tuple[list[int], Floats]:
    """Sizes of the blocks, negative where diagonal, and the right-hand sides."""
    sides = np.concatenate([[0.0], program.squared])
    if program.form == "eq":
        return [program.n], sides
    if program.form == "ineq":
        return [program.n, -program.m], sides
    return [program.n] + [2] * program.m, np.concatenate([sides, np.ones(program.m)])


def _entries(program: Unfolding) -> Iterator[Entries]:
    n, m = program.n, program.m
    point, e, (i, j) = np.arange(1, n + 1), np.arange(1, m + 1), program.pairs.T + 1
    yield _block_one(np.zeros(n), point, point, 1.0)  # the trace
    for row in range(1, n + 1):  # n^2 / 2 entries of ones, a row at a time
        yield _block_one(np.ones(n - row + 1), np.full(n - row + 1, row), point[row - 1 :], 1.0)
    yield _block_one(np.tile(1 + e, 2), np.concatenate([i, j]), np.concatenate([i, j]), 1.0)
    yield _block_one(1 + e, np.minimum(i, j), np.maximum(i, j), -1.0)
    one, two = np.ones(m, dtype=np.int64), np.full(m, 2)
    if program.form == "ineq":
        yield 1 + e, two, e, e, np.ones(m)
    if program.form == "slack":
        yield 0 * e, 1 + e, two, two, np.full(m, -program.nu)
        yield 1 + e, 1 + e, one, two, np.full(m, -0.5)  # counts twice: -r
        yield 1 + m + e, 1 + e, one, one, np.ones(m)


def _block_one(constraint: Floats | Ints, i: Ints, j: Ints, value: float) -> Entries:
    return constraint.astype(np.int64), np.ones(len(i), dtype=np.int64), i, j, np.full(len(i), value)


def _put(file: TextIO, entries: Entries) -> None:
    file.writelines(f"{c} {b} {i} {j} {v:.17g}\n" for c, b, i, j, v in zip(*entries, strict=True))
