"""`lowfold cube`: features, anomalies and clusters of a hyperspectral cube."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowfold.cli._errors import told_once, wrong_usage
from lowfold.cli._shared import Debug, Memory, Overwrite, Quiet, Settings

EXAMPLES = [
    "lowfold cube scene.hdr --method pca --out features.hdr --picture rgb.png",
    "lowfold cube scene.hdr --method mnf -d 10 --restore denoised.hdr --bad-bands 1-5,104-113",
    "lowfold cube scene.hdr --method diffusion -d 4 --clusters 5 --cluster-map map.png --anomaly odd.png",
]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("cube", epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES))(cube)


def cube(
    file: Annotated[str, typer.Argument(metavar="CUBE", help="An ENVI header (.hdr) or a .npy array of three axes.")],
    method: Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="pca, mnf, diffusion or any.")] = "pca",
    n_components: Annotated[int, typer.Option("--n-components", "-d", metavar="D", help="Features per cell.")] = 6,
    center: Annotated[str, typer.Option(metavar="NAME", help="Of pca: pixels or bands.")] = "pixels",
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Features as ENVI, .hdr.")] = None,
    picture: Annotated[str | None, typer.Option(metavar="FILE", help="False colour of three features.")] = None,
    rgb: Annotated[str | None, typer.Option(metavar="FILE", help="The scene itself in natural colour.")] = None,
    anomaly: Annotated[str | None, typer.Option(metavar="FILE", help="What is unlike the rest, as an image.")] = None,
    clusters: Annotated[int | None, typer.Option(metavar="K", help="Group the cells by their features.")] = None,
    cluster_map: Annotated[
        str | None, typer.Option("--cluster-map", metavar="FILE", help="The groups as an image.")
    ] = None,
    restore: Annotated[
        str | None, typer.Option(metavar="FILE", help="Spectra as the features tell them, as ENVI (pca, mnf).")
    ] = None,
    bad_bands: Annotated[
        str | None, typer.Option("--bad-bands", metavar="RANGES", help='Left out, from 1, as "1-10,104".')
    ] = None,
    sample: Annotated[int, typer.Option(metavar="N", help="Cells that a nonlinear method is fitted on.")] = 5000,
    settings: Settings = None,
    random_state: Annotated[int, typer.Option("--random-state", "--seed", metavar="SEED", help="Seed.")] = 0,
    memory: Memory = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Reduce the spectra of a cube to a few features per cell: cube in, cube out.

    The cube is read in blocks; with --out the features are written in blocks as well.
    """
    from lowfold._core.config import config_context
    from lowfold.apps._cube import Cube
    from lowfold.apps.hyperspectral import cube_features
    from lowfold.cli._data import refuse_existing, tell
    from lowfold.cli._values import parse_given

    if (cluster_map is None) != (clusters is None):
        wrong_usage("--clusters K and --cluster-map FILE belong together")
    with config_context(memory=memory), told_once(quiet):
        refuse_existing(out, picture, rgb, anomaly, cluster_map, restore, overwrite=overwrite, read=[file])
        scene = Cube.read(file, bad_bands=bad_bands)
        given = parse_given(settings, ("method", "n_components", "center", "sample", "random_state"))
        features = cube_features(
            scene,
            method,
            n_components,
            center=center,
            sample=sample,
            path=out,
            overwrite=overwrite,
            random_state=random_state,
            **given,
        )
        _pictures(scene, features, picture, rgb, anomaly, overwrite=overwrite)
        if clusters is not None and cluster_map is not None:
            _groups(features, clusters, cluster_map, random_state, overwrite=overwrite)
        if restore is not None:
            features.restore(restore, overwrite=overwrite)
        lines, samples, bands = scene.shape
        used = "" if scene.good_bands is None or scene.good_bands.all() else f" ({int(scene.good_bands.sum())} used)"
        empty = lines * samples - sum(int(held.sum()) for _, held, _ in features.cube.blocks())
        left = f" ({empty} without data left out)" if empty else ""
        shown = ", ".join(f"{value:.4g}" for value in features.values[:6])
        words = f"{lines} x {samples} cells{left}, {bands} bands{used} -> {n_components} features by {method}"
        tell([words + (f"; values {shown}" if shown else "")], quiet=quiet)
        wrote = (out, picture, rgb, anomaly, cluster_map, restore)
        tell([f"wrote {path}" for path in wrote if path is not None], quiet=quiet)


def _pictures(
    scene: Any, features: Any, picture: str | None, rgb: str | None, anomaly: str | None, *, overwrite: bool
) -> None:
    import numpy as np

    from lowfold.apps import anomaly_map, false_colour
    from lowfold.datasets._write_image import write_image

    if picture is not None:
        write_image(picture, false_colour(features), overwrite=overwrite)
    if rgb is not None:
        write_image(rgb, false_colour(scene), overwrite=overwrite)
    if anomaly is not None:
        far = np.sqrt(anomaly_map(scene))
        low, high = np.nanquantile(far, (0.02, 0.999))
        grey = np.clip(255 * (far - low) / ((high - low) or 1.0), 0, 255)
        write_image(anomaly, np.nan_to_num(grey, nan=0.0).round(), overwrite=overwrite)


def _groups(features: Any, clusters: int, path: str, seed: int, *, overwrite: bool) -> None:
    import numpy as np

    from lowfold.apps import cluster_map
    from lowfold.datasets._write_image import write_image
    from lowfold.viz._colors import FEW_CLASSES, MORE_CLASSES

    found = cluster_map(features, clusters, random_state=seed)
    palette = FEW_CLASSES if clusters <= len(FEW_CLASSES) else MORE_CLASSES
    colours = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in palette])
    write_image(path, np.where(found[:, :, None] >= 0, colours[found % len(palette)], 0), overwrite=overwrite)
