"""The divergences of examples/plot_patch_graph.py: zero for equal patches, symmetric, and the graph that they make."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lowfold import datasets

pytestmark = pytest.mark.extra("matplotlib")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "examples" / "plot_patch_graph.py"
    spec = importlib.util.spec_from_file_location("plot_patch_graph", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["bhattacharyya", "hellinger", "kullback_leibler"])
@pytest.mark.parametrize("seed", range(3))
def test_divergences(example: ModuleType, name: str, seed: int) -> None:
    m, S = example.patches(np.random.default_rng(seed).random((80, 3)))
    i, j = np.triu_indices(80, 1)
    divergence = getattr(example, name)
    there, back = divergence(m, S, i, j), divergence(m, S, j, i)
    assert there == pytest.approx(back, rel=1e-9)
    assert divergence(m, S, i, i) == pytest.approx(np.zeros(len(i)), abs=1e-5)
    assert (there > -1e-9).all()  # two points may have the same patch
    assert np.median(there) > 0.1
    if name == "hellinger":
        assert there.max() <= 1


def test_kullback_leibler_of_two_normals_in_closed_form(example: ModuleType) -> None:
    m, S = np.array([[0.0], [3.0]]), np.array([[[1.0]], [[4.0]]])
    one = 0.5 * (1 / 4 + 9 / 4 - 1 + np.log(4))
    other = 0.5 * (4 + 9 - 1 - np.log(4))
    both = example.kullback_leibler(m, S, np.array([0]), np.array([1]))
    assert both == pytest.approx([one + other])
    expected = 9 / 2.5 / 8 + 0.5 * np.log(2.5 / 2)
    assert example.bhattacharyya(m, S, np.array([0]), np.array([1])) == pytest.approx([expected])


def test_neighbours_by_patches_do_not_jump(example: ModuleType) -> None:
    roll = datasets.swiss_roll(800, random_state=0)
    jumps = {}
    for name, found in (
        ("points", example.find_neighbors(roll.X, 25)),
        ("patches", example.nearest_by(roll.X, 25, example.bhattacharyya)),
    ):
        found.check()
        jumps[name] = float((roll.geodesic(found.rows(), found.indices) > 25).mean())
    assert jumps["points"] > 0.005
    assert jumps["patches"] < 0.2 * jumps["points"]
