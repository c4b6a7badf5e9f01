"""What is read from recorded progress of streaming queries."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.view.query_progress import (
    batch_duration_ms,
    by_query,
    consumed,
    dropped_by_watermark,
    executed_batches,
    instant_ms,
    lag,
    query_status,
    watermark_ms,
)
from tests.support.recorded_progress import FLIGHT_ENDS, recorded_delays, recorded_progress


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def test_the_status_of_a_query_is_that_of_its_last_batch_and_the_sums_of_all() -> None:
    status = query_status(recorded_delays(batches=3))
    assert status is not None
    assert (status.name, status.batch_id, status.duration_ms) == ("delays", 2, 13_201)
    assert (status.rows_in, status.total_rows_in) == (868, 869)
    assert (round(status.input_rate, 1), round(status.processing_rate, 1)) == (27.8, 65.7)
    assert status.watermark_ms == ms("2013-01-01T08:15")
    assert status.state_rows == 54 + 842  # the windows, and the ids that deduplication keeps
    assert status.state_bytes == 2 * 2_109_584
    assert status.timestamp_ms == ms("2026-11-22T16:34:58.184")
    assert status.dropped_by_watermark == 0


def test_a_query_that_has_run_no_batch_has_no_status() -> None:
    assert query_status([]) is None
    idle = recorded_delays(batches=1)[0]
    del idle["durationMs"]["addBatch"]
    assert query_status([idle]) is None


def test_a_batch_that_ran_again_after_a_restart_counts_once_and_idle_intervals_do_not() -> None:
    first, second, third = recorded_delays(batches=3)
    idle = copy.deepcopy(third)
    idle["durationMs"] = {"latestOffset": 1, "triggerExecution": 1}
    again = second | {"runId": "another", "numInputRows": 5}
    batches = executed_batches([first, second, again, idle, third])
    assert [batch["batchId"] for batch in batches] == [0, 1, 2]
    assert batches[1]["numInputRows"] == 5


def test_rows_behind_the_watermark_are_summed_over_operators_and_batches() -> None:
    batches = recorded_delays(batches=2)
    for batch in batches:
        for count, operator in enumerate(batch["stateOperators"], start=3):
            operator["numRowsDroppedByWatermark"] = count
    assert dropped_by_watermark(batches[0]) == 3 + 4
    status = query_status(batches)
    assert status is not None
    assert status.dropped_by_watermark == 14


def test_a_query_without_state_has_neither_watermark_nor_state() -> None:
    status = query_status(by_query(recorded_progress())["dead_letters"])
    assert status is not None
    assert (status.watermark_ms, status.state_rows, status.state_bytes) == (None, 0, 0)


def test_the_watermark_before_the_first_event_is_none() -> None:
    assert recorded_delays(batches=1)[0]["eventTime"]["watermark"] == "1970-01-01T00:00:00.000Z"
    assert watermark_ms(recorded_delays(batches=1)[0]) is None


def test_the_lag_is_what_lies_between_the_last_batch_and_the_ends_of_the_topics_that_the_query_reads() -> None:
    read = consumed(recorded_delays(batches=2)[1])
    assert read == {TopicPartition("flights", number): int(number == 2) for number in range(4)}
    ends = {**FLIGHT_ENDS, TopicPartition("weather", 0): 99}
    assert lag(ends, read) == {**FLIGHT_ENDS, TopicPartition("flights", 2): 219}
    assert sum(lag(ends, consumed(recorded_delays()[-1])).values()) == 0


def test_a_partition_that_is_new_since_the_last_batch_lags_from_its_beginning() -> None:
    read = {TopicPartition("flights", 0): 5}
    assert (
        lag({TopicPartition("flights", 0): 5, TopicPartition("flights", 1): 7}, read)[TopicPartition("flights", 1)] == 7
    )


def test_a_topic_that_two_sources_read_is_read_up_to_the_lower_offset() -> None:
    progress = recorded_delays(batches=3)[2]
    other = copy.deepcopy(progress["sources"][0])
    other["endOffset"]["flights"]["0"] = 100
    progress["sources"].append(other)
    assert consumed(progress)[TopicPartition("flights", 0)] == 100


def test_offsets_are_read_as_objects_and_as_text() -> None:
    progress = recorded_delays(batches=3)[2]
    as_objects = consumed(progress)
    progress["sources"][0]["endOffset"] = json.dumps(progress["sources"][0]["endOffset"])
    assert consumed(progress) == as_objects


def test_the_duration_includes_planning_and_commit() -> None:
    assert batch_duration_ms(recorded_delays()[5]) == 3_380


def test_queries_are_told_apart_by_name() -> None:
    assert {name: len(batches) for name, batches in by_query(recorded_progress()).items()} == {
        "delays": 6,
        "dead_letters": 3,
    }


def test_an_instant_is_in_ms_since_the_epoch() -> None:
    assert instant_ms("1970-01-01T00:00:01.500Z") == 1500
