"""Shortest paths: the engine against SciPy and the references, the references against worked examples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import bellman_ford, shortest_path
from scipy.spatial import KDTree

import lowfold.graph._paths as paths_module
from lowfold._core.errors import InvalidInput
from lowfold.graph import _sweeps
from lowfold.graph._dijkstra import dijkstra, dijkstra_matrix, floyd_warshall, smaller_of_both, symmetric_dijkstra
from lowfold.graph._paths import seeded_paths, shortest_paths
from lowfold.graph._types import Graph

SEEDS = [0, 1, 2]


def rows_of(n, tails, heads, lengths):
    """Compressed rows, duplicates and zero lengths kept."""
    order = np.argsort(tails, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    return indptr, np.asarray(heads)[order], whole(np.asarray(lengths, dtype=float)[order])


def whole(lengths):
    """Multiples of a power of two: rounding to the engine's units changes nothing, and SciPy's sums are exact too."""
    return np.rint(lengths * 2.0**20) / 2.0**20


def undirected(n, tails, heads, lengths):
    return rows_of(n, np.r_[tails, heads], np.r_[heads, tails], np.r_[lengths, lengths])


def dense(graph):
    """Weights with inf where there is no edge; the shortest of parallel edges."""
    indptr, indices, lengths = graph
    n = len(indptr) - 1
    weights = np.full((n, n), np.inf)
    np.minimum.at(weights, (np.repeat(np.arange(n), np.diff(indptr)), indices), lengths)
    return weights


def scipy_paths(graph):
    """SciPy's Dijkstra; zero lengths only count in its sparse input, so parallel edges are reduced by hand."""
    weights = dense(graph)
    tails, heads = np.nonzero(np.isfinite(weights))
    matrix = coo_array((weights[tails, heads], (tails, heads)), shape=weights.shape).tocsr()
    return shortest_path(matrix, method="D", directed=True)


def roll(n, seed, k=8):
    """Neighbourhood graph of a rolled-up strip: the case the batches are made for."""
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    distances, neighbours = KDTree(np.c_[t * np.cos(t), height, t * np.sin(t)]).query(
        np.c_[t * np.cos(t), height, t * np.sin(t)], k + 1
    )
    pairs = {}
    for i in range(n):
        for j, d in zip(neighbours[i, 1:], distances[i, 1:], strict=True):
            pairs[min(i, j), max(i, j)] = d
    tails, heads = np.array(list(pairs)).T
    return undirected(n, tails, heads, np.array(list(pairs.values())))


def random_directed(n, seed, degree=4):
    rng = np.random.default_rng(seed)
    return rows_of(n, rng.integers(n, size=degree * n), rng.integers(n, size=degree * n), rng.random(degree * n))


def expander(n, seed):
    rng = np.random.default_rng(seed)
    ring = np.arange(n)
    return undirected(n, np.tile(ring, 3), np.concatenate([rng.permutation(n) for _ in range(3)]), rng.random(3 * n))


def star(n, seed):
    return undirected(n, np.zeros(n - 1, int), np.arange(1, n), np.random.default_rng(seed).random(n - 1))


def pieces_with_zeros(n, seed):
    """Many components, lengths zero in every third edge, parallel edges and loops."""
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(n, size=n), rng.integers(n, size=n)
    lengths = rng.random(n) * (np.arange(n) % 3 > 0)
    return undirected(n, np.r_[tails, tails[:20]], np.r_[heads, heads[:20]], np.r_[lengths, 2 * lengths[:20]])


GRAPHS = [roll, random_directed, expander, star, pieces_with_zeros]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("method", ["auto", "eliminate", "sweep", "dijkstra"])
def test_all_pairs_are_dijkstras_to_the_bit(make, seed, method):
    graph = make(300, seed)
    if make is random_directed and method == "eliminate":
        with pytest.raises(InvalidInput, match="undirected"):
            shortest_paths(*graph, method=method)
    else:
        assert_array_equal(shortest_paths(*graph, method=method), scipy_paths(graph))


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 129, 700])
def test_sizes_around_words_and_batches(make, n):
    graph = make(n, 5) if n > 20 else undirected(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1))
    for method in ("sweep", "eliminate") if make is not random_directed or n <= 20 else ("sweep",):
        assert_array_equal(shortest_paths(*graph, method=method), scipy_paths(graph))


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_methods_and_subsets_change_no_bit(make, dtype):
    graph = make(500, 1)
    one = shortest_paths(*graph, dtype=dtype, n_jobs=1)
    assert one.dtype == dtype
    assert_array_equal(one, shortest_paths(*graph, dtype=dtype, n_jobs=2))
    assert_array_equal(one, shortest_paths(*graph, dtype=dtype, method="dijkstra"))
    some = np.random.default_rng(2).permutation(500)[:150]
    assert_array_equal(one[some], shortest_paths(*graph, some, dtype=dtype, n_jobs=2))


@pytest.mark.parametrize("seed", SEEDS)
def test_float32_error_is_at_the_level_of_rounding(seed):
    graph = roll(1500, seed)
    exact = scipy_paths(graph)
    reached = np.isfinite(exact) & (exact > 0)
    single = shortest_paths(*graph, dtype=np.float32)
    assert_array_equal(np.isfinite(single), np.isfinite(exact))
    assert np.abs(single[reached] / exact[reached] - 1).max() < 2e-6


@pytest.mark.parametrize("method", ["sweep", "dijkstra", "auto"])
@pytest.mark.parametrize("make", GRAPHS)
def test_sources_and_targets_in_the_order_given(make, method):
    graph = make(200, 3)
    full = scipy_paths(graph)
    rng = np.random.default_rng(0)
    for n_sources, n_targets in [(1, 1), (2, 7), (40, 90), (90, 5), (200, 1)]:
        sources, targets = rng.integers(200, size=n_sources), rng.integers(200, size=n_targets)
        found = shortest_paths(*graph, sources, targets, method=method)
        assert found.shape == (n_sources, n_targets)
        assert_allclose(found, full[np.ix_(sources, targets)], rtol=1e-14)


@pytest.mark.parametrize("method", ["sweep", "dijkstra"])
@pytest.mark.parametrize("make", GRAPHS)
def test_limit_hides_what_is_farther(make, method):
    graph = make(300, 4)
    full = scipy_paths(graph)
    limit = float(np.quantile(full[np.isfinite(full)], 0.3))
    assert_array_equal(shortest_paths(*graph, limit=limit, method=method), np.where(full <= limit, full, np.inf))


@pytest.mark.parametrize("method", ["eliminate", "sweep", "dijkstra"])
@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_paths_are_rows_of_the_graph_with_the_points_added(seed, method):
    graph = roll(250, seed)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, size=100)
    seed_indptr = np.concatenate([[0], np.cumsum(counts)])
    vertices, lengths = rng.integers(250, size=counts.sum()), whole(5 * rng.random(counts.sum()))
    found = seeded_paths(*graph, seed_indptr, vertices, lengths, method=method)
    full = scipy_paths(graph)
    for r in range(100):
        mine = slice(seed_indptr[r], seed_indptr[r + 1])
        expected = (lengths[mine, None] + full[vertices[mine]]).min(axis=0, initial=np.inf)
        assert_allclose(found[r], expected, rtol=1e-13)
    kind = np.float32 if method == "eliminate" else np.float64
    for dtype, few in ((kind, [7, 200, 3]), (np.float64, np.arange(0, 250, 2))):
        rows = seeded_paths(*graph, seed_indptr, vertices, lengths, method=method, dtype=dtype)
        to = seeded_paths(*graph, seed_indptr, vertices, lengths, few, method=method, dtype=dtype)
        assert_array_equal(to, rows[:, few])


@pytest.fixture
def given_up(monkeypatch):
    """Rows that the batches handed to Dijkstra."""
    rows_seen = []
    original = _sweeps.dijkstra_each

    def spy(task, rows, out):
        rows_seen.extend(rows.tolist())
        original(task, rows, out)

    monkeypatch.setattr(_sweeps, "dijkstra_each", spy)
    return rows_seen


def test_a_batch_that_costs_too_much_goes_to_dijkstra(given_up):
    """Lengths that double from rung to rung of a ladder make label correcting exponential."""
    rungs = 40
    here = np.arange(0, 2 * rungs, 2)
    lengths = np.concatenate([2.0 ** np.arange(rungs)[::-1], np.zeros(2 * rungs)])
    ladder = rows_of(
        2 * rungs + 1, np.concatenate([here, here, here + 1]), np.concatenate([here + 2, here + 1, here + 2]), lengths
    )
    assert_array_equal(shortest_paths(*ladder, method="sweep"), scipy_paths(ladder))
    assert given_up


def test_batches_are_enough_on_a_neighbourhood_graph(given_up):
    shortest_paths(*roll(600, 0), method="sweep")
    assert not given_up


def test_every_batch_may_be_given_up(given_up, monkeypatch):
    monkeypatch.setattr(_sweeps.compiled("lowfold.graph._path_loops"), "sweep_batches", lambda *_: 0)
    graph, shares = roll(400, 0), []
    assert_array_equal(shortest_paths(*graph, progress=shares.append), scipy_paths(graph))
    assert_array_equal(given_up, np.arange(400))
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_out_is_filled_and_returned():
    graph = roll(100, 0)
    out = np.full((100, 100), -1.0, dtype=np.float32)
    assert shortest_paths(*graph, dtype=np.float32, out=out).base is None
    assert_array_equal(out, shortest_paths(*graph, dtype=np.float32))
    with pytest.raises(InvalidInput, match="out must be"):
        shortest_paths(*graph, out=out)


def test_progress_ends_at_one():
    shares = []
    shortest_paths(*roll(600, 0), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graphs_without_edges_or_vertices(dtype):
    nobody = np.empty(0, int)
    assert shortest_paths([0], nobody, nobody, dtype=dtype).shape == (0, 0)
    assert_array_equal(shortest_paths([0, 0], nobody, nobody, dtype=dtype), [[0]])
    alone = shortest_paths(np.zeros(101, int), nobody, nobody, dtype=dtype)
    assert_array_equal(alone, np.where(np.eye(100) > 0, 0, np.inf))
    assert shortest_paths(*roll(50, 0), sources=nobody, dtype=dtype).shape == (0, 50)
    assert shortest_paths(*roll(50, 0), targets=nobody, dtype=dtype).shape == (50, 0)


def test_infinite_lengths_are_no_edges_and_huge_ones_are_told():
    graph = undirected(3, [0, 1], [1, 2], [1.0, np.inf])
    assert_array_equal(shortest_paths(*graph)[0], [0, 1, np.inf])
    huge = undirected(3, [0, 1], [1, 2], [1e150, 1e150])
    assert_allclose(shortest_paths(*huge)[0], [0, 1e150, 2e150], rtol=1e-15)
    for scale in [1e150, 1e-150]:
        with pytest.raises(InvalidInput, match="float64"):
            shortest_paths(*huge[:2], np.full(4, scale), dtype=np.float32)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(indices=[1, 0, 5, 1]), "indices must be vertex numbers from 0 to 2"),
        (dict(indices=[1, 0, -1, 1]), "indices"),
        (dict(indices=[1.0, 0.0, 2.0, 1.0]), "indices"),
        (dict(lengths=[1.0, 1.0, -2.0, 2.0]), "lengths must be >= 0"),
        (dict(lengths=[1.0, np.nan, 2.0, 2.0]), "lengths must be >= 0"),
        (dict(lengths=[1.0, 2.0]), "4 entries"),
        (dict(indptr=[0, 3, 1, 4]), "indptr"),
        (dict(indptr=[1, 1, 3, 4]), "indptr"),
        (dict(sources=[3]), "sources must be vertex numbers from 0 to 2"),
        (dict(targets=[[0]]), "targets"),
        (dict(method="bfs"), "method"),
        (dict(dtype=np.int32), "dtype"),
        (dict(limit=-1.0), "limit"),
        (dict(limit=np.nan), "limit"),
    ],
)
def test_bad_input_is_told_in_words(change, words):
    good = dict(indptr=[0, 1, 3, 4], indices=[1, 0, 2, 1], lengths=[1.0, 1.0, 2.0, 2.0])
    with pytest.raises(InvalidInput, match=words):
        shortest_paths(**(good | change))


def test_input_arrays_are_left_alone():
    graph = roll(150, 0)
    before = [a.copy() for a in graph]
    for array in graph:
        array.flags.writeable = False
    shortest_paths(*graph, n_jobs=2)
    for array, kept in zip(graph, before, strict=True):
        assert_array_equal(array, kept)


@pytest.mark.parametrize("seed", SEEDS)
def test_graph_distance_is_a_metric(seed):
    distance = shortest_paths(*roll(120, seed, k=10))
    assert_allclose(distance, distance.T, rtol=1e-14)
    assert_array_equal(np.diagonal(distance), 0)
    assert (distance[:, :, None] + distance[None] >= distance[:, None, :] * (1 - 1e-14)).all()


# The references

SIX = undirected(
    6, [0, 0, 0, 1, 1, 2, 2, 3, 4], [1, 2, 4, 2, 3, 3, 4, 5, 5], [1.0, 8.0, 14.0, 5.0, 10.0, 5.0, 6.0, 2.0, 4.0]
)


def test_the_worked_example_with_six_vertices():
    distance, before = dijkstra(*SIX, source=0, predecessors=True)
    assert_array_equal(distance, [0, 1, 6, 11, 12, 13])
    assert_array_equal(before[[0, 1, 2, 4, 5]], [-1, 0, 1, 2, 3])
    assert before[3] in (1, 2)  # both ways are 11 long
    assert_array_equal(shortest_paths(*SIX, sources=[0])[0], [0, 1, 6, 11, 12, 13])
    assert_array_equal(floyd_warshall(dense(SIX))[0], [0, 1, 6, 11, 12, 13])
    assert_array_equal(symmetric_dijkstra(*SIX)[0][0], [0, 1, 6, 11, 12, 13])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", GRAPHS)
def test_references_agree_with_scipy(make, seed):
    graph = make(60, seed)
    full = scipy_paths(graph)
    assert_array_equal(dijkstra_matrix(*graph), full)
    assert_allclose(floyd_warshall(dense(graph)), full, rtol=1e-14)
    targets = [5, 3, 5]
    assert_array_equal(dijkstra(*graph, source=7, targets=targets), full[7, targets])
    assert_array_equal(dijkstra_matrix(*graph, [1, 2], targets), full[np.ix_([1, 2], targets)])


@pytest.mark.parametrize("seed", SEEDS)
def test_predecessors_lead_back_along_a_shortest_path(seed):
    graph = random_directed(80, seed)
    weights = dense(graph)
    distance, before = dijkstra(*graph, source=0, predecessors=True)
    reached = np.flatnonzero(np.isfinite(distance) & (np.arange(80) > 0))
    assert_array_equal(distance[before[reached]] + weights[before[reached], reached], distance[reached])
    assert before[0] == -1
    assert (before[~np.isfinite(distance)] == -1).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [roll, expander, star, pieces_with_zeros])
def test_forwards_and_backwards_is_plain_dijkstra(make, seed):
    graph = make(60, seed)
    full = scipy_paths(graph)
    distance, columns = symmetric_dijkstra(*graph)
    assert_array_equal(columns, np.arange(60))
    assert_allclose(distance, full, rtol=1e-13)
    chosen = np.random.default_rng(seed).permutation(60)[:9]
    distance, columns = symmetric_dijkstra(*graph, chosen)
    assert_array_equal(columns, chosen)
    assert_allclose(distance, full[np.ix_(chosen, chosen)], rtol=1e-13)
    distance, columns = symmetric_dijkstra(*graph, chosen, all_columns=True)
    assert_array_equal(columns, np.r_[chosen, np.setdiff1d(np.arange(60), chosen)])
    assert_allclose(distance, full[np.ix_(chosen, columns)], rtol=1e-13)


def test_forwards_and_backwards_refuses_directed_graphs():
    with pytest.raises(InvalidInput, match="undirected"):
        symmetric_dijkstra(*random_directed(20, 0))
    with pytest.raises(InvalidInput, match="different"):
        symmetric_dijkstra(*SIX, [0, 0])


@pytest.mark.parametrize("seed", SEEDS)
def test_negative_lengths_on_a_graph_without_cycles(seed):
    rng = np.random.default_rng(seed)
    n = 40
    tails, heads = np.nonzero(np.triu(rng.random((n, n)) < 0.15, 1))
    name = rng.permutation(n)
    lengths = whole(rng.normal(size=len(tails)))
    tails, heads = name[tails], name[heads]
    expected = bellman_ford(csr_array((lengths, (tails, heads)), shape=(n, n)))
    assert_allclose(dijkstra_matrix(*rows_of(n, tails, heads, lengths)), expected, atol=1e-12)


def test_negative_lengths_on_a_cycle_are_refused():
    with pytest.raises(InvalidInput, match="without cycles"):
        dijkstra(*rows_of(3, [0, 1, 2], [1, 2, 0], [1.0, -0.5, 1.0]), source=0)
    with pytest.raises(InvalidInput, match="negative"):
        floyd_warshall([[0, -1], [-1, 0]])


@pytest.mark.parametrize("seed", SEEDS)
def test_smaller_of_both_directions(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((50, 3))
    distances, neighbours = KDTree(points).query(points, 5)
    tails, heads, lengths = np.repeat(np.arange(50), 4), neighbours[:, 1:].ravel(), distances[:, 1:].ravel()
    after = smaller_of_both(shortest_paths(*rows_of(50, tails, heads, lengths)))
    first = shortest_paths(*undirected(50, tails, heads, lengths))
    assert_array_equal(after, after.T)
    assert (first <= after * (1 + 1e-14)).all()


def test_smaller_of_both_directions_need_not_be_a_metric():
    after = smaller_of_both(dijkstra_matrix(*rows_of(3, [0, 2], [1, 1], [1.0, 1.0])))
    assert after[0, 1] + after[1, 2] < after[0, 2]


@pytest.mark.parametrize("seed", [0, 1])
def test_scipy_gives_the_same_bits_where_nothing_is_compiled(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(np.sort(rng.integers(0, 70, size=(300, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    graph = Graph.from_edges(70, edges, rng.random(len(edges)) + 0.01)
    rows = graph.indptr, graph.indices, graph.lengths
    ours = [shortest_paths(*rows), shortest_paths(*rows, [3, 9], [1, 2, 5])]
    monkeypatch.setattr("lowfold.graph._paths.spares", lambda module, patience: True)
    monkeypatch.setattr("lowfold.graph._paths.sweep", None)  # would not be reached
    assert np.array_equal(shortest_paths(*rows), ours[0])
    assert np.array_equal(shortest_paths(*rows, [3, 9], [1, 2, 5]), ours[1])


def test_scattered_sources_on_a_long_graph_are_searched_in_an_order_of_its_own() -> None:
    n, rng = 3000, np.random.default_rng(0)
    name = rng.permutation(n)  # place on the path -> vertex
    forth, back = (name[:-1], name[1:]), (name[1:], name[:-1])
    tails, heads = np.concatenate([forth[0], back[0]]), np.concatenate([forth[1], back[1]])
    order = np.lexsort((heads, tails))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    places = rng.choice(n, 100, replace=False)
    found = shortest_paths(indptr, heads[order], np.ones(len(heads)), name[places], dtype=np.float32)
    assert np.array_equal(found[:, name], np.abs(places[:, None] - np.arange(n)))
    few = shortest_paths(indptr, heads[order], np.ones(len(heads)), name[places], name[:200], method="dijkstra")
    assert np.array_equal(few, np.abs(places[:, None] - np.arange(200)))


def test_a_small_graph_without_loops_has_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is compiled SciPy's paths from all seeds are taken."""
    graph = coo_array(([0.3, 0.3, 1.7, 1.7, 0.9, 0.9], ([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])), shape=(5, 5)).tocsr()
    arrays = (graph.indptr, graph.indices, graph.data)
    seeds = ([0, 2, 2, 5], [0, 3, 1, 4, 2], [0.7, 0.2, 0.1, 0.4, 5.0])
    monkeypatch.setattr(paths_module, "spares", lambda module, patience: True)
    for targets in (None, [3, 0, 4, 1]):
        found = paths_module.seeded_paths(*arrays, *seeds, targets)
        assert_array_equal(found, paths_module.seeded_paths(*arrays, *seeds, targets, method="dijkstra"))
    assert np.isinf(found[1]).all()
