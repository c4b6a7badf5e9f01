"""Produce requests that wait for the replicas."""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import Errors
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
