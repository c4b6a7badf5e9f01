import dataclasses

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction import transaction_log
from kafka_lite.coordinator.transaction.transaction_metadata import TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.records import batches
from tests.support.samples import hex_sample

ONGOING = TxnTransitMetadata(
    producer_id=1000,
    producer_epoch=5,
    last_producer_id=-1,
    last_producer_epoch=-1,
    timeout_ms=60_000,
    state=TransactionState.ONGOING,
    topic_partitions=frozenset({TopicPartition("b", 0), TopicPartition("a", 2), TopicPartition("a", 1)}),
    start_timestamp_ms=1_600_000_000_000,
    last_update_timestamp_ms=1_600_000_000_500,
)


def test_bytes_of_a_key() -> None:
    assert transaction_log.key_of("my-id") == bytes.fromhex("0000 0005 6d792d6964")


def test_bytes_of_a_value() -> None:
    assert transaction_log.value_of(ONGOING) == bytes.fromhex(
        "0000"  # version
        "00000000000003e8 0005 0000ea60 01"  # producer id, epoch, timeout, state
        "00000002 0001 61 00000002 00000001 00000002 0001 62 00000001 00000000"  # partitions by topic
        "00000174876e81f4 00000174876e8000"  # last update, start
    )


@pytest.mark.parametrize("state", [s for s in TransactionState if s < TransactionState.DEAD])
def test_a_value_is_read_back(state: TransactionState) -> None:
    partitions = frozenset[TopicPartition]() if state is TransactionState.EMPTY else ONGOING.topic_partitions
    transit = dataclasses.replace(ONGOING, state=state, topic_partitions=partitions)
    assert transaction_log.read_value(transaction_log.value_of(transit)) == transit


def test_epochs_before_the_last_one_are_not_in_the_log() -> None:
    transit = dataclasses.replace(ONGOING, last_producer_id=7, last_producer_epoch=4)
    assert transaction_log.read_value(transaction_log.value_of(transit)) == ONGOING


def test_an_empty_id_has_null_partitions() -> None:
    transit = dataclasses.replace(ONGOING, state=TransactionState.EMPTY, topic_partitions=frozenset())
    assert b"\xff\xff\xff\xff" in transaction_log.value_of(transit)


@pytest.mark.parametrize("transactional_id", ["my-id", "ü" * 100])
def test_a_key_is_read_back(transactional_id: str) -> None:
    assert transaction_log.read_key(transaction_log.key_of(transactional_id)) == transactional_id


def test_a_key_of_a_later_version_is_ignored() -> None:
    assert transaction_log.read_key(b"\x00\x01anything") is None


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x09short"])
def test_a_broken_key_is_refused(data: bytes) -> None:
    with pytest.raises(SchemaError):
        transaction_log.read_key(data)


def test_an_unknown_state_is_refused() -> None:
    value = bytearray(transaction_log.value_of(ONGOING))
    value[16] = 9
    with pytest.raises(SchemaError, match="9 is not a state"):
        transaction_log.read_value(bytes(value))


@pytest.mark.parametrize("length", [0, 1, 10, 30])
def test_a_short_value_is_refused(length: int) -> None:
    with pytest.raises(SchemaError):
        transaction_log.read_value(transaction_log.value_of(ONGOING)[:length])


def test_records_of_kafka_3_9_are_read_and_written_byte_for_byte() -> None:
    records = [record for batch in batches(hex_sample("v39-transaction-state-0.log.hex")) for record in batch.records()]
    states = []
    for record in records:
        assert record.key is not None
        assert record.value is not None
        transit = transaction_log.read_value(record.value)
        assert transaction_log.value_of(transit) == record.value
        assert transaction_log.key_of(transaction_log.read_key(record.key) or "") == record.key
        states.append(transit.state)
    assert {TransactionState.EMPTY, TransactionState.ONGOING, TransactionState.COMPLETE_COMMIT} <= set(states)


WITH_TAGS = dataclasses.replace(ONGOING, next_producer_id=2000, client_transaction_version=2)


def test_bytes_of_a_value_with_tagged_fields() -> None:
    assert transaction_log.value_of(WITH_TAGS, 1) == bytes.fromhex(
        "0001"  # version
        "00000000000003e8 0005 0000ea60 01"  # producer id, epoch, timeout, state
        "03 02 61 03 00000001 00000002 00 02 62 02 00000000 00"  # partitions by topic
        "00000174876e81f4 00000174876e8000"  # last update, start
        "02 01 08 00000000000007d0 02 02 0002"  # next producer id, client's version
    )


@pytest.mark.parametrize("version", [1, 2])
def test_a_value_with_tagged_fields_is_read_back(version: int) -> None:
    rotated = dataclasses.replace(WITH_TAGS, last_producer_id=999)
    for transit in (WITH_TAGS, rotated):
        assert transaction_log.read_value(transaction_log.value_of(transit, version)) == transit


def test_the_id_before_is_written_only_if_it_was_another_one() -> None:
    same = dataclasses.replace(WITH_TAGS, last_producer_id=ONGOING.producer_id)
    assert transaction_log.value_of(same, 1) == transaction_log.value_of(WITH_TAGS, 1)


def test_tagged_fields_are_lost_before_every_broker_can_read_them() -> None:
    assert transaction_log.read_value(transaction_log.value_of(WITH_TAGS, 0)) == ONGOING
