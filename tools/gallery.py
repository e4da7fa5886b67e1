"""Run every examples/plot_*.py and bind their pictures and docstrings into one page.

    python tools/gallery.py --out gallery [name ...]

Each script runs alone, in its own process, with `--out <gallery>/<its name>`; whatever it writes there is shown.
"""

from __future__ import annotations

import argparse
import ast
import html
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {".png", ".svg", ".gif", ".jpg"}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
nav a { margin-right: 1rem; white-space: nowrap }
article { border-top: 1px solid #ddd; margin-top: 2.5rem; padding-top: 1rem }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0 }
pre { background: #f6f6f4; padding: 1rem; overflow-x: auto; font-size: 13px }
p { white-space: pre-line }
"""


@dataclass(frozen=True)
class Page:
    """One example: its script, what it wrote and how long it took."""

    script: Path
    folder: Path
    seconds: float

    @property
    def docstring(self) -> str:
        """The module docstring; the first line is the title."""
        return ast.get_docstring(ast.parse(self.script.read_text(encoding="utf-8"))) or self.script.stem

    @property
    def title(self) -> str:
        """The docstring's first line, without its full stop."""
        return self.docstring.partition("\n")[0].rstrip(".")


def run(script: Path, folder: Path) -> Page:
    """Run one script; an error is shown with the script's own words and ends the gallery."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, script, "--out", folder],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{script.name} failed:\n{done.stdout}{done.stderr}")
    if not any(folder.iterdir()):
        sys.exit(f"{script.name} wrote nothing into the folder that --out names")
    return Page(script, folder, time.perf_counter() - start)


def article(page: Page, out: Path) -> str:
    """One example as HTML: title, text, pictures, links to other files, the script itself."""
    files = sorted(page.folder.iterdir())
    link = [f.relative_to(out).as_posix() for f in files]
    shown = [
        f'<img src="{src}" alt="{html.escape(page.title)}">' for f, src in zip(files, link) if f.suffix in PICTURES
    ]
    other = [f'<li><a href="{src}">{f.name}</a></li>' for f, src in zip(files, link) if f.suffix not in PICTURES]
    text = page.docstring.partition("\n")[2].strip()
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in text.split("\n\n") if part)
    source = html.escape(page.script.read_text(encoding="utf-8"))
    return (
        f'<article id="{page.script.stem}"><h2>{html.escape(page.title)}</h2>{paragraphs}'
        f"{''.join(shown)}{'<ul>' + ''.join(other) + '</ul>' if other else ''}"
        f"<details><summary>{page.script.name}, {page.seconds:.1f} s</summary><pre>{source}</pre></details></article>"
    )


def index(pages: list[Page], out: Path) -> str:
    """The whole page."""
    menu = "".join(f'<a href="#{page.script.stem}">{html.escape(page.title)}</a>' for page in pages)
    body = "\n".join(article(page, out) for page in pages)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>lowfold gallery</title><style>{STYLE}</style></head>\n"
        f"<body><h1>lowfold gallery</h1><nav>{menu}</nav>\n{body}\n</body></html>\n"
    )


def main() -> None:
    """Read the command line, run the scripts, write the page and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    parser.add_argument("--examples", type=Path, default=ROOT / "examples", help="where the scripts are")
    parser.add_argument("names", nargs="*", help="only these, as in: plot_swiss_roll")
    given = parser.parse_args()

    scripts = sorted(given.examples.glob("plot_*.py"))
    if given.names:
        scripts = [script for script in scripts if script.stem in given.names]
    if not scripts:
        sys.exit(f"no example to run: {given.examples} has no plot_*.py of that name")
    out = given.out.resolve()
    pages = []
    for script in scripts:
        pages.append(run(script, out / script.stem))
        print(f"{script.stem}: {pages[-1].seconds:.1f} s")
    (out / "index.html").write_text(index(pages, out), encoding="utf-8")
    print(f"gallery: {given.out / 'index.html'}")


if __name__ == "__main__":
    main()
