"""Text fits its place in a drawing, and can be read."""

import pytest

from kafka_learn.drawing.svg import Canvas, shorten, text_width


def test_words_are_shortened_to_fit():
    assert shorten("append_records", 200) == "append_records"
    assert shorten("append_records", 60).endswith("…")
    assert text_width(shorten("追加记录到日志", 60)) <= 60


def test_text_that_nobody_can_read_is_not_drawn():
    with pytest.raises(ValueError, match=r"text of 11\.5 pixels is too small: at least 12"):
        Canvas().text((0, 0), "LEO", size=11.5)


def test_a_figure_shrinks_until_its_smallest_text_is_twelve_pixels():
    canvas = Canvas()
    canvas.text((0, 10), "LEO", size=16)
    assert "width:400px;min-width:300px;" in canvas.svg(400, 20, "a figure")
    canvas.text((0, 20), "HW", size=12)
    assert "width:400px;min-width:400px;" in canvas.svg(400, 20, "a figure")


def test_a_figure_without_text_may_shrink_to_nothing():
    assert "min-width:0px;" in Canvas().svg(400, 20, "a figure")


def test_what_all_shapes_share_stands_once():
    canvas = Canvas()
    for y in range(50):
        canvas.text((0, y), "LEO", halo=True)
        canvas.line((0, y), (10, y))
    drawn = canvas.svg(400, 60, "a figure")
    for shared in ("font-size", "fill:", "--md-default-bg-color"):
        assert drawn.count(shared) == 1, shared
    assert "stroke-width=" not in drawn, "1 is the default of SVG"


def test_a_shape_that_differs_says_so():
    canvas = Canvas()
    canvas.text((0, 10), "LEO", size=16, fill="#fff")
    canvas.line((0, 0), (10, 0), width=2)
    drawn = canvas.svg(400, 60, "a figure")
    assert '<text x="0" y="10" font-size="16" fill="#fff">LEO</text>' in drawn
    assert 'stroke-width="2"' in drawn
