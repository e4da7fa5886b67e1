"""Approximate neighbours by FAISS's inverted lists (extra `ann`): of an array, and of rows in blocks.

An inverted file gives the same answer with any number of threads; graph indices do not. Distances are computed anew by
direct differences, and the recall is measured on a sample of rows against an exact search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.extras import load_extra
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress, block_slices, resolve_jobs
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import LOOPS, RECALL, Found, exact_rows, own_rows, sorted_rows

MEASURED = 200  # rows whose neighbours are searched exactly, to know the recall
TRAINED = 64  # rows of the sample for every list that is made of it
AT_ONCE = 100_000  # rows that are copied for FAISS at a time


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
    lists = max(1, int(np.sqrt(n)))
    inverted = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    inverted.cp.seed, inverted.cp.min_points_per_centroid = 1234, 1
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    rng = np.random.default_rng(0)
    trained = np.sort(rng.choice(n, min(n, inverted.cp.max_points_per_centroid * lists), replace=False))
    inverted.train(_single(F[trained], centre))
    for part in block_slices(n, AT_ONCE):
        inverted.add(_single(F[part], centre))
    own = own_rows(n, len(Q), itself)
    sample = rng.choice(len(Q), min(MEASURED, len(Q)), replace=False)
    truth = exact_rows(F, Q, sample, own, k, run)[1]
    for inverted.nprobe in ladder(lists):
        _, index = _candidates(inverted, F, Q[sample], centre, own[sample], k)
        recall = shared_part(index, truth)
        if recall >= RECALL:
            break
    squared, index = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int32)
    for part in block_slices(len(Q), AT_ONCE):
        squared[part], index[part] = _candidates(inverted, F, Q[part], centre, own[part], k)
        progress(part.stop / len(Q))
    short = np.flatnonzero(~np.isfinite(squared).all(axis=1))
    if len(short):
        squared[short], index[short] = exact_rows(F, Q, short, own, k, run)
    return squared, index, recall


def ladder(lists: int) -> tuple[int, ...]:
    """Numbers of lists to look at: one, each twice the former, the last all of them."""
    steps = [1]
    while steps[-1] < lists:
        steps.append(min(2 * steps[-1], lists))
    return tuple(steps)


def _single(F: AnyFloats, centre: Floats) -> AnyFloats:
    """Rows as FAISS takes them."""
    return np.ascontiguousarray(F - centre, dtype=np.float32)


def _candidates(inverted: Any, F: AnyFloats, Q: AnyFloats, centre: Floats, own: Ints, k: int) -> tuple[Floats, Ints]:
    """What the index finds for some rows, with distances recomputed; inf where it found fewer than k."""
    _, found = inverted.search(_single(Q, centre), min(len(F), k + 1))
    return _recomputed(found, F, Q, own, k)


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
    """Inverted lists without their content: the centre of the rows, that of every list, how many to look at.

    near    the lists to look at for every row, nearest first, where they are known: (n, probes)
    """

    centre: Floats
    centroids: AnyFloats
    probes: int = 1
    near: NDArray[np.int32] | None = None

    def of(self, start: int, rows: AnyFloats) -> NDArray[np.int32]:
        """The lists to look at for a block of rows."""
        return nearest_lists(rows, self) if self.near is None else self.near[start : start + len(rows)]


def trained_lists(sample: AnyFloats, n: int, run: Run) -> Lists:
    """Lists for n rows, by k-means of a sample of them."""
    faiss = load_extra("faiss", "ann", "search='faiss'")
    centre = sample.mean(axis=0, dtype=np.float64)
    lists = max(1, min(int(np.sqrt(n)), len(sample)))
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    means = faiss.Kmeans(sample.shape[1], lists, niter=10, seed=1234, min_points_per_centroid=1)
    means.train(_single(sample, centre))
    return Lists(centre, np.asarray(means.centroids))


def _centres(lists: Lists) -> Any:
    faiss = load_extra("faiss", "ann", "search='faiss'")
    quantizer = faiss.IndexFlatL2(lists.centroids.shape[1])
    quantizer.add(lists.centroids)
    return quantizer


def nearest_lists(F: AnyFloats, lists: Lists) -> NDArray[np.int32]:
    """The lists whose centres are nearest to every row."""
    near: NDArray[np.int32] = _centres(lists).search(_single(F, lists.centre), lists.probes)[1].astype(np.int32)
    return near


def found_in_lists(
    lists: Lists, F: AnyFloats, start: int, Q: AnyFloats, near: NDArray[np.int32], own: Ints, k: int, run: Run
) -> Callable[[int], tuple[Floats, Ints]]:
    """Of how many lists `near` every query to look at: the k nearest of F, a block, in them; inf for missing ones."""
    faiss = load_extra("faiss", "ann", "search='faiss'")
    faiss.omp_set_num_threads(resolve_jobs(run.n_jobs))
    count, D = lists.centroids.shape
    inverted = faiss.IndexIVFFlat(_centres(lists), D, count)
    data, home = _single(F, lists.centre), np.ascontiguousarray(lists.of(start, F)[:, 0], dtype=np.int64)
    inverted.add_core(len(data), faiss.swig_ptr(data), None, faiss.swig_ptr(home))
    queries = _single(Q, lists.centre)

    def found(probes: int) -> tuple[Floats, Ints]:
        inverted.nprobe = probes
        asked = np.ascontiguousarray(near[:, :probes], dtype=np.int64)
        # distances to the centres, which lists of the vectors themselves have no use for
        unused = np.zeros(asked.shape, dtype=np.float32)
        _, index = inverted.search_preassigned(queries, k + 1, asked, unused)
        return _recomputed(index, F, Q, own, k)

    return found
