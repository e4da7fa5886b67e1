"""Images as cameras, microscopes and drawing programs leave them: turned, in stacks, with transparent pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowfold._core.errors import FileProblem
from lowfold.datasets import read

pytestmark = pytest.mark.extra("PIL")
rng = np.random.default_rng(9003)
PICTURES = rng.integers(0, 256, size=(5, 6, 8), dtype=np.uint8)


def test_every_picture_of_a_stack_is_a_row(tmp_path: Path) -> None:
    from PIL import Image

    first, *others = map(Image.fromarray, PICTURES)
    for name in ("stack.tif", "film.gif"):
        first.save(tmp_path / name, save_all=True, append_images=others)
        table = read(tmp_path / name)
        assert np.array_equal(table.X, PICTURES.reshape(5, -1))
        assert table.labels["frame"].tolist() == [1, 2, 3, 4, 5]
    (tmp_path / "film.gif").unlink()
    first.save(tmp_path / "z.png")
    table = read(tmp_path)
    assert table.labels["file"].tolist() == ["stack.tif"] * 5 + ["z.png"]
    assert np.array_equal(table.X[5], table.X[0])
    small, large = Image.fromarray(PICTURES[0][:4, :4]), Image.fromarray(PICTURES[1])
    small.save(tmp_path / "stack.tif", save_all=True, append_images=[large])
    with pytest.raises(FileProblem, match=r"stack.tif, frame 2: is \(6, 8\)"):
        read(tmp_path)
    with pytest.raises(FileProblem, match="name the folder that holds them all"):
        read(tmp_path / "z.png")


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_photographs_stand_as_the_camera_was_held(tmp_path: Path, ending: str) -> None:
    from PIL import Image

    wide = Image.fromarray(
        np.repeat(np.repeat(PICTURES[0] // 128 * 255, 8, 0), 8, 1)
    )  # flat blocks, as JPEG keeps them
    wide.save(tmp_path / f"0.{ending}")
    turned = wide.transpose(Image.Transpose.ROTATE_90)  # the tag 6 asks for a quarter back
    marked = turned.getexif()
    marked[0x0112] = 6
    turned.save(tmp_path / f"1.{ending}", exif=marked)
    table = read(tmp_path)
    assert table.point_shape == (48, 64)
    assert np.abs(table.X[0] - table.X[1]).max() <= 2


def test_transparent_pixels_are_white(tmp_path: Path) -> None:
    from PIL import Image

    shape = np.where(PICTURES > 128, 255, 0).astype(np.uint8)  # what is drawn, on colours that nobody sees
    for i, (hidden, alpha) in enumerate(zip(PICTURES[::-1], shape)):
        seen = np.where(alpha > 0, 0, hidden)
        Image.fromarray(np.dstack([seen, seen, seen, alpha])).save(tmp_path / f"{i}.png")
    table = read(tmp_path)
    assert np.array_equal(table.X, 255.0 - shape.reshape(5, -1))
    assert "5 images have transparent pixels, which are read as white" in table.notices
    assert np.array_equal(read(tmp_path, color=True).X.reshape(5, -1, 3)[..., 0], table.X)


def test_depths_that_differ_are_told(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(PICTURES[0]).save(tmp_path / "a.png")
    Image.fromarray(PICTURES[1].astype(np.uint16) * 257).save(tmp_path / "b.png")
    assert "1 of 2 images have more than 8 bits, as b.png" in " ".join(read(tmp_path).notices)
    (tmp_path / "a.png").unlink()
    assert read(tmp_path).notices == []


def test_a_grey_picture_in_webp_has_no_colours(tmp_path: Path) -> None:
    from PIL import Image

    smooth = Image.fromarray(PICTURES[0]).resize((64, 48))
    smooth.save(tmp_path / "a.webp", quality=80)
    assert read(tmp_path).notices == []
    Image.merge("RGB", [smooth, smooth, Image.new("L", smooth.size)]).save(tmp_path / "b.webp", quality=80)
    assert "color=True keeps the three channels" in " ".join(read(tmp_path).notices)
