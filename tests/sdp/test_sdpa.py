"""Programs in SDPA's format: read back by a reader of the test's own and solved by a general conic solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold.errors import FileProblem
from lowfold.graph import find_neighbors
from lowfold.sdp import unfold
from lowfold.sdp._conic import conic_sdp
from lowfold.sdp._program import neighbor_pairs, unfolding
from lowfold.sdp._sdpa import write_sdpa


def _read(path: Path) -> tuple[list[int], np.ndarray, list[np.ndarray]]:
    """Sizes of the blocks, right-hand sides, and F_0 .. F_m as matrices of all blocks."""
    lines = path.read_text().splitlines()
    m = int(lines[0].split()[0])
    blocks = [int(size) for size in lines[2].split()]
    assert int(lines[1].split()[0]) == len(blocks)
    starts = np.concatenate([[0], np.cumsum(np.abs(blocks))])
    F = [np.zeros((starts[-1], starts[-1])) for _ in range(m + 1)]
    for line in lines[4:]:
        c, b, i, j = (int(word) for word in line.split()[:4])
        assert i <= j
        assert blocks[b - 1] > 0 or i == j
        row, column = starts[b - 1] + i - 1, starts[b - 1] + j - 1
        F[c][row, column] = F[c][column, row] = float(line.split()[4])
    return blocks, np.array([float(word) for word in lines[3].split()]), F


def _across(blocks: list[int]) -> list[np.ndarray]:
    """The constraints that entries between blocks are zero, which the format has and a plain matrix has not."""
    parts_of = [np.full(size, b) if size > 0 else b + np.arange(1, 1 - size) / 1000 for b, size in enumerate(blocks)]
    owner = np.concatenate(parts_of)
    n = len(owner)
    parts = []
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        if owner[i] != owner[j]:
            part = np.zeros((n, n))
            part[i, j] = part[j, i] = 1.0
            parts.append(part)
    return parts


@pytest.mark.extra("clarabel")
@pytest.mark.parametrize("form", ["eq", "ineq", "slack"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_file_has_the_value_of_the_program(tmp_path: Path, form: str, seed: int) -> None:
    X = lowfold.datasets.s_curve(7, random_state=seed).X
    near = find_neighbors(X, n_neighbors=3)
    pairs = neighbor_pairs(near)[:11]
    squared = np.square(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1)
    program = unfolding(7, pairs, squared, form=form, nu=2.0)
    write_sdpa(tmp_path / "p.dat-s", program)
    blocks, sides, F = _read(tmp_path / "p.dat-s")
    between = _across(blocks)
    found = conic_sdp(F[0], F[1:] + between, np.concatenate([sides, np.zeros(len(between))]))
    assert found.value == pytest.approx(unfold(program).primal / program.unit, rel=1e-4)


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "p.dat-s"
    file.write_text("mine")
    program = unfolding(2, np.array([[0, 1]]), np.array([1.0]), form="eq")
    with pytest.raises(FileProblem, match="exists"):
        write_sdpa(file, program)
    assert file.read_text() == "mine"
    write_sdpa(file, program, overwrite=True)
    assert _read(file)[1].tolist() == [0.0, 1.0]


def test_a_fitted_model_writes_its_program(tmp_path: Path) -> None:
    X = lowfold.datasets.s_curve(25, random_state=3).X
    model = lowfold.MVU(2, n_neighbors=4, nu=1.5).fit(X)
    model.write_program(tmp_path / "p.dat-s")
    blocks, sides, _ = _read(tmp_path / "p.dat-s")
    assert blocks == [25] + [2] * len(model.pairs_)
    squared = np.square(X[model.pairs_[:, 0]] - X[model.pairs_[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(sides[1 : 1 + len(squared)], squared / squared.mean())
    with pytest.warns(lowfold.errors.DisconnectedWarning):
        apart = lowfold.MVU(2, n_neighbors=4, on_disconnected="largest").fit(np.concatenate([X, X + 100.0]))
    with pytest.raises(lowfold.errors.InvalidInput, match="one model of all points"):
        apart.write_program(tmp_path / "q.dat-s")
