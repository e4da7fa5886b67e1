"""Every method has its publications, and every entry is whole."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.cli import main
from lowfold.methods.citations import CITED, OPTIONS, cite, entries
from lowfold.methods.registry import REGISTRY


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)
def test_every_method_is_cited_with_the_dois_of_the_registry(entry: object) -> None:
    text = cite(entry.name)  # type: ignore[attr-defined]
    for doi in re.findall(r"doi:(\S+?)(?=[;,]?(?:\s|$))", entry.citation):  # type: ignore[attr-defined]
        assert f"doi = {{{doi}}}" in text
    for year in re.findall(r"\b(?:19|20)\d\d\b(?![-.])", re.sub(r"doi:\S+", "", entry.citation)):  # type: ignore[attr-defined]
        assert f"year = {{{year}}}" in text


NEEDED = {"article": ("journal", "volume", "pages"), "inproceedings": ("booktitle", "pages"), "book": ("publisher",)}


def test_entries_are_whole_used_and_in_order() -> None:
    found = entries()
    assert sorted(found) == list(found)
    by_option = {key for rows in OPTIONS.values() for _, _, keys in rows for key in keys}
    assert set(found) == {key for keys in CITED.values() for key in keys} | by_option
    for key, text in found.items():
        assert re.match(rf"@(article|inproceedings|book)\{{{key},\n", text)
        assert text.count("{") == text.count("}")
        kind = text[1 : text.index("{")]
        for field in ("author", "title", "year", *NEEDED[kind]):
            assert re.search(rf"^  {field} = \{{.+\}},?$", text, flags=re.MULTILINE), (key, field)
        assert not re.search(r"pages = \{\d+-\d", text), f"{key}: pages take two dashes in BibTeX"
        assert key.startswith(re.sub(r"[^a-z]", "", key.rstrip("0123456789"))[:3])
        assert re.search(r"\d{4}", key)[0] == re.search(r"year = \{(\d{4})\}", text)[1]  # type: ignore[index]


def test_a_name_a_class_and_a_model() -> None:
    assert cite("Isomap") == cite(lowfold.Isomap) == lowfold.Isomap().cite() == lowfold.cite("Isomap")
    with pytest.raises(InvalidInput, match="no method 'UMAP'"):
        cite("UMAP")


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_are_cited_exist_and_are_not_the_default(name: str) -> None:
    usual = getattr(lowfold, name)().get_params()
    for parameter, value, keys in OPTIONS[name]:
        assert parameter in usual
        assert value is ... or usual[parameter] != value
        assert not set(keys) & set(CITED[name])


def test_a_model_cites_its_options() -> None:
    assert "desilva2003" not in lowfold.Isomap().cite()
    assert "desilva2003" in lowfold.Isomap(landmarks=50).cite()
    assert "desilva2003" in lowfold.Isomap(landmarks=np.arange(9)).cite()
    both = lowfold.DiffusionMaps(weights="self_tuning", select="independent").cite()
    assert both.count("@") == 4
    assert "zelnik2004" in both
    assert "berry2016" in lowfold.DiffusionMaps(weights="variable").cite()
    assert lowfold.DiffusionMaps(weights=np.exp).cite() == lowfold.cite("DiffusionMaps")


def test_the_command_prints_each_entry_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "landmark-isomap", "conformal_isomap", "LTSA"]) == 0
    out = capsys.readouterr().out
    assert out.count("@") == 2
    assert "zhang2004" in out
    assert main(["cite", "nothing"]) == 2
