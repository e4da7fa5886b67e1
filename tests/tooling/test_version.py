"""The version stands once, in `_version.py`; what repeats it is compared with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import lowfold
from lowfold._core.versions import versions

ROOT = Path(__file__).resolve().parents[2]


def test_the_build_reads_the_file() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in settings["project"]
    file = ROOT / settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{lowfold.__version__}"' in file.read_text(encoding="utf-8")


def test_the_citation_names_it() -> None:
    found = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert found == [lowfold.__version__]


def test_bug_reports_name_the_sources_and_not_the_installation() -> None:
    assert versions()["lowfold"] == lowfold.__version__


def test_a_release_has_its_changes() -> None:
    """Headings are "Unreleased" or "1.2.3 (2026-01-31)", newest first, and none is newer than the version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line for line in re.findall(r"^## (.+)$", text, re.MULTILINE) if line != "Unreleased"]
    found = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}-\d{2}\)", heading) for heading in headings]
    assert all(found), headings
    releases = [tuple(map(int, match.groups())) for match in found if match]
    assert releases == sorted(releases, reverse=True)
    assert releases[:1] <= [tuple(map(int, lowfold.__version__.split(".")[:3]))]
