"""What the workflows, the hooks and the documents call exists: they cannot be run by a test."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXTS = [*WORKFLOWS, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md"))]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_targets_that_are_named_exist(path: Path) -> None:
    commands = re.findall(
        r"(?:^ {4}|run: |`)make ((?:[A-Z]+=\S+ )*[a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    named = {command.split()[-1] for command in commands}
    assert named <= TARGETS, f"{path.name} names {named - TARGETS}"


def test_every_lane_of_test_all_runs_in_a_workflow() -> None:
    (lanes,) = re.findall(r"^test-all: ([a-z -]+?) ##", MAKEFILE, re.MULTILINE)
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for lane in lanes.split():
        assert re.search(rf"run: make {lane}\b", text), f"no workflow runs make {lane}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_calls_of_the_environment_tool_have_what_they_need(path: Path) -> None:
    for line in re.findall(r"run: python (tools/.+)", path.read_text(encoding="utf-8")):
        words = shlex.split(line.partition("${{")[0])
        for file in [word for word in words if word.endswith((".py", ".txt"))]:
            assert (ROOT / file).exists(), f"{path.name} names {file}"
        extras = words[words.index("--extras") + 1]
        assert re.search(rf"^{extras} = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_hooks_run_what_make_lint_runs() -> None:
    hooks = re.findall(r"entry: (.+)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    tools = {re.sub(r"^\.venv/bin/(python -m )?", "", hook).split(" -")[0] for hook in hooks}
    assert tools == {"ruff check", "ruff format", "mypy", "lint-imports"}
    for tool in tools:
        assert tool in MAKEFILE.partition("\nlint:")[2].partition("\n\n")[0]
