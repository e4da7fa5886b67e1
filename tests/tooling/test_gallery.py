"""tools/gallery.py on two small examples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "gallery.py"

EXAMPLE = '''"""{title}.

Where a < b.
"""
import argparse, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("gallery"))
out = parser.parse_args().out
(out / "picture.svg").write_text("<svg/>")
(out / "page.html").write_text("<p/>")
'''


def gallery(tmp_path: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TOOL, "--out", tmp_path / "out", "--examples", tmp_path, *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_index_shows_text_and_pictures(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"plot_{name}.py").write_text(EXAMPLE.format(title=f"Number {name}"))
    done = gallery(tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text()
    for name in ("one", "two"):
        assert f"<h2>Number {name}</h2>" in page
        assert f'<img src="plot_{name}/picture.svg"' in page
        assert f'<a href="plot_{name}/page.html">' in page
    assert "Where a &lt; b." in page


def test_a_failing_example_fails_the_gallery_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "plot_bad.py").write_text("raise SystemExit('no such roll')")
    done = gallery(tmp_path)
    assert done.returncode == 1
    assert "plot_bad.py failed" in done.stderr
    assert "no such roll" in done.stderr


def test_an_example_that_draws_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "plot_empty.py").write_text("")
    assert "wrote nothing" in gallery(tmp_path).stderr


def test_no_examples_is_an_error(tmp_path: Path) -> None:
    assert "no example to run" in gallery(tmp_path, "plot_missing").stderr
