"""Chapter 15: eigenvectors of Isomap's kernel from a few columns (GAT, IRAT, PRAT), Tables 15.1 to 15.6."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import lowfold
from figures.parts import Data, Drawn, Made, Row, column, dots, hue, sheet
from lowfold.lowrank import deviation, fat

N = 2000
MODES = {"GAT": ("greedy", "gaussian"), "IRAT": ("interpolative", "gaussian"), "PRAT": ("projective", "gaussian")}
TYPES = {f"PRAT {i}": ("projective", kind) for i, kind in enumerate(("gaussian", "sign", "sparse"), 1)}
# Printed: first eigenvalue; second and third over it, and the deviation, of Isomap and of the three approximations.
PRINTED: dict[str, tuple[str, float, tuple[tuple[float, ...], ...]]] = {
    "15_1": ("swiss_roll", 936340, ((0.0529, 0.0093), (0.0514, 0.0072, 0.0283), (0.0529, 0.0091, 0.0017), (0.0529, 0.0089, 0.0014))),  # noqa: E501
    "15_2": ("s_curve", 9985, ((0.3097, 0.0280), (0.3094, 0.0273, 0.0014), (0.3096, 0.0274, 0.0001), (0.3096, 0.0276, 0.0002))),  # noqa: E501
    "15_3": ("cluster_3d", 12900, ((0.0974, 0.0053), (0.0792, 0.0046, 0.0088), (0.0974, 0.0053, 0.0000), (0.0974, 0.0053, 0.0001))),  # noqa: E501
    "15_4": ("punched_sphere", 716.63, ((0.9459, 0.3852), (0.9105, 0.3497, 0.0543), (0.9455, 0.3849, 0.0020), (0.9457, 0.3845, 0.0010))),  # noqa: E501
    "15_5": ("s_curve", 9985, ((0.3097, 0.0280), (0.3096, 0.0277, 0.0004), (0.3096, 0.0277, 0.0001), (0.3096, 0.0274, 0.0002))),  # noqa: E501
    "15_6": ("punched_sphere", 725.76, ((0.9819, 0.3870), (0.9817, 0.3867, 0.0005), (0.9814, 0.3859, 0.0016), (0.9817, 0.3865, 0.0005))),  # noqa: E501
}  # fmt: skip
FIRST, SECOND, THIRD = "first eigenvalue", "second / first", "third / first"


@cache
def _surface(name: str) -> Any:
    """A quarter of the 2,000 points of the sphere was cut off with its top; its radius is 1."""
    if name == "punched_sphere":
        return lowfold.datasets.punched_sphere(3 * N // 4, height=1.5, diameter=2.0, random_state=0)
    return Data(name, n=N).make()


@cache
def _exact(name: str, edges: str) -> tuple[Any, Any, Any]:
    """Kernel, leading eigenvalues and unit eigenvectors of Isomap."""
    with warnings.catch_warnings():  # of the third coordinate only the eigenvalue is printed
        warnings.simplefilter("ignore", lowfold.errors.DependenceWarning)
        model = lowfold.Isomap(3, n_neighbors=10, symmetrize=edges, on_shortcut="ignore").fit(_surface(name).X)
    Y = model.embedding_[:, :2]
    return model.kernel(), model.eigenvalues_, Y / np.linalg.norm(Y, axis=0)


def _shares(values: Any) -> Row:
    return {SECOND: values[1] / values[0], THIRD: values[2] / values[0]}


def table(number: str) -> Any:
    """A function that makes one table, with its picture."""
    name, first, printed = PRINTED[number]
    methods = TYPES if number in ("15_5", "15_6") else MODES

    def draw() -> Drawn:
        data = _surface(name)
        K, values, Y0 = _exact(name, "average")
        figure, axes = sheet(4, across=4, side=2.6)
        dots(axes[0], Y0, hue(data), "Isomap")
        rows: list[Row] = [{"": "Isomap, printed", FIRST: first, SECOND: printed[0][0], THIRD: printed[0][1]}]
        rows.append({"": "Isomap, edges as in the printed code", FIRST: values[0], **_shares(values)})
        right = _exact(name, "union")[1]
        rows.append({"": "Isomap, right edges", FIRST: right[0], **_shares(right)})
        for ax, (label, (mode, kind)), line in zip(axes[1:], methods.items(), printed[1:]):
            found = fat(K, 3, mode=mode, kind=kind)
            dots(ax, found.Y[:, :2], hue(data), label)
            rows.append({"": f"{label}, printed", SECOND: line[0], THIRD: line[1], "deviation": line[2]})
            off = deviation(Y0, found.Y[:, :2])
            rows.append({"": f"{label}, ours", FIRST: found.values[0], **_shares(found.values), "deviation": off})
        return Drawn(figure, rows)

    return draw


def _near(rows: Sequence[Row]) -> bool:
    """The first eigenvalue is near the printed one with its edges, far with the right ones; approximations are near."""
    printed, halved, right = column(rows[:3], FIRST)
    deviations = [row["deviation"] for row in rows if row[""].endswith("ours")]
    return abs(halved / printed - 1) < 0.1 and right / printed > 1.1 and max(deviations) < 0.2


def _close(rows: Sequence[Row]) -> bool:
    return max(row["deviation"] for row in rows if row[""].endswith("ours")) < 0.2


def _sorted() -> Drawn:
    """A shuffled collection ordered by Isomap, and by the same kernel with random columns."""
    turn = lowfold.datasets.rotating_object(72, even=True, image_shape=(48, 40))
    order = np.random.default_rng(0).permutation(36)
    X, images = turn.X[:36][order], turn.images[:36][order]
    model = lowfold.Isomap(1, n_neighbors=5).fit(X)
    whole = np.argsort(model.embedding_[:, 0])
    figure, axes = sheet(36, across=12, side=0.8)
    for ax, i in zip(axes, whole):
        ax.imshow(images[i], cmap="gray")
        ax.set_axis_off()
    rows = []
    for label, kind in (("PRAT 1", "gaussian"), ("PRAT 2", "sign")):
        y = fat(model.kernel(), 1, mode="projective", kind=kind, m=21, always=True).Y[:, 0]
        found = np.argsort(y)
        same = bool((found == whole).all() or (found == whole[::-1]).all())
        rows.append({"": label, "the order of Isomap": "yes" if same else "no"})
    right = order[whole]
    rows.append(
        {"": "Isomap", "the order of Isomap": "the true order" if abs(np.diff(right)).max() == 1 else "another"}
    )
    return Drawn(figure, rows)


MADE: dict[str, Made] = {
    **{f"wang_table_{number}": Made(table(number), _close if number == "15_3" else _near) for number in PRINTED},
    "wang_15_7": Made(_sorted, lambda rows: all(row["the order of Isomap"] != "no" for row in rows)),
}
