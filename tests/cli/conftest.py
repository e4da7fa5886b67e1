"""The command in this process: exit code, what it printed, what it told on the side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lowfold.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call
