"""The truth that comes with a surface is true: isometric coordinates, geodesics, equations, densities."""

import numpy as np
import pytest
from scipy import integrate, stats

import lowfold.datasets as datasets
from lowfold.datasets import SURFACES
from lowfold.geometry._closed import swiss_roll_arclength


class Chosen(np.random.Generator):
    """A Generator whose uniform numbers are chosen: makes a generator of points a function of its draws."""

    def __init__(self, values):
        super().__init__(np.random.PCG64(0))
        self.values = np.asarray(values, dtype=float)

    def random(self, size=None, *args, **kwargs):
        return self.values.reshape(size).copy()


def at(make, uv, **options):
    return make(len(uv), random_state=Chosen(uv), **options)


FLAT = [
    ("swiss_roll", {}),
    ("swiss_roll", {"height": 51}),
    ("swiss_roll", {"density": "area"}),
    ("uneven_swiss_roll", {}),
    ("s_curve", {}),
    ("s_curve", {"height": 30}),
    ("square", {}),
    ("square", {"ambient_dim": 7, "side": 3}),
    ("uneven_square", {}),
    ("corner_planes", {}),
    ("corner_planes", {"angle": 120, "width": 3}),
]


def test_every_flat_surface_is_checked():
    known = {name for name in SURFACES if name not in IMAGES and SURFACES[name].make(3).coordinates is not None}
    assert known == {name for name, _ in FLAT} | {"swiss_hole"}  # the hole: the same map, points left out


IMAGES = {"rotating_object", "rendered_object", "word_images"}


@pytest.mark.parametrize(("name", "options"), FLAT)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_metric_tensor_of_the_coordinates_is_the_identity(name, options, seed):
    make = SURFACES[name].make
    uv = np.random.default_rng(seed).uniform(0.05, 0.95, (40, 2))
    uv[np.abs(uv - 0.5) < 1e-3] += 0.01  # the fold of the planes and the joint of the S are not differentiable
    h = 1e-6
    jacobians = []
    for axis in range(2):
        step = h * np.eye(2)[axis]
        up, down = at(make, uv + step, **options), at(make, uv - step, **options)
        jacobians.append(((up.X - down.X) / (2 * h), (up.coordinates - down.coordinates) / (2 * h)))
    JX = np.stack([j[0] for j in jacobians], axis=2)
    JC = np.stack([j[1] for j in jacobians], axis=2)
    J = JX @ np.linalg.inv(JC)  # derivative of coordinates -> X
    np.testing.assert_allclose(np.swapaxes(J, 1, 2) @ J, np.broadcast_to(np.eye(2), (40, 2, 2)), atol=1e-6)


STRAIGHT = [
    ("swiss_roll", {"density": "area"}),
    ("s_curve", {}),
    ("square", {}),
    ("corner_planes", {}),
    ("cylinder", {}),
    ("clifford_torus", {"radii": (1, 2)}),
    ("circle", {"ambient_dim": 5, "radius": 3}),
    ("toroidal_helix", {}),
    ("toroidal_helix", {"windings": 3, "minor": 1.9}),
]


@pytest.mark.parametrize(("name", "options"), STRAIGHT)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_geodesics_are_the_length_of_a_fine_polyline(name, options, seed):
    """Here a geodesic is a straight line in the unit square of draws, round the back where that is shorter."""
    make = SURFACES[name].make
    columns = 1 if name in ("circle", "toroidal_helix") else 2
    a, b = np.random.default_rng(seed).random((2, columns))
    closed = {"cylinder": [0], "clifford_torus": [0, 1], "circle": [0], "toroidal_helix": [0]}.get(name, [])
    targets = [b]
    for axis in closed:
        targets = [t + s * np.eye(columns)[axis] for t in targets for s in (-1, 0, 1)]
    lengths = []
    for target in targets:
        t = np.linspace(0, 1, 20001)[:, None]
        line = at(make, a + t * (target - a), **options).X
        lengths.append(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    pair = at(make, np.vstack([a, b]), **options)
    assert pair.geodesic(0, 1) == pytest.approx(min(lengths), rel=1e-6)


def test_swiss_roll_is_the_books_and_scikit_learns():
    from sklearn.datasets import make_swiss_roll

    X, t = make_swiss_roll(200, random_state=0)
    uv = np.column_stack([(t / (1.5 * np.pi) - 1) / 2, X[:, 1] / 21])
    np.testing.assert_allclose(at(datasets.swiss_roll, uv).X, X, atol=1e-12)
    ends = at(datasets.swiss_roll, np.array([[0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(ends.parameters, [[1.5 * np.pi, 0], [4.5 * np.pi, 21]])
    assert np.ptp(ends.coordinates[:, 0]) == pytest.approx(89.3733, abs=5e-5)
    assert np.ptp(ends.coordinates[:, 1]) == 21


def test_scikit_learns_hole_is_our_default_hole():
    from sklearn.datasets import make_swiss_roll

    X, t = make_swiss_roll(3000, random_state=0, hole=True)
    ours = datasets.swiss_hole(3000, random_state=0)
    for theta, s in ((t, X[:, 1]), ours.parameters.T):
        inside = (theta > 2.5 * np.pi) & (theta < 3.5 * np.pi) & (s > 7) & (s < 14)
        assert not inside.any()
        # The eight cells around the hole get an equal share.
        cell = np.minimum((theta / np.pi - 1.5) // 1, 2) * 3 + np.minimum(s // 7, 2)
        counts = np.bincount(cell.astype(int), minlength=9)
        np.testing.assert_allclose(np.delete(counts, 4) / 3000, 1 / 8, atol=0.03)


def test_s_curve_is_scikit_learns_up_to_where_it_starts():
    data = datasets.s_curve(500, random_state=0)
    x, _, z = data.X.T
    lower = data.parameters[:, 0] <= 1
    np.testing.assert_allclose(np.where(lower, x**2 + z**2, x**2 + (z - 2) ** 2), 1)
    joint = at(datasets.s_curve, np.array([[0.5, 0.2], [0.5 + 1e-12, 0.2]]))
    np.testing.assert_allclose(joint.X, [[0, 1, 1], [0, 1, 1]], atol=1e-10)


def brute_force_around(p, q, box, steps=400):
    """Shortest way from p to q past the box: free segments to densely sampled points of the rim, then along the rim."""
    x0, x1, y0, y1 = box
    t = np.linspace(0, 1, steps, endpoint=False)
    rim = np.vstack(
        [
            np.column_stack([x0 + (x1 - x0) * t, np.full(steps, y0)]),
            np.column_stack([np.full(steps, x1), y0 + (y1 - y0) * t]),
            np.column_stack([x1 - (x1 - x0) * t, np.full(steps, y1)]),
            np.column_stack([np.full(steps, x0), y1 - (y1 - y0) * t]),
        ]
    )
    place = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(np.vstack([rim, rim[:1]]), axis=0), axis=1))])
    around, place = place[-1], place[:-1]
    s = np.linspace(0, 1, 401)[1:-1, None, None]

    def free(a, b):
        points = a + s * (np.atleast_2d(b) - a)
        eps = 1e-9
        inside = (points[..., 0] > x0 + eps) & (points[..., 0] < x1 - eps)
        inside &= (points[..., 1] > y0 + eps) & (points[..., 1] < y1 - eps)
        return ~inside.any(axis=0)

    if free(p, q)[0]:
        return np.linalg.norm(p - q)
    to_p = np.where(free(p, rim), np.linalg.norm(rim - p, axis=1), np.inf)
    to_q = np.where(free(q, rim), np.linalg.norm(rim - q, axis=1), np.inf)
    along = np.abs(place[:, None] - place[None, :])
    return (to_p[:, None] + np.minimum(along, around - along) + to_q[None, :]).min()


@pytest.mark.parametrize("seed", [0, 1])
def test_geodesics_go_around_the_hole(seed):
    data = datasets.swiss_roll(60, random_state=seed, hole=(8, 12, 5, 15))
    box = (*swiss_roll_arclength(np.array([8.0, 12.0])), 5.0, 15.0)
    i, j = np.random.default_rng(seed).integers(0, 60, (2, 25))
    found = data.geodesic(i, j)
    straight = np.linalg.norm(data.coordinates[i] - data.coordinates[j], axis=1)
    brute = [brute_force_around(data.coordinates[a], data.coordinates[b], box) for a, b in zip(i, j, strict=True)]
    assert (found > straight * (1 + 1e-9)).any()
    np.testing.assert_allclose(found, brute, rtol=1e-3)


def test_paths_around_a_box_by_hand():
    from lowfold.datasets._rolls import around_box

    box = (0.0, 1.0, 0.0, 1.0)
    a = np.array([[-1.0, 0.5], [-1.0, 1.0], [-1.0, 0.0], [0.5, -1.0], [-0.5, 0.5], [0.0, 0.0], [-1.0, -1.0]])
    b = np.array([[2.0, 0.5], [2.0, 1.0], [-1.0, 1.0], [0.5, 2.0], [0.5, 1.25], [1.0, 1.0], [2.0, 2.0]])
    leg = np.hypot(1, 0.5)
    expected = [2 * leg + 1, 3, 1, 2 * leg + 1, np.hypot(0.5, 0.5) + np.hypot(0.5, 0.25), 2, 2 * np.sqrt(5)]
    np.testing.assert_allclose(around_box(a, b, box), expected)
    np.testing.assert_allclose(around_box(b, a, box), expected)


def slerp(p, q, steps):
    angle = np.arccos(np.clip(p @ q, -1, 1))
    t = np.linspace(0, 1, steps)[:, None]
    return (np.sin((1 - t) * angle) * p + np.sin(t * angle) * q) / np.sin(angle)


def test_sphere_geodesics_are_great_circles():
    data = datasets.sphere(30, random_state=0, radius=2.5)
    for i, j in [(0, 1), (2, 3), (4, 5), (6, 7)]:
        line = 2.5 * slerp(data.X[i] / 2.5, data.X[j] / 2.5, 20001)
        assert data.geodesic(i, j) == pytest.approx(np.linalg.norm(np.diff(line, axis=0), axis=1).sum(), rel=1e-6)


@pytest.mark.parametrize("height", [0.3, 0.5, 0.75, 0.9])
def test_punched_sphere_geodesics_go_around_the_hole(height):
    """Against a search over the points where the path may touch the rim."""
    data = datasets.punched_sphere(40, random_state=1, height=height)
    rho = np.arccos(2 * height - 1)
    phi = np.linspace(0, 2 * np.pi, 361)[:-1]
    rim = np.column_stack([np.cos(phi) * np.sin(rho), np.sin(phi) * np.sin(rho), np.full(360, np.cos(rho))])
    points = 2 * data.X

    def free(p, q):
        return slerp(p, q, 200)[1:-1, 2].max() <= np.cos(rho) + 1e-6

    bent = 0
    for i, j in np.random.default_rng(0).integers(0, 40, (30, 2)):
        if i == j:
            continue
        p, q = points[i], points[j]
        if free(p, q):
            expected = np.arccos(p @ q)
        else:
            bent += 1
            to = [np.array([np.arccos(x @ r) if free(x, r) else np.inf for r in rim]) for x in (p, q)]
            gap = np.abs(phi[:, None] - phi[None, :])
            along = np.sin(rho) * np.minimum(gap, 2 * np.pi - gap)
            expected = (to[0][:, None] + along + to[1][None, :]).min()
        assert data.geodesic(i, j) == pytest.approx(expected / 2, rel=3e-3)
    assert (bent > 0) == (height > 0.5)


def test_separate_pieces_are_infinitely_far_apart():
    rings = datasets.concentric_circles(40, random_state=0, radii=(1, 2, 5))
    i = np.arange(40)
    d = rings.geodesic(i[:, None], i)
    same = rings.labels[:, None] == rings.labels
    assert np.isinf(d[~same]).all()
    chord = np.linalg.norm(rings.X[:, None] - rings.X, axis=2)
    r = np.linalg.norm(rings.X, axis=1)
    np.testing.assert_allclose(d[same], (2 * r[:, None] * np.arcsin(np.minimum(chord / (2 * r[:, None]), 1)))[same])
    moons = datasets.moons(30, random_state=0)
    assert np.isinf(moons.geodesic(0, 29))
    assert moons.geodesic(0, 5) == pytest.approx(2 * np.arcsin(np.linalg.norm(moons.X[0] - moons.X[5]) / 2))


@pytest.mark.parametrize("seed", [0, 1])
def test_points_satisfy_the_equation_of_their_surface(seed):
    x, y, z = datasets.torus(200, random_state=seed, major=3, minor=0.5).X.T
    np.testing.assert_allclose((np.hypot(x, y) - 3) ** 2 + z**2, 0.25)
    x, y, z = datasets.toroidal_helix(200, random_state=seed).X.T
    np.testing.assert_allclose((np.hypot(x, y) - 2) ** 2 + z**2, 1)
    x, y, z = datasets.ellipsoid(200, random_state=seed, axes=(3, 2, 1)).X.T
    np.testing.assert_allclose((x / 3) ** 2 + (y / 2) ** 2 + z**2, 1)
    np.testing.assert_allclose(np.linalg.norm(datasets.sphere(200, random_state=seed, radius=2).X, axis=1), 2)
    np.testing.assert_allclose(np.linalg.norm(datasets.circle(99, random_state=seed, ambient_dim=6).X, axis=1), 1)
    x, y, z = datasets.saddle(200, random_state=seed).X.T
    np.testing.assert_allclose(z, x**2 - y**2)
    x, y, z = datasets.twin_peaks(200, random_state=seed).X.T
    np.testing.assert_allclose(z, np.sin(np.pi * x) * np.tanh(3 * y))
    x, y, z = SURFACES["gaussian"].make(200, random_state=seed, sigma=2).X.T
    np.testing.assert_allclose(z, stats.norm.pdf(x, scale=2) * stats.norm.pdf(y, scale=2))
    X = datasets.clifford_torus(200, random_state=seed, radii=(1, 2)).X
    np.testing.assert_allclose(np.hypot(*X.T[:2]), 1)
    np.testing.assert_allclose(np.hypot(*X.T[2:]), 2)
    x, y, z = datasets.moebius_strip(200, random_state=seed).X.T
    u = np.arctan2(y, x)
    v = (np.hypot(x, y) - 2) * np.sin(u / 2) + z * np.cos(u / 2)
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - 2, z), np.abs(v))
    assert np.abs(v).max() <= 1


@pytest.mark.parametrize("coefficients", [(1, 0, 1, -4), (1, 0.5, 3, -2), (1, 0, -1, -1), (1, 1, -2, 3), (1, 0, 0, -1)])
def test_conics_lie_on_the_plane_of_the_lifted_points(coefficients):
    data = datasets.conic(300, random_state=0, coefficients=coefficients)
    c = np.array(coefficients)
    x, y = data.X.T
    np.testing.assert_allclose(c[0] * x**2 + c[1] * x * y + c[2] * y**2 + c[3], 0, atol=1e-11)
    lifted = np.column_stack([x**2, np.sqrt(2) * x * y, y**2])
    values, vectors = np.linalg.eigh(np.cov(lifted.T))
    assert values[0] < 1e-12 * values[-1]
    normal = np.array([c[0], c[1] / np.sqrt(2), c[2]])
    if values[1] > 1e-9:
        assert abs(vectors[:, 0] @ normal) == pytest.approx(np.linalg.norm(normal))


@pytest.mark.parametrize("height", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("density", ["area", "parameter", "stereographic"])
def test_punched_spheres_end_at_their_height(height, density):
    X = datasets.punched_sphere(4000, random_state=0, height=height, density=density).X
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 0.5)
    assert X[:, 2].max() <= height - 0.5 + 1e-12
    assert X[:, 2].max() > height - 0.51
    assert X[:, 2].min() < -0.49


def test_stereographic_density_is_uniform_in_the_disk():
    X = 2 * datasets.punched_sphere(4000, random_state=0, height=0.9, density="stereographic").X
    disk = X[:, :2] / (1 - X[:, 2:])  # projection from the north pole
    r2 = (disk**2).sum(axis=1)
    edge = (1 + 0.8) / (1 - 0.8)
    assert stats.kstest(r2 / edge, "uniform").pvalue > 0.001


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_area_densities(seed):
    n = 4000

    def uniform(values):
        assert stats.kstest(values, "uniform").pvalue > 0.001

    uniform((datasets.sphere(n, random_state=seed).X[:, 2] + 1) / 2)
    uniform((2 * datasets.punched_sphere(n, random_state=seed).X[:, 2] + 1) / 1.5)
    roll = datasets.swiss_roll(n, random_state=seed, density="area").coordinates
    low, high = swiss_roll_arclength(np.array([1.5, 4.5]) * np.pi)
    uniform((roll[:, 0] - low) / (high - low))
    uniform(roll[:, 1] / 21)
    uneven = datasets.swiss_roll(n, random_state=seed, density="uneven", power=3).coordinates
    uniform(((uneven[:, 0] - low) / (high - low)) ** (1 / 3))
    uniform(SURFACES["uneven_square"].make(n, random_state=seed, power=3).coordinates[:, 1] ** (1 / 3))
    # Torus: the area left of the angle p is proportional to R p + r sin p.
    p = datasets.torus(n, random_state=seed).parameters[:, 1]
    uniform((2 * p + np.sin(p)) / (4 * np.pi))


def area_share(jacobian, region, u_range, v_range, m=400):
    """Share of the area in `region`, by the midpoint rule."""
    u, v = (low + (high - low) * (np.arange(m) + 0.5) / m for low, high in (u_range, v_range))
    U, V = np.meshgrid(u, v, indexing="ij")
    weight = jacobian(U, V)
    return (weight * region(U, V)).sum() / weight.sum()


@pytest.mark.parametrize("seed", [0, 1])
def test_area_densities_by_quadrature(seed):
    n = 8000
    cases = [
        (
            datasets.moebius_strip(n, random_state=seed, width=3),
            lambda u, v: np.hypot(2 + v * np.sin(u / 2), v / 2),
            lambda u, v: v * np.sin(u / 2) > 0,
            ((-np.pi, np.pi), (-1.5, 1.5)),
        ),
        (
            datasets.saddle(n, random_state=seed, density="area", extent=2),
            lambda x, y: np.sqrt(1 + 4 * x**2 + 4 * y**2),
            lambda x, y: np.hypot(x, y) < 1.5,
            ((-2, 2), (-2, 2)),
        ),
        (
            datasets.twin_peaks(n, random_state=seed, density="area", height=2),
            lambda x, y: np.sqrt(
                1
                + (2 * np.pi * np.cos(np.pi * x) * np.tanh(3 * y)) ** 2
                + (6 * np.sin(np.pi * x) / np.cosh(3 * y) ** 2) ** 2
            ),
            lambda x, y: np.abs(y) < 0.4,
            ((-1, 1), (-1, 1)),
        ),
        (
            datasets.ellipsoid(n, random_state=seed, axes=(3, 2, 1)),
            lambda s, t: (
                np.sin(t)
                * np.sqrt((2 * np.cos(s) * np.sin(t)) ** 2 + (3 * np.sin(s) * np.sin(t)) ** 2 + (6 * np.cos(t)) ** 2)
            ),
            lambda s, t: np.abs(np.cos(t)) < 0.5,
            ((0, 2 * np.pi), (0, np.pi)),
        ),
    ]
    for data, jacobian, region, ranges in cases:
        expected = area_share(jacobian, region, *ranges)
        found = region(*data.parameters.T).mean()
        assert found == pytest.approx(expected, abs=4 * np.sqrt(0.25 / n)), data.name


def test_helix_arc_length_against_quadrature():
    data = datasets.toroidal_helix(50, random_state=0, windings=5, minor=1.5)
    t = data.parameters[:, 0]
    i, j = np.argsort(t)[[3, 20]]
    length = integrate.quad(lambda p: np.hypot(2 + 1.5 * np.cos(5 * p), 7.5), t[i], t[j], limit=200)[0]
    total = integrate.quad(lambda p: np.hypot(2 + 1.5 * np.cos(5 * p), 7.5), 0, 2 * np.pi, limit=200)[0]
    assert data.geodesic(i, j) == pytest.approx(min(length, total - length), rel=1e-9)


def test_even_curves_are_evenly_spaced():
    circle = datasets.circle(7, even=True)
    np.testing.assert_allclose(circle.geodesic(np.arange(7), (np.arange(7) + 1) % 7), 2 * np.pi / 7)
    helix = datasets.toroidal_helix(6, even=True, rate=2)
    np.testing.assert_allclose(helix.parameters[:, 0], 2 * np.pi * (np.arange(6) / 6) ** 2)
