"""What the tests of this lab share: records of ``__consumer_offsets`` as the broker's own code encodes them."""

import pytest

from kafka_lite.protocol.messages import group_records as records
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, TopicPartition
from kafka_lite.protocol.version_prefixed import encode_with_version


@pytest.fixture
def commit_key():
    """``commit_key(group, topic, partition)``: the key of a committed offset."""

    def make(group="riders", topic="flights", partition=0, version=1):
        return encode_with_version(records.OffsetCommitKey(group=group, topic=topic, partition=partition), version)

    return make


@pytest.fixture
def commit_value():
    """``commit_value(offset, version=1)``: the value of a committed offset."""

    def make(offset, version=1, metadata="", time_ms=1_400_000_000_000, **fields):
        value = records.OffsetCommitValue(offset=offset, metadata=metadata, commit_timestamp=time_ms, **fields)
        return encode_with_version(value, version)

    return make


@pytest.fixture
def group_key():
    """``group_key(group)``: the key of a group."""
    return lambda group="riders": encode_with_version(records.GroupMetadataKey(group=group), 2)


@pytest.fixture
def group_value():
    """``group_value(generation, {"m1": [("flights", [0, 1])], …})``: a generation with each member's assignment."""

    def make(generation, members, version=1, leader=None, empty_assignment=b""):
        value = records.GroupMetadataValue(
            protocol_type="consumer",
            generation=generation,
            protocol="range" if members else None,
            leader=leader or next(iter(members), None),
            current_state_timestamp=1_400_000_000_123,
            members=[
                records.MemberMetadata(
                    member_id=name,
                    group_instance_id=f"static-{name}",
                    client_id=f"client of {name}",
                    client_host="/127.0.0.1",
                    rebalance_timeout=60_000,
                    session_timeout=10_000,
                    subscription=b"\x00\x00 the subscription",
                    assignment=assignment(topics) if topics else empty_assignment,
                )
                for name, topics in members.items()
            ],
        )
        return encode_with_version(value, version)

    return make


def assignment(topics):
    """An assignment as a consumer encodes it, with user data behind."""
    assigned = [TopicPartition(topic=topic, partitions=partitions) for topic, partitions in topics]
    return encode_with_version(ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=b"sticky"), 1)
