"""The producer state of a log, fed with batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches

PARTITION = TopicPartition("topic", 0)


def producer_batch(
    sequence: int,
    count: int = 1,
    *,
    offset: int = 0,
    epoch: int = 0,
    producer_id: int = 7,
    timestamp: int = 1000,
    transactional: bool = False,
) -> bytes:
    """A batch of ``count`` records."""
    builder = MemoryRecordsBuilder(
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )
    for _ in range(count):
        builder.append(timestamp, None, b"v")
    return bytes(builder.build())


class ProducerState:
    """A manager, used in the way a log uses it."""

    def __init__(self, directory: Path, expiration_ms: int = 10_000) -> None:
        self.config = ProducerStateManagerConfig(expiration_ms)
        self.manager = ProducerStateManager(PARTITION, directory, self.config)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.manager, name)

    def append(self, records: bytes, origin: AppendOrigin = AppendOrigin.CLIENT) -> BatchMetadata | None:
        """Returns the metadata of the stored batch if this one is a duplicate."""
        prepared = self.manager.prepare_updates(batches(records), origin)
        for append in prepared.appends:
            self.manager.update(append)
        return prepared.duplicate

    def refused(self, records: bytes) -> Errors:
        """The error of an append."""
        with pytest.raises(ApiError) as info:
            self.append(records)
        return info.value.error
