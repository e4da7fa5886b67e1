"""What a method will do with data, told before it does it: stages, searches, solvers, bytes, and what to do instead.

The rules are those the methods themselves follow (`select_search`, `select_solver`, `count_fill`, the memory budget);
each method declares its stages with their bytes (`_stages.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowfold._core.config import get_config
from lowfold._core.html import html_table
from lowfold._core.limits import check_limits
from lowfold._core.memory import pretty_bytes
from lowfold._core.run import Run
from lowfold._cuda import active
from lowfold.methods._landmarks import Landmarked
from lowfold.methods._stages import Stage, buffers_stage, own_rows_stage, peak
from lowfold.methods.registry import Entry, entry_of, model_of

ENOUGH = 2_000  # landmarks that show a surface of any number of points to a percent or two


@dataclass(frozen=True)
class Plan:
    """What a method will do. `print(plan)` shows it as a table."""

    method: str
    n: int
    stages: tuple[Stage, ...]
    budget: int
    way_out: str = ""
    where: str = ""  # the device whose free memory is the budget

    @property
    def total(self) -> float:
        """The most bytes held at once: each stage on top of what the former ones keep."""
        return peak(self.stages)

    @property
    def fits(self) -> bool:
        """Whether they fit into the memory budget."""
        return self.total <= self.budget

    def _rows(self) -> list[tuple[str, str, str]]:
        """Name, bytes and what is done, of every stage and of the whole."""
        verdict = "fits" if self.fits else f"does not fit: {self.way_out}"
        whole = ("peak", pretty_bytes(self.total), f"of {pretty_bytes(self.budget)}{self.where}; {verdict}")
        return [*((s.name, pretty_bytes(s.bytes), s.what) for s in self.stages), whole]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _, _ in rows)
        lines = [f"  {name:{width}s}  {size:>9s}  {what}" for name, size, what in rows]
        return "\n".join([f"{self.method}, {self.n} points", *lines])

    def _repr_html_(self) -> str:
        return html_table(("stage", "memory", "what"), self._rows(), title=f"{self.method}, {self.n} points")


def plan(X: Any, method: Any, /, **params: Any) -> Plan:
    """Say what `method` (a name, a class, or a model that need not be fitted) would do with X.

    Nothing is solved. For sparse kernels of up to 100,000 points the graph is built and the factor's fill counted, so
    that the solver named is the one the fit will take.

    >>> import numpy, lowfold
    >>> told = lowfold.plan(numpy.random.default_rng(0).random((500, 3)), "isomap", n_neighbors=8)
    >>> told.fits, [stage.name for stage in told.stages]
    (True, ['buffers', 'data', 'neighbours', 'geodesics', 'eigenvectors', 'model'])
    """
    model = model_of(method, params)
    entry = entry_of(model)
    name = entry.name
    check_limits(name, model.get_params(deep=False), model.limits)
    data = model.reader.data(model, X, np.zeros(len(X)) if model.supervised else None)  # labels change no plan
    model._check(data)
    device = active(Run())
    budget = get_config().memory if device is None else device.free_bytes()
    where = "" if device is None else f" free on {device.name}"
    stages = [*model.stages(data), *own_rows_stage(data, X if model.keeps_data else None)]
    if device is not None:
        stages = [stage.on_device(budget) for stage in stages]
    made = Plan(name, data.n, (buffers_stage(stages), *stages), budget, where=where)
    return made if made.fits else replace(made, way_out=_way_out(entry, model, made))


def _way_out(entry: Entry, model: Any, made: Plan) -> str:
    """What to use instead, for the stage that needs most."""
    worst = max(made.stages[1:], key=lambda stage: stage.bytes)  # the buffers are nobody's choice
    needs = f"{worst.name} need{'' if worst.name.endswith('s') else 's'} {pretty_bytes(worst.bytes)}"
    if isinstance(model, Landmarked) and model.landmarks is None and worst.name != "data":
        advice = f"solve on landmarks and place the others, landmarks={min(ENOUGH, made.n // 2)}"
    elif worst.name == "eigenvectors":
        advice = 'name a solver that factors nothing, such as solver="davidson"'
    elif entry.family == "linear":
        advice = "reduce the columns first, with RandomProjection"
    elif worst.name == "data":
        advice = "take fewer rows, or float32"
    else:
        advice = "use landmarks, fewer rows, or a method with a sparse kernel such as LaplacianEigenmaps"
    return f"{needs}; {advice}, or raise the budget with lowfold.set_config(memory=...) or --memory"


__all__ = ["Plan", "Stage", "plan"]
