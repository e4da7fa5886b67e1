"""Maximum variance unfolding (semidefinite embedding), Weinberger & Saul (2006), doi:10.1007/s11263-005-4939-z.

X --neighbours--> N --all pairs inside each--> (i, j), s_ij --semidefinite program--> K = Y Y' --eigen--> sqrt(lambda) v
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput, LowfoldWarning
from lowfold._core.limits import Choice, Function, Int, Null, Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.lowrank._energy import share_held
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._losses import Loss, Lowered
from lowfold.methods._neighborhood import Needs
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.patches import ReconstructionRow
from lowfold.methods._sparse_stages import found_neighbors
from lowfold.methods._stages import FLOAT, Stage, Stages, degree, read_stage, search_stage
from lowfold.methods._unfolding import (
    UNBOUNDED,
    WAYS_OUT,
    FactorOperator,
    factor_pairs,
    pair_distances,
    warn_if_unproven,
    with_bridges,
)
from lowfold.optimize._loss_formulas import LossValue, spring_loss
from lowfold.sdp._door import SOLVERS, select_unfolding_solver, unfold
from lowfold.sdp._multipliers import MANY
from lowfold.sdp._program import FORMS, Unfolding, neighbor_pairs, unfolding, variance_bound
from lowfold.sdp._repair import DENSE_POINTS
from lowfold.sdp._sdpa import write_sdpa
from lowfold.sdp._solution import Callback

REG = 1e-3  # ridge of the weights with which a new point is rebuilt from its neighbours, the default of LLE
# Seconds per pair of springs at low rank, in the middle of twelve sets of 600 to 2,000 points on one core: sheets and
# clouds of 3 to 10 columns took a third to the half, digits of 1,797 points and far clusters three times as long. The
# barrier's time goes by the cube of the points, the same for images and noise. From LONG seconds on they are told.
PER_PAIR, PER_CUBE, LONG = 1.3e-4, 2.5e-7, 10.0
COLUMNED = MANY**2  # numbers of a point in many columns: its block, and the differences of its pairs


def _solver(method: Any, data: Data | Connected, pairs: int) -> str:
    """The one that is asked for, or what "auto" takes."""
    if method.solver != "auto":
        return str(method.solver)
    return select_unfolding_solver(data.n, pairs)


def _stages(method: Any, data: Data) -> list[Stage]:
    """The dual matrix of the program, m x m, or n x n with a few copies."""
    n = float(data.n)
    found = found_neighbors(method, data)
    pairs = n * degree(method, data) if found is None else float(len(neighbor_pairs(found, np.arange(data.n))))
    solver = _solver(method, data, int(pairs))
    size = (
        2 * FLOAT * pairs**2  # the equations of a step, and blocks of their products
        if solver in ("interior", "facial")
        else 12 * FLOAT * n * n
        if solver == "barrier"
        else FLOAT * (60 * pairs + COLUMNED * n + 6 * min(n, DENSE_POINTS) ** 2)
    )
    return [
        read_stage(data),
        search_stage(method, data),
        Stage("semidefinite program", f"{pairs:.0f} pairs, solver {solver}", size),
    ]


def _spring_loss(model: Any, data: Data, scaled: bool) -> Loss:
    """The part "bound" is the loss of the solution in all its dimensions."""
    squared = _kept_squares(model)
    settings = (model.constraints, float(model.nu_), scaled)
    whole = spring_loss(model.pairs_, squared, model.factor_, *settings).value

    def loss(Y: Floats) -> LossValue:
        found = spring_loss(model.pairs_, squared, Y, *settings)
        return LossValue(found.value, found.points, (*found.parts, ("bound", whole)))

    return loss


def _kept_squares(model: Any) -> Floats:
    """The squared distances of the constrained pairs, measured again."""
    kept = Connected(model._trained.source, None, model._trained.graph)
    return np.asarray(pair_distances(kept, model.pairs_) ** 2)


def _tell_time(program: Unfolding, solver: str) -> None:
    """Say beforehand that a solve takes long; how many rounds are needed, they show themselves."""
    each = {"barrier": PER_CUBE * program.n**3, "lowrank": PER_PAIR * program.m}
    seconds = each.get(solver, 0.0)
    if seconds > LONG:
        warn(
            f"MVU of {program.n} points and {program.m} pairs takes about {seconds / 3:.0f} to {3 * seconds:.0f} "
            "seconds; LandmarkMVU, fewer n_neighbors or tol=0.01 take less",
            LowfoldWarning,
        )


class MVU(GraphMethod):
    """Pull the points as far apart as their local distances allow.

    maximise tr K over centred psd K, with K_ii + K_jj - 2 K_ij held at the measured s_ij for all pairs inside {i} and
    its neighbours, so that local distances and angles are kept. The coordinates are Y = V sqrt(lambda) for the leading
    eigenpairs of K; the number of large eigenvalues shows the dimension. The program is convex: its answer is unique in
    value and comes with a proof, the duality gap.

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: centred, column k has squared norm eigenvalues_[k]
    eigenvalues_ : array (n_components,), descending
    spectrum_ : array, all eigenvalues of K that are not 0; a gap after the d-th shows the dimension d
    rank_ : int, eigenvalues above 1e-6 of their sum
    explained_ : float, share of variance_ that the coordinates hold; 1 where all points coincide
    variance_ : float, tr K = (1/2n) sum_ij ||y_i - y_j||^2, over all dimensions of K
    variance_bound_ : float, n^3 tau^2 / 2 with the longest edge tau: no unfolding has more
    duality_gap_ : float, (proven bound - value) / bound
    constraint_violation_ : float, root mean square of d_ij^2 - s_ij over the mean s_ij; largest_violation_ : the
    largest pairs_ : array (m, 2), the constrained pairs; dual_ : array (m,), the stress of each, which proves the bound
    n_constraints_ : int, pairs and centring
    nu_, n_iter_, factor_ : stiffness used, iterations, Y with K = Y Y' of all dimensions
    dependence_ : array (n_components,), share of each coordinate's variance that the earlier ones tell
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> chain = lowfold.graph.Graph.from_edges(12, [[i, i + 1] for i in range(11)])  # unit lengths: straight at best
    >>> model = lowfold.MVU(1, constraints="eq", tol=1e-6).fit(chain)
    >>> model.rank_, round(model.variance_, 2), 12 * (12**2 - 1) / 12
    (1, 143.0, 143.0)
    """

    stages: ClassVar[Stages] = _stages
    loss: ClassVar[Lowered] = Lowered(
        _spring_loss, "(nu sum (d^2 - s)^2 - tr K) / n in units of the mean s; least over all dimensions"
    )
    ways_out: ClassVar[tuple[str, str] | None] = WAYS_OUT
    tuned_on: ClassVar[int | None] = 80

    constraints: str = param(
        "slack",
        Choice(FORMS),
        "How pairs are held: by springs, maximise tr K - nu sum (d_ij^2 - s_ij)^2; exactly; or no "
        "farther than measured. Exact equalities inside neighbourhoods of more than D + 1 points of "
        "R^D leave the data rigid: nothing can unfold, and the answer, proven at once, is the data. "
        "Inequalities unfold, but may narrow a sheet to lengthen it.",
    )
    nu: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto",)),
        'Stiffness of the springs, in units of the mean s_ij. "auto" allows a mean stretch of about '
        '0.2%. Used by "slack".',
    )
    n_eigenvectors: int = param(
        10, Int(1), 'Eigenvectors of the graph Laplacian in the first, factorised solve of "factorized".'
    )
    solver: str = param(
        "auto",
        Choice(SOLVERS),
        "Equalities on the face that rigid neighbourhoods leave to K; dense interior point; a dual "
        "barrier for springs between a few hundred points; a low-rank factor with certificate; the "
        "graph-Laplacian form refined at low rank, for thousands of points, whose gap is reported but not "
        "driven to `tol`; Clarabel (extra `sdp`) for a few dozen points. "
        '"auto": "facial" for equalities that leave up to 40 dimensions, else "interior" up to 1,500 '
        'pairs, "lowrank" up to 3,000 points, then "factorized". `solver_` records it.',
    )
    tol: float = param(
        0.001, 'Relative duality gap (and, unless "slack", violation of the constraints) at which the solver stops.'
    )
    max_iter: int | None = param(
        None,
        Int(1),
        Null("100 iterations, 15 rounds of the low-rank solvers"),
        'Most rounds of "lowrank" and "factorized" (None: 15), most iterations of the other solvers (None: 100).',
    )
    callback: Callback | None = param(
        None,
        Function("callback(step) -> stop?"),
        Null("none"),
        "callback(step) after every iteration, with step.primal, step.dual, step.gap, step.violation, "
        "step.rank; a true answer stops the solver there.",
    )

    def _needs(self) -> Needs:
        return Needs(otherwise=UNBOUNDED)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        pairs = neighbor_pairs(data.neighbors)
        pairs, squared = with_bridges(data, pairs, pair_distances(data, pairs) ** 2)
        program = unfolding(data.n, pairs, squared, form=self.constraints, nu=self.nu)  # type: ignore[arg-type]
        if self.constraints == "slack":
            _tell_time(program, _solver(self, data, program.m))
        solution = unfold(
            program,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_eigenvectors=self.n_eigenvectors,
            callback=self.callback,
            run=run,
        )
        springs = "" if self.constraints == "slack" else 'constraints="slack", '
        warn_if_unproven("MVU", solution, f"try {springs}fewer neighbours or a larger tol")
        leading = factor_pairs(solution.factor, self.n_components, solution.solver, solution.iterations)
        spectrum = np.sort(np.sum(solution.factor**2, axis=0))[::-1]
        longest = float(np.sqrt(program.squared.max(initial=0.0) * program.unit))
        return Fit(
            coordinates=leading.vectors * np.sqrt(leading.values),
            pairs=leading,
            graph=data.graph,
            extend=ReconstructionRow(REG, "k>D", "affine"),
            invert=Barycentric(),
            extra={
                "duality_gap_": solution.gap,
                "constraint_violation_": solution.violation,
                "largest_violation_": solution.largest_violation,
                "variance_": float(spectrum.sum()),
                "explained_": share_held(leading.values.sum(), spectrum.sum()),
                "variance_bound_": variance_bound(data.n, longest),
                "rank_": solution.rank,
                "spectrum_": spectrum,
                "pairs_": program.pairs,
                "dual_": solution.dual,
                "n_constraints_": program.m + 1,
                "nu_": program.nu,
                "n_iter_": solution.iterations,
                "factor_": solution.factor,
            },
        )

    def write_program(self, path: str | Path, *, overwrite: bool = False) -> None:
        """The program of a fitted model as a file in SDPA's sparse format, for another solver (CSDP, SDPA, SDPT3).

        In units of the mean squared distance of the pairs; an existing file is left alone unless `overwrite`.
        """
        check_fitted(self)
        self._of_one_model("write_program()")
        form: Any = self.constraints
        program = unfolding(len(self.factor_), self.pairs_, _kept_squares(self), form=form, nu=float(self.nu_))
        write_sdpa(path, program, overwrite=overwrite)

    def _operator(self) -> FactorOperator:
        """K = Y Y', from the factor that the model keeps."""
        if not hasattr(self, "factor_"):
            raise InvalidInput(
                "pieces that were embedded one by one have no common kernel; fit with on_disconnected='connect'"
            )
        return FactorOperator(self.factor_)
