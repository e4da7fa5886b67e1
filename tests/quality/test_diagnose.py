"""Every question on data where the answer is yes and on data where it is no; the pieces it is made of; bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from lowfold import datasets, quality
from lowfold._core.errors import InvalidInput
from lowfold.datasets._sheets import uneven_square
from lowfold.graph import find_neighbors
from lowfold.methods.registry import BY_NAME
from lowfold.quality import _shape
from lowfold.quality._findings import Diagnosis, Finding
from lowfold.quality._topology import loops

DATA: dict[str, Callable[[int], np.ndarray]] = {
    "square": lambda seed: datasets.square(800, random_state=seed).X,
    "roll": lambda seed: datasets.swiss_roll(1000, random_state=seed).X,
    "sparse roll": lambda seed: datasets.swiss_roll(400, random_state=seed).X,
    "roll with a hole": lambda seed: datasets.swiss_hole(1000, random_state=seed).X,
    "sphere": lambda seed: datasets.sphere(800, random_state=seed).X,
    "noisy sphere": lambda seed: datasets.sphere(1000, noise=0.05, random_state=seed).X,
    "torus": lambda seed: datasets.torus(1000, random_state=seed).X,
    "circle": lambda seed: datasets.circle(200, random_state=seed).X,
    "two circles": lambda seed: datasets.concentric_circles(300, random_state=seed).X,
    "cap, even": lambda seed: datasets.punched_sphere(800, random_state=seed).X,
    "cap, stereographic": lambda seed: datasets.punched_sphere(800, density="stereographic", random_state=seed).X,
    "uneven columns": lambda seed: datasets.square(300, random_state=seed).X * [1.0, 100.0, 1.0],
    "uneven square": lambda seed: uneven_square(600, random_state=seed).X,
}

# What must be found: (data, question, verdict).
EXPECTED = [
    ("square", "same scale", "yes"),
    ("uneven columns", "same scale", "no"),
    ("square", "linear", "yes"),
    ("roll", "linear", "no"),
    ("square", "one piece", "yes"),
    ("two circles", "one piece", "no"),
    ("sparse roll", "shortcuts", "yes"),
    ("square", "shortcuts", "no"),
    ("torus", "shortcuts", "no"),
    ("roll", "isometric", "yes"),
    ("circle", "isometric", "yes"),
    ("sphere", "isometric", "no"),
    ("torus", "isometric", "no"),
    ("cap, stereographic", "conformal", "yes"),
    ("cap, even", "conformal", "no"),
    ("roll", "convex", "yes"),
    ("square", "convex", "yes"),
    ("roll with a hole", "convex", "no"),
    ("sphere", "closed", "yes"),
    ("torus", "closed", "yes"),
    ("circle", "closed", "yes"),
    ("roll", "closed", "no"),
    ("cap, even", "closed", "no"),
    ("torus", "with holes", "yes"),
    ("circle", "with holes", "yes"),
    ("roll with a hole", "with holes", "yes"),
    ("roll", "with holes", "no"),
    ("square", "with holes", "no"),
    ("noisy sphere", "noisy", "yes"),
    ("sphere", "noisy", "no"),
    ("sparse roll", "enough samples", "no"),
    ("roll", "enough samples", "yes"),
    ("uneven square", "even", "no"),
    ("square", "even", "yes"),
    ("square", "compact", "yes"),
    ("roll", "compact", "no"),
]


def _lifted(X: np.ndarray, columns: int, noise: float, seed: int) -> np.ndarray:
    """The same points in more columns: turned, and with noise of so much of their largest spread."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(columns, X.shape[1])))[0]
    return X @ turn.T + rng.normal(0, noise * X.std(axis=0).max(), (len(X), columns))


@pytest.mark.parametrize("seed", [21, 22])
@pytest.mark.parametrize("noise", [0.0, 0.005])
@pytest.mark.parametrize(
    ("name", "d", "verdict"), [("square", 2, "yes"), ("roll", 2, "no"), ("sphere", 2, "no"), ("circle", 1, "no")]
)
def test_more_columns_do_not_change_the_answer(name, d, verdict, noise, seed):
    found = quality.diagnose(_lifted(DATA[name](seed), 9, noise, seed))
    assert found.dimensions == (d, d)
    assert found["linear"].verdict == verdict


@pytest.mark.parametrize("turn", [1.0, 2.0])
@pytest.mark.parametrize("seed", [23, 24])
def test_a_bent_strip_is_not_linear_although_its_width_is_nothing_of_the_variance(turn, seed):
    u = np.random.default_rng(seed).uniform(size=(600, 2)) * [10.0, 1.0]
    strip = np.column_stack([np.cos(u[:, 0] * turn / 10), np.sin(u[:, 0] * turn / 10)]) * 10 / turn
    found = quality.diagnose(np.column_stack([strip, u[:, 1]]))
    assert found["linear"].value < 0.02
    assert found["linear"].verdict == "no"


@pytest.mark.parametrize("seed", [25, 26])
def test_a_noisy_curve_has_no_dimension_of_its_noise_alone(seed):
    """Patches within the noise have all of its directions, larger ones that of the curve: none stands out."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 6, 240)
    curve = np.column_stack([np.cos(t), np.sin(t), t / 3, rng.normal(0, 0.05, (240, 4))])
    found = quality.diagnose(curve)
    assert found.dimensions[0] == 1
    assert found["linear"].verdict != "yes"


# Here a sample may leave a gap that cannot be told from a hole; but "yes" would be wrong.
DOUBTFUL = [("cap, even", "with holes", "no"), ("sphere", "with holes", "no")]


@cache
def diagnosed(name: str, seed: int) -> Diagnosis:
    return quality.diagnose(DATA[name](seed), n_jobs=1)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "question", "verdict"), EXPECTED)
def test_answers(name: str, question: str, verdict: str, seed: int) -> None:
    found = diagnosed(name, seed)[question]
    assert found.verdict == verdict, found.saw


@pytest.mark.slow
@pytest.mark.parametrize(("name", "question", "verdict"), EXPECTED + DOUBTFUL)
def test_answers_hold_for_other_samples(name: str, question: str, verdict: str) -> None:
    found = [diagnosed(name, seed)[question].verdict for seed in range(2, 7)]
    wrong = {"yes": "no", "no": "yes"}[verdict]
    assert found.count(wrong) == 0, found
    assert found.count(verdict) >= 3, found


@pytest.mark.parametrize(
    "seed", [0, 3, pytest.param(4, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_one_true_shortcut_is_found(seed: int) -> None:
    roll = datasets.swiss_roll(1000, random_state=seed)
    edges = find_neighbors(roll.X, 10).union().edges()
    jumps = int((roll.geodesic(edges[:, 0], edges[:, 1]) > 20).sum())
    assert jumps == (1 if seed in (3, 6) else 0)  # of about 5,800 edges
    assert diagnosed("roll", seed)["shortcuts"].verdict == ("yes" if jumps else "no")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("name", "verdict"), [("plane", "cannot tell"), ("cloud", "cannot tell"), ("roll", "yes")])
def test_edges_that_noise_lifts_off_the_tangent_planes_are_no_shortcuts(name: str, verdict: str, seed: int) -> None:
    rng = np.random.default_rng(2100 + seed)
    made = {
        "plane": lambda: rng.uniform(-1, 1, (800, 2)),
        "cloud": lambda: rng.normal(size=(800, 2)),
        "roll": lambda: datasets.swiss_roll(400, random_state=1 + seed).X,
    }
    X = made[name]()
    spacing = np.median(np.sort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 10])
    turned = X @ np.linalg.qr(rng.normal(size=(50, 50)))[0][: X.shape[1]]
    noisy = turned + 0.06 * spacing * rng.normal(size=turned.shape)
    found = quality.diagnose(noisy, random_state=seed)["shortcuts"]
    assert found.verdict == verdict, found.saw


def test_every_question_has_both_answers_above() -> None:
    names = [finding.name for finding in diagnosed("square", 0)]
    for question in names:
        assert {verdict for _, asked, verdict in EXPECTED if asked == question} == {"yes", "no"}, question


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_loops_are_counted(seed: int) -> None:
    assert diagnosed("torus", seed)["with holes"].value == 2
    assert diagnosed("circle", seed)["with holes"].value == 1


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize(("sigma", "D"), [(0.02, 3), (0.05, 3), (0.02, 15)])
def test_planted_noise_is_found_within_a_factor(seed: int, sigma: float, D: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.zeros((800, D))
    X[:, :3] = datasets.sphere(800, random_state=seed).X
    found = quality.diagnose(X + sigma * rng.normal(size=X.shape), n_components=2, n_jobs=1)["noisy"]
    assert 1 / 1.5 < found.value / sigma < 1.5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_dimension_is_estimated(seed: int, d: int) -> None:
    t = np.random.default_rng(seed).random((500, d))
    X = np.column_stack([np.cos(t[:, 0]), np.sin(t[:, 0]), t[:, 1:]])
    assert quality.diagnose(X, n_jobs=1).n_components == d


def test_methods_are_named_as_in_the_registry_and_reasons_given() -> None:
    for name in DATA:
        for finding in diagnosed(name, 0):
            assert finding.saw
            for rule in finding.rules_in + finding.rules_out:
                assert rule.method in BY_NAME
                assert rule.reason


def test_closed_data_rule_charts_out_and_say_what_to_do() -> None:
    found = diagnosed("sphere", 0)["closed"]
    assert {"LTSA", "Isomap"} <= {rule.method for rule in found.rules_out}
    assert "n_components=3" in found.advice
    assert "closed: a closed manifold" in diagnosed("sphere", 0).rules()["LTSA"][1][0]


def test_shortcuts_name_the_largest_safe_k() -> None:
    roll = datasets.swiss_roll(1000, random_state=0)
    found = diagnosed("roll", 0)["shortcuts"]
    safe = int(found.advice.split()[-1])
    for k, crossed in ((safe, False), (60, True)):
        edges = find_neighbors(roll.X, k).union().edges()
        jumps = roll.geodesic(edges[:, 0], edges[:, 1]) > 20
        assert jumps.any() == crossed
    assert quality.diagnose(roll.X, n_neighbors=60, n_jobs=1)["shortcuts"].verdict == "yes"


def test_the_page_and_the_dictionary() -> None:
    found = diagnosed("roll", 0)
    page = str(found)
    assert page.startswith("1000 points; 10 neighbours; dimension 2 (estimated)")
    assert all(f"{finding.name}: {finding.verdict}" in page for finding in found)
    assert max(map(len, page.splitlines())) <= 100
    copied = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["name"] for one in copied["findings"]] == [finding.name for finding in found]
    assert len(found) == 13
    with pytest.raises(InvalidInput, match="name must be one of same scale, one piece"):
        found["lineer"]


def test_same_answer_for_any_number_of_threads() -> None:
    X = DATA["circle"](3)
    assert quality.diagnose(X, n_jobs=2).to_dict() == quality.diagnose(X, n_jobs=1).to_dict()


def test_distances_alone_answer_what_they_can() -> None:
    X = DATA["circle"](0)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    found = quality.diagnose(D, metric="precomputed", n_components=1)
    assert found["with holes"].verdict == "yes"
    assert found["closed"].verdict == "cannot tell"
    assert "coordinates" in found["closed"].saw


def test_a_sample_is_taken_openly() -> None:
    found = quality.diagnose(np.random.default_rng(0).random((1000, 2)), max_points=200)
    assert (found.n_points, found.n_used) == (1000, 200)
    assert "1000 points, of which a random sample of 200 was looked at" in str(found)


@pytest.mark.slow
def test_fifty_thousand_points() -> None:
    found = quality.diagnose(datasets.swiss_roll(50_000, random_state=0).X)
    assert found.n_used == 4000
    assert found["isometric"].verdict == "yes"
    assert found["convex"].verdict == "yes"


def test_no_dimension_stands_out_in_a_cloud() -> None:
    found = quality.diagnose(np.random.default_rng(0).normal(size=(300, 25)))
    for question in ("isometric", "closed"):
        assert found[question].verdict == "cannot tell"


HARD = {
    "three points": np.eye(3),
    "few points": np.random.default_rng(0).random((30, 4)),
    "duplicates": np.repeat(np.random.default_rng(0).random((60, 3)), 4, axis=0),
    "constant feature": np.column_stack([np.random.default_rng(0).random((80, 2)), np.ones(80)]),
    "integers": np.random.default_rng(0).integers(0, 50, (90, 3)),
    "one column": np.random.default_rng(0).random((80, 1)),
    "wide": np.random.default_rng(0).random((60, 200)),
    "float32": np.random.default_rng(0).random((80, 3)).astype(np.float32),
    "far away": 1e6 + np.random.default_rng(0).random((80, 3)),
    "line": np.linspace(0, 1, 70)[:, None] * np.ones(5),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_data_get_an_answer(name: str) -> None:
    found = quality.diagnose(HARD[name])
    assert len(found) == 13
    assert str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_bad_input_in_words() -> None:
    X = np.random.default_rng(0).random((40, 3))
    with pytest.raises(InvalidInput, match="at least 3 different points"):
        quality.diagnose(np.ones((10, 2)))
    with pytest.raises(InvalidInput, match="n_neighbors must be at most 39"):
        quality.diagnose(X, n_neighbors=40)
    with pytest.raises(InvalidInput, match="n_components of diagnose must be an int of at least 1"):
        quality.diagnose(X, n_components=0)
    with pytest.raises(InvalidInput, match="a graph does not tell"):
        quality.diagnose(find_neighbors(X, 5).union())
    with pytest.raises(InvalidInput, match="verdict must be one of"):
        Finding("linear", "perhaps", 0.0, "")


# The pieces -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 12, 20])
def test_the_loop_of_a_ring_dies_at_a_third_of_it(n: int) -> None:
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    D = np.minimum(steps, n - steps).astype(float)
    assert loops(D).tolist() == [[1.0, float(np.ceil(n / 3))]]


def test_loops_of_two_rings_and_of_a_tree() -> None:
    steps = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    ring = np.minimum(steps, 9 - steps).astype(float)
    both = np.block([[ring, np.full((9, 9), 20.0)], [np.full((9, 9), 20.0), ring]])
    assert loops(both).tolist() == [[1.0, 3.0], [1.0, 3.0]]
    assert len(loops(steps.astype(float))) == 0


@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_gauss_equation_on_a_sphere_and_a_cylinder(radius: float) -> None:
    rng = np.random.default_rng(0)
    for X, curvature in (
        (datasets.sphere(3000, radius=radius, random_state=0).X, 1 / radius**2),
        (datasets.cylinder(3000, radius=radius, height=3 * radius, random_state=0).X, 0.0),
    ):
        centers = rng.choice(3000, 50, replace=False)
        index = find_neighbors(X, 24).indices.reshape(3000, 24)[centers]
        P = _shape.principal_patches(X, centers, index, 2)
        II = _shape.second_forms(P, 2)
        K = np.median(_shape.sectional_curvatures(II, II, 2))
        assert K * radius**2 == pytest.approx(curvature * radius**2, abs=0.05)
