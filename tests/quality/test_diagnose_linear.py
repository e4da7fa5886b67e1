"""Linear is what lies in a plane, whatever its outline; methods are cleared on answers, not on silence."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import datasets, quality
from lowfold.graph import find_neighbors
from lowfold.quality._findings import Finding, rules_for
from lowfold.quality._questions import agreed


def _inside(rng, n, keep):
    P = rng.uniform(-1, 1, (20 * n, 2))
    return P[keep(P)][:n]


def _turned(P, rng, D):
    return np.pad(P, ((0, 0), (0, D - P.shape[1]))) @ np.linalg.qr(rng.normal(size=(D, D)))[0]


def _hole(rng):
    return _turned(_inside(rng, 600, lambda P: np.hypot(*P.T) > 0.6), rng, 4)


def _c(rng):
    def keep(P):
        r, t = np.hypot(*P.T), np.arctan2(P[:, 1], P[:, 0])
        return (r > 0.6) & (r < 1) & (np.abs(t) > 0.7)

    return _turned(_inside(rng, 600, keep), rng, 3)


def _noisy_plane(rng):
    X = _turned(rng.random((600, 2)), rng, 5)
    return X + 0.01 * rng.normal(size=X.shape)


def _drowned_plane(rng):
    """Noise as large as the spacing, in ten columns: patches alone do not tell it from tangents."""
    X = _turned(rng.random((1000, 2)) * [1.5, 1.0], rng, 10)
    return X + 0.05 * rng.normal(size=X.shape)


PLANES = {
    "cube": lambda rng: rng.random((600, 3)),
    "hole": _hole,
    "C": _c,
    "ring": lambda rng: _turned(_inside(rng, 600, lambda P: (np.hypot(*P.T) > 0.7) & (np.hypot(*P.T) < 1)), rng, 3),
    "noise": _noisy_plane,
    "more noise": _drowned_plane,
}


@pytest.mark.parametrize("seed", [31, pytest.param(32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PLANES)
def test_a_plane_is_linear_and_isometric_whatever_its_outline(name, seed):
    found = quality.diagnose(PLANES[name](np.random.default_rng(seed)), n_jobs=1)
    assert found["linear"].verdict == found["isometric"].verdict == "yes", found["linear"].saw
    assert "PCA" in found.cleared


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_the_outline_of_a_noisy_plane_is_seen_in_the_plane(noise):
    rng = np.random.default_rng(5103)
    bent = _c(rng)
    bent = bent + noise * rng.normal(size=bent.shape)
    round_one = _turned(_inside(rng, 600, lambda P: np.hypot(*P.T) < 1), rng, 3)
    round_one = round_one + 0.02 * rng.normal(size=round_one.shape)
    assert quality.diagnose(bent, n_components=2, n_jobs=1)["convex"].verdict == "no"
    assert quality.diagnose(round_one, n_components=2, n_jobs=1)["convex"].verdict == "yes"


def test_a_noisy_roll_is_no_plane():
    found = quality.diagnose(datasets.swiss_roll(1000, noise=0.5, random_state=31).X, n_jobs=1)
    assert found["linear"].verdict == "no", found["linear"].saw
    assert found["noisy"].value == pytest.approx(0.5, rel=0.25)


def test_a_cube_fills_its_space():
    found = quality.diagnose(PLANES["cube"](np.random.default_rng(33)), n_jobs=1)
    assert "fill all 3 dimensions" in found["linear"].saw
    assert not any("no plane" in words for _, against in found.rules().values() for words in against)


def test_every_edge_is_looked_at():
    # Of 16 rolls the seeds with exactly one shortcut among 5,800 edges: a sample of points would miss half of them.
    for seed in (3, 6):
        roll = datasets.swiss_roll(1000, random_state=seed)
        found = quality.diagnose(roll.X, random_state=seed + 50, n_jobs=1)["shortcuts"]
        assert found.verdict == "yes"
        edges = find_neighbors(roll.X, 10).union().edges()
        assert 1 <= found.value <= 2 * (roll.geodesic(edges[:, 0], edges[:, 1]) > 20).sum()


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 40)) * np.linspace(1.0, 0.2, 40)
    return quality.diagnose(X, n_jobs=1)


def test_hessian_lle_is_never_cleared_with_too_few_neighbours(cloud):
    d = cloud.dimensions[1]
    assert d * (d + 3) // 2 > cloud.n_neighbors
    assert "HessianLLE" not in cloud.cleared
    assert any("needs" in words for words in cloud.rules()["HessianLLE"][1])


def test_where_no_dimension_stands_out_both_ends_are_asked(cloud):
    low, high = cloud.dimensions
    assert low < high
    assert f"of {low} to {high}, none stands out" in str(cloud)
    assert cloud["linear"].verdict == "no"  # not even the most dimensions hold it
    assert cloud["enough samples"].verdict == "no"


def test_silence_clears_nothing():
    X = np.random.default_rng(0).normal(size=(60, 200))
    found = quality.diagnose(X, n_jobs=1)
    answered = sum(finding.verdict != "cannot tell" for finding in found)
    assert found.cleared == () or answered > len(found) / 2
    page = str(found)
    assert all(f"nothing against {name}" not in page for name in ("HessianLLE", "LTSA"))


def _sphere(n, d):
    X = np.random.default_rng(5).normal(size=(n, d + 1))
    return X / np.linalg.norm(X, axis=1)[:, None]


def _arcs(n, d):
    """Flat: a product of arcs of circles."""
    t = 2.5 * np.random.default_rng(6).random((n, d))
    return np.hstack([np.cos(t), np.sin(t)])


@pytest.mark.parametrize(("X", "curved"), [(_sphere(400, 5), True), (_arcs(400, 5), False)])
def test_geodesics_say_what_too_few_points_for_patches_leave_open(X, curved):
    found = quality.diagnose(X, n_components=5, n_jobs=1)["isometric"]
    assert found.verdict == "cannot tell"
    assert ("curved, or flat with gaps" in found.saw) == curved
    assert ("Isomap" in {rule.method for rule in found.rules_out}) == curved


def test_ends_that_disagree_leave_the_safe_advice_and_what_both_speak_against():
    against = rules_for(("Isomap", "MVU"), "far points are near")
    low = Finding("shortcuts", "yes", 3.0, "three", (), against, "use n_neighbors of at most 5")
    high = Finding("shortcuts", "no", 0.0, "none", (), against[:1])
    found = agreed(low, high, (4, 7))
    assert found.verdict == "cannot tell"
    assert found.advice == "to be safe: use n_neighbors of at most 5"
    assert [rule.method for rule in found.rules_out] == ["Isomap"]
    straight = Finding("linear", "yes", 0.0, "flat", advice="use PCA")
    assert agreed(straight, Finding("linear", "no", 0.5, "bent"), (1, 2)).advice == ""


def test_what_the_sample_would_bear_is_said():
    found = quality.diagnose(_arcs(400, 5), n_components=5, n_jobs=1)["enough samples"]
    assert "radians over that distance" in found.saw


def test_variances_that_coincide_are_no_matter():
    """Of an even circle no line is the best one; which is taken changes no answer, and nothing is warned of."""
    t = np.arange(200) * 2 * np.pi / 200
    found = quality.diagnose(np.column_stack([np.cos(t), np.sin(t), 0 * t]))
    assert (found.dimensions, found["linear"].verdict, found["closed"].verdict) == ((1, 1), "no", "yes")


def _corner(rng):
    return _inside(rng, 400, lambda P: (P[:, 0] < -0.3) | (P[:, 1] < -0.3))


FLAT = {
    "corner": _corner,
    "cloud": lambda rng: rng.normal(size=(250, 5)),
    "wide cloud": lambda rng: rng.normal(size=(300, 9)),
}


@pytest.mark.parametrize("seed", [5010, 5012])
@pytest.mark.parametrize("name", FLAT)
def test_in_a_plane_there_are_no_sheets_and_every_neighbourhood_is_flat(name, seed):
    found = quality.diagnose(FLAT[name](np.random.default_rng(seed)), n_jobs=1)
    assert found["linear"].verdict == "yes"
    assert found["shortcuts"].verdict != "yes", found["shortcuts"].saw
    said = [words for _, against in found.rules().values() for words in against]
    assert not any("not flat" in words or "sheets" in words for words in said)
    assert "Isomap" not in found.cleared  # ways along edges are longer than the straight lines that are known


def _heavy_tails(rng):
    return rng.standard_t(2, (600, 6)) @ rng.normal(size=(6, 9))


def _rolled(rng):
    t = np.pi * rng.uniform(1.5, 4.5, 600)
    return np.column_stack([t * np.cos(t), t * np.sin(t), rng.uniform(0, 10, 600)])


@pytest.mark.parametrize(("make", "d", "against"), [(_heavy_tails, 4, False), (_rolled, 2, True)])
def test_planes_are_spoken_against_only_where_a_chart_holds_more(make, d, against):
    found = quality.diagnose(make(np.random.default_rng(11)), n_components=d, n_jobs=1)["linear"]
    assert found.verdict == "no"
    assert ("PCA" in {rule.method for rule in found.rules_out}) == against, found.saw
    assert ("beside" in found.advice) != against
