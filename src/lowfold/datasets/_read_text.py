"""Documents as vectors of term frequencies of unit length: count, filter, normalise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.file_words import refuse, require_room
from lowfold.datasets._file_table import Table
from lowfold.datasets._read_images import natural_key
from lowfold.datasets._unpack import check_encoding

StopWords = Literal["english"] | Iterable[str] | None
Stemmer = str | Callable[[str], str] | None
TOKEN = r"(?u)\b[^\W\d_]{2,}\b"  # words of two letters or more


def term_frequencies(
    documents: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    vocabulary: Sequence[str] | None = None,
    stop_words: StopWords = "english",
    stem: Stemmer = None,
    max_terms: int | None = None,
    source: str = "documents",
) -> Table:
    """Documents as rows x / ||x||, x_j the number of times that term j occurs.

    Documents in which nothing is left have no direction: they are dropped, and the notices say which.

    Parameters
    ----------
    names : of the documents, kept as label "document".
    vocabulary : the terms to count (as they are after stemming); None counts every term that occurs.
    stop_words : terms left out before stemming: "english", a list, or None.
    stem : a language, as "english", whose inflections are taken off (run, runs, running) by the Snowball stemmer
        (extra `text`), or a function from word to stem.
    max_terms : only the most frequent terms.
    """
    if isinstance(documents, str):
        raise InvalidInput("documents must be a sequence of texts, not one text")
    labels = [str(i) for i in range(len(documents))] if names is None else [str(name) for name in names]
    if len(labels) != len(documents):
        raise InvalidInput(f"names must have one entry per document; got {len(labels)} for {len(documents)}")
    counter = _counter(vocabulary, stop_words, stem, max_terms)
    try:
        counts = counter.fit_transform(documents)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise InvalidInput(f"{source}: the terms cannot be counted: {error}") from error
        refuse(source, "no terms are left in any document; use stop_words=None or check the texts")
    sums = np.asarray(counts.sum(axis=1)).ravel()
    kept = np.flatnonzero(sums > 0)
    if not len(kept):
        refuse(source, "no document holds any of the terms")
    require_room(source, 8 * len(kept) * counts.shape[1], f"{len(kept)} documents x {counts.shape[1]} terms")
    X = np.asarray(counts[kept].toarray(), dtype=np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    dropped = [labels[i] for i in np.flatnonzero(sums == 0)]
    notices = []
    if dropped:
        some = ", ".join(dropped[:10]) + (", ..." if len(dropped) > 10 else "")
        notices.append(f"{len(dropped)} empty documents were dropped: {some}")
    terms = [str(term) for term in counter.get_feature_names_out()]
    return Table(X, terms, {"document": np.array(labels)[kept]}, None, notices, source)


def read_documents(
    folder: str | Path,
    *,
    vocabulary: Sequence[str] | None = None,
    stop_words: StopWords = "english",
    stem: Stemmer = None,
    max_terms: int | None = None,
    encoding: str | None = None,
) -> Table:
    """Read every .txt file below a folder by `term_frequencies`; subfolders become the label "folder".

    encoding : of the texts, as "cp1252" or "latin-1"; None is UTF-8.
    """
    names, texts = read_texts(folder, encoding)
    table = term_frequencies(
        texts,
        names=names,
        vocabulary=vocabulary,
        stop_words=stop_words,
        stem=stem,
        max_terms=max_terms,
        source=str(folder),
    )
    parents = np.array([Path(name).parent.as_posix() for name in table.labels["document"].tolist()])
    if set(parents.tolist()) != {"."}:
        table.labels["folder"] = parents
    return table


def read_texts(folder: str | Path, encoding: str | None = None) -> tuple[list[str], list[str]]:
    """Names and texts of every .txt file below a folder, in natural order."""
    check_encoding(encoding)
    root = Path(folder)
    if not root.is_dir():
        refuse(folder, "there is no such folder")
    found = [file.relative_to(root).as_posix() for file in root.rglob("*.txt") if file.is_file()]
    if not found:
        refuse(folder, "no .txt files in this folder")
    names = sorted(found, key=natural_key)
    return names, [_text(root / name, encoding) for name in names]


def _text(file: Path, encoding: str | None) -> str:
    try:
        return file.read_bytes().decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"(byte {error.object[error.start]:#04x} at {error.start})"
        if encoding is not None:
            refuse(file, f"is no text in {encoding!r} {place}")
        refuse(file, f"is not UTF-8 text {place}; save it as UTF-8, or read texts of Windows with encoding='cp1252'")
    except OSError as error:
        refuse(file, f"cannot be read: {error.strerror or error}")


def _stemmer(stem: Stemmer) -> Callable[[str], str] | None:
    """The function from word to stem that is meant."""
    if stem is None or callable(stem):
        return stem
    languages = load_extra("snowballstemmer", "text", "stemming").algorithms()
    if stem not in languages:
        known = ", ".join(map(repr, languages))
        raise InvalidInput(f"stem must be one of {known}, a function from word to stem, or None; got {stem!r}")
    found: Callable[[str], str] = load_extra("snowballstemmer", "text", "stemming").stemmer(stem).stemWord
    return found


def _counter(vocabulary: Sequence[str] | None, stop_words: StopWords, stem: Stemmer, max_terms: int | None) -> Any:
    """A CountVectorizer whose analyser splits, drops stop words, then stems."""
    import re

    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    if isinstance(stop_words, str) and stop_words != "english":
        raise InvalidInput(f"stop_words must be 'english', a list of words or None; got {stop_words!r}")
    stops = ENGLISH_STOP_WORDS if stop_words == "english" else {word.lower() for word in stop_words or ()}
    shorten = _stemmer(stem)
    words = re.compile(TOKEN)

    def analyse(text: str) -> list[str]:
        terms = [word for word in words.findall(text.lower()) if word not in stops]
        return terms if shorten is None else [shorten(term) for term in terms]

    return CountVectorizer(analyzer=analyse, vocabulary=vocabulary, max_features=max_terms)
