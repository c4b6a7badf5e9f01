"""A flush waits for the batches that exist when it begins, and for the parts that they are split into."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.batch_split import split
from kafka_lite.producer.incomplete_batches import IncompleteBatches
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import MAGIC_V2

T0 = TopicPartition("t", 0)


def new_batch(buffer: bytearray | None = None, records: int = 0) -> ProducerBatch:
    batch = ProducerBatch(T0, buffer or bytearray(1000), MAGIC_V2, CompressionType.NONE, 0.0, None)
    for number in range(records):
        assert batch.try_append(1000, None, b"%d" % number * 50, (), None)
    return batch


def test_a_batch_is_removed_once() -> None:
    incomplete, batch = IncompleteBatches(MockTime()), new_batch()
    assert not incomplete
    incomplete.add(batch)
    assert incomplete
    assert incomplete.all() == [batch]
    assert incomplete.remove(batch)
    assert not incomplete.remove(batch), "its memory must not be returned twice"
    assert not incomplete


def test_a_flush_times_out_at_a_batch_that_does_not_complete() -> None:
    incomplete = IncompleteBatches(MockTime())
    assert incomplete.await_all(0)
    done, open_one = new_batch(records=1), new_batch(records=1)
    for batch in (done, open_one):
        incomplete.add(batch)
    done.complete(0, -1)
    assert not incomplete.await_all(0)
    open_one.complete(1, -1)
    assert incomplete.await_all(0)


def test_a_flush_waits_for_the_parts_of_a_split_batch() -> None:
    incomplete, batch = IncompleteBatches(MockTime()), new_batch(records=4)
    incomplete.add(batch)
    batch.close()
    parts = split(batch, 200, new_batch)
    assert [part.record_count for part in parts] == [2, 2]
    assert all(part.is_part and part.is_full for part in parts)
    incomplete.split(batch, parts)
    batch.result.done()
    assert incomplete.all() == parts
    assert not incomplete.await_all(0), "the parts have not completed"
    for number, part in enumerate(parts):
        part.complete(2 * number, -1)
        assert incomplete.remove(part)
    assert incomplete.await_all(0)
