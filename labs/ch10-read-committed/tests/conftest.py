"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.partition_records import CompletedFetch, PartitionRecords
from kafka_lite.protocol.messages.api_01_fetch import AbortedTransaction, PartitionData
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


@pytest.fixture(scope="session")
def broker_settings():
    """One broker has one replica."""
    return {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}


def encoded(offset, producer_id, what):
    """One batch: a value, or the marker COMMIT or ABORT. Producer 0 has no transactions, only numbers."""
    if what in ("COMMIT", "ABORT"):
        marker = EndTransactionMarker(ControlRecordType[what], 0)
        return marker.to_batch(producer_id, 0, 1000, base_offset=offset)
    builder = MemoryRecordsBuilder(
        base_offset=offset, producer_id=producer_id, producer_epoch=0, base_sequence=0,
        is_transactional=producer_id != 0,
    )  # fmt: skip
    builder.append(1000, None, what.encode())
    return builder.build()


@pytest.fixture
def read():
    """``read(log, *aborted, start=0)``: the values that a consumer with read_committed returns.

    ``log`` has (producer id, value or marker) from offset ``start`` on, ``aborted`` (producer id, first offset).
    """

    def values(log, *aborted, start=0):
        data = b"".join(encoded(offset, *each) for offset, each in enumerate(log, start))
        listed = [AbortedTransaction(producer_id=producer, first_offset=first) for producer, first in aborted]
        response = PartitionData(partition_index=0, records=data, aborted_transactions=listed)
        fetch = CompletedFetch(TopicPartition("t", 0), start, response, 11, lambda *_: None)
        records = PartitionRecords(fetch, read_committed=True)
        found = []
        while not records.is_consumed:
            found += [record.value.decode() for record in records.fetch_records(100)]
        return " ".join(found)

    return values
