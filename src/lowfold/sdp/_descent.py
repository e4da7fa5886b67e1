"""Conjugate gradients on a factor Y whose springs are pulled by multipliers.

    phi(Y) = sum_e (lam_e c_e + rho c_e^2 / 2) - ||Y||^2,   c_e = ||y_i - y_j||^2 - s_e,   gradient 2 (L_w - I) Y

with w = lam + rho c. Along a direction phi is a quartic, whose best step is taken. Newton's method, which solves for
its directions, took twice the products: along the curved valley of stiff springs its full steps are not to be had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.types import Floats
from lowfold.sdp._edges import Edges
from lowfold.sdp._newton import Precondition, best_root

# A minimisation ends when its gradient promises less than this share of what the multipliers have gained by it, as
# Rockafellar (1976) allows. With 0.1 clouds in 20 columns take twice the rounds, with 0.01 images take longer.
ENOUGH = 0.03
LEAST = 5  # steps, before which the gradient of a start says little


@dataclass(frozen=True, eq=False)
class Pulled:
    """phi: multipliers `lam`, stiffness `rho`; what they gain is ||w - anchor||^2 / (2 soft)."""

    edges: Edges
    squared: Floats
    lam: Floats
    rho: float
    anchor: Floats
    soft: float

    def weights(self, d: Floats) -> Floats:
        return self.lam + self.rho * (d - self.squared)


@dataclass(frozen=True, eq=False)
class Reached:
    """Y, its squared distances d and the weights w."""

    Y: Floats
    d: Floats
    w: Floats


def descend(pulled: Pulled, start: Floats, precondition: Precondition, *, most: int, dtype: type) -> Reached:
    """At most so many steps from `start`, taken in `dtype`."""
    edges, rho = pulled.edges, pulled.rho
    d = edges.squares(start)
    Y: Floats = start.astype(dtype)
    x = former = np.zeros_like(Y)
    slope = 0.0
    for step in range(most):
        w = pulled.weights(d)
        gradient = 2 * (edges.laplacian(w).astype(dtype) @ Y - Y)
        gradient -= gradient.mean(axis=0)
        downhill = precondition(gradient)
        last, slope = slope, float(np.vdot(gradient, downhill))
        change = w - pulled.anchor
        if step >= LEAST and slope <= ENOUGH * float(change @ change) / (2.0 * pulled.soft):
            break
        turn = max(0.0, (slope - float(np.vdot(former, downhill))) / last) if last > 0 else 0.0  # Polak & Ribiere
        x = dtype(turn) * x - downhill
        if float(np.vdot(x, gradient)) >= 0:
            x = -downhill
        former = gradient
        b, q = edges.along(Y, x)
        yx, xx = float(np.vdot(Y, x)), float(np.vdot(x, x))
        curvature = float(w @ q) + 0.5 * rho * float(b @ b) - xx
        t = best_root(np.array([0.5 * rho * float(q @ q), rho * float(b @ q), curvature, float(w @ b) - 2.0 * yx, 0.0]))
        if t == 0.0:
            break
        Y = Y + dtype(t) * x
        d = d + t * b + t * t * q
    Y = Y.astype(np.float64)
    Y -= Y.mean(axis=0)
    d = edges.squares(Y)
    return Reached(Y, d, pulled.weights(d))
