"""Messages with their version in front, from the logs of real brokers and from consumers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from kafka_lite.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches
from tests.support.messages import random_message, versions
from tests.support.samples import hex_sample

KINDS: dict[int, tuple[type[Message], type[Message]]] = {
    0: (OffsetCommitKey, OffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
}


def data_records(log: str) -> Iterator[Record]:
    """All records except transaction markers."""
    for batch in batches(hex_sample(f"{log}.log.hex")):
        if not batch.is_control:
            yield from batch.records()


@pytest.mark.parametrize("log", ["consumer-offsets-7", "consumer-offsets-8", "v39-consumer-offsets-4"])
def test_records_of_a_group_coordinator_are_read(log: str) -> None:
    seen: Counter[str] = Counter()
    for record in data_records(log):
        key_class, value_class = KINDS[read_version(record.key or b"")]
        comes_back(key_class, record.key)
        seen[key_class.__name__] += 1
        if record.value is not None:
            comes_back(value_class, record.value)
    assert seen["OffsetCommitKey"]
    assert seen["GroupMetadataKey"]


def test_records_of_a_transaction_coordinator_are_read() -> None:
    ids = []
    for record in data_records("v39-transaction-state-0"):
        ids.append(comes_back(TransactionLogKey, record.key).transactional_id)
        comes_back(TransactionLogValue, record.value)
    assert ids


def comes_back(message_class: type[Message], data: bytes | memoryview | None) -> Message:
    assert data is not None
    message = decode_with_version(message_class, data)
    assert encode_with_version(message, read_version(data)) == data
    return message


def test_a_subscription_of_0_10() -> None:
    subscription = decode_with_version(
        ConsumerProtocolSubscription, bytes.fromhex("0000000000010007676f6c64656e3100000000")
    )
    assert subscription == ConsumerProtocolSubscription(topics=["golden1"], user_data=b"")


def test_an_assignment_of_0_10() -> None:
    sent = bytes.fromhex("0000000000010007676f6c64656e3100000002000000000000000100000000")
    assignment = decode_with_version(ConsumerProtocolAssignment, sent)
    partitions = [TopicPartition(topic="golden1", partitions=[0, 1])]
    assert assignment == ConsumerProtocolAssignment(assigned_partitions=partitions, user_data=b"")
    assert encode_with_version(assignment, 0) == sent


def test_an_unknown_later_version() -> None:
    encoded = b"\0\x09" + ConsumerProtocolSubscription(topics=["t"], rack_id="r").encode(3) + b"something new"
    assert decode_with_version(ConsumerProtocolSubscription, encoded, lenient=True).rack_id == "r"
    with pytest.raises(SchemaError):
        decode_with_version(ConsumerProtocolSubscription, encoded)
    with pytest.raises(SchemaError):
        decode_with_version(ConsumerProtocolSubscription, b"\0")


@pytest.mark.parametrize(
    "message_class",
    [
        ConsumerProtocolSubscription,
        ConsumerProtocolAssignment,
        OffsetCommitKey,
        OffsetCommitValue,
        GroupMetadataKey,
        GroupMetadataValue,
        TransactionLogKey,
        TransactionLogValue,
    ],
)
def test_every_version_survives(message_class: type[Message]) -> None:
    rng = random.Random(message_class.__name__)
    for version in 5 * list(versions(message_class)):
        message = random_message(message_class, version, rng)
        encoded = message.encode(version)
        decoded, position = message_class.decode_from(encoded, 0, version)
        assert decoded == message
        assert position == len(encoded)
