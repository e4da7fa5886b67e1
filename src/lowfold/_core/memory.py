"""Nothing large is allocated before the budget says yes."""

from __future__ import annotations

from lowfold._core.config import get_config
from lowfold._core.errors import MemoryBudgetExceeded


def pretty_bytes(n: float) -> str:
    """1234567 -> '1.2 MB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def fits(n_bytes: float, *, share: float = 1.0) -> bool:
    """Whether `n_bytes` fit into `share` of the budget."""
    return n_bytes <= share * get_config().memory


def require(n_bytes: float, what: str, way_out: str) -> None:
    """Raise, before anything is allocated, when `what` does not fit; `way_out` says what to do instead."""
    if not fits(n_bytes):
        raise MemoryBudgetExceeded(
            f"{what} needs {pretty_bytes(n_bytes)}, the memory budget is {pretty_bytes(get_config().memory)}; "
            f"{way_out}, or raise the budget with lowfold.set_config(memory=...) or LOWFOLD_MEMORY"
        )
