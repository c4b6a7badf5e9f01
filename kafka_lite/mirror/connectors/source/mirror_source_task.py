"""Copies some partitions of the source.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceTask.java · book 8.1.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.headers import Header, Headers
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.connectors.mirror_connector_config import CONSUMER_POLL_TIMEOUT_MS, EMIT_OFFSET_SYNCS
from kafka_lite.mirror.connectors.mirror_utils import unwrap_offset, unwrap_partition, wrap_offset, wrap_partition
from kafka_lite.mirror.connectors.source.mirror_source_config import MirrorSourceConfig
from kafka_lite.mirror.connectors.source.mirror_source_metrics import MirrorSourceMetrics
from kafka_lite.mirror.connectors.source.offset_sync_writer import OffsetSyncWriter, SyncProducer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import RecordMetadata

logger = logging.getLogger(__name__)


class MirrorSourceTask(SourceTask):
    """Its consumer is in no group: Connect stores how far it has come.

    ::

        consumer of the source ─▶ poll ─▶ Connect's producer into the target, same partition
                                                  │ acknowledged
                                                  ▼
                                          commit_record ─▶ OffsetSyncWriter

    Connect stores offsets of acknowledged records only, so nothing is lost; after a crash, what came since is copied
    again.
    """

    def __init__(
        self,
        new_consumer: Callable[[Mapping[str, object]], KafkaConsumer] = KafkaConsumer,
        new_producer: Callable[[Mapping[str, object]], SyncProducer] = KafkaProducer,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._new_consumer = new_consumer
        self._new_producer = new_producer
        self._time = time
        self._config: MirrorSourceConfig
        self._consumer: KafkaConsumer | None = None
        self._syncs: OffsetSyncWriter | None = None
        self._metrics: MirrorSourceMetrics | None = None
        self._access = threading.Lock()  # to the consumer: poll's thread, and the one that stops
        self._stopping = False

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Continue each partition after its last copied record, or begin with ``auto.offset.reset``: at its beginning.

        Raises ConfigError.
        """
        self._config = config = MirrorSourceConfig(props)
        partitions = config.task_partitions
        self._metrics = MirrorSourceMetrics(config, self._time)
        self.context.beans.add_source(self._metrics.beans)
        self._consumer = self._new_consumer(config.client("source", "consumer", "replication-consumer"))
        if config[EMIT_OFFSET_SYNCS]:
            at = config.offset_syncs_cluster
            producer = self._new_producer(config.client(at, "producer", f"offset-syncs-{at}-producer"))
            self._syncs = OffsetSyncWriter(producer, config.offset_syncs_topic, config["offset.lag.max"])
        self._consumer.assign(partitions)
        stored = self.context.offset_storage_reader.offsets(
            [wrap_partition(each, config.source) for each in partitions]
        )
        for partition, wrapped in zip(partitions, stored, strict=True):
            offset = unwrap_offset(wrapped)
            if offset is not None:
                self._consumer.seek(partition, offset + 1)
        logger.info("Replicating %d topic-partitions %s: %s", len(partitions), config.label, partitions)

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next records; None if there are none, or after ``stop``."""
        if not self._access.acquire(blocking=False):
            return None
        try:
            if self._stopping or self._consumer is None:
                return None
            polled = self._consumer.poll(self._config[CONSUMER_POLL_TIMEOUT_MS])
            return [self._convert(record) for record in polled] or None
        except WakeupError:
            return None
        except KafkaError:
            logger.warning("Failure during poll", exc_info=True)
            return None
        finally:
            self._access.release()

    def _convert(self, record: ConsumerRecord) -> SourceRecord:
        """The same record for the target. Key, value and headers remain bytes."""
        source = self._config.source
        topic = self._config.policy.format_remote_topic(source, record.topic)
        if self._metrics is not None:
            self._metrics.polled(TopicPartition(topic, record.partition), record.value, record.timestamp)
        return SourceRecord(
            source_partition=wrap_partition(record.topic_partition, source),
            source_offset=wrap_offset(record.offset),
            topic=topic,
            kafka_partition=record.partition,
            key_schema=Schema.OPTIONAL_BYTES_SCHEMA,
            key=record.key,
            value_schema=Schema.BYTES_SCHEMA,
            value=record.value,
            timestamp=record.timestamp if record.timestamp >= 0 else None,
            headers=Headers(Header(each.key, each.value, Schema.BYTES_SCHEMA) for each in record.headers),
        )

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """The target has a record: count it, and note its offsets in both clusters. One that was dropped has none."""
        if self._stopping or self._metrics is None or metadata is None or record.source_partition is None:
            return
        upstream = unwrap_offset(record.source_offset)
        if upstream is None or not metadata.has_offset:
            logger.error("No offset of a record of %s: cannot sync offsets", record.topic)
            return
        source_partition = unwrap_partition(record.source_partition)
        self._metrics.copied(TopicPartition(record.topic, source_partition.partition), record.timestamp)
        if self._syncs is not None:
            self._syncs.record_copied(source_partition, upstream, metadata.offset)

    def commit(self) -> None:
        """Write the offset syncs that are not due, too."""
        if self._syncs is not None:
            self._syncs.promote_delayed()

    def stop(self) -> None:
        """Interrupt ``poll``, and close the clients."""
        self._stopping = True
        if self._consumer is not None:
            self._consumer.wakeup()
            with self._access:
                self._consumer.close()
        if self._syncs is not None:
            self._syncs.close()
        if self._metrics is not None:
            self.context.beans.remove_source(self._metrics.beans)
            self._metrics.close()
