"""From the batches of a response to the records that the member has acquired."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError, RecordDeserializationError
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.share_in_flight_batch import ShareInFlightBatch, read_acquired
from kafka_lite.protocol.messages.api_78_share_fetch import AcquiredRecords
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError

GAP, ACCEPT, RELEASE, REJECT = AcknowledgeType


def batch_of(base_offset: int, *values: bytes, magic: int = 2) -> bytes:
    builder = MemoryRecordsBuilder(magic, base_offset=base_offset)
    for value in values:
        builder.append(1000, b"k", value)
    return builder.build()


def acquired(*ranges: tuple[int, int, int]) -> list[AcquiredRecords]:
    return [AcquiredRecords(first_offset=a, last_offset=b, delivery_count=count) for a, b, count in ranges]


@pytest.fixture
def batch() -> ShareInFlightBatch:
    return ShareInFlightBatch(1, TopicPartition("t", 0), TopicIdPartition(UUID(int=1), 0))


def test_only_acquired_records_are_read(batch: ShareInFlightBatch) -> None:
    data = batch_of(10, b"a", b"b", b"c") + batch_of(14, b"d", b"e")
    read_acquired(batch, data, acquired((11, 12, 1), (15, 15, 3)))
    assert {offset: (r.value, r.delivery_count) for offset, r in batch.records.items()} == {
        11: (b"b", 1),
        12: (b"c", 1),
        15: (b"e", 3),
    }
    assert batch.acknowledged == {}


def test_offsets_without_records_are_gaps(batch: ShareInFlightBatch) -> None:
    read_acquired(batch, batch_of(10, b"a") + batch_of(13, b"b"), acquired((10, 14, 1)))
    assert sorted(batch.records) == [10, 13]
    assert batch.take_acknowledged() == {11: GAP, 12: GAP, 14: GAP}
    assert batch.take_acknowledged() == {}


def test_a_control_batch_is_gaps(batch: ShareInFlightBatch) -> None:
    builder = MemoryRecordsBuilder(
        base_offset=10, producer_id=1, producer_epoch=0, is_transactional=True, is_control=True
    )
    builder.append(1000, b"\0\0\0\1", b"\0\0\0\0\0\0")
    read_acquired(batch, builder.build(), acquired((10, 10, 1)))
    assert batch.records == {}
    assert batch.acknowledged == {10: GAP}


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_record_that_is_refused_is_released_and_the_next_ones_are_read(batch: ShareInFlightBatch, magic: int) -> None:
    def refuse(_topic: str, value: bytes | None) -> bytes | None:
        if value == b"bad":
            raise ValueError("bad")
        return value

    data = batch_of(10, b"a", b"bad", b"c", b"bad", magic=magic)
    read_acquired(batch, data, acquired((10, 13, 1)), deserialize_value=refuse)
    assert sorted(batch.records) == [10, 12]
    assert batch.acknowledged == {11: RELEASE, 13: RELEASE}
    assert isinstance(batch.error, RecordDeserializationError)
    assert batch.error.offset == 11


def test_a_corrupt_batch_is_rejected_and_others_are_read(batch: ShareInFlightBatch) -> None:
    broken = bytearray(batch_of(10, b"a", b"b"))
    broken[-1] ^= 1
    read_acquired(batch, bytes(broken) + batch_of(12, b"c"), acquired((11, 12, 1)))
    assert sorted(batch.records) == [12]
    assert batch.acknowledged == {11: REJECT}
    assert isinstance(batch.error, CorruptRecordError)
    batch.error = None
    batch.acknowledged.clear()
    read_acquired(batch, batch_of(10, b"a"), acquired((10, 10, 1)), check_crcs=False)
    assert batch.error is None


def test_a_user_may_change_its_mind_until_it_is_sent(batch: ShareInFlightBatch) -> None:
    read_acquired(batch, batch_of(10, b"a", b"b"), acquired((10, 11, 1)))
    batch.acknowledge(10, ACCEPT)
    batch.acknowledge(10, REJECT)
    assert batch.holds(10)
    assert batch.take_acknowledged() == {10: REJECT}
    assert not batch.holds(10)
    with pytest.raises(IllegalConsumerStateError):
        batch.acknowledge(10, ACCEPT)
    batch.acknowledge_all(ACCEPT)
    assert batch.take_acknowledged() == {11: ACCEPT}


def test_no_records_are_all_gaps(batch: ShareInFlightBatch) -> None:
    read_acquired(batch, None, acquired((3, 4, 1)))
    assert batch.acknowledged == {3: GAP, 4: GAP}
