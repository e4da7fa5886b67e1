"""The commands of the applications, from files to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold.apps._cube import Cube
from lowfold.cli import main

pytestmark = pytest.mark.extra("PIL", "matplotlib")


def write(path: Path, pixels: np.ndarray) -> None:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    scaled = 255 * (pixels - pixels.min()) / (np.ptp(pixels) or 1)
    Image.fromarray(scaled.astype(np.uint8)).save(path)


def test_faces_are_learned_from_a_folder_and_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[-1:1:20j, -1:1:20j]
    for i, (a, b) in enumerate([(-0.4, 0.1), (0.3, -0.3), (0.0, 0.5)]):
        for shot in range(5):
            blob = np.exp(-5 * ((x - a) ** 2 + (y - b) ** 2)) + 0.3 * (x**2 + y**2 < 0.8)
            write(tmp_path / "people" / f"p{i}" / f"{shot}.png", blob + 0.02 * rng.normal(size=x.shape))
    new = tmp_path / "new"
    write(new / "a.png", np.exp(-5 * ((x - 0.3) ** 2 + (y + 0.3) ** 2)) + 0.3 * (x**2 + y**2 < 0.8))
    write(new / "noise.png", rng.random((20, 20)))
    model = str(tmp_path / "m.npz")
    assert main(["faces", "train", str(tmp_path / "people"), "-o", model, "--picture", str(tmp_path / "e.png")]) == 0
    assert "15 images of 3 persons" in capsys.readouterr().err
    assert main(["faces", "recognise", model, str(new), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told[0]["nearest"] == "p1"
    assert told[1]["seen"] == "not a face"
    assert (tmp_path / "e.png").stat().st_size > 0
    assert main(["faces", "train", str(new), "-o", str(tmp_path / "n.npz")]) == 1
    assert "subfolders" in capsys.readouterr().err


def test_a_cube_goes_in_and_features_come_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = lowfold.datasets.hyperspectral_cube(600, noise=0.01, random_state=3, bands=30)
    names = [f"{w:.2f}" for w in scene.wavelengths]
    Cube(scene.cube, names).write(tmp_path / "scene.hdr")
    out = [str(tmp_path / name) for name in ("f.hdr", "p.png", "c.png", "a.png", "r.hdr", "n.png")]
    args = ["cube", str(tmp_path / "scene.hdr"), "-m", "mnf", "-d", "3", "--out", out[0], "--picture", out[1]]
    args += ["--clusters", "3", "--cluster-map", out[2], "--anomaly", out[3], "--restore", out[4], "--rgb", out[5]]
    assert main([*args, "--bad-bands", "1-2"]) == 0
    assert all(Path(path).stat().st_size > 0 for path in out)
    assert Cube.read(out[0]).shape == (*scene.raster_shape, 3)
    back = Cube.read(out[4])
    assert back.wavelengths is not None
    assert np.abs(np.asarray(back.values)[:, :, 2:] - scene.cube[:, :, 2:]).mean() < 0.02
    assert "30 bands (28 used) -> 3 features by mnf" in capsys.readouterr().err
    assert main([*args]) == 1
    assert "exists" in capsys.readouterr().err
    assert main(["cube", str(tmp_path / "scene.hdr"), "--clusters", "3"]) == 2


def test_images_are_put_in_order_and_in_a_plane(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = lowfold.datasets.rotating_object(40, random_state=2)
    for i, picture in enumerate(head.images):
        write(tmp_path / "frames" / f"{i:03d}.png", picture)
    frames, strip = str(tmp_path / "frames"), tmp_path / "strip.png"
    assert main(["order", frames, "--closed", "yes", "--picture", str(strip), "--out", str(tmp_path / "o.csv")]) == 0
    assert "a ring" in capsys.readouterr().err
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").startswith("place,row,")
    assert all(line.split(",")[1].isdigit() for line in (tmp_path / "o.csv").read_text(encoding="utf-8").split()[1:])
    rows = np.loadtxt(tmp_path / "o.csv", delimiter=",", skiprows=1, usecols=(1, 0))
    assert sorted(rows[:, 0].astype(int).tolist()) == list(range(40))
    assert np.all(np.diff(rows[:, 1]) >= 0)
    assert main(["reveal", frames, "--picture", str(tmp_path / "plane.png"), "-q"]) == 0
    assert strip.stat().st_size > 0
    assert main(["order", frames, "--closed", "perhaps"]) == 2


def test_documents_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fruit = ["apple pear plum", "pear plum cherry apple", "cherry plum"]
    texts = {"fruit": fruit, "metal": ["iron zinc", "zinc tin iron"]}
    for topic, lines in texts.items():
        for i, line in enumerate(lines):
            path = tmp_path / "texts" / topic / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line, encoding="utf-8")
    folder = str(tmp_path / "texts")
    assert main(["documents", folder, "-m", "pca", "--project", "6", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "coordinate1,coordinate2,document,folder"
    assert len(lines) == 6
    assert main(["documents", folder, "-m", "pca", "--similar", f"{folder}/metal/0.txt", "-q"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("metal/1.txt")


def test_classify_prints_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 30)
    X = rng.normal(size=(60, 4)) + 3 * (y == "a")[:, None]
    lines = ["w,x,y,z,class", *(",".join([*map(str, row), label]) for row, label in zip(X, y))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    assert main(["classify", str(tmp_path / "t.csv"), "--label", "class", "--n-components", "1,2"]) == 0
    assert "PCA(2)" in capsys.readouterr().out
    assert main(["classify", str(tmp_path / "t.csv"), "--label", "class", "--n-components", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["name"] == "PCA(1)"
    assert main(["classify", str(tmp_path / "t.csv"), "--label", "class", "--n-components", "two"]) == 2
