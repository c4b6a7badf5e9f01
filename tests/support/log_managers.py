"""The logs of a broker, whose manager can be started again."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from tests.support.logs import record_set

SMALL = {"segment.index.bytes": 1024}


class ManagedLogs:
    """A manager with its clock; ``again`` starts another one on the same directories."""

    def __init__(self, *dirs: Path, **options: object) -> None:
        self.dirs = dirs
        self.options = options
        self.time = MockTime(start_ms=100_000)
        self.config = dict(SMALL)
        self.manager = self.again()

    def again(self) -> LogManager:
        self.manager = LogManager(
            list(self.dirs),
            {},
            LogConfig(self.config),
            MockScheduler(self.time),
            self.time,
            **self.options,  # type: ignore[arg-type]
        )
        self.manager.startup()
        return self.manager

    def append(self, topic_partition: TopicPartition, *values: bytes, timestamp: int = 100_000) -> None:
        log = self.manager.get_or_create_log(topic_partition)
        log.append_as_leader(record_set(*values, timestamp=timestamp), 0)
