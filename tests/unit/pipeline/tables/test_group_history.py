"""The records of ``__consumer_offsets``, decoded. Without Spark; encoded by the broker's own code."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages import group_records as records
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, TopicPartition
from kafka_lite.protocol.version_prefixed import encode_with_version
from pipeline.tables.group_history import (
    LATEST_VALUE_VERSION,
    Reader,
    decode_assignment,
    decode_commit,
    decode_group,
    decode_key,
)

VERSIONS = range(LATEST_VALUE_VERSION + 1)


def test_a_reader_counts_bytes_and_not_letters() -> None:
    name = "纽约".encode()
    data = len(name).to_bytes(2, "big") + name + b"\xff\xff" + b"\x00\x00\x00\x02ab" + b"\xff\xff\xff\xff" + b"\x00\x07"
    reader = Reader(data)
    assert (reader.string(), reader.string(), reader.bytes_(), reader.bytes_(), reader.number("h")) == (
        "纽约", None, b"ab", b"", 7,
    )  # fmt: skip
    assert reader.position == len(data)


@pytest.mark.parametrize("version", [0, 1])
def test_the_key_of_a_commit(version: int) -> None:
    key = encode_with_version(records.OffsetCommitKey(group="riders", topic="flights", partition=3), version)
    assert decode_key(key) == {"kind": "commit", "group": "riders", "topic": "flights", "partition": 3}


def test_the_key_of_a_group_and_one_of_the_future() -> None:
    key = encode_with_version(records.GroupMetadataKey(group="riders"), 2)
    assert decode_key(key) == {"kind": "group", "group": "riders", "topic": None, "partition": None}
    assert decode_key(b"\x00\x03" + key[2:]) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_commit_of_every_version(version: int) -> None:
    value = records.OffsetCommitValue(offset=41, metadata="m", commit_timestamp=1_400_000_000_000)
    assert decode_commit(encode_with_version(value, version)) == {
        "committed_offset": 41,
        "metadata": "m",
        "commit_timestamp_ms": 1_400_000_000_000,
    }


def test_a_tombstone_and_a_later_version_are_none() -> None:
    for decode in (decode_commit, decode_group):
        assert decode(None) is None
        assert decode(b"\x00\x04 whatever") is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_generation_of_every_version(version: int) -> None:
    assigned = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic="flights", partitions=[0, 2])], user_data=b"sticky"
    )
    member = records.MemberMetadata(
        member_id="m1", group_instance_id="static", client_id="c", client_host="/127.0.0.1", rebalance_timeout=60_000,
        session_timeout=10_000, subscription=b"\x00\x00", assignment=encode_with_version(assigned, 1),
    )  # fmt: skip
    value = records.GroupMetadataValue(
        protocol_type="consumer", generation=12, protocol="range", leader="m1", current_state_timestamp=5,
        members=[member],
    )  # fmt: skip
    assert decode_group(encode_with_version(value, version)) == {
        "protocol_type": "consumer", "generation": 12, "protocol": "range", "leader": "m1",
        "members": [{
            "member_id": "m1", "client_id": "c", "client_host": "/127.0.0.1", "session_timeout_ms": 10_000,
            "assigned": [{"topic": "flights", "partition": 0}, {"topic": "flights", "partition": 2}],
        }],
    }  # fmt: skip


def test_no_bytes_are_no_partitions() -> None:
    assert decode_assignment(b"") == []
