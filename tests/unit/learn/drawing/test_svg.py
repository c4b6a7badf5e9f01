"""Words are shortened to the width that a drawing has for them."""

from kafka_learn.drawing.svg import shorten, text_width


def test_words_are_shortened_to_fit():
    assert shorten("append_records", 200) == "append_records"
    assert shorten("append_records", 60).endswith("…")
    assert text_width(shorten("追加记录到日志", 60)) <= 60
