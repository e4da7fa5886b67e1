"""Parameters that are spelled one way everywhere: their limits and their text, each written once."""

from __future__ import annotations

import re

from lowfold._core.limits import Choice, Flag, Function, Int, IntArray, Jobs, Limit, Null, Real, Seed, Table
from lowfold.graph._search import SEARCHES
from lowfold.graph._source import PRECOMPUTED
from lowfold.metrics._table import METRICS

NORMALIZATIONS = ("natural", "orthonormal", "unit")
DISCONNECTED = ("connect", "raise", "largest", "separate")
SOLVERS = ("auto", "dense", "lanczos", "shift_invert", "davidson", "levels", "amg", "krylov", "randomized")
SYMMETRIZE = ("union", "mutual", "average")

LIMITS: dict[str, tuple[Limit, ...]] = {
    "n_components": (Int(1),),
    "n_neighbors": (Int(1), IntArray(1), Null("min(10, n - 1)")),
    "radius": (Real(0, open_low=True), Null("no radius")),
    "metric": (Choice((*METRICS, *PRECOMPUTED)), Function("f(x, y) -> distance")),
    "metric_params": (Table(), Null("defaults")),
    "search": (Choice(SEARCHES),),
    "symmetrize": (Choice(SYMMETRIZE),),
    "on_disconnected": (Choice(DISCONNECTED),),
    "normalization": (Choice(NORMALIZATIONS),),
    "solver": (Choice(SOLVERS),),
    "tol": (Real(0, 1, open_low=True, open_high=True),),
    "random_state": (Seed(), Null("fresh entropy")),
    "n_jobs": (Jobs(), Null("all cores allowed")),
    "verbose": (Flag(),),
}

CALLBACK: tuple[Limit, ...] = (Function("f(iteration, cost, layout)"), Null("none"))

TEXT: dict[str, str] = {
    "n_components": """n_components : int, default=2
    Number of output columns; at least 1.""",
    "n_neighbors": """n_neighbors : int, array of one int per point, or None, default=None
    Nearest neighbours of each point, itself not counted. None is min(10, n - 1), or all within `radius` if given.""",
    "radius": """radius : float above 0 or None, default=None
    Only points at distance <= radius are neighbours. Together with `n_neighbors`: at most that many.""",
    "metric": """metric : str or callable, default="euclidean"
    A name of `lowfold.metrics.METRICS`, a function f(x, y), or "precomputed", "precomputed_squared",
    "precomputed_similarity" when X is a matrix (NaN or an absent entry is unmeasured, a stored zero is a distance
    of zero). A ready `Graph` or `Neighbors` is passed as X.""",
    "metric_params": """metric_params : dict or None, default=None
    Parameters of the metric.""",
    "search": """search : {"auto", "kdtree", "brute", "faiss"}, default="auto"
    How neighbours are found. All but "faiss" (extra `ann`, approximate, its recall measured) are exact.""",
    "symmetrize": """symmetrize : {"union", "mutual", "average"}, default="union"
    i ~ j when either, or each, is a neighbour of the other; "average" is a printed rule, it shortens one-way edges.""",
    "on_disconnected": """on_disconnected : {"connect", "raise", "largest", "separate"}, default="connect"
    A graph in pieces: joined by the fewest, shortest bridges with a warning; an error; only the largest piece
    embedded, NaN elsewhere; or every piece embedded by itself, side by side.""",
    "normalization": """normalization : {"natural", "orthonormal", "unit"}, default="natural"
    Output as the theory gives it, with Y'Y = I, or with unit variance in every column. One linear map, undone by
    `inverse_transform`.""",
    "solver": """solver : str, default="auto"
    Eigen-solver: "auto", "dense", "lanczos", "shift_invert", "davidson", "levels", "amg" (extra `amg`), "krylov",
    "randomized". `solver_` records what was used.""",
    "tol": """tol : float in (0, 1), default=1e-6
    Gap-relative residual at which the eigen-solver stops; it bounds the angle to the true eigenvectors.""",
    "random_state": """random_state : int, Generator, RandomState or None, default=0
    Where random numbers come from; an int gives the same result every time.""",
    "kernel": """kernel : str or callable, default="rbf"
    "rbf" exp(-gamma |x - y|^2), "linear" x'y, "poly" (gamma x'y + coef0)^degree, "laplacian" exp(-gamma |x - y|_1),
    "sigmoid" tanh(gamma x'y + coef0), "cosine" x'y / |x| |y|; a function f(x, y) of two rows; or "precomputed": X
    itself is the matrix of the kernel.""",
    "gamma": """gamma : float above 0 or None, default=None
    1 / scale of the kernels "rbf", "poly", "laplacian" and "sigmoid"; None is 1 / n_features. The texts' widths are
    1 / `lowfold.kernels.scale_from_sigma(s)` for exp(-d^2 / 2s^2), 1 / `scale_from_width(s)` for exp(-d^2 / s^2).""",
    "degree": """degree : int of at least 1, default=3
    Degree of the kernel "poly".""",
    "coef0": """coef0 : float, default=1
    Constant of the kernels "poly" and "sigmoid"; 0 makes "poly" homogeneous.""",
    "energy": """energy : float in (0, 1], default=1
    PCA comes first where the features depend on each other or outnumber the points; below 1 only the leading axes
    with this share of the sum of squares are used, which keeps directions of noise out.""",
    "point_metric": """metric : str or callable, default="euclidean"
    Decides who is a neighbour: a name of `lowfold.metrics.METRICS` or a function f(x, y). The map itself needs the
    features, so distances alone are not enough.""",
    "callback": """callback : callable or None, default=None
    Called after every step as callback(iteration, stress, layout); returning True ends the descent.""",
    "n_jobs": """n_jobs : int or None, default=None
    Threads; None is all cores allowed. Changes time, never results.""",
    "verbose": """verbose : bool, default=False
    Show the stages and their times on stderr.""",
}


def splice(doc: str) -> str:
    """Replace every line that is only {name} by that parameter's text, at the line's indentation."""

    def text(match: re.Match[str]) -> str:
        indent = match[1]
        return "\n".join(indent + line if line else line for line in TEXT[match[2]].splitlines())

    return re.sub(r"^([ ]*)\{(\w+)\}[ ]*$", text, doc, flags=re.MULTILINE)
