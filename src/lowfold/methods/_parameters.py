"""Parameters that are spelled one way everywhere, each declared once; a method inherits the groups that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from lowfold._core.limits import Choice, Flag, Function, Int, IntArray, Jobs, Null, Real, Seed, Table
from lowfold._core.params import Declared, param, positional
from lowfold._core.types import Ints
from lowfold.graph._search import SEARCHES
from lowfold.graph._source import AFFINITY, PRECOMPUTED
from lowfold.methods._alignment_mass import MASSES
from lowfold.methods._elsewhere import ATTRIBUTES
from lowfold.methods._elsewhere_parameters import BY_PLACE, OF_VALUES, PARAMETERS, PARAMETERS_OF_PEERS, VALUES
from lowfold.methods._estimator import Estimator, learned
from lowfold.metrics._table import METRICS
from lowfold.spectral._solvers import SOLVERS

NORMALIZATIONS = ("natural", "orthonormal", "unit")
DISCONNECTED = ("connect", "raise", "largest", "separate")
SELECTIONS = ("leading", "independent")
SHORTCUTS = ("warn", "remove", "ignore")
SYMMETRIZE = ("union", "mutual", "average")
WEIGHTINGS = ("heat", "binary")

# `n_neighbors` where the default grows with `n_components`; a method adds how many it needs.
WIDE_NEIGHBORS = (
    "Nearest neighbours of each point, itself not counted. None is 10, or 3 n_components where that is more (up to "
    "n / 10), at most n - 1; or all within `radius` if given. "
)


class Output(Estimator):
    """What every method has."""

    n_components: int = positional(
        default=2, limits=(Int(1),), text="Number of output columns; at least 1.", kw_only=False
    )
    normalization: str = param(
        "natural",
        Choice(NORMALIZATIONS),
        "Output as the theory gives it, with Y'Y = I, or with unit variance in every column. One linear map, undone by "
        "`inverse_transform`.",
    )
    random_state: Any = param(
        0,
        Seed(),
        Null("fresh entropy"),
        "Taken by every method; this one uses no random numbers, and gives the same result for every value.",
    )
    n_jobs: int | None = param(
        None, Jobs(), Null("all cores allowed"), "Threads; None is all cores allowed. Changes time, never results."
    )
    verbose: bool | int = param(False, Flag(), Int(0), "Show the stages and their times on stderr.")

    elsewhere: ClassVar[Mapping[str, str]] = {**PARAMETERS_OF_PEERS, **PARAMETERS, **OF_VALUES}
    elsewhere_values: ClassVar[Mapping[tuple[str, Any], str]] = VALUES
    elsewhere_order: ClassVar[Mapping[str, tuple[str, ...]]] = BY_PLACE

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there: a fitted attribute of scikit-learn's is answered with ours."""
        told = f"; {ATTRIBUTES[name]}" if name in ATTRIBUTES else ""
        if not told and learned(name) and not self.__sklearn_is_fitted__():
            told = "; the model is not fitted: call fit first"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{told}")


class AllComponents(Output):
    """A linear method that takes as many columns as there can be where no number is given."""

    n_components: int | None = positional(  # type: ignore[assignment]
        default=2, limits=(Int(1), Null("all")), text="Number of output columns; None is all, min(n, D).", kw_only=False
    )


class Distances(Declared):
    """How far apart points are, or the matrix that says so."""

    metric: Any = param(
        "euclidean",
        Choice((*METRICS, *PRECOMPUTED)),
        Function("f(x, y) -> distance"),
        'A name of `lowfold.metrics.METRICS`, a function f(x, y), or "precomputed", "precomputed_squared", '
        '"precomputed_similarity" when X is a matrix (NaN or an absent entry is unmeasured, a stored zero is a '
        "distance of zero; a sparse one is used whole unless n_neighbors or radius is given). A ready `Graph` or "
        "`Neighbors`, or a graph of NetworkX, is passed as X.",
    )
    metric_params: dict[str, Any] | None = param(None, Table(), Null("defaults"), "Parameters of the metric.")


class Affinities(Distances):
    """Distances, or the weights themselves."""

    metric: Any = param(
        "euclidean",
        Choice((*METRICS, *PRECOMPUTED, AFFINITY)),
        Function("f(x, y) -> distance"),
        'A name of `lowfold.metrics.METRICS`, a function f(x, y), or "precomputed", "precomputed_squared", '
        '"precomputed_similarity" when X is a matrix (NaN or an absent entry is unmeasured, a stored zero is a '
        'distance of zero). With "precomputed_affinity" X holds the weights w_ij of the edges, 0 or absent for none, '
        "and `weights` and `scale` have no say; `graph_` has lengths 1 / w_ij. A ready `Graph` or `Neighbors`, or a "
        "graph of NetworkX, is passed as X.",
    )


class Nearest(Declared):
    """Who is a neighbour."""

    n_neighbors: int | Ints | None = param(
        None,
        Int(1),
        IntArray(1),
        Null("min(10, n - 1)"),
        "Nearest neighbours of each point, itself not counted; one number, or one per point. None is min(10, n - 1), "
        "or all within `radius` if given.",
    )
    radius: float | None = param(
        None,
        Real(0, open_low=True),
        Null("no radius"),
        "Only points at distance <= radius are neighbours (np.nextafter(radius, 0): an open ball). Alone it decides; "
        "together with `n_neighbors`: at most that many.",
    )
    search: str = param(
        "auto",
        Choice(SEARCHES),
        'How neighbours are found. All but "faiss" (extra `ann`, approximate, its recall measured) are exact.',
    )
    on_disconnected: str = param(
        "connect",
        Choice(DISCONNECTED),
        "A graph in pieces: joined by the fewest, shortest bridges with a warning; an error; only the largest piece "
        "embedded, NaN elsewhere; or every piece embedded by itself, side by side.",
    )
    on_shortcut: str = param(
        "warn",
        Choice(SHORTCUTS),
        "Edges between points that are far apart along the data: told in a warning, left out with a warning, or not "
        "looked for. `shortcuts_` holds them.",
    )


class Symmetrized(Declared):
    """From directed neighbourhoods to a graph."""

    symmetrize: str = param(
        "union",
        Choice(SYMMETRIZE),
        'i ~ j when either, or each, is a neighbour of the other; "average" is a printed rule, it shortens one-way '
        "edges.",
    )


class Massed(Declared):
    """What a point counts in an alignment kernel."""

    mass: str = param(
        "auto",
        Choice(MASSES),
        'What a point counts: with "points" Y\'Y = I, as published; with "kernel" Y\' D Y = I and Y\' D '
        "1 = 0, D = diag(K). A point that only its own patch holds, and hardly, has an eigenvector of "
        'its own near zero; images and other scattered data have such points. "auto" is "kernel" '
        "where `n_components` single points have less energy (K_ii) than the leading principal "
        "components have, which on smooth surfaces they do not, and where a coordinate would hold few points alone.",
    )


class Selected(Declared):
    """Which eigenvectors become coordinates."""

    select: str = param(
        "leading",
        Choice(SELECTIONS),
        "The eigenvectors in their order; or, where later ones repeat the first (on a long sheet they are its "
        "harmonics), combinations of the first 12 n_components that do not. `dependence_` tells whether they repeat.",
    )


class Solved(Declared):
    """The eigenproblem."""

    solver: str = param(
        "auto",
        Choice(("auto", *SOLVERS)),
        'Eigen-solver; "amg" needs the extra `amg`; "randomized", "gat", "irat" and "prat" are approximate, for a '
        "quick look at leading eigenvectors (see `lowfold.lowrank.fat`). `solver_` records what was used, `residual_` "
        "what it is worth.",
    )
    tol: float = param(
        1e-6,
        Real(0, 1, open_low=True, open_high=True),
        "Gap-relative residual at which the eigen-solver stops; it bounds the angle to the true eigenvectors.",
    )


class Seeded(Declared):
    """Random numbers."""

    random_state: Any = param(
        0,
        Seed(),
        Null("fresh entropy"),
        "Where random numbers come from; an int gives the same result every time.",
    )


class PointMetric(Distances):
    """A metric of points: the method's map needs the features themselves."""

    metric: Any = param(
        "euclidean",
        Choice(tuple(METRICS)),
        Function("f(x, y) -> distance"),
        "Decides who is a neighbour: a name of `lowfold.metrics.METRICS` or a function f(x, y). The map itself needs "
        "the features, so distances alone are not enough.",
    )


class MercerKernel(Declared):
    """The kernel of a feature space, as scikit-learn names its parameters."""

    kernel: str | Callable[..., float] = param(
        "rbf",
        Choice(("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "precomputed")),
        Function("f(x, y) -> number"),
        '"rbf" exp(-gamma |x - y|^2), "linear" x\'y, "poly" (gamma x\'y + coef0)^degree, "laplacian" '
        'exp(-gamma |x - y|_1), "sigmoid" tanh(gamma x\'y + coef0), "cosine" x\'y / |x| |y|; a function '
        'f(x, y) of two rows; or "precomputed": X itself is the matrix of the kernel.',
    )
    gamma: float | str | None = param(
        None,
        Real(0, open_low=True),
        Choice(("features",)),
        Null("1 / median distance"),
        '1 / scale of the kernels "rbf", "poly", "laplacian" and "sigmoid". None is 1 over the median of |x - y|^2 '
        '("rbf") or |x - y|_1 ("laplacian") between points, and 1 / n_features in the others; "features" is '
        "1 / n_features, scikit-learn's rule, in all. "
        "The texts' widths are 1 / `lowfold.kernels.scale_from_sigma(s)` for exp(-d^2 / 2s^2), 1 / "
        "`scale_from_width(s)` for exp(-d^2 / s^2).",
    )
    degree: int = param(3, Int(1), 'Degree of the kernel "poly".')
    coef0: float = param(
        1.0,
        Real(),
        'Constant of the kernels "poly" and "sigmoid"; 0 makes "poly" homogeneous.',
    )
