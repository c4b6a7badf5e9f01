"""The tables of timestamps confirm the page: each of its claims is a row here."""

from chapters.ch10_advanced.figures.timestamp_drawings import (
    converted_times,
    draw_retention,
    formats_figure,
    refused_times,
    retention_figure,
    stored_times,
)
from chapters.ch10_advanced.figures.timestamp_runs import offset_by_time
from kafka_learn.recording.recorded_run import Kind


def rows(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_format_v0_has_no_timestamp_whatever_the_topic_configures():
    assert {tuple(row[3:5]) for row in rows(stored_times("en")) if row[0] == "v0"} == {("–", "-1"), ("–", "-1 -1 -1")}


def test_a_v1_wrapper_has_the_largest_timestamp_and_log_append_time_overrides_the_inner_ones():
    found = {tuple(row[:3]): row[3:] for row in rows(stored_times("en"))}
    assert found["v1", "gzip", "CreateTime"] == ["CreateTime", "9", "3 9 5", "3 9 5"]
    assert found["v1", "gzip", "LogAppendTime"] == ["LogAppendTime", "60", "3 9 5", "60 60 60"]
    assert found["v2", "none", "LogAppendTime"] == ["LogAppendTime", "60", "3 +0 +6 +2", "60 60 60"]


def test_conversion_cannot_restore_timestamps_but_log_append_time_sets_them():
    found = {tuple(row[:3]): row[3:] for row in rows(converted_times("zh"))}
    assert found["v0", "v1", "v1"] == ["-1 -1 -1", "-1 -1 -1", "60 60 60", "60 60 60"]
    assert found["v2", "v2", "v0"][1] == "-1 -1 -1"
    assert found["v2", "v2", "v1"][1] == "3 9 5"


def test_the_maximum_difference_applies_in_both_directions_and_only_to_create_time():
    create, append, v0 = rows(refused_times("en"))
    assert create[1:] == ["`INVALID_TIMESTAMP`", "✓", "✓", "✓", "`INVALID_TIMESTAMP`", "✓"]
    assert append[1:] == v0[1:] == ["✓"] * 6


def test_a_future_timestamp_keeps_its_segment_and_all_later_ones():
    drawing = draw_retention([[0], [70], [5]], 24, [48]).graph.source
    assert drawing.count("#ff4f4f55") == 1  # deleted: only the first
    assert drawing.count("#ff9a2f66") == 1  # old enough, but kept: the last
    assert "<svg" in retention_figure("en")
    assert "<svg" in formats_figure("zh")


def test_the_recorded_search_skips_a_segment_and_reads_one_batch():
    calls = [event.what for event in offset_by_time() if event.kind is Kind.CALL]
    assert calls.count("find_offset_by_timestamp") == 1
    assert calls.count("load") == 1
    assert calls.count("fetch_offset_by_timestamp") == 2
