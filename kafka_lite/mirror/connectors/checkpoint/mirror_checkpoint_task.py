"""Emits checkpoints of some groups.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorCheckpointTask.java · book 8.1.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from kafka_lite import __version__
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore
from kafka_lite.mirror.connectors.checkpoint.group_offset_sync import GroupOffsetSync, TargetGroups
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import (
    EMIT_CHECKPOINTS,
    SYNC_GROUP_OFFSETS,
    MirrorCheckpointConfig,
)
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_metrics import MirrorCheckpointMetrics
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_stores import MirrorCheckpointStores
from kafka_lite.mirror.connectors.checkpoint.offset_sync_store import OffsetSyncStore
from kafka_lite.mirror.connectors.mirror_admin import new_mirror_admin
from kafka_lite.mirror.connectors.mirror_connector_config import Cluster
from kafka_lite.mirror.connectors.mirror_records import Checkpoint
from kafka_lite.mirror.connectors.mirror_topic_reader import NO_GROUP, MirrorTopicReader, TopicConsumer
from kafka_lite.mirror.connectors.mirror_utils import GROUP, PARTITION, TOPIC, unwrap_partition, wrap_offset
from kafka_lite.producer.producer_record import RecordMetadata

logger = logging.getLogger(__name__)

STOP_S = 5.0


class MirrorCheckpointTask(SourceTask):
    """Looks at the groups' offsets in the source now and then, and writes where they lie in the target.

    ::

        committed in the source ─▶ OffsetSyncStore ─▶ after the last checkpoint? ─▶ topic of checkpoints
                                                                                         │ sync.group.offsets.enabled
                                                                                         ▼
                                                                             committed in the target
    """

    def __init__(
        self,
        new_consumer: Callable[[Mapping[str, object]], TopicConsumer] = KafkaConsumer,
        new_admin: Callable[[Mapping[str, object]], TargetGroups] = new_mirror_admin,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._new_consumer = new_consumer
        self._new_admin = new_admin
        self._time = time
        self._stopped = threading.Event()
        self._config: MirrorCheckpointConfig
        self._source: TargetGroups
        self._checkpoints: CheckpointStore
        self._offset_syncs: OffsetSyncStore
        self._stores: MirrorCheckpointStores | None = None
        self._metrics: MirrorCheckpointMetrics | None = None

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Begin to read both topics. Raises ConfigError."""
        self._config = config = MirrorCheckpointConfig(props)
        self._metrics = MirrorCheckpointMetrics(config, self._time)
        self.context.beans.add_source(self._metrics.beans)
        self._source = self._new_admin(config.client("source", "admin", "checkpoint-source-admin"))
        target = self._new_admin(config.client("target", "admin", "checkpoint-target-admin"))
        self._checkpoints = CheckpointStore(config.task_groups)
        self._offset_syncs = OffsetSyncStore()
        at = config.offset_syncs_cluster
        self._stores = MirrorCheckpointStores(
            f"mirror-checkpoint-{config.label}",
            self._checkpoints,
            self._offset_syncs,
            partial(self._reader, "target", "checkpoints-target-consumer", config.checkpoints_topic),
            partial(self._reader, at, f"offset-syncs-{at}-consumer", config.offset_syncs_topic),
            GroupOffsetSync(target, self._checkpoints).sync,
            config.interval_ms(SYNC_GROUP_OFFSETS),
            self._time,
        )
        self._stores.start()
        logger.info("Checkpointing %s: %s", config.label, config.task_groups)

    def _reader(
        self, cluster: Cluster, role: str, topic: str, consumed: Callable[[bytes, bytes], None]
    ) -> MirrorTopicReader:
        consumer = self._new_consumer({**self._config.client(cluster, "consumer", role), **NO_GROUP})
        return MirrorTopicReader(consumer, topic, consumed)

    def poll(self) -> Sequence[SourceRecord] | None:
        """The checkpoints that are new; None if there are none, or after ``stop``."""
        assert self._stores is not None, "start comes first"
        if self._stopped.wait((self._config.interval_ms(EMIT_CHECKPOINTS) or 0) / 1000) or not self._stores.is_loaded:
            return None
        found: list[SourceRecord] = []
        for group in self._config.task_groups:
            try:
                offsets = self._source.group_offsets(group)
            except KafkaError as error:
                logger.warning(
                    "Cannot read the offsets of consumer group %s of %s: %s", group, self._config.source, error
                )
                continue
            news = [each for each in self._translated(group, offsets) if self._checkpoints.is_news(each)]
            self._checkpoints.update(news)
            found.extend(map(self._record, news))
        return found or None

    def _translated(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> Iterator[Checkpoint]:
        """The group's offsets of copied topics, as far as they can be translated."""
        for partition, committed in sorted(offsets.items()):
            if self._config.topic_filter.should_replicate_topic(partition.topic):
                downstream = self._offset_syncs.translate_downstream(partition, committed.offset)
                if downstream is not None and downstream >= 0:
                    remote = self._renamed(partition)
                    yield Checkpoint(group, remote, committed.offset, downstream, committed.metadata)

    def _renamed(self, partition: TopicPartition) -> TopicPartition:
        """The partition in the target: of the copy, or of the original if the source has a copy of the target's."""
        policy, topic = self._config.policy, partition.topic
        if policy.topic_source(topic) == self._config.target:
            return TopicPartition(policy.original_topic(topic), partition.partition)
        return TopicPartition(policy.format_remote_topic(self._config.source, topic), partition.partition)

    def _record(self, checkpoint: Checkpoint) -> SourceRecord:
        place = checkpoint.topic_partition
        return SourceRecord(
            source_partition={GROUP: checkpoint.group, TOPIC: place.topic, PARTITION: place.partition},
            source_offset=wrap_offset(0),
            topic=self._config.checkpoints_topic,
            kafka_partition=0,
            key_schema=Schema.BYTES_SCHEMA,
            key=checkpoint.key(),
            value_schema=Schema.BYTES_SCHEMA,
            value=checkpoint.value(),
            timestamp=self._time.milliseconds(),
        )

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:  # noqa: ARG002  a hook
        """The target has a checkpoint: note how long that took."""
        if self._metrics is not None and record.source_partition is not None and record.timestamp is not None:
            group, partition = record.source_partition[GROUP], unwrap_partition(record.source_partition)
            self._metrics.emitted(group, partition, record.timestamp)

    def stop(self) -> None:
        """End the wait and the thread."""
        self._stopped.set()
        if self._stores is not None:
            self._stores.shutdown(STOP_S)
        if self._metrics is not None:
            self.context.beans.remove_source(self._metrics.beans)
            self._metrics.close()
