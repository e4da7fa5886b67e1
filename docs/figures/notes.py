"""The shorter texts: Gering (2002), Ju, Vidal, Ma and Sastry (2016), Levada (2020)."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import lowfold
from figures.parts import (
    ALONG,
    CURVE,
    KEPT,
    ROLL,
    TEN,
    Data,
    Drawn,
    Made,
    Row,
    cell,
    column,
    dots,
    explained,
    grid,
    hue,
    kept,
    quietly,
    sheet,
    truth,
)  # fmt: skip
from lowfold._core.errors import LowfoldWarning

# Gering -----------------------------------------------------------------------------------------------------------


def _heads() -> Any:
    return lowfold.datasets.rendered_object(85, random_state=0, image_shape=(40, 40))


def variance() -> Drawn:
    """Share of the variance by number of components."""
    model = lowfold.PCA(84).fit(_heads().X)
    share = np.cumsum(model.eigenvalues_) / model.total_variance_
    figure, (ax,) = sheet(1, side=4)
    ax.plot(np.arange(1, 85), share)
    ax.set(xlabel="components", ylabel="share of the variance", ylim=(0, 1.02))
    return Drawn(figure, [{"components": str(d), "share": float(share[d - 1])} for d in (1, 3, 20, 40, 84)])


def fewer() -> Drawn:
    """One image from fewer and fewer components."""
    data = _heads()
    shown, rows = [data.images[0]], []
    for d in (84, 40, 20, 3, 2, 1):
        model = lowfold.PCA(d).fit(data.X)
        back = model.inverse_transform(model.transform(data.X[:1]))[0]
        shown.append(back.reshape(40, 40))
        off = float(np.linalg.norm(back - data.X[0]) / np.linalg.norm(data.X[0]))
        rows.append({"components": str(d), "relative error": off})
    figure, axes = sheet(7, across=7, side=1.3)
    for ax, image in zip(axes, shown):
        ax.imshow(image, cmap="gray")
        ax.set_axis_off()
    return Drawn(figure, rows)


def surface_and_map() -> Drawn:
    """A surface, and its plane by LLE, for both surfaces that the text names."""
    figure, axes = sheet(4, across=4, side=2.6, solid=(0, 2))
    rows = []
    for place, (title, one) in enumerate((("Swiss roll", ROLL), ("S-curve", CURVE))):
        data = one.make()
        Y = lowfold.LLE(2, n_neighbors=12).fit_transform(data.X)
        dots(axes[2 * place], data.X, hue(data), title)
        axes[2 * place].view_init(12, -75)
        dots(axes[2 * place + 1], Y, hue(data), "LLE")
        rows.append({"": title, ALONG: float(explained(data.coordinates, Y)[0])})
    return Drawn(figure, rows)


def _graph(X: Any) -> Any:
    model = lowfold.Isomap(2, n_neighbors=8, on_shortcut="remove")
    quietly(model, X)
    return model.graph_


def two_distances() -> Drawn:
    """The straight way and the way along the roll, and how the graph's grows towards it."""
    rows = []
    for n in (300, 1000):
        data = lowfold.datasets.swiss_roll(n, density="area", random_state=0)
        graph = _graph(data.X)
        D = lowfold.graph.geodesics(graph, sources=np.arange(10))
        T = data.coordinates
        real = np.linalg.norm(T[:10, None] - T[None], axis=2)
        straight = np.linalg.norm(data.X[:10, None] - data.X[None], axis=2)
        far = real > 10
        rows.append(
            {
                "points": str(n),
                "graph / along": float((D[far] / real[far]).mean()),
                "straight / along": float((straight[far] / real[far]).mean()),
            }
        )
    figure, (ax,) = sheet(1, side=4.5)
    dots(ax, data.X[:, [0, 2]], hue(data), "seen along its axis", equal=True)
    t = np.argsort(data.coordinates[:, 0])
    i, j = t[len(t) // 3], t[2 * len(t) // 3]
    ax.plot(*data.X[[i, j]][:, [0, 2]].T, "r--", label="straight")
    between = t[len(t) // 3 : 2 * len(t) // 3]
    ax.plot(*data.X[between][:, [0, 2]].T, "k-", lw=1.5, label="along")
    ax.legend()
    return Drawn(figure, rows)


# Ju ---------------------------------------------------------------------------------------------------------------

SEVEN = ("PCA", "Isomap", "LLE", "LaplacianEigenmaps", "HessianLLE", "LTSA", "DiffusionMaps")


def _seven(data: Any) -> Drawn:
    figure, axes = sheet(8, across=4, side=2.5, solid=(0,))
    dots(axes[0], data.X, hue(data), "data")
    rows, said = [], []
    for ax, name in zip(axes[1:], SEVEN):
        options = {} if name == "PCA" else {"n_neighbors": 12, "on_shortcut": "remove"}
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            Y = getattr(lowfold, name)(2, **options).fit_transform(data.X)
        dots(ax, Y, hue(data), name)
        rows.append({"": name, KEPT: kept(_ways(data), Y)})
        said += [f"{name}: {w.message}" for w in heard if issubclass(w.category, LowfoldWarning)]
    return Drawn(figure, rows, said)


def _ways(data: Any) -> Any:
    """Where nearness is measured: the true coordinates; of a curve, whose windings stay apart, space itself."""
    return data.X if data.intrinsic_dim == 1 else truth(data)


def seven_on(name: str, n: int = 800) -> Any:
    """A function that draws seven methods on one surface."""
    return lambda: _seven(Data(name, n=n).make())


def coordinates() -> Drawn:
    """What is decomposed and what the coordinates are: each row of the table checked on one sample."""
    X = Data("s_curve", n=300).make().X
    Xc = X - X.mean(axis=0)
    rows = []

    def row(name: str, matrix: str, off: float) -> None:
        rows.append({"": name, "eigenvectors of": matrix, "difference from the definition": f"{off:.1e}"})

    model = lowfold.PCA(2).fit(X)
    values, V = np.linalg.eigh(Xc.T @ Xc)
    row("PCA", "covariance", _apart(Xc @ V[:, ::-1][:, :2], model.embedding_))
    model = lowfold.Isomap(2, n_neighbors=10, on_shortcut="ignore").fit(X)
    values, V = np.linalg.eigh(model.kernel().dense())
    row("Isomap", "centred geodesics", _apart(V[:, ::-1][:, :2] * np.sqrt(values[::-1][:2]), model.embedding_))
    for name in ("LLE", "HessianLLE", "LTSA"):
        model = getattr(lowfold, name)(2, n_neighbors=10, normalization="orthonormal", on_shortcut="ignore")
        with warnings.catch_warnings():  # the matrix is asked for, not what its picture is worth
            warnings.simplefilter("ignore", lowfold.errors.DependenceWarning)
            model.fit(X)
        M = np.asarray(model.kernel().dense())
        V = np.linalg.eigh(M)[1][:, 1:3]
        row(name, "alignment matrix, smallest", _apart(V, model.embedding_))
    figure, (ax,) = sheet(1, side=4)
    ax.bar([r[""] for r in rows], [max(float(r["difference from the definition"]), 1e-16) for r in rows])
    ax.set(yscale="log", ylabel="difference from the definition")
    ax.tick_params(axis="x", labelsize=7)
    return Drawn(figure, rows)


def _apart(A: Any, B: Any) -> float:
    """Largest difference of two sets of columns that are equal up to sign."""
    signs = np.sign((A * B).sum(axis=0))
    return float(np.abs(A * signs - B).max() / np.abs(B).max())


# Vidal, Ma and Sastry -----------------------------------------------------------------------------------------------


def saddle() -> Drawn:
    """The surface z = x^2 - y^2, and its plane."""
    data = lowfold.datasets.saddle(800, random_state=0)
    Y = lowfold.LTSA(2, n_neighbors=10).fit_transform(data.X)
    figure, axes = sheet(2, across=2, solid=(0,))
    dots(axes[0], data.X, data.X[:, 0], "data")
    dots(axes[1], Y, data.X[:, 0], "LTSA")
    return Drawn(
        figure,
        [{"": "R² of (x, y)", "first": explained(data.X[:, :2], Y)[0], "second": explained(data.X[:, :2], Y)[1]}],
    )


def circle() -> Drawn:
    """A circle, and the plane that its image under the squares lies on."""
    data = lowfold.datasets.circle(100, random_state=0)
    x, y = data.X[:, :2].T
    Z = np.column_stack([x * x, np.sqrt(2) * x * y, y * y])
    figure, axes = sheet(2, across=2, solid=(1,))
    dots(axes[0], data.X[:, :2], "tab:blue", "circle", size=10, equal=True)
    dots(axes[1], Z, "tab:blue", "its squares", size=10)
    spread = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)
    return Drawn(
        figure,
        [
            {
                "": "singular values of the image, relative",
                "first": 1.0,
                "second": spread[1] / spread[0],
                "third": f"{spread[2] / spread[0]:.1e}",
            }
        ],
    )


def rolls() -> Any:
    """Three methods on two surfaces."""
    k = {"n_neighbors": 12}
    both = (("Swiss roll", ROLL), ("S-curve", CURVE))
    made = (("ClassicalMDS", {}), ("LaplacianEigenmaps", k), ("LLE", k))
    return grid([cell(f"{name}, {title}", data, name, **options) for title, data in both for name, options in made])


def combination() -> Drawn:
    """A point as an affine combination of its neighbours, in space and in the plane."""
    data = CURVE.make()
    Y = lowfold.LLE(2, **TEN).fit_transform(data.X)
    near = cKDTree(data.X).query(data.X, 11)[1][:, 1:]
    w = lowfold.kernels.barycentric_weights(data.X, data.X[near])
    off, below = (
        float(np.linalg.norm(np.einsum("nk,nkd->nd", w, P[near]) - P) / np.linalg.norm(P)) for P in (data.X, Y)
    )
    figure, axes = sheet(2, across=2)
    i = 11
    for ax, P, title in ((axes[0], data.X[:, [0, 2]], "in space"), (axes[1], Y, "in the plane")):
        dots(ax, P, "0.8", title)
        for j in near[i]:
            ax.plot(*P[[i, j]].T, color="tab:orange", lw=1)
        ax.scatter(*P[i], color="tab:red", s=25, zorder=3)
    sums = np.abs(w.sum(axis=1) - 1).max()
    return Drawn(
        figure, [{"": "weights", "sum to 1 up to": f"{sums:.1e}", "error in space": off, "in the plane": below}]
    )


# Levada -----------------------------------------------------------------------------------------------------------


def karhunen() -> Drawn:
    """Principal axes of a Gaussian in the plane."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[3, 1.5], [1.5, 1.2]], 800)
    model = lowfold.PCA(2).fit(X)
    Y = model.embedding_
    figure, axes = sheet(2, across=2)
    dots(axes[0], X, "tab:blue", "data with their axes", equal=True)
    for value, axis in zip(model.eigenvalues_, model.components_):
        axes[0].plot(*np.outer([-2, 2], np.sqrt(value) * axis).T, "r-")
    dots(axes[1], Y, "tab:blue", "after the transform", equal=True)
    r = [abs(np.corrcoef(Z.T)[0, 1]) for Z in (X, Y)]
    return Drawn(figure, [{"": "correlation of the two coordinates", "before": r[0], "after": f"{r[1]:.1e}"}])


def roll_to_plane() -> Drawn:
    """The roll and its plane."""
    data = ROLL.make()
    figure, axes = sheet(3, solid=(0,))
    dots(axes[0], data.X, hue(data), "data")
    axes[0].view_init(12, -75)
    rows = []
    for ax, name in zip(axes[1:], ("PCA", "Isomap")):
        Y = getattr(lowfold, name)(2).fit_transform(data.X)
        dots(ax, Y, hue(data), name, equal=True)
        rows.append({"": name, "R² of the worse coordinate": float(explained(data.coordinates, Y).min())})
    return Drawn(figure, rows)


def ball() -> Drawn:
    """Mass of a Gaussian within one deviation."""
    from lowfold.geometry._high_dimension import gaussian_ball_mass

    D = np.arange(1, 21)
    figure, (ax,) = sheet(1, side=4)
    ax.semilogy(D, gaussian_ball_mass(D, 1.0), "o-")
    ax.set(xlabel="dimension", ylabel="mass within radius 1")
    from scipy.stats import chi2

    rows = [{"": f"dimension {d}, radius 1", "mass": f"{float(gaussian_ball_mass(d, 1.0)):.5f}"} for d in (1, 10)]
    rows.append({"": "dimension 10, radius that holds 70 %", "mass": f"{chi2.ppf(0.7, 10) ** 0.5:.2f}"})
    return Drawn(figure, rows)


def _falling(rows: Sequence[Row]) -> bool:
    errors = column(rows, "relative error")
    return all(a < b for a, b in itertools.pairwise(errors)) and errors[0] < 1e-6


def _exact(rows: Sequence[Row]) -> bool:
    return all(float(row["difference from the definition"]) < 1e-4 for row in rows)


MADE: dict[str, Made] = {
    "gering_1": Made(variance, lambda rows: rows[-1]["share"] > 0.999),
    "gering_2": Made(fewer, _falling),
    "gering_3": Made(surface_and_map, lambda rows: min(column(rows, ALONG)) > 0.9),
    "gering_4": Made(
        two_distances,
        lambda rows: all(1.02 < row["graph / along"] < 1.1 and row["straight / along"] < 0.8 for row in rows),
    ),
    "ju_roll": Made(seven_on("swiss_roll")),
    "ju_helix": Made(seven_on("toroidal_helix")),
    "ju_planes": Made(seven_on("corner_planes")),
    "ju_sphere": Made(seven_on("punched_sphere")),
    "ju_table_2_2": Made(coordinates, _exact),
    "vidal_4_1": Made(saddle),
    "vidal_4_2": Made(circle, lambda rows: float(rows[0]["third"]) < 1e-12),
    "vidal_4_3": Made(rolls()),
    "vidal_4_4": Made(combination, lambda rows: rows[0]["error in space"] < 0.05),
    "levada_1": Made(karhunen, lambda rows: float(rows[0]["after"]) < 1e-12 < 0.5 < rows[0]["before"]),
    "levada_2": Made(
        roll_to_plane,
        lambda rows: rows[0]["R² of the worse coordinate"] < 0.6 < 0.97 < rows[1]["R² of the worse coordinate"],
    ),
    "levada_ball": Made(ball, lambda rows: float(rows[1]["mass"]) < 0.0003 and float(rows[2]["mass"]) > 3),
}
