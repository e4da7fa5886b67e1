"""The command in a process of its own: pipes, signals, what is loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.timeout(60)  # a process of its own loads everything anew

COMMAND = [sys.executable, "-m", "lowfold"]


def run(*args: str, stdin: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *args], input=stdin, capture_output=True, text=True, check=False, cwd=cwd)


def test_a_pipe_through_standard_input_and_output() -> None:
    made = run("datasets", "swiss_roll", "--n", "80")
    assert made.returncode == 0
    done = run("embed", "-", "--method", "pca", "--out", "-", stdin=made.stdout)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pca0,pca1\n")
    assert np.loadtxt(done.stdout.splitlines()[1:], delimiter=",").shape == (80, 2)
    assert "PCA: 80 points" in done.stderr


@pytest.mark.parametrize("args", [["--help"], ["list"], ["--version"], ["versions"]])
def test_quick_commands_load_nothing_heavy(args: list[str]) -> None:
    heavy = ("sklearn", "numba", "pandas", "matplotlib", "scipy", "rich")
    code = (
        "import sys; from lowfold.cli import main; main(sys.argv[1:]); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_no_arguments_show_the_help() -> None:
    done = run()
    assert done.returncode in (0, 2)
    assert "Usage: lowfold" in done.stdout + done.stderr


def test_a_reader_that_stops_early_is_no_error_in_words(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "datasets", "swiss_roll", "--n", "50000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    process.wait(50)
    assert said == b""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.usefixtures("heard")
def test_ctrl_c_ends_with_130_and_leaves_no_file(tmp_path: Path) -> None:
    run("datasets", "swiss_roll", "--n", "6000", "--out", "roll.csv", cwd=tmp_path)
    process = subprocess.Popen(
        [*COMMAND, "embed", "roll.csv", "-m", "kernel-isomap", "--out", "out.csv", "--verbose"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    for line in process.stderr:  # the stages are shown, so the work has begun
        if "neighbours" in line:
            break
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait(50) == 130, rest
    assert rest.rstrip().endswith("lowfold: interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["roll.csv"]


def test_ctrl_c_inside_an_executed_text_keeps_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "from lowfold.cli import _deaf\n"
        "try:\n"
        "    exec('raise KeyboardInterrupt')\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
        "_deaf(True)\n"
        "raise SystemExit(130)\n"
    )
    assert subprocess.run([sys.executable, "-m", "ends"], cwd=tmp_path, check=False).returncode == 130
