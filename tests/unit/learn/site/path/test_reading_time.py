import pytest

from kafka_learn.site.path.reading_time import (
    CHARACTERS_PER_MINUTE,
    LINES_PER_MINUTE,
    WORDS_PER_MINUTE,
    PageSize,
    size_of,
)
from kafka_learn.source import UnknownSymbolError, find_symbol


def test_words_are_counted_as_the_reader_sees_them():
    text = "# 6.1 The log\n\nRead [the *first* page](../ch06/a-long-name.md), `LogSegment.append` and <b>this</b>.\n"
    assert size_of(text) == PageSize(words=10)  # 6.1 The log · Read the first page · LogSegment.append and this


def test_chinese_is_counted_by_characters_and_its_names_by_words():
    assert size_of("# 日志\n\n`LogSegment` 是日志分段。\n") == PageSize(words=1, characters=7)


def test_lines_of_a_fence_are_code_and_its_marks_are_nothing():
    assert size_of("```python\na = 1\n\nb = 2\n```\n") == PageSize(code_lines=3)


def test_an_excerpt_counts_with_the_lines_that_are_shown_of_it():
    reference = "kafka_lite.log.offset_index:OffsetIndex.lookup"
    symbol = find_symbol(reference)
    whole = size_of(f"<!-- source {reference} -->\n[`OffsetIndex.lookup` in `a.py`](a.py)\n")
    assert whole == PageSize(code_lines=symbol.last_line - symbol.first_line + 1)
    shorter = size_of(f"<!-- source {reference} docstring=no -->\n[`OffsetIndex.lookup` in `a.py`](a.py)\n")
    assert 0 < shorter.code_lines < whole.code_lines


def test_a_figure_and_a_recorded_run_count_once_and_their_notes_not_at_all():
    figure = "<!-- figure chapters.x:one -->\n**Figure**: What it shows. ([`one`](figures/x.py), drawn on the site)\n"
    run = "<!-- recording chapters.x:two hide=a -->\n**Recorded run**: Ran. ([`two`](x.py), drawn on the site)\n"
    assert size_of(figure + "\n" + run) == PageSize(figures=2)


def test_a_generated_table_is_looked_up_and_not_read():
    assert size_of("<!-- generated a.b:c -->\n[`c`](c.py) writes this part of the site (`make site`).\n") == PageSize()


def test_the_time_is_the_sum_of_its_parts_to_five_minutes():
    assert PageSize(words=10 * WORDS_PER_MINUTE, code_lines=8 * LINES_PER_MINUTE, figures=2).minutes == 20
    assert PageSize(characters=10 * CHARACTERS_PER_MINUTE, figures=2).minutes == 10
    assert PageSize(characters=10 * CHARACTERS_PER_MINUTE, figures=3).minutes == 15
    assert PageSize(words=1).minutes == 5


def test_code_that_does_not_exist_is_reported():
    with pytest.raises(UnknownSymbolError):
        size_of("<!-- source kafka_lite.log.offset_index:OffsetIndex.no_such -->\n")
