"""The command line's help of one method, warmup, standardising, endings."""

from __future__ import annotations

import signal
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lowfold
from lowfold.cli import main
from lowfold.cli._app import app
from lowfold.cli._options import named_method


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(44, 5, 40), rng.normal(17, 2, 40), rng.normal(4200, 800, 40)])
    file = tmp_path / "birds.csv"
    file.write_text("bill,depth,mass\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    return file


def test_help_of_one_method_shows_its_parameters_and_defaults() -> None:
    code, text = run("embed", "-m", "tsne", "--help")
    assert code == 0
    assert "Parameters of TSNE" in text
    assert "--perplexity" in text
    assert "--landmarks" not in text
    assert "default=12.0" in text  # early_exaggeration of TSNE; that of SNE is 1
    assert "Parameters of the methods" in run("embed", "--help")[1]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["x.csv", "-m", "hlle"], "HessianLLE"),
        (["--method=isomap"], "Isomap"),
        (["-mlle"], "LLE"),
        (["-m", "nonsense"], None),
        (["x.csv"], None),
    ],
)
def test_the_method_among_the_words(words: list[str], name: str | None) -> None:
    assert named_method(words) == name


def test_standardised_embedding_and_transform(birds: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "m.lowfold", tmp_path / "y.csv"
    code, text = run("embed", str(birds), "-m", "pca", "-o", str(out))
    assert code == 0
    assert "'mass' spreads" in text
    assert "--standardize unit" in text
    code, text = run("embed", str(birds), "-m", "pca", "--standardize", "unit", "--save", str(model))
    assert code == 0
    assert "spreads" not in text
    table = lowfold.datasets.read(birds)
    Z = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    placed = tmp_path / "placed.csv"
    assert run("transform", str(model), str(birds), "-o", str(placed))[0] == 0
    assert np.allclose(lowfold.datasets.read(placed).X, lowfold.PCA(2).fit_transform(Z))
    back = tmp_path / "back.csv"
    assert run("transform", str(model), str(placed), "--inverse", "-o", str(back))[0] == 0
    assert np.allclose(lowfold.datasets.read(back).X.mean(axis=0), table.X.mean(axis=0))


def test_the_ending_of_out_is_checked_before_the_fit(birds: Path) -> None:
    code, text = run("embed", str(birds), "-m", "pca", "-o", str(birds.with_suffix(".xls")))
    assert code != 0
    assert "choose one of these endings" in text
    assert "spreads" not in text  # nothing was read yet


def test_warmup_compiles_a_method() -> None:
    code, text = run("warmup", "pca", "classical-mds")
    assert code == 0
    assert "PCA:" in text
    assert "compiled in" in text


def test_ctrl_c_of_warmup_is_the_systems_while_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def compiling(names: object, report: object) -> float:
        seen.append(signal.getsignal(signal.SIGINT))
        return 0.0

    monkeypatch.setattr("lowfold.methods.warmup.warmup", compiling)
    former = signal.getsignal(signal.SIGINT)
    own = lambda number, frame: None  # noqa: E731
    for handler in (signal.default_int_handler, own):
        signal.signal(signal.SIGINT, handler)
        try:
            run("warmup", "pca")
            assert signal.getsignal(signal.SIGINT) is handler
        finally:
            signal.signal(signal.SIGINT, former)
    assert seen == [signal.SIG_DFL, own]


def test_compiling_is_a_line_of_its_own(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from lowfold._core import jit
    from lowfold._core.run import Run

    with Run(verbose=True).stage("paths"):
        monkeypatch.setattr(jit._clock, "seconds", jit._clock.seconds + 7.5)
    assert "compiling (first use): 7.50 s" in capfd.readouterr().err


def test_names_that_people_know_work_on_the_command_line() -> None:
    code, text = run("list", "hlle")
    assert code == 0
    assert text.startswith("HessianLLE")
    code, text = run("list", "umap")
    assert code != 0
    assert "compare" in text


def test_warnings_and_errors_speak_of_options(tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(60, 2))
    X[30:] += 50.0
    np.savetxt(tmp_path / "two.csv", X, delimiter=",")
    code, text = run("embed", str(tmp_path / "two.csv"), "-m", "isomap", "--n-neighbors", "5", "--out", "-")
    assert code == 0
    assert "--n-neighbors 30 would connect it; joined by a bridge of length" in text
    assert "bridges_" not in text
    code, text = run("embed", str(tmp_path / "two.csv"), "-m", "isomap", "--n-neighbors", "0")
    assert code == 1
    assert "--n-neighbors of Isomap must be" in text


def test_a_flag_of_another_method_is_answered_with_those_of_this_one() -> None:
    code, text = run("embed", "table.csv", "-m", "isomap", "--perplexity", "30")
    assert code == 2
    assert "Isomap has no parameter 'perplexity'; it has" in text


def test_options_of_the_reader_are_answered_with_their_place() -> None:
    code, text = run("embed", "table.csv", "-m", "pca", "--out", "y.csv", "--missing", "drop")
    assert code == 2
    assert "--read missing=VALUE" in text


def test_other_commands_standardise_too_and_say_so_again(birds: Path) -> None:
    code, text = run("tune", str(birds), "-m", "pca", "--standardize", "unit")
    assert code == 0
    assert "spreads" not in text
    assert "--standardize unit --method PCA" in text
    assert "no column spreads ten times" in run("diagnose", str(birds), "--standardize", "robust")[1]


@pytest.mark.parametrize(
    "words", [["compare", "--methods", "pca"], ["tune", "-m", "pca"], ["dimension", "--method", "mle"], ["diagnose"]]
)
def test_columns_of_other_units_are_told_by_name(birds: Path, words: list[str]) -> None:
    code, text = run(words[0], str(birds), *words[1:])
    assert code == 0
    assert text.count("'mass' spreads") == 1
    assert words == ["diagnose"] or "use --standardize unit" in text


def test_classes_of_three_columns_need_no_number_of_dimensions(birds: Path) -> None:
    lines = birds.read_text().splitlines()
    birds.write_text("\n".join([f"{lines[0]},kind", *(f"{line},{'ab'[i % 2]}" for i, line in enumerate(lines[1:]))]))
    code, text = run("classify", str(birds), "--label", "kind", "--standardize", "unit")
    assert code == 0
    assert "2" in text


class CtrlC(MetaPathFinder):
    """Comes while the commands are loaded."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "lowfold.cli._app":
            raise KeyboardInterrupt


def test_ctrl_c_while_the_command_loads(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delitem(sys.modules, "lowfold.cli._app")
    monkeypatch.setattr(sys, "meta_path", [CtrlC(), *sys.meta_path])
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "lowfold: interrupted\n"


def test_ctrl_c_while_the_flags_are_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lowfold.cli._app.app", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "lowfold: interrupted\n"


@pytest.mark.parametrize("words", [["list"], None])
def test_the_end_of_the_process_hears_no_ctrl_c(words: list[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lowfold", "list"])
    former = signal.getsignal(signal.SIGINT)
    try:
        assert main(words) == 0
        assert signal.getsignal(signal.SIGINT) == (signal.SIG_IGN if words is None else former)
    finally:
        signal.signal(signal.SIGINT, former)
