"""The graph-Laplacian form: K = Q L Q' with the bottom eigenvectors Q of the graph Laplacian and a small psd L.

    maximise tr L - nu sum_e (g_e' L g_e - s_e)^2,   g_e = q_i - q_j

Weinberger, Sha, Zhu & Saul (2007), "Graph Laplacian regularization for large-scale semidefinite programming", NIPS 19;
Wang (2012), Fig. 9.8.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.parallel import single_threaded_blas
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._weights import Weights, laplacian
from lowfold.sdp._program import RankOne, Unfolding
from lowfold.sdp._springs import springs
from lowfold.spectral._doors import smallest


def laplacian_form(program: Unfolding, n_eigenvectors: int = 10, *, run: Run | None = None) -> Floats:
    """Y (n, p) in the program's units with K = Y Y' the best of its form; columns by falling size.

    The slack form is solved whatever the program's form is: within so few directions equalities cannot hold exactly.
    """
    p = min(n_eigenvectors, program.n - 1)
    pairs = smallest(
        laplacian(Weights.unit(program.graph())), p, null=np.ones((program.n, 1)), negligible=np.inf, run=run
    )
    Q = pairs.vectors / np.sqrt(np.maximum(pairs.values, ROUNDING * pairs.values[-1]))
    with single_threaded_blas():
        G = Q[program.pairs[:, 0]] - Q[program.pairs[:, 1]]
        L = springs(RankOne(Q.T @ Q, G, program.squared, "slack", program.nu)).L
    values, V = stacked_eigh(L)
    Y = Q @ (V * np.sqrt(np.maximum(values, 0.0)))
    order = np.argsort(-np.sum(Y**2, axis=0), kind="stable")
    return np.ascontiguousarray((Y - Y.mean(axis=0))[:, order])
