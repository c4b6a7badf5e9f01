"""Drawings show what the objects contain."""

import re

import pytest

from chapters.ch06_storage.figures import segment_drawings
from chapters.ch06_storage.figures.segment_drawings import (
    draw_bytes,
    draw_search,
    draw_segment,
    example_segment,
    record_search,
)
from kafka_learn.drawing import architecture_figure
from kafka_learn.drawing import graphviz_drawing as drawing


def texts(svg):
    """The words of a drawing, in order."""
    return [re.sub(r"&#160;", " ", text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_a_segment_is_drawn_with_its_batches_and_entries():
    with example_segment(messages=6) as segment:
        words = texts(draw_segment(segment).svg())
    assert {"20", "25", "at 0", "at 505"} <= set(words)
    assert "2 → 202" in words
    assert "t=02000 → 2" in words


def test_a_recorded_search_equals_the_search_of_the_index():
    with example_segment(messages=20) as segment:
        index = segment.offset_index
        slot, steps = record_search(index, 33)
        assert slot == index._index_slot_for(33, 0)
        assert steps[-1].lo <= slot <= steps[-1].hi
        assert "_parse_entry" not in vars(index), "the object must be restored after the recording"
        assert all(step.not_greater == (index.entry(step.mid).offset <= 33) for step in steps)
        words = texts(draw_search(index, 33).svg())
    assert f"result: slot {slot}" in words


@pytest.mark.parametrize(("target", "slot"), [(22, 0), (21, -1), (1000, 8)])
def test_a_search_is_recorded_at_the_ends_of_the_index_too(target, slot):
    with example_segment(messages=20) as segment:
        assert record_search(segment.offset_index, target)[0] == slot


def test_bytes_are_drawn_with_the_names_of_their_fields():
    words = texts(draw_bytes(bytes.fromhex("00000002000000cc"), [("offset", 4), ("position", 4)]).svg())
    assert words == ["00 00 00 02", "00 00 00 cc", "offset", "position"]


def test_a_drawing_has_no_fixed_black_no_ids_and_a_text_alternative():
    svg = draw_bytes(b"\x00", [("a < b", 1)]).svg()
    assert "black" not in svg
    assert " id=" not in svg
    assert 'role="img" aria-label="1 bytes: a &lt; b 1"' in svg
    assert "\n\n" not in svg


def test_every_figure_of_the_chapter_can_be_drawn():
    figures = [name for name in vars(segment_drawings) if name.endswith("_figure")]
    assert len(figures) == 6
    for name in figures:
        assert getattr(segment_drawings, name)("en").count("<svg") == 1


def test_the_layers_are_those_of_the_import_contract():
    words = texts(architecture_figure.layers("en"))
    assert words[0] == "tools"
    assert words[-1] == "common"


def test_a_missing_graphviz_is_reported_with_how_to_install_it(monkeypatch, tmp_path):
    drawing.dot_program.cache_clear()
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(RuntimeError, match="pip install graphviz-pure"):
        drawing.dot_program()
    drawing.dot_program.cache_clear()
