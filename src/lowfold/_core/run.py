"""What one fit carries from stage to stage: solver, tolerance, seed, threads, progress."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from lowfold._core.parallel import Progress
from lowfold._core.stages import StageCache, current_stages

log = logging.getLogger("lowfold")


@dataclass(frozen=True)
class Run:
    """One call's settings. Stages take it whole; nothing reads a global."""

    solver: str = "auto"
    tol: float = 1e-6
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    n_jobs: int | None = None
    verbose: bool = False
    stages: StageCache | None = field(default_factory=current_stages)

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Log a stage with its time; with `verbose` show its share on stderr once it takes more than a second."""
        start = time.perf_counter()
        shown = told = 0.0
        log.debug("%s: begins", name, extra={"stage": name, "share": 0.0})

        def progress(share: float) -> None:
            nonlocal shown, told
            now = time.perf_counter()
            if now - told > 0.3:
                told = now
                log.debug("%s: %.0f%%", name, 100 * share, extra={"stage": name, "share": share})
            if self.verbose and now - start > 1.0 and now - shown > 0.2:
                shown = now
                sys.stderr.write(f"\r  {name}: {share:4.0%}  {now - start:5.1f} s ")
                sys.stderr.flush()

        try:
            yield progress
        finally:
            took = time.perf_counter() - start
            if self.verbose:
                sys.stderr.write(f"\r  {name}: {took:.2f} s          \n")
                sys.stderr.flush()
            log.debug("%s: %.3f s", name, took, extra={"stage": name, "seconds": took})
