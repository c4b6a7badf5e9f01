"""Emits heartbeats, until it is stopped.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorHeartbeatTask.java · book 8.1.1
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_config import MirrorHeartbeatConfig
from kafka_lite.mirror.connectors.mirror_connector_config import TARGET_CLUSTER_ALIAS
from kafka_lite.mirror.connectors.mirror_records import Heartbeat
from kafka_lite.mirror.connectors.replication_policy import SOURCE_CLUSTER_ALIAS

SOURCE, TARGET = "sourceClusterAlias", "targetClusterAlias"
"""The keys of a source partition: Connect stores an offset for each pair of clusters."""


class MirrorHeartbeatTask(SourceTask):
    """One heartbeat for each call of ``poll``, which waits for the interval."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._stopped = threading.Event()
        self._config: MirrorHeartbeatConfig | None = None

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        self._config = MirrorHeartbeatConfig(props)

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next heartbeat; None after ``stop``."""
        assert self._config is not None, "start comes first"
        if self._stopped.wait((self._config.heartbeats_interval_ms or 0) / 1000):
            return None
        source, target = self._config[SOURCE_CLUSTER_ALIAS], self._config[TARGET_CLUSTER_ALIAS]
        heartbeat = Heartbeat(source, target, self._time.milliseconds())
        record = SourceRecord(
            source_partition={SOURCE: source, TARGET: target},
            source_offset={"offset": 0},
            topic=self._config.heartbeats_topic,
            kafka_partition=0,
            key_schema=Schema.BYTES_SCHEMA,
            key=heartbeat.key(),
            value_schema=Schema.BYTES_SCHEMA,
            value=heartbeat.value(),
            timestamp=heartbeat.timestamp_ms,
        )
        return [record]

    def stop(self) -> None:
        """End the wait."""
        self._stopped.set()
