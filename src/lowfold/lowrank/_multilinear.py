"""Multilinear PCA: one orthonormal matrix for each axis of a tensor, Lu, Plataniotis & Venetsanopoulos (2008),
doi:10.1109/TNN.2007.901277.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.lowrank._energy import dimension_by_energy
from lowfold.spectral._types import fix_signs


@dataclass(frozen=True, eq=False)
class Modes:
    """Matrices U_m (I_m, P_m) with orthonormal columns; `energies` is the scatter captured after each sweep."""

    matrices: tuple[Floats, ...]
    energies: tuple[float, ...]


def mode_product(T: Floats, matrices: tuple[Floats, ...], *, skip: int = -1) -> Floats:
    """T x_1 U_1' x_2 U_2' ...: each axis after the first (the samples) projected, all but number `skip`."""
    for axis, U in enumerate(matrices):
        if axis != skip:
            T = np.moveaxis(np.tensordot(T, U, axes=(axis + 1, 0)), -1, axis + 1)
    return T


def multilinear_axes(T: Floats, ranks: tuple[int, ...] | None, *, energy: float, max_iter: int, tol: float) -> Modes:
    """Maximise the scatter sum_i |core_i|^2 of centred tensors T (n, I_1, ..., I_M), one axis at a time, in rounds.

    The leading eigenvectors of the scatter of each unfolding start it; `ranks` None takes for each axis the fewest that
    keep the share `energy` there. The captured scatter never falls.
    """
    axes = range(T.ndim - 1)
    spectra = [_spectrum(T, axis) for axis in axes]
    if ranks is None:
        ranks = tuple(dimension_by_energy(np.maximum(values[::-1], 0.0), energy) for values, _ in spectra)
    matrices = tuple(fix_signs(vectors[:, ::-1][:, :rank]) for (_, vectors), rank in zip(spectra, ranks, strict=True))
    energies = [float(np.square(mode_product(T, matrices)).sum())]
    for _ in range(max_iter if T.ndim > 2 else 0):
        for axis in axes:
            _, vectors = _spectrum(mode_product(T, matrices, skip=axis), axis)
            turned = fix_signs(vectors[:, ::-1][:, : ranks[axis]])
            matrices = (*matrices[:axis], turned, *matrices[axis + 1 :])
        energies.append(float(np.square(mode_product(T, matrices)).sum()))
        if energies[-1] - energies[-2] <= tol * max(energies[-1], np.finfo(float).tiny):
            break
    return Modes(matrices, tuple(energies))


def _spectrum(T: Floats, axis: int) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and vectors of the sum over samples and all other axes of the outer products along one.

    Of an axis that is longer than there are such vectors, those of their span alone.
    """
    flat = np.moveaxis(T, axis + 1, -1).reshape(-1, T.shape[axis + 1])
    if len(flat) >= flat.shape[1]:
        return stacked_eigh(np.asarray(flat.T @ flat))
    Q, R = np.linalg.qr(flat.T)
    values, vectors = stacked_eigh(np.asarray(R @ R.T))
    return values, np.asarray(Q @ vectors)
