"""Appends the records of a group to its partition of ``__consumer_offsets``, as one batch.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala (DelayedStore, store); since 1.1 appendForGroup
· book 3.5.4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_config import OffsetConfig
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.offsets_log import AppendResult, OffsetsLog
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


class GroupRecordsAppender:
    """Writes what a group is to remember. An append never runs with the group's lock held: it may wait for the disk."""

    def __init__(
        self,
        config: OffsetConfig,
        offsets_log: OffsetsLog,
        time: Time,
        topic_partition_for: Callable[[str], TopicPartition],
    ) -> None:
        """``topic_partition_for`` gives the partition of a group id."""
        self._config = config
        self._log = offsets_log
        self._time = time
        self._topic_partition_for = topic_partition_for

    def append_for_group(
        self,
        group: GroupMetadata,
        records: Sequence[tuple[bytes, bytes | None]],
        on_appended: Callable[[AppendResult], None],
        producer: ProducerIdAndEpoch | None = None,
        verification_guard: VerificationGuard | None = None,
    ) -> None:
        """Append once the group's lock, which the caller holds, is free. ``on_appended`` gets the result.

        Records of a ``producer`` are part of its transaction; ``verification_guard`` is that of its verification.
        """
        group.lock.defer(lambda: self._append(group.group_id, records, on_appended, producer, verification_guard))

    def _append(
        self,
        group_id: str,
        records: Sequence[tuple[bytes, bytes | None]],
        on_appended: Callable[[AppendResult], None],
        producer: ProducerIdAndEpoch | None,
        verification_guard: VerificationGuard | None,
    ) -> None:
        topic_partition = self._topic_partition_for(group_id)
        try:
            batch = self._encode(topic_partition, records, producer)
        except ApiError as failure:
            on_appended(_Refused(failure.error))
            return
        self._log.append_records(
            self._config.commit_timeout_ms,
            self._config.commit_required_acks,
            True,
            {topic_partition: batch},
            lambda results: on_appended(results[topic_partition]),
            AppendOrigin.COORDINATOR,
            {} if verification_guard is None else {topic_partition: verification_guard},
        )

    def _encode(
        self,
        topic_partition: TopicPartition,
        records: Sequence[tuple[bytes, bytes | None]],
        producer: ProducerIdAndEpoch | None,
    ) -> bytearray:
        """One batch, in the format of the log. Raises like ``get_leader_log``, and UNSUPPORTED_FOR_MESSAGE_FORMAT for a
        producer's batch in an old format."""
        _, _, log = self._log.get_leader_log(topic_partition)
        whose = producer or ProducerIdAndEpoch()
        builder = MemoryRecordsBuilder(
            log.config.magic,
            self._config.compression,
            producer_id=whose.producer_id,
            producer_epoch=whose.epoch,
            is_transactional=producer is not None,
        )
        timestamp_ms = self._time.milliseconds()
        for key, value in records:
            builder.append(timestamp_ms, key, value)
        return bytearray(builder.build())


class _Refused:
    """The result of an append that was not attempted."""

    base_offset = -1

    def __init__(self, error: Errors) -> None:
        self.error = error
