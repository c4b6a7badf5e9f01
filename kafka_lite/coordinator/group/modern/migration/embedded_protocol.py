"""Subscriptions and assignments of classic members, which the coordinator reads and writes itself once it assigns.

Kafka 4.1: clients/.../clients/consumer/internals/ConsumerProtocol.java, group-coordinator/.../group/Utils.java
· book 5.1.3
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, grouped, in_order
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage
from kafka_lite.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version

ASSIGNORS_OF_KAFKA = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})


@dataclass(frozen=True, slots=True)
class EmbeddedSubscription:
    """The topics that a classic member subscribes to, and its partitions."""

    topics: frozenset[str]
    owned: TopicIdPartitions
    """The partitions that it keeps while it joins: none, unless its assignor is cooperative."""
    rack_id: str | None


def read_subscription(metadata: bytes, topics: TopicsImage) -> EmbeddedSubscription:
    """The subscription in a member's metadata. Raises SchemaError.

    Some clients (kafka-go) announce version 1 and leave its fields out: of them only the topics are known.
    """
    try:
        found = decode_with_version(ConsumerProtocolSubscription, metadata, lenient=True)
    except SchemaError:
        found = decode_with_version(ConsumerProtocolSubscription, metadata, as_version=0)
    return EmbeddedSubscription(frozenset(found.topics), _by_id(found.owned_partitions, topics), found.rack_id or None)


def read_assignment(assignment: bytes, assignor: str, topics: TopicsImage) -> TopicIdPartitions:
    """The partitions of an assignment; none if it is empty. Raises SchemaError.

    Bytes of a custom assignor cannot be kept, so such an assignment is refused, too. Kafka's own assignors have none
    there, but librdkafka as a leader repeats what the member said when it joined, which it will say again. (Kafka
    refuses these groups, and librdkafka then takes the refusal as fatal.)
    """
    if not assignment:
        return {}
    found = decode_with_version(ConsumerProtocolAssignment, assignment, lenient=True)
    if found.user_data and assignor not in ASSIGNORS_OF_KAFKA:
        raise SchemaError("userData from a custom assignor would be lost")
    return _by_id(found.assigned_partitions, topics)


def write_assignment(partitions: TopicIdPartitions, metadata: bytes, topics: TopicsImage) -> bytes:
    """The assignment in the version of the member's subscription. Raises SchemaError."""
    structs = [
        TopicPartition(topic=name, partitions=numbers)
        for topic_id, numbers in in_order(partitions)
        if (name := topics.topic_name(topic_id)) is not None
    ]
    version = min(read_version(metadata), ConsumerProtocolAssignment.VERSIONS.highest)
    return encode_with_version(ConsumerProtocolAssignment(assigned_partitions=structs), version)


def _by_id(structs: Iterable[TopicPartition], topics: TopicsImage) -> TopicIdPartitions:
    """The partitions by topic id; those of topics that are gone are left out."""
    return grouped(
        (topic.topic_id, number)
        for struct in structs
        if (topic := topics.topic(struct.topic)) is not None
        for number in struct.partitions
    )
