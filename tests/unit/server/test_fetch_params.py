"""Who fetches, what that reader may see, and how large the result of a partition is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from tests.support.replica_managers import TP, Broker

CONSUMER, TOOL, FIRST_BROKER = -1, -2, 0


@pytest.mark.parametrize(
    ("replica_id", "from_follower", "from_any_replica"),
    [(CONSUMER, False, False), (TOOL, False, True), (FIRST_BROKER, True, False), (7, True, False)],
)
def test_the_replica_id_says_who_fetches(replica_id: int, from_follower: bool, from_any_replica: bool) -> None:
    params = FetchParams(replica_id, 500, 1, 1000, False)
    assert (params.from_follower, params.from_any_replica) == (from_follower, from_any_replica)


@pytest.mark.parametrize(
    ("replica_id", "asked", "committed_only"),
    [(CONSUMER, True, True), (CONSUMER, False, False), (TOOL, True, True), (FIRST_BROKER, True, False)],
)
def test_a_follower_copies_open_transactions_whatever_it_asks_for(
    replica_id: int, asked: bool, committed_only: bool
) -> None:
    assert FetchParams(replica_id, 500, 1, 1000, False, asked).committed_only is committed_only


def test_neither_epoch_nor_start_offset_is_known_unless_the_request_has_them() -> None:
    asked = FetchPartition(5, 100)
    assert (asked.fetch_offset, asked.max_bytes) == (5, 100)
    assert (asked.log_start_offset, asked.current_leader_epoch) == (-1, -1)


def test_an_error_has_no_bounds_and_no_records() -> None:
    result = LogReadResult(Errors.NOT_LEADER_OR_FOLLOWER)
    assert (result.high_watermark, result.log_start_offset, result.last_stable_offset) == (-1, -1, -1)
    assert (result.records, result.size_in_bytes, result.aborted_transactions) == (b"", 0, None)
    assert result.fetch_offset_metadata is None


def test_a_result_keeps_what_was_read() -> None:
    place, aborted = LogOffsetMetadata(5, 0, 70), [AbortedTxn(7, 1, 3, 4)]
    batch = memory_records(2, CompressionType.NONE, [(b"k", b"v")])
    result = LogReadResult(Errors.NONE, 9, 2, place, memoryview(batch), 6, aborted)
    assert (result.high_watermark, result.log_start_offset, result.last_stable_offset) == (9, 2, 6)
    assert (result.fetch_offset_metadata, result.aborted_transactions) == (place, aborted)
    assert result.size_in_bytes == len(batch)


def test_the_size_of_a_slice_of_a_file_is_known_without_reading_it(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "logs")
    broker.lead(TP)
    broker.produce(TP, 3)
    read = broker.log(TP).read(0, 1 << 20)
    size = broker.log(TP).size
    assert size > 300
    broker.close()
    assert not isinstance(read.records, bytes)
    assert LogReadResult(Errors.NONE, 3, 0, None, read.records).size_in_bytes == size
