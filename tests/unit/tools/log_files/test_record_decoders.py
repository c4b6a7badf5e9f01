"""Keys and values as text: Kafka's decoders, the internal topics, and what cannot be decoded."""

from __future__ import annotations

import json
import struct
from uuid import UUID

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.coordinator.share import share_coordinator_records as share_records
from kafka_lite.coordinator.share.persister import PersisterStateBatch, SharePartitionKey
from kafka_lite.coordinator.share.share_coordinator_records import ShareSnapshot, ShareUpdate
from kafka_lite.coordinator.share.share_group_offset import ShareGroupOffset
from kafka_lite.protocol.messages import consumer_group_records as modern
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.messages.transaction_records import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from kafka_lite.protocol.version_prefixed import encode_with_version
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches
from kafka_lite.tools.log_files.record_decoders import (
    DELETED,
    decode_offsets,
    decode_share_group_state,
    decode_transactions,
    json_fields,
    key_and_value_decoder,
)

OFFSET_KEY = encode_with_version(OffsetCommitKey(group="航班", topic="t", partition=3), 1)
GROUP_KEY = encode_with_version(GroupMetadataKey(group="g"), 2)
TRANSACTION_KEY = encode_with_version(TransactionLogKey(transactional_id="tx"), 0)


def record(key: bytes | None, value: bytes | None) -> Record:
    (batch,) = batches(memoryview(memory_records(2, CompressionType.NONE, [(key, value)])))
    (found,) = batch.records()
    return found


# ── Kafka's decoders ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        (None, "航班".encode(), "航班"),
        ("kafka.serializer.StringDecoder", b"a\xffb", "a\ufffdb"),
        ("kafka.serializer.DefaultDecoder", b"\x00\xff", "00ff"),
        ("org.apache.kafka.tools.api.LongDecoder", struct.pack(">q", -1), "-1"),
        ("IntegerDecoder", struct.pack(">i", 1 << 30), str(1 << 30)),
    ],
)
def test_a_value_is_decoded_by_the_class_that_is_named(name: str | None, data: bytes, text: str) -> None:
    assert key_and_value_decoder(None, name)(record(None, data)) == (None, text)
    assert key_and_value_decoder(name, None)(record(data, None)) == (text, None)


@pytest.mark.parametrize(("name", "size"), [("IntegerDecoder", 4), ("LongDecoder", 8)])
def test_a_number_of_another_size_is_an_error_with_kafkas_text(name: str, size: int) -> None:
    with pytest.raises(KafkaError, match=f"Size of data received by {name} is not {size}"):
        key_and_value_decoder(None, name)(record(None, b"abc"))


def test_an_unknown_decoder_is_an_error_with_those_that_are_known() -> None:
    with pytest.raises(KafkaError, match=r"unknown decoder kafka.*Nothing; valid decoders: StringDecoder, "):
        key_and_value_decoder("kafka.serializer.Nothing", None)


# ── __consumer_offsets ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_offset_has_the_fields_of_its_version() -> None:
    value = OffsetCommitValue(offset=42, metadata="m", commit_timestamp=7, leader_epoch=5)
    key, payload = decode_offsets(record(OFFSET_KEY, encode_with_version(value, 3)))
    assert key == '{"type":"1","data":{"group":"航班","topic":"t","partition":3}}'
    assert json.loads(payload or "") == {
        "version": "3",
        "data": {"offset": 42, "leaderEpoch": 5, "metadata": "m", "commitTimestamp": 7},
    }


def test_the_records_of_a_group_that_the_coordinator_assigns_are_decoded() -> None:
    key = modern.ConsumerGroupCurrentMemberAssignmentKey(group_id="g", member_id="m")
    owned = modern.TopicPartition(topic_id=UUID(int=1), partitions=[0, 2])
    value = modern.ConsumerGroupCurrentMemberAssignmentValue(member_epoch=3, state=1, assigned_partitions=[owned])
    shown = decode_offsets(record(encode_with_version(key, 8), encode_with_version(value, 0)))
    assert [json.loads(text or "") for text in shown] == [
        {"type": "8", "data": {"groupId": "g", "memberId": "m"}},
        {
            "version": "0",
            "data": {
                "memberEpoch": 3,
                "previousMemberEpoch": 0,
                "state": 1,
                "assignedPartitions": [{"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": [0, 2]}],
                "partitionsPendingRevocation": [],
            },
        },
    ]
    epoch = modern.ConsumerGroupMetadataKey(group_id="g")
    assert decode_offsets(record(encode_with_version(epoch, 3), None))[1] == DELETED


def test_a_tombstone_is_a_deletion() -> None:
    assert decode_offsets(record(OFFSET_KEY, None))[1] == DELETED
    assert decode_transactions(record(TRANSACTION_KEY, None))[1] == DELETED


def group(protocol_type: str, subscription: bytes, assignment: bytes) -> dict[str, object]:
    member = MemberMetadata(
        member_id="m", client_id="c", client_host="/h", session_timeout=10,
        subscription=subscription, assignment=assignment,
    )  # fmt: skip
    value = GroupMetadataValue(protocol_type=protocol_type, protocol="range", leader="m", members=[member])
    _, payload = decode_offsets(record(GROUP_KEY, encode_with_version(value, 3)))
    (shown,) = json.loads(payload or "")["data"]["members"]
    return dict(shown)


SUBSCRIPTION = encode_with_version(ConsumerProtocolSubscription(topics=["flights"], user_data=b"u"), 0)
ASSIGNMENT = encode_with_version(ConsumerProtocolAssignment(assigned_partitions=[], user_data=None), 0)


def test_subscriptions_of_consumers_are_decoded() -> None:
    shown = group("consumer", SUBSCRIPTION, ASSIGNMENT)
    assert shown["subscription"] == {"topics": ["flights"], "userData": "dQ=="}
    assert shown["assignment"] == {"assignedPartitions": [], "userData": None}


@pytest.mark.parametrize(
    ("protocol_type", "subscription"), [("connect", SUBSCRIPTION), ("consumer", b"\0\0\xff"), ("consumer", b"")]
)
def test_what_is_no_consumers_subscription_stays_base64(protocol_type: str, subscription: bytes) -> None:
    assert isinstance(group(protocol_type, subscription, ASSIGNMENT)["subscription"], str)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (b"\0\x09key", b"v", "Unknown record type 9 at offset 0, skipping."),
        (b"\0", b"v", "Error at offset 0, skipping. 1 bytes hold no version"),
        (None, b"v", "Error at offset 0, skipping. 0 bytes hold no version"),
        (OFFSET_KEY, b"\0\x4d", "Error at offset 0, skipping. "),
        (OFFSET_KEY, b"\0\1\0", "Error at offset 0, skipping. "),
    ],
)
def test_a_record_that_is_not_understood_is_skipped_with_its_offset(key: bytes, value: bytes, text: str) -> None:
    shown, payload = decode_offsets(record(key, value))
    assert (shown or "").startswith(text)
    assert payload is None


# ── __share_group_state ───────────────────────────────────────────────────────────────────────────────────────────────

SHARE_KEY = SharePartitionKey("g", UUID(int=2**64), 3)
SHARE_STATE = ShareGroupOffset(1, 2, 5, (PersisterStateBatch(5, 9, 2, 1),), 3, 6, 7)


def test_a_snapshot_and_an_update_are_kafkas_json() -> None:
    key = '"data":{"groupId":"g","topicId":"AAAAAAAAAAEAAAAAAAAAAA","partition":3}}'
    batches = '"stateBatches":[{"firstOffset":5,"lastOffset":9,"deliveryState":2,"deliveryCount":1}]}}'
    assert decode_share_group_state(record(*share_records.encode(ShareSnapshot(SHARE_KEY, SHARE_STATE)))) == (
        '{"type":"0",' + key,
        '{"version":"0","data":{"snapshotEpoch":1,"stateEpoch":3,"leaderEpoch":2,"startOffset":5,"createTimestamp":6,'
        '"writeTimestamp":7,' + batches,
    )
    assert decode_share_group_state(record(*share_records.encode(ShareUpdate(SHARE_KEY, SHARE_STATE)))) == (
        '{"type":"1",' + key,
        '{"version":"0","data":{"snapshotEpoch":1,"leaderEpoch":2,"startOffset":5,' + batches,
    )
    assert decode_share_group_state(record(*share_records.encode(ShareSnapshot(SHARE_KEY, None))))[1] == "<DELETE>"


# ── __transaction_state ───────────────────────────────────────────────────────────────────────────────────────────────


def transaction(status: int, partitions: list[PartitionsSchema] | None) -> str:
    value = TransactionLogValue(
        producer_id=1, producer_epoch=2, transaction_timeout_ms=3, transaction_status=status,
        transaction_partitions=partitions, transaction_last_update_timestamp_ms=4, transaction_start_timestamp_ms=5,
    )  # fmt: skip
    key, payload = decode_transactions(record(TRANSACTION_KEY, encode_with_version(value, 0)))
    assert key == "transaction_metadata::transactionalId=tx"
    return payload or ""


def test_a_transaction_is_kafkas_text() -> None:
    partitions = [PartitionsSchema(topic="t", partition_ids=[0, 2]), PartitionsSchema(topic="u", partition_ids=[1])]
    assert transaction(1, partitions) == (
        "producerId:1,producerEpoch:2,state=Ongoing,partitions=[t-0,t-2,u-1],txnLastUpdateTimestamp=4,txnTimeoutMs=3"
    )
    assert "state=Empty,partitions=[]," in transaction(0, None)


@pytest.mark.parametrize("status", [8, -1, 127])
def test_a_state_of_a_later_kafka_is_its_number(status: int) -> None:
    assert f"state=unknown ({status})," in transaction(status, [])


def test_a_key_of_a_later_kafka_is_unknown() -> None:
    assert decode_transactions(record(b"\0\x07tx", b"v")) == ("unknown::version=7", None)
    assert decode_transactions(record(b"", b"v"))[0] == "Error at offset 0, skipping. 0 bytes hold no version"


def test_fields_are_in_camel_case_and_bytes_in_base64() -> None:
    subscription = ConsumerProtocolSubscription(topics=["t"], user_data=b"\0\1", owned_partitions=[], generation_id=7)
    assert json_fields(subscription, 2) == {
        "topics": ["t"],
        "userData": "AAE=",
        "ownedPartitions": [],
        "generationId": 7,
    }
