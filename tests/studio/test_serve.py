"""The public function: what it refuses before it listens, and that loading it is light."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from lowfold._core.errors import InvalidInput, MissingExtra
from lowfold.studio import studio


@pytest.mark.extra("starlette", "uvicorn", "websockets")
@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("none.csv", {}, "there is no such file"),
        (None, {"port": 70000}, "port must lie in"),
        (None, {"host": "0.0.0.0"}, "host must be the address"),
        (None, {"memory": "much"}, "memory must be"),
    ],
)
def test_what_cannot_be_served_is_refused(file: str | None, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        studio(file, open_browser=False, **options)


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(MissingExtra, match=r"lowfold\[studio\]"):
        studio()


def test_loading_it_loads_nothing_heavy() -> None:
    heavy = ("sklearn", "numba", "scipy", "starlette", "uvicorn", "matplotlib")
    code = f"import sys, lowfold.studio; print(*[name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
