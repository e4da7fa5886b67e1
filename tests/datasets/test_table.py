"""Every generator keeps the same contract: the table drives the checks."""

import inspect
import pickle

import numpy as np
import pytest

import lowfold.datasets as datasets
from lowfold._core.errors import InvalidInput
from lowfold.datasets import GRAPHS, SURFACES, Dataset
from lowfold.datasets._graphs import GraphExample

BY_TABLE = {"gaussian", "uneven_square", "uneven_swiss_roll"}  # SURFACES[name].make: their names stand elsewhere
SMALL_IMAGES = {"rotating_object", "rendered_object", "word_images", "occluded_disks"}


def make(name, n, **options):
    if name in SMALL_IMAGES:
        options.setdefault("image_shape", (12, 14))
    return SURFACES[name].make(n, **options)


def test_every_public_generator_is_in_a_table():
    returns = {
        name: inspect.signature(getattr(datasets, name)).return_annotation
        for name in datasets.__all__
        if inspect.isfunction(getattr(datasets, name))
    }
    made = {name for name, kind in returns.items() if kind in ("Dataset", "HyperspectralScene")}
    made -= {"us_cities"}  # a table of facts: nothing to draw n points from
    assert made == set(SURFACES) - BY_TABLE
    assert all(SURFACES[name].make is getattr(datasets, name) for name in made)
    assert not {name for name, kind in returns.items() if kind == "GraphExample"}, "graphs are made by GRAPHS[name]"


@pytest.mark.parametrize("name", SURFACES)
def test_signature_has_one_form(name):
    parameters = list(inspect.signature(SURFACES[name].make).parameters.values())
    assert [p.name for p in parameters[:3]] == ["n", "noise", "random_state"]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters[1:])
    assert SURFACES[name].make.__doc__
    assert "\n" not in SURFACES[name].description


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("n", [1, 2, 5, 61])
def test_shapes(name, n):
    data = make(name, n, random_state=0)
    assert isinstance(data, Dataset)
    assert data.name == name
    assert len(data) == n
    assert data.X.shape[0] == data.parameters.shape[0] == data.color.shape[0] == n
    assert data.X.ndim == data.parameters.ndim == 2
    assert data.color.shape == (n,)
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.parameters).all()
    assert data.intrinsic_dim <= data.extrinsic_dim == data.X.shape[1]
    if data.coordinates is not None:
        assert data.coordinates.shape == (n, data.intrinsic_dim)
        assert data.is_simple
    if data.labels is not None:
        assert data.labels.shape == (n,)
        assert data.labels.dtype == np.int64
    if data.image_shape is not None:
        assert data.images.shape == (n, 12, 14)
        assert data.X.min() >= 0
        assert data.X.max() <= 1


@pytest.mark.parametrize("name", SURFACES)
def test_seeds_repeat_and_noise_keeps_the_clean_points(name):
    a, b = make(name, 40, random_state=3), make(name, 40, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(a.X, b.X)
    other, noisy = make(name, 40, random_state=4), make(name, 40, random_state=3, noise=0.2)
    assert not np.array_equal(a.X, other.X)
    np.testing.assert_array_equal(a.parameters, noisy.parameters)
    if a.coordinates is not None:
        np.testing.assert_array_equal(a.coordinates, noisy.coordinates)
    assert noisy.X.shape == a.X.shape
    assert np.std(noisy.X - a.X) == pytest.approx(0.2, rel=0.25)
    legacy = [make(name, 9, random_state=np.random.RandomState(0)).X for _ in range(2)]
    np.testing.assert_array_equal(*legacy)


@pytest.mark.parametrize("name", SURFACES)
def test_arrays_are_read_only_and_the_set_can_be_pickled(name):
    data = make(name, 10, random_state=0)
    for array in (data.X, data.parameters, data.color, data.coordinates, data.labels):
        if array is not None:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(copy.X, data.X)
    if data.distance is not None:
        np.testing.assert_array_equal(copy.geodesic(0, np.arange(10)), data.geodesic(0, np.arange(10)))


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize(
    ("n", "options", "words"),
    [
        (0, {}, "n must be a whole number of at least 1"),
        (-3, {}, "n must be a whole number"),
        (10.0, {}, "n must be a whole number"),
        (True, {}, "n must be a whole number"),
        ("ten", {}, "n must be a whole number"),
        (10, {"noise": -0.1}, "noise is the standard deviation"),
        (10, {"noise": np.nan}, "noise is the standard deviation"),
        (10, {"noise": "much"}, "noise is the standard deviation"),
        (10, {"random_state": "seed"}, "random_state must be"),
    ],
)
def test_wrong_arguments_are_refused_in_words(name, n, options, words):
    with pytest.raises(InvalidInput, match=words):
        make(name, n, **options)


WRONG = [
    ("swiss_roll", {"height": 0}, "height must be a finite number above 0"),
    ("swiss_roll", {"height": np.inf}, "height"),
    ("swiss_roll", {"density": "dense"}, "density must be one of 'parameter', 'area', 'uneven'"),
    ("swiss_roll", {"density": "uneven", "power": 0}, "power"),
    ("swiss_roll", {"hole": (9, 12, 14, 9)}, "hole must be"),
    ("swiss_roll", {"hole": (9, 12, 9)}, "hole must be"),
    ("swiss_roll", {"hole": "middle"}, "hole must hold finite numbers"),
    ("swiss_roll", {"hole": 3}, "hole must be"),
    ("ellipsoid", {"axes": 3}, "axes must be 3 lengths"),
    ("conic", {"coefficients": "circle"}, "coefficients must hold"),
    ("cluster_3d", {"centers": [[0, 0, 0], [1, 2]]}, "centers must hold"),
    ("union_of_subspaces", {"dims": 2}, "dims must be a row of whole numbers"),
    ("rotating_object", {"image_shape": 12}, "image_shape must be a row"),
    ("word_images", {"grid": (2, 5, 1)}, "grid must be 2"),
    ("hyperspectral_cube", {"shape": "square"}, "shape must be a row"),
    ("swiss_roll", {"hole": (0, 12, 9, 14)}, "one sheet is left"),
    ("s_curve", {"height": -1}, "height"),
    ("punched_sphere", {"height": 1.0}, "height must be below the diameter"),
    ("punched_sphere", {"density": "polar"}, "density"),
    ("sphere", {"radius": 0}, "radius"),
    ("ellipsoid", {"axes": (1, 2)}, "axes must be 3 lengths"),
    ("ellipsoid", {"axes": (1, 2, 0)}, "axes"),
    ("torus", {"minor": 2}, "minor must be below major"),
    ("clifford_torus", {"radii": (1, 1, 1)}, "radii must be 2 lengths"),
    ("moebius_strip", {"width": 4}, "width must be below"),
    ("square", {"ambient_dim": 1}, "ambient_dim"),
    ("corner_planes", {"angle": 200}, "angle"),
    ("twin_peaks", {"density": "uneven"}, "density"),
    ("circle", {"ambient_dim": 1}, "ambient_dim"),
    ("concentric_circles", {"radii": (1, 1)}, "radii must be different"),
    ("concentric_circles", {"radii": ()}, "radii"),
    ("conic", {"coefficients": (1, 0, 1, 1)}, "no real curve"),
    ("conic", {"coefficients": (1, 0, 1, 0)}, "c4 not 0"),
    ("conic", {"extent": 0.5}, "smallest radius 1"),
    ("toroidal_helix", {"windings": 0}, "windings"),
    ("toroidal_helix", {"minor": 3}, "minor"),
    ("cluster_3d", {"centers": [[0, 0, 0], [1, 0, 0]]}, "apart"),
    ("cluster_3d", {"centers": [0, 0, 0]}, "rows of three"),
    ("cluster_3d", {"points_per_segment": 20}, "more than n = 10"),
    ("union_of_subspaces", {"dims": (4,)}, "at most ambient_dim = 3"),
    ("union_of_subspaces", {"dims": ()}, "dims"),
    ("kernel_pca_toy", {"spread": -1}, "spread"),
    ("word_images", {"grid": (3, 4)}, "holds 12 images, but n = 10"),
    ("word_images", {"image_shape": (5,)}, "image_shape"),
    ("rotating_object", {"turn": 400}, "turn"),
    ("rendered_object", {"yaw": 100}, "yaw"),
    ("occluded_disks", {"radius": 0.2, "occluder": 0.3}, "occluder"),
    ("hyperspectral_cube", {"shape": (3, 3)}, "height \\* width = n = 10"),
    ("hyperspectral_cube", {"materials": 0}, "materials"),
    ("hyperspectral_cube", {"mixing": -1}, "mixing"),
]


@pytest.mark.parametrize(("name", "options", "words"), WRONG)
def test_wrong_options_are_refused_in_words(name, options, words):
    with pytest.raises(InvalidInput, match=words):
        make(name, 10, **options)


SIMPLE = {"swiss_roll", "swiss_hole", "uneven_swiss_roll", "s_curve", "square", "uneven_square", "corner_planes"} | {
    "twin_peaks",
    "saddle",
    "gaussian",
    "punched_sphere",
    "occluded_disks",
    "rendered_object",
    "word_images",
    "hyperspectral_cube",
}


def test_which_shapes_have_one_chart():
    assert {name for name in SURFACES if make(name, 4, random_state=0).is_simple} == SIMPLE
    assert make("rotating_object", 4, turn=180).is_simple


def test_geodesic_takes_arrays_and_refuses_bad_rows():
    data = datasets.sphere(20, random_state=0)
    i = np.arange(20)
    matrix = data.geodesic(i[:, None], i[None, :])
    assert matrix.shape == (20, 20)
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 0)
    assert data.geodesic(3, 4).shape == ()
    assert data.geodesic([], []).shape == (0,)
    for bad in (20, -1, 0.5, "0"):
        with pytest.raises(InvalidInput, match="row numbers from 0 to 19"):
            data.geodesic(bad, 0)


def test_unknown_geodesics_and_images_say_so():
    with pytest.raises(InvalidInput, match="'torus' have no closed form"):
        datasets.torus(5, random_state=0).geodesic(0, 1)
    with pytest.raises(InvalidInput, match="'torus' are not images"):
        _ = datasets.torus(5, random_state=0).images


def test_a_dataset_does_not_freeze_the_callers_array():
    X = np.zeros((2, 2))
    Dataset(name="mine", X=X, parameters=X, color=X[:, 0], intrinsic_dim=1)
    X[0, 0] = 1.0


def test_the_graph_table_makes_graphs():
    assert isinstance(GRAPHS["path_graph"].make(4), GraphExample)
