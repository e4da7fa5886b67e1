"""Documents by their words: neighbours, topics, distances after projection, and no dense matrix."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from lowfold._core.errors import InvalidInput
from lowfold.apps import embed_documents
from lowfold.quality import misclassification


def corpus(seed: int, n: int = 60, topics: int = 3) -> tuple[list[str], np.ndarray]:
    """Texts of common words and of words of their topic, with Zipf's frequencies."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("bcdfghjklmnprstvwz"))
    words = ["".join(rng.choice(letters, 6)) for _ in range(120 * (topics + 1))]
    zipf = 1 / np.arange(1, 121)
    zipf /= zipf.sum()
    labels = np.arange(n) % topics
    texts = []
    for topic in labels:
        common = rng.choice(120, 60, p=zipf)
        own = 120 * (topic + 1) + rng.choice(120, 40, p=zipf)
        texts.append(" ".join(words[i] for i in np.concatenate([common, own])))
    return texts, labels


@pytest.mark.parametrize("method", ["LaplacianEigenmaps", "Isomap", "PCA"])
def test_topics_come_apart(method: str) -> None:
    texts, labels = corpus(1)
    more = {} if method == "PCA" else {"n_neighbors": 25}  # topics of 20 documents: more than that joins them
    found = embed_documents(texts, method, project=100, **more)
    assert found.projected is not None
    assert float(misclassification(found.coordinates, labels)) < 0.1
    assert abs(found.ratio[0] - 1) < 0.05
    assert found.ratio[1] < 0.15


def test_similar_documents_have_the_largest_cosines() -> None:
    texts, labels = corpus(2)
    found = embed_documents(texts, "PCA", project=50)
    cosines = (found.tfidf @ found.tfidf.T).toarray()
    assert np.allclose(np.diag(cosines), 1)
    np.fill_diagonal(cosines, -1)
    told = found.similar(7, 4)
    assert [i for i, _ in told] == np.argsort(-cosines[7])[:4].tolist()
    assert all(labels[i] == labels[7] for i, _ in told)


def test_topics_name_their_own_words() -> None:
    texts = ["apple pear apple plum", "pear plum cherry", "apple cherry plum"] * 3 + [
        "iron zinc",
        "zinc copper iron",
    ] * 4
    labels = np.array([0] * 9 + [1] * 8)
    found = embed_documents(texts, "PCA", project=5)
    named = found.topics(labels, 2)
    assert set(named["0"]) <= {"apple", "pear", "plum", "cherry"}
    assert set(named["1"]) == {"iron", "zinc"}


def test_empty_documents_are_left_out_and_told_by_rows() -> None:
    texts, _ = corpus(3, n=12)
    texts[4] = "the and of"
    found = embed_documents(texts, "PCA", project=10)
    assert found.rows.tolist() == [i for i in range(12) if i != 4]
    with pytest.raises(InvalidInput, match="document 4"):
        found.similar(4)


def test_a_large_matrix_of_counts_is_never_dense() -> None:
    rng = np.random.default_rng(0)
    S = csr_array(random_array((3000, 20_000), density=0.003, rng=rng))
    S.data = np.ceil(5 * S.data)
    tracemalloc.start()
    found = embed_documents(S, "PCA", project=64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.coordinates.shape == (3000, 2)
    assert peak < 0.2 * 8 * 3000 * 20_000
    assert abs(found.ratio[0] - 1) < 0.02


def test_without_projection_a_method_gets_the_sparse_rows() -> None:
    texts, _ = corpus(4)
    found = embed_documents(texts, "RandomProjection", 40, project=None)
    assert found.projected is None
    assert found.coordinates.shape == (60, 40)


def test_bad_input_ends_in_words() -> None:
    with pytest.raises(InvalidInput, match="not one text"):
        embed_documents("one text")
    with pytest.raises(InvalidInput, match="at least 3 documents"):
        embed_documents(["alpha beta", "gamma"], "PCA")
    with pytest.raises(InvalidInput, match="0 or more"):
        embed_documents(csr_array(-np.eye(5)), "PCA")
    with pytest.raises(InvalidInput, match="cannot be counted"):
        embed_documents(["the", "and", "of"], "PCA")
