"""Docstrings as Markdown: plain text in NumPy's sections, not markup, so everything outside code is escaped."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from numpydoc.docscrape import NumpyDocString

SPECIAL = re.compile(r"([\\*_|<>\[\]$#~^{}&])")
LIST_MARK = re.compile(r"^(\s*)([-+]|\d+\.)(\s)", re.MULTILINE)


def escape(text: str) -> str:
    """The text as Markdown that shows it as it is; `code` in single backticks stays code."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\1", part) for part in parts)


def paragraphs(text: str) -> str:
    """Running text escaped; indented blocks and doctests as code."""
    return "\n\n".join(_block(part) for part in re.split(r"\n\s*\n", inspect.cleandoc(text)) if part.strip())


def _block(part: str) -> str:
    if part.lstrip().startswith(">>>"):
        return fenced(part, "python")
    if part.startswith("    ") or "-->" in part:
        return fenced(inspect.cleandoc(part), "text")
    if LIST_MARK.search(part) or re.search(r"^\S+ {2,}\S", part, re.MULTILINE):  # lists, and two columns by spaces
        return fenced(part, "text")
    return escape(part)


def fenced(text: str, language: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the cells are Markdown already."""
    heading = list(header)
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("\n", " ") for cell in line) + " |" for line in lines)


def docstring(obj: Any) -> NumpyDocString:
    """The sections of an object's docstring."""
    return NumpyDocString(inspect.getdoc(obj) or "")


def body(doc: NumpyDocString) -> str:
    """Summary and description."""
    return paragraphs("\n".join(doc["Summary"]) + "\n\n" + "\n".join(doc["Extended Summary"]))


def fields(doc: NumpyDocString, section: str) -> str:
    """One section of names with types and words as a list of definitions; "" where there is none."""
    return "\n\n".join(_field(*entry) for entry in doc[section])


def _field(name: str, kind: str, words: list[str]) -> str:
    says = " ".join(line.strip() for line in words)
    term = " : ".join(part for part in (f"`{name}`" if name else "", escape(kind)) if part)
    return f"{term}\n: {escape(says) or '-'}"
