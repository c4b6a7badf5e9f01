"""Where an instance can be asked, and what it has.

Kafka 0.10.2: streams/.../state/StreamsMetadata.java, HostInfo.java · book 9.1.4
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.state.host_info import HostInfo


@dataclass(frozen=True)
class StreamsMetadata:
    """One instance of the application, as of the last rebalance."""

    host_info: HostInfo
    """Its ``application.server``."""
    state_store_names: frozenset[str]
    """The stores of which it has a part, and all global stores."""
    topic_partitions: frozenset[TopicPartition]
    """The partitions that it reads."""

    @property
    def host(self) -> str:
        """The host of ``application.server``."""
        return self.host_info.host

    @property
    def port(self) -> int:
        """The port of ``application.server``."""
        return self.host_info.port


NOT_AVAILABLE = StreamsMetadata(HostInfo("unavailable", -1), frozenset(), frozenset())
"""The result of ``metadata_for_key`` while no instance is known to have the key."""
