"""English inflections taken off: the first step of Porter's algorithm (1980), doi:10.1108/eb046814."""

from __future__ import annotations

import re

# a y after a consonant sounds as a vowel
VOWEL = re.compile(r"[aeiou]|(?<=[^aeiou])y")


def stem_english(word: str) -> str:
    """The word without plural, -ed and -ing.

    >>> [stem_english(w) for w in ("run", "runs", "running", "hopping", "hoping", "agreed", "ponies", "caress", "sing")]
    ['run', 'run', 'run', 'hop', 'hope', 'agree', 'poni', 'caress', 'sing']
    """
    if len(word) <= 2:
        return word
    return _terminal_y(_past_and_participle(_plural(word)))


def measure(stem: str) -> int:
    """How many times a vowel sequence is followed by a consonant sequence."""
    shape = "".join("v" if VOWEL.match(stem, i) else "c" for i in range(len(stem)))
    return len(re.findall("v+c+", shape))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and VOWEL.search(stem):
            return _restored(stem)
    return word


def _restored(stem: str) -> str:
    """What stood before -ed or -ing: conflat(ed) -> conflate, hopp(ing) -> hop, fil(ing) -> file."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and not VOWEL.match(stem, len(stem) - 1) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if measure(stem) == 1 and _short_ending(stem) else stem


def _short_ending(stem: str) -> bool:
    """Consonant, vowel, consonant at the end, the last not w, x or y."""
    if len(stem) < 3 or stem[-1] in "wxy":
        return False
    return [bool(VOWEL.match(stem, len(stem) - k)) for k in (3, 2, 1)] == [False, True, False]


def _terminal_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and VOWEL.search(word[:-1]) else word
