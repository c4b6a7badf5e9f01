"""Fetch requests that wait for records; most of it is tested with the ReplicaManager."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.delayed_fetch import DelayedFetch
from kafka_lite.server.fetch_params import FetchParams, FetchPartition


@pytest.mark.parametrize(("replica_id", "from_follower"), [(-1, False), (2, True)])
def test_a_long_poll_whose_time_is_up_is_counted_and_answered(replica_id: int, from_follower: bool) -> None:
    expired: list[bool] = []
    responses: list[list[Any]] = []
    params = FetchParams(replica_id, 100, 1, 1000, hard_max_bytes=False)
    poll = DelayedFetch(params, {}, lambda _: None, list, responses.append, expired.append)
    poll.run()
    assert (responses, expired) == ([[]], [from_follower])


def led_partition(end: int, stable: int) -> Any:
    """Of 10 bytes for each offset, in one segment."""
    leader = SimpleNamespace(
        log=object(),
        log_end_offset=LogOffsetMetadata(end, 0, 10 * end),
        high_watermark=LogOffsetMetadata(end, 0, 10 * end),
        last_stable_offset=LogOffsetMetadata(stable, 0, 10 * stable),
    )
    return SimpleNamespace(leader_replica_if_local=leader, check_leader_epoch=lambda _epoch: Errors.NONE)


@pytest.mark.parametrize(
    ("min_bytes", "committed_only", "completed"),
    [(100, False, True), (101, False, False), (60, True, True), (61, True, False)],
)
def test_the_bytes_of_all_partitions_up_to_the_readers_end_count(
    min_bytes: int, committed_only: bool, completed: bool
) -> None:
    start = (FetchPartition(0, 1000), LogOffsetMetadata(0, 0, 0))
    params = FetchParams(-1, 100, min_bytes, 1000, hard_max_bytes=False, committed_only=committed_only)
    fetched_at = {TopicPartition("t", number): start for number in (0, 1)}
    poll = DelayedFetch(params, fetched_at, lambda _: led_partition(end=5, stable=3), list, lambda _: None)
    assert poll.try_complete() is completed
