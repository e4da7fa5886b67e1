"""The benchmark harness on toy cases and tiny sizes; no times are judged."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

TOY = """
from harness import Case, Side, Target

SIDES = (Side("ours", "ours"), Side("peer", "peer"), Side("broken", "broken"),
         Side("absent", "peer", skip="takes a year"))
CASES = (
    Case(name="toy-1", group="toy", n=100, data="swiss_roll", sides=SIDES, check="check", warm=10, repeat=2,
         target=Target(speedup=1e9, memory=1e12, at_most={"rows": 100}, at_least={"rows": 101})),
    Case(name="toy-2", group="toy", n=400, data="swiss_roll", sides=SIDES[:2], check="check", warm=0, repeat=1),
    Case(name="endless", group="endless", n=10, data="swiss_roll", sides=(Side("slow", "slow"),), check="check",
         timeout=1),
)

def ours(data): return lambda: len(data.X)
def peer(data): return lambda: sum(len(data.X) // len(data.X) for _ in data.X)
def broken(data): raise RuntimeError("no such luck")

def slow(data):
    import time
    return lambda: time.sleep(60)

def check(data, answer): return {"rows": float(answer)}
"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("harness", "report", "run", "data", "quality")
    return SimpleNamespace(**{name: importlib.import_module(name) for name in names})


def test_real_cases_are_whole(bench: SimpleNamespace) -> None:
    cases = bench.harness.load_cases()
    assert {"isomap-10k", "mds-10k", "le-100k", "search-784-70k"} <= {case.name for case in cases}
    for case in cases:
        assert case.sides[0].name.startswith("lowfold")
        assert hasattr(bench.data, case.data)
        assert case.quick <= case.n
        assert set(case.target.over) <= {side.name for side in case.sides}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TOY.replace('"toy-2"', '"toy-1"'), "twice: toy-1"),
        (TOY.replace('check="check"', 'check="missing"'), "toy-1 names missing"),
    ],
)
def test_wrong_tables_are_refused(bench: SimpleNamespace, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cases_toy.py").write_text(text)
    with pytest.raises(LookupError, match=words):
        bench.harness.load_cases(tmp_path)


def test_choose_by_word_glob_and_group(bench: SimpleNamespace) -> None:
    cases = bench.harness.load_cases()
    assert [c.name for c in bench.run.choose(cases, "isomap-10k")] == ["isomap-10k"]
    assert {c.name for c in bench.run.choose(cases, "isomap*")} == {
        *("isomap-10k", "isomap-20k", "isomap-50k"),
        *("isomap-50k-free", "isomap-100k-free", "isomap-200k-free"),
    }
    assert {c.group for c in bench.run.choose(cases, "le")} >= {"le"}
    assert bench.run.choose(cases, None) == cases


def test_list_and_no_match(bench: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run.main(["--list"]) == 0
    assert "isomap-10k" in capsys.readouterr().out
    assert bench.run.main(["--only", "nothing-like-it"]) == 2


def test_every_outcome_is_a_row(bench: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cases_toy.py").write_text(TOY)
    out = tmp_path / "out"
    assert bench.run.main(["--cases", str(tmp_path), "--out", str(out)]) == 1  # our side of "endless" never ends
    result = json.loads((out / "results.json").read_text())
    rows = {(row["case"], row["side"]): row for row in result["rows"]}
    assert rows["toy-1", "ours"]["status"] == "ok"
    assert rows["toy-1", "ours"]["ratio"] == 1.0
    assert rows["toy-1", "ours"]["quality"] == {"rows": 100.0}
    assert rows["toy-1", "ours"]["peak"] > 1e6
    assert len(rows["toy-1", "peer"]["walls"]) == 2
    assert rows["toy-1", "broken"]["status"] == "failed: RuntimeError: no such luck"
    assert rows["endless", "slow"]["status"] == "timeout after 1 s"
    assert rows["toy-1", "absent"]["status"] == "skipped: takes a year"
    assert result["versions"]["numpy"] == np.__version__
    met = [line.split(":")[0] for line in result["targets"]["toy-1"]]
    assert met == ["missed", "met", "met", "missed"]  # speed, memory, rows <= 100, rows >= 101
    page = (out / "results.md").read_text()
    assert "| toy | peer | 100 | 400 | n^" in page
    assert "timeout after 1 s" in page
    assert "toy-2" in capsys.readouterr().out


def test_quality_formulas(bench: SimpleNamespace) -> None:
    truth = np.random.default_rng(0).normal(size=(50, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert bench.quality.procrustes_error(3 * truth @ turn + 5, truth) < 1e-7
    sheared = truth @ np.array([[1.0, 2.0], [0.0, 1.0]])
    assert bench.quality.procrustes_error(sheared, truth) > 0.1
    assert bench.quality.affine_r2(sheared, truth) > 1 - 1e-12
    assert bench.quality.affine_r2(np.random.default_rng(1).normal(size=(50, 2)), truth) < 0.5


def test_roll_is_isometric(bench: SimpleNamespace) -> None:
    """Distances of near points in space and in the true coordinates agree."""
    roll = bench.data.swiss_roll(4000, {})
    d = np.linalg.norm(roll.X - roll.X[0], axis=1)
    near = np.argsort(d)[1:6]
    flat = np.linalg.norm(roll.truth[near] - roll.truth[0], axis=1)
    assert np.allclose(flat, d[near], rtol=0.02)


@pytest.mark.slow
def test_one_real_case_runs(bench: SimpleNamespace) -> None:
    ours: ModuleType = bench.run
    case = next(c for c in bench.harness.load_cases() if c.name == "mds-10k")
    found = ours.measure(case, case.sides[0], n=60, warm=0)
    assert found["status"] == "ok"
    assert found["quality"]["procrustes"] < 1e-6
