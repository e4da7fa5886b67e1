"""What is in the tree: no big files, no traces of one machine, dependencies that agree with their pins."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1_000_000  # bytes

# Written with character classes so that this file does not match itself.
FORBIDDEN = {
    r"(?<![\w.])/(?:wor[k]|roo[t]|hom[e]|User[s]|op[t]/pypi)/": "a path of one machine",
    r"-(?:extra-)?index-ur[l]|fil[e]:///": "a package index of one machine",
    r"\b(?:le[v]|gj[v]):[A-Z]+\d+": "an id that readers cannot look up; cite the publication",
    r"\b(?:A\d{1,2}|C1[345]|CA)\.\d{2}\b(?!\d)": "an id that readers cannot look up; cite the publication",
}


def tree() -> list[Path]:
    """Every file that git has or would take; without git, everything outside hidden and generated folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        files = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        made = {"demo", "gallery", "build", "dist", "__pycache__"}
        files = [
            path
            for path in ROOT.rglob("*")
            if not any(part.startswith(".") or part in made for part in path.relative_to(ROOT).parts[:-1])
        ]
    return sorted(path for path in files if path.is_file())


def test_no_file_is_big() -> None:
    big = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in tree() if path.stat().st_size > LIMIT}
    assert not big, f"files over {LIMIT} bytes; make them when needed, or shrink them: {big}"


@pytest.mark.parametrize("pattern", FORBIDDEN, ids=lambda pattern: FORBIDDEN[pattern])
def test_no_traces_of_one_machine(pattern: str) -> None:
    found = []
    for path in tree():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # pictures and other data
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join([FORBIDDEN[pattern], *found])


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (0, "see /wor" + "k/main"),
        (0, "in /roo" + "t/.cache"),
        (1, "pip --index-ur" + "l x"),
        (2, "as le" + "v:B1 says"),
        (3, "A3." + "05"),
    ],
)
def test_the_patterns_match(pattern: int, line: str) -> None:
    assert re.search(list(FORBIDDEN)[pattern], line)


@pytest.mark.parametrize(
    "line", ["a/work/b", "https://a.org/home/x", "page A3.5", "x = A12.0", "https://doi.org/10.1/C13.055"]
)
def test_the_patterns_leave_ordinary_text_alone(line: str) -> None:
    assert not any(re.search(pattern, line) for pattern in FORBIDDEN)


def pins(name: str) -> dict[str, str]:
    """Package -> pinned version, of one constraints file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(package): version for package, version in pairs}


def canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def requirements() -> list[tuple[str, str, str]]:
    """(set, package, lower bound) of every dependency that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sets = {"core": project["dependencies"], **project["optional-dependencies"]}
    found = []
    for name, lines in sets.items():
        for line in lines:
            match = re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line)
            if match and name not in {"test", "browser", "lint", "dist", "bench", "peers", "fuzz", "docs", "compile"}:
                found.append((name, canonical(match[1]), match[2]))
    return found


@pytest.mark.parametrize(("extra", "package", "bound"), requirements())
def test_lowest_lane_tests_the_lower_bound(extra: str, package: str, bound: str) -> None:
    pinned = pins("constraints-lowest.txt").get(package, "")
    padded = [*bound.split("."), "0", "0"][:3]
    assert pinned.split(".")[:3] == padded, f"{package} of {extra}: {bound} promised, {pinned or 'nothing'} tested"


@pytest.mark.parametrize(("extra", "package", "bound"), requirements())
def test_every_dependency_is_pinned(extra: str, package: str, bound: str) -> None:
    assert package in pins("constraints.txt"), f"{package} of {extra} is missing in constraints.txt"
