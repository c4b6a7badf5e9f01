"""Notes below directives are written anew; the author's lines below a directive stay."""

from __future__ import annotations

import pytest

from kafka_learn.site.notes import with_notes
from kafka_learn.source import UnknownSymbolError

SOURCE = "<!-- source kafka_lite.log.offset_index:OffsetIndex -->"
FIGURE = "<!-- figure chapters.ch06_storage.figures.segment_drawings:entry_figure -->"
LIVE = "<!-- live leader-dies -->"
ORIGIN = "chapters/ch06_storage/page.md"


@pytest.mark.parametrize("directive", [SOURCE, FIGURE, LIVE])
@pytest.mark.parametrize("text", ["## The next heading", "A paragraph that begins without an empty line.", "- a list"])
def test_text_below_a_directive_is_not_its_note(directive: str, text: str) -> None:
    before, note, gap, after = with_notes(f"{directive}\n{text}\n", ORIGIN, "en").splitlines()
    assert (before, gap, after) == (directive, "", text)
    assert "](" in note


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("directive", [SOURCE, FIGURE, LIVE])
def test_a_note_is_replaced_and_not_repeated(directive: str, language: str) -> None:
    once = with_notes(f"{directive}\n\n## The next heading\n", ORIGIN, language)
    assert with_notes(once, ORIGIN, language) == once
    assert len(once.splitlines()) == 4


def test_an_outdated_note_is_replaced() -> None:
    text = f"{SOURCE}\n[`Gone` in `kafka_lite/gone.py`](../gone.py)\n"
    assert "gone" not in with_notes(text, ORIGIN, "en")


def test_a_caption_survives() -> None:
    text = f"{FIGURE}\n**Figure**: The first bytes. ([`old`](old.py), drawn on the site)\n"
    assert "**Figure**: The first bytes. ([`entry_figure`](figures/segment_drawings.py)" in with_notes(
        text, ORIGIN, "en"
    )


def test_the_note_of_a_scenario_has_its_title_and_leads_to_the_live_cluster() -> None:
    written = with_notes(f"{LIVE}\n", ORIGIN, "en").splitlines()[1]
    assert written == "**Live**: [The leader of a partition has just died](../../docs/live.md)"
    with pytest.raises(UnknownSymbolError, match=r"chapters/live\.toml has no scenario 'gone'"):
        with_notes("<!-- live gone -->\n", ORIGIN, "en")
