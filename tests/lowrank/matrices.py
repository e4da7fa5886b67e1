"""Matrices with known singular values, and the hard cases."""

from __future__ import annotations

import numpy as np


def with_singular_values(sigma, m, n, seed=0):
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.standard_normal((m, len(sigma))))
    V, _ = np.linalg.qr(rng.standard_normal((n, len(sigma))))
    return (U * sigma) @ V.T


def with_eigenvalues(values, n, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))
    full = np.zeros(n)
    full[: len(values)] = values
    return (Q * full) @ Q.T


def kahan(n, theta=1.2, c=None):
    """Kahan's matrix: pivoted QR makes no exchange on it and misses its rank."""
    s = np.sin(theta)
    c = np.cos(theta) if c is None else c
    return np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def gap_matrix(m, n, d, small, seed=0):
    """d singular values between 1 and 3, the others between small / 10 and small."""
    rng = np.random.default_rng(seed)
    sigma = np.concatenate([np.linspace(3, 1, d), np.sort(rng.uniform(small / 10, small, n - d))[::-1]])
    return with_singular_values(sigma, m, n, seed), sigma
