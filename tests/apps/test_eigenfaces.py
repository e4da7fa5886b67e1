"""Eigenfaces on made-up faces: every person a smooth picture, every shot a smooth change of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold._core.errors import AccuracyWarning, FileProblem, InvalidInput
from lowfold.apps import Eigenfaces

SIDE = 24


def smooth(rng: np.random.Generator, n: int, waves: int = 4) -> np.ndarray:
    """n random pictures of low frequency."""
    x = np.arange(SIDE) / SIDE
    basis = np.stack([np.cos(np.pi * k * x) for k in range(waves)])
    pictures = np.einsum("nij,iy,jx->nyx", rng.normal(size=(n, waves, waves)), basis, basis)
    return pictures / np.linalg.norm(pictures, axis=(1, 2), keepdims=True) * SIDE


def album(seed: int, persons: int = 12, shots: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Faces that share a likeness, differ by person, and vary a little from shot to shot."""
    rng = np.random.default_rng(seed)
    likeness, own = 3 * smooth(rng, 1), smooth(rng, persons)
    change = 0.4 * smooth(rng, persons * shots)
    images = likeness + np.repeat(own, shots, axis=0) + change + 0.02 * rng.normal(size=(persons * shots, SIDE, SIDE))
    return images, np.repeat([f"p{i}" for i in range(persons)], shots)


@pytest.fixture(scope="module")
def faces() -> tuple[Eigenfaces, np.ndarray, np.ndarray]:
    images, who = album(0)
    shot = np.arange(len(who)) % 8
    return Eigenfaces.fit(images[shot < 6], who[shot < 6], n_components=30), images, who


def test_the_basis_is_orthonormal_and_the_training_weights_sum_to_zero(faces: tuple) -> None:
    model = faces[0]
    assert np.allclose(model.basis @ model.basis.T, np.eye(30), atol=1e-10)
    assert np.allclose(model.weights.sum(axis=0), 0, atol=1e-8)
    assert np.all(np.diff(model.variance_curve()) >= 0)
    assert 0.9 < model.variance_curve()[-1] <= 1 + 1e-12


def test_reconstruction_gets_better_with_every_dimension_and_is_exact_at_the_rank() -> None:
    images, who = album(1, persons=5, shots=4)
    model = Eigenfaces.fit(images, who, n_components=19)
    made = model.reconstruct(images, [1, 2, 3, 10, 19])
    errors = np.linalg.norm((made - images).reshape(5, -1), axis=1)
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-8 * np.linalg.norm(images)
    assert np.all(model.face_distance(images) < 1e-7)
    first = (made[0] - model.mean.reshape(SIDE, SIDE)).reshape(20, -1)
    assert np.linalg.matrix_rank(np.vstack([first, model.basis[0]]), tol=1e-6) == 1


def test_known_faces_get_their_name_strangers_and_noise_do_not(faces: tuple) -> None:
    model, images, who = faces
    shot = np.arange(len(who)) % 8
    seen = model.recognise(images[shot >= 6])
    assert np.mean(seen.nearest == who[shot >= 6]) > 0.9
    assert np.mean(seen.names == who[shot >= 6]) > 0.75
    rng = np.random.default_rng(5)
    noise = rng.uniform(images.min(), images.max(), size=(20, SIDE, SIDE))
    assert set(model.recognise(noise).names) == {"not a face"}
    # other persons of the same likeness: the likeness of album(0) is drawn first from its seed
    likeness = 3 * smooth(np.random.default_rng(0), 1)
    strangers = likeness + smooth(rng, 40)
    told = model.recognise(strangers)
    assert np.mean(told.names == "unknown") > 0.7
    assert np.mean(told.names == "not a face") < 0.3


def test_the_printed_summed_distance_says_nothing_about_the_person(faces: tuple) -> None:
    model, images, _ = faces
    Z = model.project(images)
    direct = ((Z[:, None] - model.weights[None]) ** 2).sum(axis=(1, 2))
    assert np.allclose(model.summed_distance(images), direct)
    # the weights sum to zero, so that of 2 z'y_i nothing is left
    shift = direct - len(model.weights) * (Z**2).sum(axis=1)
    assert np.ptp(shift) < 1e-6 * abs(shift).max()
    turned = Z @ np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]  # everybody is somebody else now
    again = ((turned[:, None] - model.weights[None]) ** 2).sum(axis=(1, 2))
    assert np.allclose(again, direct)


@pytest.mark.parametrize("basis", ["pixels", "samples"])
@pytest.mark.parametrize("kind", ["gaussian", "sign", "sparse"])
def test_random_bases_recognise_about_as_well(basis: str, kind: str) -> None:
    images, who = album(7, persons=8)
    train = np.arange(len(who)) % 8 < 6
    scores = {}
    for name in ("pca", basis):
        model = Eigenfaces.fit(images[train], who[train], n_components=40, basis=name, kind=kind)
        assert np.allclose(model.basis @ model.basis.T, np.eye(len(model.basis)), atol=1e-10)
        scores[name] = np.mean(model.recognise(images[~train]).nearest == who[~train])
    assert scores[basis] > scores["pca"] - 0.15


def test_leaving_out_the_light_helps_where_the_light_changes() -> None:
    images, who = album(3)
    rng = np.random.default_rng(9)
    ramp = np.linspace(-1, 1, SIDE)[None, :] * np.ones((SIDE, 1))
    lit = images + 6 * rng.normal(size=(len(images), 1, 1)) * ramp
    train = np.arange(len(who)) % 8 < 6
    right = [
        np.mean(Eigenfaces.fit(lit[train], who[train], skip=skip).recognise(lit[~train]).nearest == who[~train])
        for skip in (0, 1)
    ]
    assert right[1] > right[0] + 0.2


def test_contrast_makes_brightness_and_gain_not_matter(faces: tuple) -> None:
    _, images, who = faces
    model = Eigenfaces.fit(images, who, light="contrast", n_components=20)
    assert np.allclose(model.project(images[:5]), model.project(40 + 3 * images[:5]))
    ranks = Eigenfaces.fit(images, who, light="histogram", n_components=20)
    assert np.allclose(ranks.project(images[:5]), ranks.project(np.exp(images[:5] / 10)))


@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis", "cosine"])
@pytest.mark.parametrize("rule", ["neighbor", "class"])
def test_every_metric_and_rule_beats_chance_by_far(metric: str, rule: str) -> None:
    images, who = album(11)
    train = np.arange(len(who)) % 8 < 6
    model = Eigenfaces.fit(images[train], who[train], n_components=0.9, metric=metric, rule=rule)
    assert model.variance_curve()[-1] >= 0.9
    assert np.mean(model.recognise(images[~train]).nearest == who[~train]) > 0.7


def test_a_saved_model_answers_the_same(faces: tuple, tmp_path: Path) -> None:
    model, images, _ = faces
    model.save(tmp_path / "m.npz")
    back = Eigenfaces.load(tmp_path / "m.npz")
    a, b = model.recognise(images), back.recognise(images)
    assert np.array_equal(a.names, b.names)
    assert np.array_equal(a.face_distance, b.face_distance)
    with pytest.raises(FileProblem, match="exists"):
        model.save(tmp_path / "m.npz")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(FileProblem, match="not a model of faces"):
        Eigenfaces.load(tmp_path / "other.npz")


def test_what_cannot_be_learned_is_said() -> None:
    images, _ = album(2, persons=6, shots=1)
    with pytest.warns(AccuracyWarning, match="no person has two images"):
        model = Eigenfaces.fit(images, [f"p{i}" for i in range(6)], n_components=3)
    assert np.isinf(model.person_limit)
    with pytest.warns(AccuracyWarning, match="only one person"):
        Eigenfaces.fit(images, ["a"] * 6, n_components=3)


def test_pictures_under_several_names_are_told() -> None:
    images, who = album(5, persons=4, shots=4)
    images[who == who[0]] = images[0]
    images[-1] = images[0]
    with pytest.warns(AccuracyWarning, match=r"same picture stands under several names \(1 such"):
        Eigenfaces.fit(images, who, n_components=5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components"),
        ({"skip": 50}, "skip"),
        ({"basis": "fourier"}, "basis"),
        ({"basis": "pixels", "n_components": 0.5}, "needs basis='pca'"),
    ],
)
def test_bad_options_end_in_words(options: dict, words: str) -> None:
    images, who = album(2, persons=3, shots=3)
    with pytest.raises(InvalidInput, match=words):
        Eigenfaces.fit(images, who, **options)


def test_bad_images_end_in_words() -> None:
    images, who = album(2, persons=3, shots=3)
    with pytest.raises(InvalidInput, match="one name per image"):
        Eigenfaces.fit(images, who[:4])
    with pytest.raises(InvalidInput, match="height, width"):
        Eigenfaces.fit(images.reshape(9, -1), who)
    with pytest.raises(InvalidInput, match="NaN"):
        Eigenfaces.fit(np.where(images > 0, np.nan, images), who)
    with pytest.raises(InvalidInput, match="cannot be called 'unknown'"):
        Eigenfaces.fit(images, ["unknown", *who[1:]])


SLOW = ("quotient", "wavelet", "variation")


@pytest.mark.parametrize("light", SLOW)
@pytest.mark.parametrize("seed", [3, 4])
def test_slowly_changing_light_is_left_out(light: str, seed: int) -> None:
    """Wang (2012), Section 5.3.2: a picture is reflectance times light; persons differ in detail, light does not."""
    rng = np.random.default_rng(seed)
    detail = np.exp(0.5 * np.repeat(np.repeat(rng.normal(size=(8, 16, 16)), 2, axis=1), 2, axis=2))
    y, x = np.mgrid[:32, :32] / 32
    lit = np.exp(rng.normal(0, 1.5, (48, 1, 1)) * x + rng.normal(0, 1.5, (48, 1, 1)) * y)
    images, who = detail[np.arange(48) % 8] * lit, np.arange(48) % 8
    train = np.arange(48) < 24
    right = {}
    for way in ("contrast", light):
        model = Eigenfaces.fit(images[train], who[train], n_components=15, light=way)
        right[way] = (model.recognise(images[~train]).nearest == who[~train].astype(str)).mean()
    assert right[light] == 1
    assert right["contrast"] < 0.9


def test_large_discs_are_light_and_small_ones_detail() -> None:
    """Closed form of total variation with weight w: a disc goes into the details where its radius is below 2 / w."""
    from lowfold.apps._light import _small_scales

    y, x = np.mgrid[:64, :64] - 31.5
    kept = []
    for radius in (4, 16):  # the reach of an image of 64 pixels is 8
        disc = np.where(x**2 + y**2 < radius**2, 200.0, 100.0)
        kept.append(abs(_small_scales(disc[None])[0, 32, 32]) / np.log(2))  # the rim is not round on pixels
    assert kept[0] > 0.98
    assert kept[1] < 0.01
