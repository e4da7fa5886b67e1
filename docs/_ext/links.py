"""Every link between built pages is followed when the build ends: a missing file or place is a warning, so an error."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

log = logging.getLogger(__name__)


class Page(HTMLParser):
    """Where a page points to, and the places in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect identifiers, links and sources."""
        for name, value in attrs:
            if value and name == "id":
                self.places.add(value)
            if value and name in ("href", "src"):
                self.targets.append(value)


read = cache(Page)


def broken(path: Path) -> list[str]:
    """The links of one page that lead nowhere; those to other sites are not followed."""
    found = []
    for target in read(path).targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        missing = not file.exists() or (
            file.suffix == ".html" and parts.fragment and unquote(parts.fragment) not in read(file).places
        )
        if missing:
            found.append(target)
    return found


def follow(app: Any, error: Exception | None) -> None:
    """Check all pages of a build that went well."""
    if error is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    for path in sorted(out.rglob("*.html")):
        for target in broken(path) if "_static" not in path.parts else ():  # there: templates of the theme
            log.warning("%s: broken link %s", path.relative_to(out), target)


def setup(app: Any) -> dict[str, bool]:
    """Follow links when the pages are written."""
    app.connect("build-finished", follow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
