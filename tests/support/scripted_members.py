"""Members of a group whose coordinator is a script."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import Subscription, serialize_subscription
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponseMember
from tests.support.scripted_broker import ScriptedBroker

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


class Listener(ConsumerRebalanceListener):
    """Notes its calls."""

    def __init__(self) -> None:
        self.events: list[tuple[str, list[TopicPartition]]] = []

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("revoked", sorted(partitions)))

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("assigned", sorted(partitions)))

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("lost", sorted(partitions)))


def member(consumer: KafkaConsumer) -> AbstractCoordinator:
    """The coordinator client of a consumer."""
    coordinator = consumer._coordinator
    assert coordinator is not None
    return coordinator


def joined(consumer: KafkaConsumer, polls: int = 20) -> None:
    """Poll until the consumer is in the group and has partitions."""
    for _ in range(polls):
        consumer.poll(50)
        if consumer.assignment and not member(consumer).rejoin_needed_or_pending():
            return
    raise AssertionError("did not join")


def another(*topics: str, member_id: str = "other") -> JoinGroupResponseMember:
    """Another member of the group, as the leader learns of it."""
    return JoinGroupResponseMember(member_id=member_id, metadata=serialize_subscription(Subscription(topics)))


def poll(consumer: KafkaConsumer, times: int = 10) -> list[Any]:
    """The values that some polls return."""
    return [record.value for _ in range(times) for record in consumer.poll(50)]


def reading(broker: ScriptedBroker, consumer: KafkaConsumer) -> KafkaConsumer:
    """It has read ``a`` and ``b`` of T0."""
    broker.append(T0, b"a", b"b")
    consumer.subscribe(["t"])
    assert poll(consumer, 20) == [b"a", b"b"]
    return consumer


def heartbeat_with(broker: ScriptedBroker, consumer: KafkaConsumer, time: MockTime, error: Errors) -> None:
    """Let the response to the next heartbeat have an error."""
    answer = broker.handlers[ApiKey.HEARTBEAT]

    def refuse(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = error.code
        return response

    broker.handlers[ApiKey.HEARTBEAT] = refuse
    time.sleep(3001)
    for _ in range(3):
        member(consumer).heartbeat_turn()
    broker.handlers[ApiKey.HEARTBEAT] = answer
