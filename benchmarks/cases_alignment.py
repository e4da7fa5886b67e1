"""Alignment kernels: LLE, LTSA, Hessian LLE on a Swiss roll, k = 12, two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

K = 12
GiB = 2.0**30


def cases(method: str, small: float, large: float, peer: str, quality: dict[str, float]) -> tuple[Case, ...]:
    """The same method at 10,000, 50,000 and a million points."""
    sides = tuple(Side(package, f"{package}_{method}") for package in ("lowfold", "tapkee", "sklearn"))
    slow = Side("tapkee", f"tapkee_{method}", skip="grows about quadratically: over two minutes")
    common = dict(group=method, data="swiss_roll", check="quality.embedding")
    return (
        Case(
            name=f"{method}-10k",
            n=10_000,
            sides=sides,
            target=Target(speedup=small, over=(peer,), at_least=quality),
            **common,
        ),
        Case(
            name=f"{method}-50k",
            n=50_000,
            sides=(sides[0], slow, sides[2]),
            target=Target(speedup=large, over=("sklearn",), at_least=quality),
            **common,
        ),
        Case(
            name=f"{method}-1m",
            n=1_000_000,
            sides=(sides[0],),
            target=Target(memory=12 * GiB, at_least=quality),
            timeout=240.0,
            repeat=1,
            note="under four minutes",
            large=True,
            **common,
        ),
    )


CASES = (
    *cases("ltsa", 6, 15, "tapkee", {"affine_r2": 0.999}),
    *cases("hlle", 6, 15, "tapkee", {"affine_r2": 0.999}),
    *cases("lle", 2, 4, "sklearn", {}),
)


def ours(name: str) -> Callable[[Data], Callable[[], Any]]:
    def prepare(data: Data) -> Callable[[], Any]:
        import lowfold

        model = getattr(lowfold, name)(2, n_neighbors=K, n_jobs=THREADS)
        return lambda: model.fit(data.X)

    return prepare


def tapkee(method: str) -> Callable[[Data], Callable[[], Any]]:
    def prepare(data: Data) -> Callable[[], Any]:
        import tapkee as package

        columns = np.asfortranarray(data.X.T)
        return lambda: SimpleNamespace(
            embedding_=package.embed(columns, method=method, num_neighbors=K, target_dimension=2)
        )

    return prepare


def sklearn(method: str) -> Callable[[Data], Callable[[], Any]]:
    def prepare(data: Data) -> Callable[[], Any]:
        from sklearn.manifold import LocallyLinearEmbedding

        model = LocallyLinearEmbedding(
            n_neighbors=K, n_components=2, method=method, eigen_solver="arpack", random_state=0, n_jobs=THREADS
        )
        return lambda: model.fit(data.X)

    return prepare


lowfold_ltsa, lowfold_hlle, lowfold_lle = ours("LTSA"), ours("HessianLLE"), ours("LLE")
tapkee_ltsa, tapkee_hlle, tapkee_lle = tapkee("ltsa"), tapkee("hlle"), tapkee("lle")
sklearn_ltsa, sklearn_hlle, sklearn_lle = sklearn("ltsa"), sklearn("hessian"), sklearn("standard")
