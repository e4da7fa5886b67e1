"""`lowfold faces`: learn faces from a folder, and say who is in other pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lowfold.cli._errors import told_once
from lowfold.cli._shared import Debug, Overwrite, Quiet

TRAIN = [
    "lowfold faces train people --out people.npz",
    "lowfold faces train people --size 64x64 --light contrast -o p.npz",
]
RECOGNISE = [
    "lowfold faces recognise people.npz photo1.png photo2.png",
    "lowfold faces recognise people.npz folder --json",
]


def register(app: typer.Typer, plain: dict[str, Any]) -> None:
    """Add the two commands to the app."""
    group = typer.Typer(help="Eigenfaces: learn faces, and recognise them.", no_args_is_help=True, **plain)
    group.command("train", epilog=_shown(TRAIN))(train)
    group.command("recognise", epilog=_shown(RECOGNISE))(recognise)
    app.add_typer(group, name="faces")


def _shown(lines: list[str]) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def train(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="One subfolder of images for each person.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The model, as .npz.")],
    n_components: Annotated[float, typer.Option("--n-components", metavar="D", help="Or a share, as 0.95.")] = 50,
    size: Annotated[str | None, typer.Option(metavar="HxW", help="Resize every image, as 64x64.")] = None,
    light: Annotated[
        str, typer.Option(metavar="NAME", help="as_is, contrast, histogram, quotient, wavelet or variation.")
    ] = "as_is",
    skip: Annotated[int, typer.Option(metavar="N", help="Leading components left out when comparing.")] = 0,
    basis: Annotated[str, typer.Option(metavar="NAME", help="pca, or random: pixels, samples.")] = "pca",
    metric: Annotated[str, typer.Option(metavar="NAME", help="euclidean, mahalanobis or cosine.")] = "euclidean",
    rule: Annotated[str, typer.Option(metavar="NAME", help="neighbor or class.")] = "neighbor",
    keep: Annotated[float, typer.Option(metavar="SHARE", help="Of new faces that pass as faces.")] = 0.99,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="FILE", help="Mean face and leading eigenfaces.")
    ] = None,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn the faces of a folder: the plane they lie near, who is where on it, and how far is too far."""
    from lowfold._core.errors import InvalidInput
    from lowfold.apps import Eigenfaces
    from lowfold.cli._data import refuse_existing, tell
    from lowfold.datasets._read_images import read_images

    with told_once(quiet):
        refuse_existing(out, picture, overwrite=overwrite)
        table = read_images(folder, size=_size(size))
        if "folder" not in table.labels:
            raise InvalidInput(f"{folder}: persons are subfolders, one each with images of that person; there are none")
        persons = table.labels["folder"]
        faces = Eigenfaces.fit(
            table.X,
            persons,
            n_components=int(n_components) if n_components >= 1 else n_components,
            basis=basis,
            light=light,
            skip=skip,
            metric=metric,
            rule=rule,
            keep=keep,
            image_shape=table.point_shape,
            random_state=random_state,
        )
        faces.save(out, overwrite=overwrite)
        if picture is not None:
            _draw(faces, picture)
        held = f", {faces.variance_curve()[-1]:.1%} of the variance" if basis == "pca" else ""
        words = f"{len(persons)} images of {len(set(persons.tolist()))} persons; {len(faces.basis)} components{held}"
        limits = f"a face within {faces.face_limit:.4g} of the plane, known within {faces.person_limit:.4g} of an image"
        tell([words, limits, f"wrote {out}"], quiet=quiet)


def recognise(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file written by `lowfold faces train`.")],
    images: Annotated[list[str], typer.Argument(metavar="IMAGE", help="Images, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say who is in each image: a name, "unknown" (a face, of nobody known) or "not a face"."""
    import json

    from lowfold.apps import Eigenfaces
    from lowfold.cli._tables import columns_of

    with told_once(quiet):
        faces = Eigenfaces.load(model)
        files, stack = _read(images, faces.image_shape)
        seen = faces.recognise(stack)
    rows = list(zip(files, seen.names, seen.nearest, seen.person_distance, seen.face_distance))
    if as_json:
        keys = ("image", "seen", "nearest", "person_distance", "face_distance")
        plain = [dict(zip(keys, (f, str(a), str(b), float(p), float(d)))) for f, a, b, p, d in rows]
        print(json.dumps(plain, indent=2))
        return
    cells = [(str(a), str(b), f"{p:.4g}", f"{d:.4g}", f) for f, a, b, p, d in rows]
    print(columns_of(cells, ("seen", "nearest", "person distance", "face distance", "image")))


def _size(text: str | None) -> tuple[int, int] | None:
    from lowfold.cli._errors import wrong_usage

    if text is None:
        return None
    height, x, width = text.lower().partition("x")
    if not (x and height.isdigit() and width.isdigit() and int(height) and int(width)):
        wrong_usage(f"--size takes height and width, as 64x64; got {text!r}")
    return int(height), int(width)


def _read(paths: list[str], shape: tuple[int, ...]) -> tuple[list[str], Any]:
    """Files and their pixels, resized to the model's images."""
    import numpy as np

    from lowfold._core.extras import load_extra
    from lowfold._core.file_words import existing_file, refuse
    from lowfold.datasets._read_images import _picture, image_files

    files: list[Path] = []
    for path in paths:
        found = image_files(Path(path)) if Path(path).is_dir() else [existing_file(path)]
        if not found:
            refuse(path, "no images in this folder")
        files += found
    image = load_extra("PIL.Image", "images", "reading images")
    size = (int(shape[0]), int(shape[1]))
    pictures = [_picture(image, file, len(shape) == 3, size).pixels for file in files]
    return [str(file) for file in files], np.stack(pictures)


def _draw(faces: Any, path: str) -> None:
    import numpy as np

    from lowfold.viz import filmstrip

    def stretched(images: Any) -> Any:
        low, high = images.min(axis=(1, 2), keepdims=True), images.max(axis=(1, 2), keepdims=True)
        return (images - low) / np.where(high > low, high - low, 1.0)

    shown = np.concatenate([faces.mean.reshape(1, *faces.image_shape), faces.faces[:23]])
    filmstrip(stretched(shown), per_row=8, path=path, title="mean face, then the leading eigenfaces")
