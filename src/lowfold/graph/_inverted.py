"""Approximate neighbours by FAISS's inverted lists (extra `ann`): of an array, and of rows in blocks.

An inverted file gives the same answer with any number of threads; graph indices do not. Distances are computed anew by
direct differences, and the recall is measured on a sample of rows against an exact search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowfold._core.extras import load_extra
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress, resolve_jobs
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import LOOPS, RECALL, Found, exact_rows, own_rows, sorted_rows

MEASURED = 200  # rows whose neighbours are searched exactly, to know the recall
TRAINED = 64  # rows of the sample for every list that is made of it
PROBED = 32  # one list in so many is looked at first; twice as many until the recall is reached


def shared_part(found: Ints, truth: Ints) -> float:
    """The recall: the mean share of the true neighbours that were found."""
    return float(np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, truth, strict=True)]))


def approximate(F: AnyFloats, Q: AnyFloats, k: int, itself: bool, run: Run, progress: Progress) -> Found:
    """Approximate: an inverted file with exact distances inside, as many lists as 95% recall on a sample takes.

    The recall is measured on 200 rows against an exact search and returned. An inverted file gives the same answer with
    any number of threads; graph indices do not.
    """
    faiss = load_extra("faiss", "ann", "search='faiss'")
    n, D = F.shape
    centre = F.mean(axis=0, dtype=np.float64)
    data = np.ascontiguousarray(F - centre, dtype=np.float32)
    queries = data if itself else np.ascontiguousarray(Q - centre, dtype=np.float32)
    lists = max(1, int(np.sqrt(n)))
    inverted = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    inverted.cp.seed, inverted.cp.min_points_per_centroid = 1234, 1
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    inverted.train(data)
    inverted.add(data)
    own = own_rows(n, len(Q), itself)
    sample = np.random.default_rng(0).choice(len(Q), min(MEASURED, len(Q)), replace=False)
    truth = exact_rows(F, Q, sample, own, k, run)[1]
    inverted.nprobe, recall = max(1, lists // PROBED), 0.0
    while True:
        _, index = _candidates(inverted, F, Q, queries, sample, own, k)
        recall = shared_part(index, truth)
        if recall >= RECALL or inverted.nprobe >= lists:
            break
        inverted.nprobe = min(lists, 2 * inverted.nprobe)
    squared, index = _candidates(inverted, F, Q, queries, np.arange(len(Q)), own, k)
    short = np.flatnonzero(~np.isfinite(squared).all(axis=1))
    if len(short):
        squared[short], index[short] = exact_rows(F, Q, short, own, k, run)
    progress(1.0)
    return squared, index, recall


def _candidates(
    inverted: Any, F: AnyFloats, Q: AnyFloats, queries: AnyFloats, rows: Ints, own: Ints, k: int
) -> tuple[Floats, Ints]:
    """What the index finds for some rows, with distances recomputed; inf where it found fewer than k."""
    _, found = inverted.search(queries[rows], min(len(F), k + 1))
    return _recomputed(found, F, Q[rows], own[rows], k)


def _recomputed(found: Ints, F: AnyFloats, Q: AnyFloats, own: Ints, k: int) -> tuple[Floats, Ints]:
    """Candidates sorted by their distances, computed by direct differences; inf for the point itself and for none."""
    missing = found < 0
    found[missing] = 0
    squared = np.empty(found.shape)
    compiled(LOOPS).candidate_distances(Q, F, found, squared)
    squared[missing | (found == own[:, None])] = np.inf
    squared, index = sorted_rows(squared, found)
    return squared[:, :k].copy(), index[:, :k].copy()


class Lists(NamedTuple):
    """Inverted lists without their content: the centre of the rows, that of every list, how many to look at."""

    centre: Floats
    centroids: AnyFloats
    probes: int


def trained_lists(sample: AnyFloats, n: int, run: Run) -> Lists:
    """Lists for n rows, by k-means of a sample of them."""
    faiss = load_extra("faiss", "ann", "search='faiss'")
    centre = sample.mean(axis=0, dtype=np.float64)
    lists = max(1, min(int(np.sqrt(n)), len(sample)))
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    means = faiss.Kmeans(sample.shape[1], lists, niter=10, seed=1234, min_points_per_centroid=1)
    means.train(np.ascontiguousarray(sample - centre, dtype=np.float32))
    return Lists(centre, np.asarray(means.centroids), max(1, lists // PROBED))


def _filled(lists: Lists, F: AnyFloats, run: Run) -> Any:
    """The index of one block."""
    faiss = load_extra("faiss", "ann", "search='faiss'")
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    count, D = lists.centroids.shape
    quantizer = faiss.IndexFlatL2(D)
    quantizer.add(lists.centroids)
    inverted = faiss.IndexIVFFlat(quantizer, D, count)
    inverted.add(np.ascontiguousarray(F - lists.centre, dtype=np.float32))
    return inverted


def found_in_lists(
    lists: Lists, F: AnyFloats, Q: AnyFloats, own: Ints, k: int, probes: tuple[int, ...], run: Run
) -> list[tuple[Floats, Ints]]:
    """For every number of lists looked at: the k nearest of F that were found; inf where there are fewer."""
    inverted = _filled(lists, F, run)
    queries = np.ascontiguousarray(Q - lists.centre, dtype=np.float32)
    out = []
    for inverted.nprobe in probes:
        _, found = inverted.search(queries, k + 1)
        out.append(_recomputed(found, F, Q, own, k))
    return out
