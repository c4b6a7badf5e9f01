"""The part of the broker's configuration that the share coordinator needs.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorConfig.java · book 10.3
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.record.compression import CompressionType


@dataclass(frozen=True)
class ShareCoordinatorConfig:
    """Values of ``share.coordinator.*``; times in ms."""

    state_topic_num_partitions: int = 50
    state_topic_replication_factor: int = 3
    state_topic_min_isr: int = 2
    state_topic_segment_bytes: int = 100 * 1024 * 1024
    num_threads: int = 1
    snapshot_update_records_per_snapshot: int = 500
    """How many updates may follow a snapshot. 0: every record is a snapshot."""

    load_buffer_size: int = 5 * 1024 * 1024
    compression_type: CompressionType = CompressionType.NONE
    append_linger_ms: int = 5
    """How long a write waits for others to be appended with it, if nothing is being appended."""

    write_timeout_ms: int = 5000
    """How long an append may wait for its followers."""

    topic_prune_interval_ms: int = 5 * 60 * 1000
    cold_partition_snapshot_interval_ms: int = 5 * 60 * 1000
    """After this time without a snapshot, a partition gets one, so that records before it can be deleted."""

    def state_topic_configs(self, replication_factor: int) -> dict[str, str]:
        """The configuration of ``__share_group_state``, which has this many replicas."""
        return {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "segment.bytes": str(self.state_topic_segment_bytes),
            "min.insync.replicas": str(min(self.state_topic_min_isr, replication_factor)),
            "retention.ms": "-1",
        }
