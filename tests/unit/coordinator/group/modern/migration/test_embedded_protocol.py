"""Subscriptions and assignments of classic members, as the coordinator reads and writes them."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.group.modern.migration.embedded_protocol import (
    read_assignment,
    read_subscription,
    write_assignment,
)
from kafka_lite.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import encode_with_version
from tests.support.modern_groups import FakeTopics, topic_id

TOPICS = FakeTopics(t=3, u=2)
OWNED = [TopicPartition(topic="t", partitions=[2, 0]), TopicPartition(topic="gone", partitions=[1])]


@pytest.mark.parametrize("version", range(4))
def test_a_subscription_has_what_its_version_has(version: int) -> None:
    sent = ConsumerProtocolSubscription(topics=["t", "gone"], owned_partitions=OWNED, rack_id="r")
    found = read_subscription(encode_with_version(sent, version), TOPICS)
    assert found.topics == {"t", "gone"}
    assert found.owned == ({topic_id("t"): frozenset({0, 2})} if version else {})
    assert found.rack_id == ("r" if version == 3 else None)


def test_a_subscription_without_the_fields_of_its_version_has_topics() -> None:
    data = b"\0\1" + encode_with_version(ConsumerProtocolSubscription(topics=["t"]), 0)[2:]
    assert read_subscription(data, TOPICS).topics == {"t"}


def test_a_later_subscription_is_read_as_far_as_it_is_known() -> None:
    data = b"\0\7" + encode_with_version(ConsumerProtocolSubscription(topics=["t"], rack_id="r"), 3)[2:] + b"more"
    assert read_subscription(data, TOPICS).rack_id == "r"


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\0\0\0\0\7x"])
def test_what_is_no_subscription_is_refused(metadata: bytes) -> None:
    with pytest.raises(SchemaError):
        read_subscription(metadata, TOPICS)


def test_an_assignment_is_read_by_topic_ids() -> None:
    assigned = ConsumerProtocolAssignment(assigned_partitions=OWNED)
    assert read_assignment(encode_with_version(assigned, 1), "range", TOPICS) == {topic_id("t"): frozenset({0, 2})}
    assert read_assignment(b"", "range", TOPICS) == {}


def test_bytes_of_a_custom_assignor_cannot_be_kept() -> None:
    assigned = encode_with_version(ConsumerProtocolAssignment(assigned_partitions=OWNED, user_data=b"x"), 0)
    with pytest.raises(SchemaError, match="custom assignor"):
        read_assignment(assigned, "stream", TOPICS)
    # librdkafka repeats there what the member has said.
    for assignor in ("sticky", "cooperative-sticky"):
        assert read_assignment(assigned, assignor, TOPICS) == {topic_id("t"): frozenset({0, 2})}


@pytest.mark.parametrize(("version", "written"), [(0, 0), (3, 3), (9, 3)])
def test_an_assignment_has_the_version_of_the_subscription(version: int, written: int) -> None:
    metadata = version.to_bytes(2, "big")
    partitions = {topic_id("t"): frozenset({1, 0}), topic_id("gone"): frozenset({4})}
    expected = ConsumerProtocolAssignment(assigned_partitions=[TopicPartition(topic="t", partitions=[0, 1])])
    assert write_assignment(partitions, metadata, TOPICS) == encode_with_version(expected, written)
