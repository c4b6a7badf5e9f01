from __future__ import annotations

import json
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.progress_metrics import offsets_behind_latest, progress_metrics

RATE = {"description": "RateStream", "startOffset": "0", "endOffset": "5", "latestOffset": "5"}
FILES = {
    "description": "FileStreamSource",
    "startOffset": None,
    "endOffset": '{"logOffset":0}',
    "latestOffset": '{"logOffset":1}',
}


def source(end: dict[str, Any] | None, latest: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "description": "x",
        "startOffset": None,
        "endOffset": end and json.dumps(end),
        "latestOffset": latest and json.dumps(latest),
        "numInputRows": 5,
        "inputRowsPerSecond": 1.0,
        "processedRowsPerSecond": 1.0,
        "metrics": {},
    }


def test_metrics_match_sparks_own_connector() -> None:
    progress = {"sources": [source({"a": {"0": 10, "1": 20}}, {"a": {"0": 10, "1": 25}})]}
    assert progress_metrics(progress) == {
        "minOffsetsBehindLatest": "0",
        "maxOffsetsBehindLatest": "5",
        "avgOffsetsBehindLatest": "2.5",
    }


def test_each_partition_has_its_lag_and_a_new_one_all_of_its_records() -> None:
    progress = {"sources": [source({"a": {"0": 10}}, {"a": {"0": 14}, "b": {"0": 3}})]}
    assert offsets_behind_latest(progress) == {TopicPartition("a", 0): 4, TopicPartition("b", 0): 3}


def test_a_log_that_went_backwards_has_no_lag() -> None:
    assert offsets_behind_latest({"sources": [source({"a": {"0": 10}}, {"a": {"0": 4}})]}) == {
        TopicPartition("a", 0): 0
    }


def test_a_source_without_latest_offsets_or_of_another_kind_has_no_metrics() -> None:
    progress = {"sources": [source({"a": {"0": 10}}, None), RATE, FILES, source({"a": {"0": 1}}, {"a": {"0": 2}})]}
    assert [progress_metrics(progress, number) for number in range(3)] == [{}, {}, {}]
    assert progress_metrics(progress, 3)["maxOffsetsBehindLatest"] == "1"


def test_it_accepts_the_json_of_a_progress_in_which_offsets_are_no_text() -> None:
    row = source(None, None) | {"endOffset": {"a": {"0": 10}}, "latestOffset": {"a": {"0": 14}}}
    assert offsets_behind_latest({"sources": [row]}) == {TopicPartition("a", 0): 4}
    assert progress_metrics({"sources": [RATE | {"endOffset": 5, "latestOffset": 5}]}) == {}


def test_it_accepts_the_objects_that_listeners_get() -> None:
    given = {
        "id": "00000000-0000-0000-0000-000000000001",
        "runId": "00000000-0000-0000-0000-000000000002",
        "name": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "batchId": 1,
        "batchDuration": 1,
        "durationMs": {},
        "eventTime": {},
        "stateOperators": [],
        "sources": [source({"a": {"0": 1}}, {"a": {"0": 2}})],
        "sink": {"description": "x", "numOutputRows": 1, "metrics": {}},
        "numInputRows": 5,
        "inputRowsPerSecond": 1.0,
        "processedRowsPerSecond": 1.0,
        "observedMetrics": {},
    }
    assert progress_metrics(StreamingQueryProgress.fromJson(given))["maxOffsetsBehindLatest"] == "1"
