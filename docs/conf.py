"""Settings of Sphinx. `make docs` builds without network and without a warning; pages open from the disk."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]  # what makes pages, and `figures`

from lowfold import __version__  # noqa: E402 # after the path is set

project = "lowfold"
author = "The lowfold developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "mathml", "pages", "links"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext", "generated/cache"]
nitpicky = True
smartquotes = False  # X' is the transpose, not a quotation
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = f"lowfold {version}"
html_static_path = ["_static"]
html_css_files = ["lowfold.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
# A page without pages below it has nothing to show at the side.
ALONE = "index start which coming-from theory memory gpu studio search genindex"
ALONE_MADE = ("failures", "benchmarks", "truth")
html_sidebars = {name: [] for name in [*ALONE.split(), *(f"generated/{name}" for name in ALONE_MADE)]}
