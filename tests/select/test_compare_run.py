"""Methods in processes of their own: what each took is its own, and one that takes too much is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.select.comparison_models import Complainer, Crasher, Eater, Sleeper, Thrower

import lowfold
from lowfold.select._compare_run import shown_words

pytestmark = pytest.mark.timeout(120)  # every method starts an interpreter

ROOT = Path(__file__).resolve().parents[2]


def data(n: int = 1600) -> Any:
    return np.random.default_rng(0).normal(size=(n, 3))


@pytest.mark.slow
def test_each_misfortune_is_a_row_and_the_others_go_on() -> None:
    told: list[str] = []
    found = lowfold.compare(
        data(),
        [Sleeper(), Crasher(), Complainer(), Thrower(), "isomap"],
        budget=6.0,  # seconds: Isomap keeps to it on a loaded machine, too
        diagnose=False,
        progress=lambda row: told.append(row.name),
    )
    assert told == ["Sleeper", "Crasher", "Complainer", "Thrower", "Isomap"]
    assert found["Sleeper"].status == "over budget"
    assert "longer than 6 seconds" in found["Sleeper"].reason
    assert (found["Crasher"].status, found["Crasher"].reason) == ("failed", "its process ended with code 3")
    assert found["Complainer"].reason == "no such file: data.csv"
    assert found["Complainer"].warnings == ("the weather",)
    assert found["Thrower"].done
    assert "ran in this one" in found["Thrower"].notes[0]
    assert found["Thrower"].memory_mb is None
    isomap = found["Isomap"]
    assert isomap.done
    assert np.array_equal(isomap.embedding, lowfold.Isomap(2).fit_transform(data()))
    assert isomap.seconds > 0
    assert isomap.cpu_seconds > 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory of processes is read from /proc")
def test_memory_is_measured_and_limited() -> None:
    found = lowfold.compare(data(1600), [Eater(), "classical-mds"], memory="900MB", budget=30, diagnose=False)
    assert found["Eater"].status == "over memory"
    assert "more than the 900.0 MB allowed" in found["Eater"].reason
    # classical MDS holds the distances: 1600^2 doubles are 20 MB
    assert 15 < found["ClassicalMDS"].memory_mb < 200


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.usefixtures("heard")
def test_ctrl_c_ends_the_children_too(tmp_path: Path) -> None:
    """In a script without `if __name__ == "__main__"`, which must work as well."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import numpy as np, lowfold
            from tests.select.comparison_models import Sleeper
            X = np.random.default_rng(0).normal(size=(1600, 3))
            print(lowfold.compare(X, ["pca"], diagnose=False), flush=True)
            lowfold.compare(X, [Sleeper({str(tmp_path / "pid")!r})], diagnose=False)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("method")
    child = _number(tmp_path / "pid")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) != 0
    process.stdout.close()
    for _ in range(100):
        if not _runs(child):
            break
        time.sleep(0.1)
    assert not _runs(child)


def _number(file: Path) -> int:
    for _ in range(600):
        if file.exists() and file.read_text():
            return int(file.read_text())
        time.sleep(0.1)
    raise AssertionError("the child never started")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # one that has ended but was not yet collected does not run
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("at /a/b/c.py: no", "at c.py: no"),
        ("C:\\Users\\me\\x.csv is gone", "x.csv is gone"),
        ("1/2 and a/b stay", "1/2 and a/b stay"),
        ("see doi.org/10.1/x and https://a.org/b/c", "see doi.org/10.1/x and https://a.org/b/c"),
    ],
)
def test_no_folders_in_what_is_shown(given: str, shown: str) -> None:
    assert shown_words(given) == shown


@pytest.mark.slow
@pytest.mark.extra("umap", "pacmap")
@pytest.mark.timeout(600)
def test_umap_and_pacmap_take_part() -> None:
    roll = lowfold.datasets.swiss_roll(300, random_state=0)
    found = lowfold.compare(roll.X, ["umap", "pacmap", "pca"], n_neighbors=8, budget=300, diagnose=False)
    for name in ("UMAP", "PaCMAP"):
        assert found[name].done, found[name].reason
        assert found[name].params["n_neighbors"] == 8
        assert found[name]["trustworthiness"] > 0.9


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_usual_methods_all_finish() -> None:
    roll = lowfold.datasets.swiss_roll(400, random_state=0)
    found = lowfold.compare(roll.X, budget=300, truth=roll.coordinates, tune=False)
    assert [row.name for row in found if not row.done] == []
    assert found.settings["default_methods"]
