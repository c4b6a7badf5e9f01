"""A replica's offsets: its log's or those that a follower told, and when a follower had caught up."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.cluster.replica import Replica
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from tests.support.logs import open_log, record_set

T0 = TopicPartition("topic", 0)


@pytest.fixture
def follower() -> Replica:
    return Replica(2, T0)


def test_the_end_of_a_local_replica_is_that_of_its_log(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    local = Replica(1, T0, log, initial_high_watermark=1)
    log.append_as_leader(record_set(b"a", b"b"), leader_epoch=0)
    assert local.is_local
    assert local.log_end_offset.message_offset == 2
    assert local.high_watermark.message_offset == 1
    with pytest.raises(ValueError, match="the log end offset of the local replica of topic-0 is its log's"):
        local.update_log_end_offset(LogOffsetMetadata(5))
    log.close()


def test_the_end_of_a_remote_replica_is_what_it_told_last(follower: Replica) -> None:
    assert not follower.is_local
    assert follower.log_end_offset is LogOffsetMetadata.UNKNOWN
    follower.update_log_end_offset(LogOffsetMetadata(5))
    assert follower.log_end_offset.message_offset == 5
    assert follower.last_stable_offset.message_offset == 0


def test_a_follower_at_the_end_has_caught_up_now(follower: Replica) -> None:
    follower.update_last_caught_up_time(fetch_offset=9, leader_log_end_offset=10, now_ms=100)
    assert follower.last_caught_up_time_ms == 0
    follower.update_last_caught_up_time(fetch_offset=12, leader_log_end_offset=12, now_ms=200)
    assert follower.last_caught_up_time_ms == 200


def test_a_follower_that_has_what_was_there_at_its_last_fetch_had_caught_up_then(follower: Replica) -> None:
    follower.update_last_caught_up_time(fetch_offset=5, leader_log_end_offset=10, now_ms=100)
    follower.update_last_caught_up_time(fetch_offset=10, leader_log_end_offset=20, now_ms=200)
    assert follower.last_caught_up_time_ms == 100
    follower.update_last_caught_up_time(fetch_offset=19, leader_log_end_offset=30, now_ms=300)
    assert follower.last_caught_up_time_ms == 100, "it lacks one message of its last fetch"


def test_the_time_of_a_caught_up_follower_does_not_go_back(follower: Replica) -> None:
    follower.update_last_caught_up_time(fetch_offset=10, leader_log_end_offset=10, now_ms=300)
    follower.update_last_caught_up_time(fetch_offset=10, leader_log_end_offset=10, now_ms=200)
    assert follower.last_caught_up_time_ms == 300


def test_a_new_leader_counts_from_the_time_that_it_is_given(follower: Replica) -> None:
    follower.update_last_caught_up_time(fetch_offset=10, leader_log_end_offset=10, now_ms=300)
    follower.reset_last_caught_up_time(leader_log_end_offset=20, now_ms=400, last_caught_up_time_ms=0)
    assert follower.last_caught_up_time_ms == 0
    follower.update_last_caught_up_time(fetch_offset=20, leader_log_end_offset=25, now_ms=500)
    assert follower.last_caught_up_time_ms == 400
