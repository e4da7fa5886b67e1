"""Documents by their words, never made dense. Bingham & Mannila (2001), doi:10.1145/502512.502546; Wang (2012),
Section 7.4.2.

texts --count--> sparse rows --tf-idf, unit length--> T --random projection--> few hundred columns --method--> plane

Rows of unit length: Euclidean distance is 2 sin(angle / 2). What the projection changed is measured on random pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int, Null, check_limits
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold.apps._models import model_of
from lowfold.datasets._read_text import Stemmer, StopWords, _counter
from lowfold.methods.random_projection import RandomProjection

PAIRS = 2000  # random pairs on which the projection is measured


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents as points.

    coordinates   (n, d), rows of documents that hold no counted term are left out: `rows` says which are here
    rows          row numbers of the documents that were given
    tfidf         (n, terms) sparse, rows of unit length
    terms         of its columns
    projected     (n, m) what the method saw; None where it saw tfidf itself
    ratio         mean and standard deviation of projected over true distance, of random pairs; (1, 0) unprojected
    model         the fitted method
    """

    coordinates: Floats
    rows: Ints
    tfidf: csr_array
    terms: NDArray[np.str_]
    projected: Floats | None
    ratio: tuple[float, float]
    model: Any

    __repr__ = brief

    def similar(self, i: int, n: int = 5) -> list[tuple[int, float]]:
        """The n documents with the smallest angle to document i (a row number as given), and the cosines."""
        place = np.flatnonzero(self.rows == i)
        if not len(place):
            raise InvalidInput(f"document {i} holds no counted term, or was not given; there are {len(self.rows)}")
        row = self.tfidf[[int(place[0])]]
        cosines = np.asarray((self.tfidf @ row.T).todense()).ravel()
        cosines[place[0]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(n, len(cosines) - 1)]
        return [(int(self.rows[j]), float(cosines[j])) for j in best]

    def topics(self, labels: ArrayLike, n: int = 8) -> dict[str, list[str]]:
        """For each group of documents the terms that weigh most in its mean over the mean of all."""
        groups = np.asarray(labels)
        if groups.shape != (len(self.rows),):
            raise InvalidInput(f"labels must have one entry per document here, {len(self.rows)}; got {groups.shape}")
        overall = np.asarray(self.tfidf.mean(axis=0)).ravel()
        found = {}
        for group in np.unique(groups):
            mean = np.asarray(self.tfidf[np.flatnonzero(groups == group)].mean(axis=0)).ravel()
            found[str(group)] = [str(term) for term in self.terms[np.argsort(-(mean - overall), kind="stable")[:n]]]
        return found


def embed_documents(
    documents: Sequence[str] | Any,
    method: Any = "LaplacianEigenmaps",
    n_components: int = 2,
    *,
    project: int | None = 300,
    stop_words: StopWords = "english",
    stem: Stemmer = None,
    max_terms: int | None = None,
    terms: Sequence[str] | None = None,
    random_state: Any = 0,
    **parameters: Any,
) -> Documents:
    """Place documents so that those with the same words are near.

    Parameters
    ----------
    documents : texts, or a sparse matrix of counts (n, terms).
    method : name or model.
    project : int or None, columns of the random projection. None gives the sparse rows to the method itself, which has
        to take them (RandomProjection does).
    stop_words, stem, max_terms : as in `lowfold.datasets.term_frequencies`.
    terms : names of the columns of a matrix of counts.
    parameters : of the method, where it is a name.

    Examples
    --------
    >>> import lowfold
    >>> texts = [f"{a} {b} and {a}" for a in ("cat dog", "star moon") for b in ("house", "night", "field", "sky")]
    >>> found = lowfold.apps.embed_documents(texts, "PCA", project=6)
    >>> sorted(int(i) for i, _ in found.similar(0, 3))
    [1, 2, 3]
    """
    check_limits("embed_documents", {"project": project}, {"project": (Int(1), Null("no projection"))})
    counts, names = _counts(documents, stop_words, stem, max_terms, terms)
    rows = np.flatnonzero(np.diff(counts.indptr) > 0)
    if len(rows) < 3:
        raise InvalidInput(f"at least 3 documents with counted terms are needed; there are {len(rows)}")
    T = _tfidf(counts[rows])
    model = model_of(method, n_components, parameters)
    if project is None or project >= T.shape[1]:
        Y = model.fit_transform(T if project is None else T.toarray())
        return Documents(np.asarray(Y, dtype=np.float64), rows, T, names, None, (1.0, 0.0), model)
    P = np.asarray(RandomProjection(project, kind="sparse", random_state=random_state).fit_transform(T))
    Y = np.asarray(model.fit_transform(P), dtype=np.float64)
    return Documents(Y, rows, T, names, P, _ratio(T, P, random_state), model)


def _counts(
    documents: Any, stop_words: StopWords, stem: Stemmer, max_terms: int | None, terms: Sequence[str] | None
) -> tuple[csr_array, NDArray[np.str_]]:
    if hasattr(documents, "tocsr"):
        counts = csr_array(documents)
        if counts.nnz and counts.data.min() < 0:
            raise InvalidInput("counts of terms must be 0 or more")
        counts.eliminate_zeros()
        names = [f"term{i + 1}" for i in range(counts.shape[1])] if terms is None else list(terms)
        if len(names) != counts.shape[1]:
            raise InvalidInput(f"terms must have one name per column, {counts.shape[1]}; got {len(names)}")
        return counts, np.array(names, dtype=np.str_)
    if isinstance(documents, str):
        raise InvalidInput("documents must be a sequence of texts, not one text")
    counter = _counter(None, stop_words, stem, max_terms)
    try:
        counts = csr_array(counter.fit_transform(documents))
    except ValueError as error:
        raise InvalidInput(f"the terms cannot be counted: {error}; use stop_words=None or check the texts") from error
    return counts, np.asarray(counter.get_feature_names_out()).astype(np.str_)


def _tfidf(counts: csr_array) -> csr_array:
    """Counts times log((1 + n) / (1 + documents with the term)) + 1, rows of unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return csr_array(TfidfTransformer().fit_transform(counts.astype(np.float64)))


def _ratio(T: csr_array, P: Floats, random_state: Any) -> tuple[float, float]:
    rng = generator(random_state)
    i, j = rng.integers(len(P), size=(2, PAIRS))
    true = np.sqrt(np.asarray((T[i] - T[j]).power(2).sum(axis=1)).ravel())
    apart = true > 0
    ratio = np.linalg.norm(P[i] - P[j], axis=1)[apart] / true[apart]
    return (float(ratio.mean()), float(ratio.std())) if apart.any() else (1.0, 0.0)
