"""Names as a user may type them: without regard to case, dashes, underscores and spaces."""

from __future__ import annotations

from collections.abc import Iterable

from lowfold._core.errors import InvalidInput


def plain(name: str) -> str:
    """The letters that count: 'laplacian-eigenmaps' is 'LaplacianEigenmaps'."""
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


def find_name(name: str, known: Iterable[str], what: str) -> str:
    """The one of `known` that is meant; `InvalidInput` with the nearest one where there is none.

    >>> find_name("laplacian-eigenmaps", ["Isomap", "LaplacianEigenmaps"], "method")
    'LaplacianEigenmaps'
    """
    by_plain = {plain(one): one for one in known}
    if plain(name) in by_plain:
        return by_plain[plain(name)]
    import difflib

    near = difflib.get_close_matches(plain(name), by_plain, n=1, cutoff=0.6)
    hint = f"did you mean {by_plain[near[0]]}? " if near else ""
    raise InvalidInput(f"there is no {what} {name!r}; {hint}there are {', '.join(by_plain.values())}")
