"""tools/environment.py: when an environment counts as complete."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "environment.py"

PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "x"
dependencies = ["numpy>=1"]
[tool.ruff]
line-length = 120
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, working on a small project."""
    spec = importlib.util.spec_from_file_location("environment", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "constraints.txt").write_text("numpy==2.0\n")
    return module


@pytest.mark.parametrize(
    ("file", "old", "new", "installs"),
    [
        ("pyproject.toml", "120", "100", False),
        ("pyproject.toml", "numpy>=1", "numpy>=2", True),
        ("pyproject.toml", "hatchling", "hatchling>=1", True),
        ("constraints.txt", "2.0", "2.1", True),
    ],
)
def test_what_makes_it_install_again(tool: ModuleType, file: str, old: str, new: str, installs: bool) -> None:
    constraints = tool.ROOT / "constraints.txt"
    before = tool.digest(constraints)
    path = tool.ROOT / file
    path.write_text(path.read_text().replace(old, new))
    assert (tool.digest(constraints) != before) == installs


def test_a_moved_checkout_installs_again(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tool.digest(tmp_path / "constraints.txt")
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.setattr(tool, "ROOT", moved)
    assert tool.digest(tmp_path / "constraints.txt") != before


@pytest.mark.parametrize("words", [(), ("--", "-c", "import sys; sys.exit(3)", "--flag")])
def test_what_follows_two_dashes_is_run(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    asked = []
    monkeypatch.setattr(tool, "complete", lambda *given: asked.append(given) or Path(sys.executable))
    command = ["environment.py", ".venv", "--extras", "dev", "--constraints", "constraints.txt", *words]
    monkeypatch.setattr(sys, "argv", command)
    if words:
        with pytest.raises(SystemExit) as ended:
            tool.main()
        assert ended.value.code == 3
    else:
        tool.main()
    assert asked == [(tool.ROOT / ".venv", "dev", tool.ROOT / "constraints.txt")]


def test_an_interpreter_that_is_missing_or_not_of_this_folder_does_not_count(tool: ModuleType, tmp_path: Path) -> None:
    assert not tool.runs(tmp_path / "bin" / "python")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "python"
    script.write_text("#!/bin/sh\necho /elsewhere\n")
    script.chmod(0o755)
    assert not tool.runs(script)
