"""The broker's configuration of the group coordinator.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (GroupConfig), OffsetConfig.scala · book 5.2.1
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.record.compression import CompressionType


@dataclass(frozen=True)
class GroupConfig:
    """Limits of groups: the keys ``group.*``."""

    min_session_timeout_ms: int
    max_session_timeout_ms: int
    max_size: int
    initial_rebalance_delay_ms: int
    """How long the first rebalance of an empty group waits for more members. 0: not at all, as before Kafka 0.11."""


@dataclass(frozen=True)
class OffsetConfig:
    """How offsets are stored: the keys ``offset.*`` and ``offsets.*``."""

    max_metadata_size: int
    """The most characters of metadata that may be committed with an offset."""
    load_buffer_size: int
    """How many bytes are read at a time while a partition is loaded."""
    retention_ms: int
    retention_check_interval_ms: int
    topic_num_partitions: int
    """The number of partitions with which ``__consumer_offsets`` is created."""
    compression: CompressionType
    commit_timeout_ms: int
    commit_required_acks: int
    inter_broker_protocol_version: ApiVersion
    """Decides the version of the values, so that every broker of the cluster can read them."""
