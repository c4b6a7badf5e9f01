"""Produce requests that wait for the replicas."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.delayed_produce import DelayedProduce, PartitionResponse, ProducePartitionStatus

DONE, LATE = TopicPartition("t", 0), TopicPartition("t", 1)


def test_only_partitions_that_still_wait_time_out() -> None:
    statuses = {
        DONE: ProducePartitionStatus(5, PartitionResponse(Errors.NONE, 4)),
        LATE: ProducePartitionStatus(9, PartitionResponse(Errors.NONE, 8), acks_pending=True),
    }
    responses: list[dict[TopicPartition, PartitionResponse]] = []
    expired: list[TopicPartition] = []
    unused: Any = None
    DelayedProduce(100, statuses, unused, responses.append, expired.append).run()
    [response] = responses
    assert [response[each].error for each in (DONE, LATE)] == [Errors.NONE, Errors.REQUEST_TIMED_OUT]
    assert expired == [LATE]


def replicated(reached: bool, error: Errors = Errors.NONE) -> Any:
    return SimpleNamespace(check_enough_replicas_reach_offset=lambda _offset: (reached, error))


@pytest.mark.parametrize(
    ("partition", "done", "error"),
    [
        (replicated(False), False, None),
        (replicated(True), True, Errors.NONE),
        (replicated(True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND), True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        (replicated(False, Errors.NOT_LEADER_OR_FOLLOWER), True, Errors.NOT_LEADER_OR_FOLLOWER),
        (None, True, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_produce_request_is_done_once_the_records_are_replicated_or_cannot_be(
    partition: Any, done: bool, error: Errors | None
) -> None:
    def led(topic_partition: TopicPartition) -> Any:
        assert topic_partition == LATE, "the other does not wait"
        if partition is None:
            raise ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
        return partition

    statuses = {
        DONE: ProducePartitionStatus(5, PartitionResponse(Errors.INVALID_RECORD)),
        LATE: ProducePartitionStatus(9, PartitionResponse(Errors.NONE, 8), acks_pending=True),
    }
    responses: list[dict[TopicPartition, PartitionResponse]] = []
    assert DelayedProduce(100, statuses, led, responses.append).try_complete() is done
    told = [(each[DONE].error, each[LATE].error) for each in responses]
    assert told == ([(Errors.INVALID_RECORD, error)] if done else [])
