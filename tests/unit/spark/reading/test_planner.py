from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import PartitionOffsets, from_json_object, to_json_object
from kafka_lite.spark.reading.data_loss import DataLossError, data_loss_reporter
from kafka_lite.spark.reading.planner import (
    OffsetRange,
    batch_ranges,
    rate_limit,
    split,
    stream_ranges,
    waiting_offsets,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
PARTITIONS = st.builds(TopicPartition, st.sampled_from("ab"), st.integers(0, 5))
OFFSETS = st.dictionaries(PARTITIONS, st.integers(0, 1 << 40), min_size=1)
RANGES = OFFSETS.flatmap(
    lambda start: st.fixed_dictionaries({tp: st.integers(0, 1 << 20) for tp in start}).map(
        lambda sizes: [OffsetRange(tp, start[tp], start[tp] + sizes[tp]) for tp in start]
    )
)


def never(finding: str) -> None:
    raise AssertionError(finding)


@given(OFFSETS)
def test_offsets_are_written_to_the_checkpoint_and_read_back(offsets: PartitionOffsets) -> None:
    json_object = to_json_object(offsets)
    assert from_json_object(json_object) == offsets
    assert list(json_object) == sorted(json_object)


def test_the_checkpoint_has_the_format_of_sparks_own_source() -> None:
    assert to_json_object({B0: 5, A1: 2, A0: 1}) == {"a": {"0": 1, "1": 2}, "b": {"0": 5}}


def test_batch_ranges_lie_between_start_and_end() -> None:
    ranges = batch_ranges({A0: 1, A1: 5}, {A0: 10, A1: 5}, {A0: 10, A1: 7}, never)
    assert ranges == [OffsetRange(A0, 1, 10), OffsetRange(A1, 5, 5)]


@pytest.mark.parametrize(
    ("start", "end", "finding"),
    [
        (12, 10, "starting offset 12 of a-0 is beyond its end 10"),
        (0, 13, "ending offset 13 of a-0 is beyond its end 10"),
    ],
)
def test_batch_offsets_beyond_the_log_are_data_loss(start: int, end: int, finding: str) -> None:
    with pytest.raises(DataLossError, match=finding):
        batch_ranges({A0: start}, {A0: end}, {A0: 10}, data_loss_reporter(fail_on_data_loss=True))
    findings: list[str] = []
    (cut,) = batch_ranges({A0: start}, {A0: end}, {A0: 10}, findings.append)
    assert cut.until_offset == 10
    assert len(findings) == 1


def test_a_data_loss_warning_says_how_to_make_it_an_error(caplog: pytest.LogCaptureFixture) -> None:
    data_loss_reporter(fail_on_data_loss=False)("a-0 is gone")
    assert "a-0 is gone" in caplog.text
    assert "set failOnDataLoss to true" in caplog.text


def test_a_micro_batch_reads_new_partitions_from_the_start() -> None:
    assert stream_ranges({A0: 3}, {A0: 9, A1: 4}, {A1: 0}, never) == [OffsetRange(A0, 3, 9), OffsetRange(A1, 0, 4)]


@pytest.mark.parametrize(
    ("start", "end", "new_start", "finding"),
    [
        ({A0: 3}, {A0: 9, A1: 4}, {}, "cannot find the earliest offsets of a-1"),
        ({A0: 3}, {A0: 9, A1: 4}, {A1: 2}, "the added partition a-1 starts from 2"),
        ({A0: 3, B0: 1}, {A0: 9}, {}, "b-0 no longer exist"),
        ({A0: 10}, {A0: 9}, {}, "a-0 went back from 10 to 9"),
    ],
)
def test_possible_data_loss_is_reported(
    start: PartitionOffsets, end: PartitionOffsets, new_start: PartitionOffsets, finding: str
) -> None:
    findings: list[str] = []
    ranges = stream_ranges(start, end, new_start, findings.append)
    assert len(findings) == 1
    assert finding in findings[0]
    assert {cut.topic_partition for cut in ranges} == end.keys() & (start.keys() | new_start.keys())


@given(RANGES, st.none() | st.integers(1, 40), st.none() | st.integers(1 << 17, 1 << 20))
def test_splitting_neither_loses_nor_repeats_an_offset(
    ranges: list[OffsetRange], min_partitions: int | None, max_records: int | None
) -> None:
    pieces = split(ranges, min_partitions, max_records)
    for whole in ranges:
        own = [piece for piece in pieces if piece.topic_partition == whole.topic_partition]
        position = whole.from_offset
        for piece in own:
            assert piece.from_offset == position
            assert piece.size > 0
            assert max_records is None or piece.size <= max_records
            position = piece.until_offset
        assert position == whole.until_offset


def test_min_partitions_splits_only_the_large_ranges() -> None:
    pieces = split([OffsetRange(A0, 0, 1000), OffsetRange(A1, 0, 10), OffsetRange(B0, 5, 5)], min_partitions=5)
    assert [piece.topic_partition for piece in pieces] == [A0] * 4 + [A1]
    assert {piece.size for piece in pieces} == {250, 10}


def test_ranges_are_not_split_if_there_are_enough() -> None:
    ranges = [OffsetRange(A0, 0, 1000), OffsetRange(A1, 0, 10)]
    assert split(ranges, min_partitions=2) == ranges
    assert split(ranges) == ranges


@given(OFFSETS, st.data(), st.integers(1, 1000))
def test_a_rate_limit_advances_every_partition_but_none_beyond_its_end(
    start: PartitionOffsets, data: st.DataObject, limit: int
) -> None:
    latest = {tp: offset + data.draw(st.integers(-5, 10_000)) for tp, offset in start.items()}
    end = rate_limit(limit, start, latest)
    assert end.keys() == latest.keys()
    read = 0
    for tp in start:
        if latest[tp] > start[tp]:
            assert start[tp] < end[tp] <= latest[tp]
            read += end[tp] - start[tp]
        else:
            assert end[tp] == latest[tp]
    assert read <= max(limit, len(start)) + len(start)


def test_a_rate_limit_is_shared_in_proportion() -> None:
    assert rate_limit(100, {A0: 0, A1: 50}, {A0: 300, A1: 150}) == {A0: 75, A1: 75}
    assert rate_limit(400, {A0: 0, A1: 50}, {A0: 300, A1: 150}) == {A0: 300, A1: 150}
    assert rate_limit(1, {A0: 0, A1: 50}, {A0: 300, A1: 150}) == {A0: 1, A1: 51}


def test_the_backlog_counts_new_partitions_from_zero() -> None:
    assert waiting_offsets({A0: 10}, {A0: 15, A1: 4}) == 9
