"""What one fit carries from stage to stage: solver, tolerance, seed, threads, device, who watches."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np

from lowfold._core.config import get_config
from lowfold._core.jit import compile_seconds
from lowfold._core.parallel import Progress
from lowfold._core.stages import StageCache, current_stages
from lowfold._core.watch import Watch, bar

log = logging.getLogger("lowfold")
SEEN = 0.1  # seconds of compiling that are worth a line

REPORTED = 0.3  # seconds between two reports of a share in the log: an eye sees no more


@dataclass(frozen=True)
class Run:
    """One call's settings. Stages take it whole; nothing reads a global."""

    solver: str = "auto"
    tol: float = 1e-6
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    n_jobs: int | None = None
    verbose: bool = False
    watch: tuple[Watch, ...] = ()
    device: str = field(default_factory=lambda: get_config().device)
    stages: StageCache | None = field(default_factory=current_stages)

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """A stage with its name, for all who watch; with `verbose` a bar on stderr. It yields what hears the share."""
        start, compiling = time.perf_counter(), compile_seconds()
        told = 0.0
        log.debug("%s: begins", name, extra={"stage": name, "share": 0.0})
        with ExitStack() as stack:
            watches = (*self.watch, bar) if self.verbose else self.watch
            heard = [stack.enter_context(watch(name)) for watch in watches]

            def progress(share: float) -> None:
                nonlocal told
                now = time.perf_counter()
                if now - told > REPORTED:
                    told = now
                    log.debug("%s: %.0f%%", name, 100 * share, extra={"stage": name, "share": share})
                for tell in heard:
                    tell(share)

            yield progress
        compiling = compile_seconds() - compiling
        took = max(time.perf_counter() - start - compiling, 0.0)
        if self.verbose and compiling > SEEN:
            sys.stderr.write(f"  compiling (first use): {compiling:.2f} s of it\n")
        log.debug("%s: %.3f s", name, took, extra={"stage": name, "seconds": took})
