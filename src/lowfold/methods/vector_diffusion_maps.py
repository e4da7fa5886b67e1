"""Vector diffusion maps, Singer & Wu (2012), doi:10.1002/cpa.21395.

X --graph--> w --local PCA--> O_i --alignment--> O_ij --blocks w_ij O_ij--> S-bar --eigen--> (lambda, phi)
    --> <phi_k, phi_m>
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.jit import SMALL
from lowfold._core.limits import Choice, Int, Null, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._detours import mth_lengths
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._connection import Connection, connection, local_dimensions, local_pca, orientation
from lowfold.kernels._gaussian import auto_scale, gaussian
from lowfold.methods._base import LearnedMetric
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._graph_method import WeightMethod
from lowfold.methods._independent import NEWS, telling_columns, varying
from lowfold.methods._input import AnySource, Reader
from lowfold.methods._losses import Lowered, no_loss
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import SELECTIONS, Symmetrized
from lowfold.methods._placing.fields import VectorRow, pair_order, vector_features, without_noise
from lowfold.methods._placing.maps import Barycentric, NearestCorner
from lowfold.methods._sparse_stages import field_stages
from lowfold.methods._stages import Stages
from lowfold.methods._vector_metric import vector_distances
from lowfold.methods._walk_measure import tell_faded
from lowfold.methods.locally_linear_isomap import features
from lowfold.spectral._doors import largest
from lowfold.spectral._held import ENOUGH_TO_TELL
from lowfold.spectral._types import ZERO

# Eigenvectors at least, of whose pairs, 210, coordinates are chosen: a sheet with two fields for every function that is
# five times as long as wide has the first one across among them.
FIELDS = 20
# A point whose HOLDING-th neighbour weighs less than LOOSE has fields of its own and takes coordinates; a scale at
# which that neighbour weighs HELD_BY lets none do so in tables with three rows far off.
HOLDING, LOOSE, HELD_BY = 4, 1e-3, 0.3


class VectorDiffusionMaps(Symmetrized, WeightMethod):
    """Embed by how vectors turn when they are carried along paths: points that many paths join in the same way are
    near.

    Tangent bases O_i come from local PCA, transports O_ij from aligning them; the block matrix S(i, j) = w_ij O_ij,
    divided by degrees, has eigenpairs (lambda_k, phi_k), phi_k(i) a tangent vector. The coordinates are
    (lambda_k lambda_m)^t <phi_k(i), phi_m(i)>, off-diagonal ones times sqrt(2); with all of them distances are the
    vector diffusion distance, d^2 = |S^2t(i, i)|^2 + |S^2t(j, j)|^2 - 2 |S^2t(i, j)|^2. No choice of bases
    changes them. On an orientable surface fields come in pairs that differ by a right angle: their common feature is 0,
    and their own features agree. The features carry the degree of a point, which varies from one to the next and hides
    the width of a roll; with select="independent" the fields are phi_k(i) / sqrt(d_i), those of the walk D^-1 S.

    Attributes
    ----------
    embedding_ : array (n, n_components), features in order of |lambda_k lambda_m|^t; with select="independent" without
        those that tell little new, and divided by the degree of a point over the mean one
    eigenvalues_ : array (n_eigenvectors,), descending, of S-bar
    pairs_ : array (n_components, 2), the (k, m) of each column
    tangent_dim_ : int; local_dims_ : array (n,), the estimate at each point
    tangents_ : array (n, D, d), orthonormal bases
    orientable_ : bool, whether the transports agree on sides; orientation_ : array (n,) of 1 and -1, the side of each
        basis
    scale_, pca_scale_ : floats, the scales used
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    A model in pieces (`on_disconnected` "separate" or "largest") has `tangents_`, `local_dims_` and `orientation_` of
    every component, zero columns where its dimension is smaller, and NaN or 0 where it was not embedded or has too few
    points for `tangent_dim` directions; the other attributes are those of the largest component. `connection` and
    `kernel` need one connected model.

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.s_curve(300, random_state=0)
    >>> model = lowfold.VectorDiffusionMaps(3, n_neighbors=12, tangent_dim=2).fit(roll.X)
    >>> model.embedding_.shape, model.orientable_
    ((300, 3), True)
    """

    stages: ClassVar[Stages] = field_stages
    loss: ClassVar[Lowered] = no_loss(
        "its coordinates are products of vector fields, which an embedding does not determine"
    )

    n_eigenvectors: int | None = param(
        None,
        Int(1),
        Null("max(20, n_components)"),
        "Eigenvectors that the pairs (k, m) are made of; None is max(20, n_components), made a "
        "multiple of the dimension (on flat data that many fields belong together), at most n times "
        "the dimension.",
    )
    tangent_dim: int | str = param(
        "median",
        Int(1),
        Choice(("median", "mean")),
        "Dimension of the manifold; or the median or rounded mean over points of the number of "
        "directions that hold `variance`.",
    )
    variance: float = param(
        0.9, Real(0, 1, open_low=True), "Share of the local variance that the estimated dimension holds."
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Weights exp(-d^2 / scale); "auto" is the mean squared edge length, or wider where that leaves a point alone.',
    )
    pca_scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Weights of local PCA, narrower than `scale`; "auto" is half the mean squared edge length.',
    )
    alpha: float = param(1.0, Real(), "Density power, as in diffusion maps.")
    self_loops: float = param(
        1.0,
        Real(0),
        "Weight of a point to itself. Among scattered points it gives those far from all others "
        "fields of their own; 0, or a wider `scale`, does not.",
    )
    select: str = param(
        "independent",
        Choice(SELECTIONS),
        "Which pairs (k, m): the first in the order of |lambda_k lambda_m|^t, as the theory has them; or the first in "
        "that order that tell something new. On flat data the leading fields are constant, their pairs tell the degree "
        "of a point and no more, and the next ones come in copies that differ by a rotation.",
    )
    t: float = param(1.0, Real(0), "Diffusion time. A fraction needs eigenvalues of at least 0.")

    reader: ClassVar[Reader] = AnySource(sparse=False)
    per_point: ClassVar[tuple[str, ...]] = ("local_dims_", "tangents_", "orientation_")
    of_largest: ClassVar[tuple[str, ...]] = ("pairs_",)
    learned: ClassVar[Mapping[str, LearnedMetric]] = {"diffusion": vector_distances}

    repeated: ClassVar[float] = NEWS  # a product with more was taken for want of a better one
    ways_out: ClassVar[tuple[str, str] | None] = (
        "a wider scale holds them",
        "use LTSA or Isomap where coordinates are wanted",
    )

    def _needs(self) -> Needs:
        # A capped bridge: else a far component would hang on a weight of zero.
        return Needs(symmetrize=self.symmetrize, capped=True, one_more=True, corner=self._corner)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        X, graph, near = features(data.points()), data.graph, data.neighbors
        usual = auto_scale(data.unbridged) if self.scale == "auto" else float(self.scale)
        scale = _wide_enough(data.unbridged, usual) if self.scale == "auto" else usual
        pca_scale = usual / 2 if self.pca_scale == "auto" else float(self.pca_scale)
        d, dims = self._dimension(X, near, pca_scale, run)
        bases = local_pca(X, near, pca_scale, d, run=run).bases
        S = self._connection(graph, bases, scale, run)
        found = _by_products(run, data.n, S.operator.n)
        pairs = largest(S.operator, self._eigenvectors(data.n, d), negligible=ZERO, run=found)
        fields = pairs.vectors.reshape(data.n, d, -1)
        walked = fields * np.sqrt(S.degrees.mean() / S.degrees)[:, None, None]  # those of D^-1 S
        chosen = self._pairs(walked, pairs.values, run)
        sides = orientation(graph, S.transports, S.certainty, run=run)
        walk = self.select == "independent"
        Y = without_noise(vector_features(walked if walk else fields, pairs.values, chosen, float(self.t)))
        tell_faded(self, Y, pairs.values)
        return Fit(
            coordinates=Y,
            pairs=pairs,
            graph=graph,
            extend=VectorRow(
                scale,
                pca_scale,
                float(self.alpha),
                float(self.t),
                S.densities,
                S.degrees,
                bases,
                pairs.values,
                fields,
                chosen,
                self.symmetrize,
                data.kth_distance,
                walk,
            ),
            invert=Barycentric(),
            extra={
                "pairs_": chosen,
                "tangent_dim_": d,
                "local_dims_": dims,
                "tangents_": bases,
                "orientable_": sides.orientable,
                "orientation_": sides.signs,
                "scale_": scale,
                "pca_scale_": pca_scale,
            },
        )

    # Stages ---------------------------------------------------------------------------------------------------------

    def _dimension(
        self, X: NDArray[np.floating], near: Neighbors, scale: float, run: Run
    ) -> tuple[int, NDArray[np.int64]]:
        """The tangent dimension, given or estimated, and the estimate at every point."""
        dims = local_dimensions(local_pca(X, near, scale, 1, run=run).spectra, self.variance)
        if not isinstance(self.tangent_dim, str):
            d = int(self.tangent_dim)
        else:
            d = int(np.median(dims)) if self.tangent_dim == "median" else round(float(dims.mean()))
        room = min(X.shape[1], int(near.counts.max(initial=1)))
        if d > room:
            raise InvalidInput(
                f"tangent_dim must be at most {room}, the smaller of the number of features ({X.shape[1]}) and of "
                f"neighbours; got {d}"
            )
        return d, dims

    def _connection(self, graph: Graph, bases: Floats, scale: float, run: Run) -> Connection:
        w = gaussian(graph, scale=scale).values
        return connection(graph, w, float(self.self_loops), bases, alpha=self.alpha, run=run)

    def _eigenvectors(self, n: int, d: int) -> int:
        default = -(-max(FIELDS, self.n_components) // d) * d
        m = min(default, n * d) if self.n_eigenvectors is None else self.n_eigenvectors
        if m > n * d:
            raise InvalidInput(
                f"n_eigenvectors must be at most {n * d}, n_samples = {n} times dimension {d}; got "
                f"{self.n_eigenvectors}"
            )
        if self.n_components > m * (m + 1) // 2:
            raise InvalidInput(
                f"n_components must be at most {m * (m + 1) // 2}, the number of pairs of {m} eigenvectors; got "
                f"{self.n_components}: use more n_eigenvectors"
            )
        return m

    def _pairs(self, fields: Floats, values: Floats, run: Run) -> NDArray[np.int64]:
        """The pairs of the coordinates; `fields` belong to D^-1 S."""
        if self.t != int(self.t) and values.min() < 0:
            raise InvalidInput(
                f"t = {self.t:g} needs a fractional power of the negative eigenvalue {values.min():.3g}; use a whole "
                "t or fewer n_eigenvectors"
            )
        if self.select == "leading":
            leading = pair_order(values, float(self.t), self.n_components)
            _tell_constant(vector_features(fields, values, leading, 0.0))
            return leading
        every = pair_order(values, float(self.t), len(values) * (len(values) + 1) // 2)
        F = vector_features(fields, values, every, 0.0)
        return every[telling_columns(F, self.n_components, run)]

    def _corner(self, part: Connected) -> Fit | None:
        """A component with too few points for `tangent_dim` directions or `n_eigenvectors` fields is one point."""
        d = self.tangent_dim if isinstance(self.tangent_dim, int) else 1
        if part.n > d and part.n * d >= (self.n_eigenvectors or 1):
            return None
        return Fit(np.zeros((part.n, self.n_components)), None, part.graph, NearestCorner(), Barycentric())

    # What else the transports can tell ------------------------------------------------------------------------------

    def connection(self) -> Connection:
        """The block matrix with its transports, rebuilt."""
        self._of_one_model("connection()")
        return self._connection(self.graph_, self.tangents_, self.scale_, self._run())

    def _operator(self) -> SparseOperator:
        """S-bar = D^-1/2 S D^-1/2, (n d) x (n d), sparse; its spectrum lies in [-1, 1]."""
        return self.connection().operator

    def vector_fields(self) -> Floats:
        """Eigenvector fields of D^-1 S in data space, (n, D, n_eigenvectors): O_i phi_k(i) / sqrt(d_i)."""
        row = self._row()
        return np.asarray(self.tangents_ @ (row.fields / np.sqrt(row.degrees)[:, None, None]))

    def _row(self) -> VectorRow:
        if not isinstance(self._extend, VectorRow):
            raise InvalidInput("this needs one connected model of all points; fit with on_disconnected='connect'")
        return self._extend


def _by_products(run: Run, n: int, rows: int) -> Run:
    """A run that needs no factor, of few points with many rows: its loops take 8 seconds to compile, products none.

    With loops that are there products take up to twice the time of the whole fit.
    """
    few = run.solver == "auto" and run.device == "cpu" and n <= SMALL < rows
    return replace(run, solver="krylov") if few else run


def _wide_enough(graph: Graph, scale: float) -> float:
    """The scale, or a wider one where the HOLDING-th neighbour of a point weighs next to nothing."""
    farthest = mth_lengths(graph, HOLDING)[0]
    needed = float(np.square(farthest[np.isfinite(farthest)]).max(initial=0.0))
    return needed / -np.log(HELD_BY) if np.exp(-needed / scale) < LOOSE else scale


def _tell_constant(F: Floats) -> None:
    """Say that features are products of constant fields."""
    constant = np.flatnonzero(~varying(F))
    if len(constant) and len(F) >= ENOUGH_TO_TELL:
        warn(
            f"{len(constant)} of {F.shape[1]} coordinates of VectorDiffusionMaps are products of fields that are "
            "constant (or perpendicular) everywhere, as on flat data: they tell the degree of a point and no more; use "
            "select='independent'",
            errors.AccuracyWarning,
        )
