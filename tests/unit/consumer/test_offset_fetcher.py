"""Offsets asked of leaders: where positions begin and are reset, and the ends of logs."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndTimestamp
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import ScriptedBroker
from tests.unit.consumer.conftest import ConsumerFactory

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def poll_all(consumer: KafkaConsumer, polls: int = 10) -> list[Any]:
    return [record for _ in range(polls) for record in consumer.poll(50)]


def values(records: Any) -> list[Any]:
    return [record.value for record in records]


@pytest.mark.parametrize(("policy", "expected"), [("earliest", [b"c", b"d"]), ("latest", [])])
def test_a_consumer_without_a_group_starts_by_the_reset_policy(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, policy: str, expected: list[bytes]
) -> None:
    broker.append(T0, b"a", b"b")
    broker.logs[T0].clear()
    broker.ends[T0] = (2, 2)
    broker.append(T0, b"c", b"d")
    consumer = new_consumer(auto_offset_reset=policy)
    consumer.assign([T0])
    assert values(poll_all(consumer)) == expected
    assert consumer.position(T0) == 4


def test_a_position_is_looked_up_as_soon_as_the_leader_is_known(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """Not a retry.backoff.ms later: the first metadata request is no failure."""
    broker.append(T0, b"a")
    consumer = new_consumer(retry_backoff_ms=30_000)
    consumer.assign([T0])
    consumer.seek_to_end([T0])
    assert consumer.position(T0, timeout_ms=20_000) == 1


def test_a_seek_during_a_reset_wins(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a", b"b", b"c")
    consumer = new_consumer()
    consumer.assign([T0])
    answer, broker.handlers[ApiKey.LIST_OFFSETS] = broker.handlers[ApiKey.LIST_OFFSETS], lambda _request, _version: None
    poll_all(consumer, 5)
    assert broker.of(ApiKey.LIST_OFFSETS)
    consumer.seek(T0, 2)
    broker.handlers[ApiKey.LIST_OFFSETS] = answer
    assert values(consumer.poll(1000)) == [b"c"]


def test_list_offsets_is_retried_until_the_leader_responds(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a")
    broker.fail_next(ApiKey.LIST_OFFSETS, Errors.NOT_LEADER_OR_FOLLOWER, Errors.LEADER_NOT_AVAILABLE)
    consumer = new_consumer()
    consumer.assign([T0])
    assert values(poll_all(consumer)) == [b"a"]
    assert len(broker.of(ApiKey.LIST_OFFSETS)) == 3


def test_offsets_by_timestamp_and_beginning_and_end_offsets(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b", b"c")
    consumer = new_consumer()
    assert consumer.beginning_offsets([T0, T1]) == {T0: 0, T1: 0}
    assert consumer.end_offsets([T0, T1]) == {T0: 3, T1: 0}
    found = consumer.offsets_for_times({T0: 1001, T1: 1001})
    assert found == {T0: OffsetAndTimestamp(1, 1001), T1: None}
    with pytest.raises(ValueError, match="negative"):
        consumer.offsets_for_times({T0: -1})
