"""The methods' controls between sessions: kept, made anew when sources change; no error where a folder is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lowfold.studio import _catalogue

CARDS = [{"name": "Isomap", "controls": []}]


def test_they_are_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOWFOLD_CACHE", str(tmp_path))
    assert _catalogue.kept() is None
    _catalogue.keep(CARDS)
    assert _catalogue.kept() == CARDS
    monkeypatch.setattr("sys.version", "another Python")
    assert _catalogue.kept() is None
    _catalogue.keep(CARDS)
    assert len(list((tmp_path / "studio").iterdir())) == 1  # the older ones are gone


def test_what_cannot_be_read_or_written_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOWFOLD_CACHE", str(tmp_path))
    _catalogue.keep(CARDS)
    next((tmp_path / "studio").iterdir()).write_text("[", encoding="utf-8")
    assert _catalogue.kept() is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LOWFOLD_CACHE", str(tmp_path / "file"))
    _catalogue.keep(CARDS)
    assert _catalogue.kept() is None
