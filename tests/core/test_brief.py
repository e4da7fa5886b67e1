"""What a prompt shows of a value: a line or a table, never a page of numbers."""

import numpy as np
import pytest

import lowfold
from lowfold import datasets, dimension, graph, lowrank, quality

LINE = 300  # characters, of values that are one line


@pytest.fixture(scope="module")
def roll():
    return datasets.swiss_roll(200, random_state=7)


@pytest.fixture(scope="module")
def model(roll):
    return lowfold.Isomap(2, on_shortcut="ignore").fit(roll.X)


def test_graphs_say_their_size(roll, model):
    assert repr(model.graph_).startswith(f"Graph(200 points, {model.graph_.n_edges} edges, lengths ")
    neighbors = graph.find_neighbors(roll.X, 6)
    assert repr(neighbors) == "Neighbors(200 points, 6 each)"
    uneven = graph.Neighbors.from_lists([[1, 2], [0], [0]], [[1.0, 1.0], [1.0], [1.0]])
    assert repr(uneven) == "Neighbors(3 points, 1 to 2 each)"
    assert repr(graph.Neighbors(np.zeros(1), np.zeros(0), np.zeros(0), 0)) == "Neighbors(0 points, 0 each)"
    assert repr(graph.Graph.from_edges(4, [])) == "Graph(4 points, 0 edges)"


@pytest.mark.parametrize(
    "made",
    [
        lambda roll, Y: graph.Weights.unit(graph.find_neighbors(roll.X, 6)),
        lambda roll, Y: lowrank.randomized_svd(roll.X, 2),
        lambda roll, Y: quality.trustworthiness(roll.X, Y),
        lambda roll, Y: quality.procrustes(roll.coordinates, Y),
        lambda roll, Y: quality.objective(roll.X, Y, "ltsa"),
        lambda roll, Y: dimension.multiscale_svd(roll.X),
        lambda roll, Y: dimension.maximum_likelihood(roll.X),
    ],
)
def test_values_with_arrays_are_one_line(roll, model, made):
    shown = repr(made(roll, model.embedding_))
    assert "array([" not in shown
    assert "\n" not in shown
    assert len(shown) < LINE


def test_reports_show_their_table(roll, model):
    for report in (lowfold.plan(roll.X, "isomap"), quality.summary(roll.X, model.embedding_), lowfold.diagnose(roll.X)):
        assert repr(report) == str(report)
        assert "array([" not in repr(report)
        assert repr(report).count("\n") > 2
