"""The figures of the storage chapter show what the broker's classes do."""

import pytest

from chapters.ch06_storage.figures import compaction_drawings, log_drawings
from chapters.ch06_storage.figures.compaction_drawings import (
    COMPACTED,
    EXAMPLE,
    append_pairs,
    clean,
    draw_messages,
    draw_slots,
)
from chapters.ch06_storage.figures.log_drawings import draw_log, draw_reads, draw_validation, example_log, fill

FIGURES = [
    pytest.param(function, id=name)
    for module in (compaction_drawings, log_drawings)
    for name, function in vars(module).items()
    if name.endswith("_figure")
]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_an_svg(figure):
    assert figure("en").startswith("<svg role=")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tables_have_their_rows(language):
    assert log_drawings.ways_through_validation(language).count("\n| v") == 7
    rows = log_drawings.retention_table(language).splitlines()[2:]
    assert [row.count("✗") for row in rows] == [2, 1, 0, 2, 5]
    running, stopped = log_drawings.checkpoint_files(language).split("```text\n")[1:]
    assert "demo 0 12" in running
    assert "demo 0 15" in stopped
    assert ".kafka_cleanshutdown" not in running
    assert ".kafka_cleanshutdown" in stopped
    steps = compaction_drawings.replacement_steps(language)
    assert "`0.log`, `0.log.cleaned`, `3.log`, `6.log`" in steps
    assert "`0.log.deleted`, `0.log.swap`" in steps


def test_marks_are_below_their_batches():
    with example_log() as log:
        fill(log, 3)
        source = draw_log(log, {"HW": 4}).graph.source
    below = source[source.index("▲") - 400 :]
    assert "▲ HW 4" in below


def test_only_fields_that_the_leader_assigns_are_marked_as_changed():
    source = draw_validation().graph.source
    assert source.count(log_drawings.ORANGE) == 2, "base offset and leader epoch; the CRC does not cover them"
    assert draw_validation("LogAppendTime").graph.source.count(log_drawings.ORANGE) > 4


def test_a_read_that_cuts_a_batch_is_red():
    with example_log() as log:
        fill(log, 2)
        source = draw_reads(log, [("cut", 0, 300, None)]).graph.source
    assert source.count(log_drawings.RED) == source.count(log_drawings.ORANGE) == 1


def test_a_cleaning_keeps_the_newest_record_of_each_key_before_the_active_segment():
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        assert clean(log) == 6
        source = draw_messages(log).graph.source
    assert [text in source for text in ("0: a=1", "2: a=2", "5: c=null", "6: a=3")] == [False, True, True, True]


def test_a_slot_shows_the_newest_offset_of_its_key():
    source = draw_slots([b"a", b"a"], 4).graph.source
    assert "0cc1… 0" in source
    assert "0cc1… 1" in source
