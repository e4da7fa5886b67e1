"""Tables for notebooks: `_repr_html_` of results that `print` shows as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

CELL = "text-align:left;vertical-align:top;white-space:normal"


def html_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", notes: Iterable[str] = ()
) -> str:
    """A table with a title above and notes below; every text is escaped, line breaks are kept."""
    head = "".join(f'<th style="{CELL}">{_text(word)}</th>' for word in header)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{_text(word)}</td>' for word in row) + "</tr>" for row in rows)
    caption = f"<p><b>{_text(title)}</b></p>" if title else ""
    below = "".join(f"<p>{_text(note)}</p>" for note in notes if note)
    return f"<div>{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _text(words: str) -> str:
    return escape(words).replace("\n", "<br>")
