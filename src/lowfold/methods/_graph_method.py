"""Methods that start from neighbourhoods: their parameters, and the one way from data through the stage to a recipe."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold.graph._source import Blocks
from lowfold.methods._base import Check, Method, fewer_components_than_points
from lowfold.methods._fit import Connected, Data, Fit, Rules
from lowfold.methods._landmarks import NO_LANDMARKS, Landmarked, PartOf, alone, along, chooser, through_landmarks
from lowfold.methods._neighborhood import Asked, Needs, check_neighbors, connect
from lowfold.methods._normalize import LENGTHS, length_map
from lowfold.methods._parameters import Distances, Nearest, Solved
from lowfold.methods._pieces import embed_pieces
from lowfold.methods._placing.maps import Pieces
from lowfold.methods._telling import tell_lost, told_dependence
from lowfold.spectral._types import REPEATED


def neighbors_within_limits(method: Any, data: Data) -> None:
    """As many neighbours as the method needs and the points have."""
    check_neighbors(data, method._asked(), method._needs())


class GraphMethod(Nearest, Distances, Solved, Method):
    """Adds `n_neighbors_`, `component_labels_`, `bridges_`, `shortcuts_`; a method has `_needs` and a `_recipe`."""

    checks: ClassVar[tuple[Check, ...]] = (fewer_components_than_points, neighbors_within_limits)
    keeps_neighbors: ClassVar[bool] = False  # `neighbors_` is a fitted attribute
    charted: ClassVar[bool] = False  # landmarks are measured along the surface, by the tangent planes of all points
    per_component: ClassVar[int] = 0  # neighbours that the default has for every component
    ways_out: ClassVar[tuple[str, str] | None] = None  # of coordinates that hold a few points, and of repeated ones
    repeated: ClassVar[float] = REPEATED  # what the earlier coordinates tell of one that is called so
    per_point: ClassVar[tuple[str, ...]] = ()  # fitted attributes with a row per point: put together from the pieces
    of_largest: ClassVar[tuple[str, ...]] = ()  # arrays that every piece has for itself: those of the largest are kept

    @abstractmethod
    def _needs(self) -> Needs:
        """What the method needs of its neighbourhoods."""

    @abstractmethod
    def _recipe(self, data: Connected, run: Run) -> Fit:
        """The embedding of neighbourhoods that hang together: one statement per stage."""

    @final
    def _asked(self) -> Asked:
        return Asked(
            type(self).__name__,
            self.n_components,
            self.n_neighbors,
            self.radius,
            self.search,
            self.on_disconnected,
            self.on_shortcut,
            self.per_component,
        )

    @final
    def _embed(self, data: Data, run: Run) -> Fit:
        solve = partial(self._embed_all, self._asked(), self._needs())
        choose = chooser(self)
        if choose is None:
            return solve(data, run)
        return through_landmarks(data, choose, solve, self._check, run, self._part_of())

    @final
    def _part_of(self) -> PartOf:
        """How landmarks are taken out of all points."""
        if not self.charted or self.radius is not None:
            return alone
        return along(self.n_components)

    @final
    def _embed_all(self, asked: Asked, needs: Needs, data: Data, run: Run) -> Fit:
        near = connect(data, asked, needs, run)
        apart = near.labels.max(initial=0) > 0 and asked.on_disconnected in ("largest", "separate") and not needs.apart
        if apart and isinstance(near.source, Blocks):
            raise InvalidInput(
                f"X is in blocks, and on_disconnected={asked.on_disconnected!r} would bring the rows of a piece into "
                "memory; use 'connect', or more n_neighbors"
            )
        fit = embed_pieces(self, near, asked, needs, run) if apart else self._recipe(near, run)
        found: dict[str, Any] = {
            "n_neighbors_": near.n_neighbors,
            "component_labels_": near.labels,
            "bridges_": near.bridges,
            "shortcuts_": near.shortcuts,
        }
        if isinstance(self, Landmarked):
            found.update(NO_LANDMARKS)
        if self.ways_out is not None:
            shown = near.labels == 0 if apart else near.labels >= 0  # of pieces apart, the largest
            found["dependence_"], said = told_dependence(
                type(self).__name__,
                fit.coordinates[shown],
                self.ways_out,
                np.bincount(near.labels[shown]),
                run,
                self.repeated,
            )
            warned = len(near.shortcuts) > 0 and asked.on_shortcut == "warn"
            if not (said or warned or fit.doubtful or near.labels.any() or near.y is not None):
                tell_lost(type(self).__name__, fit.coordinates, near)
        if self.keeps_neighbors:
            found["neighbors_"] = near.neighbors
        if near.second is not None:
            found["class_neighbors_"] = near.second
        rules = Rules(needs.query_neighbors(asked, data.source, data.n), self.radius, self.search)
        lengths = length_map(fit.coordinates, near.graph) if self.normalization == LENGTHS else None
        return replace(fit, extra={**found, **fit.extra}, rules=rules, lengths=lengths)

    @final
    def _of_one_model(self, what: str) -> None:
        """Refuse what only a connected model of all points has."""
        if isinstance(getattr(self._extend, "extend", self._extend), Pieces):
            raise InvalidInput(
                f"{what} needs one model of all points; with on_disconnected={self.on_disconnected!r} each component "
                "has its own: fit the rows of one alone (component_labels_), or use on_disconnected='connect'"
            )


class WeightMethod(GraphMethod):
    """A method whose coordinates come from weights of neighbours, not from distances."""

    @property
    def explained_(self) -> None:
        """None: weights have no energy that coordinates could hold a share of, as distances have."""
        return
