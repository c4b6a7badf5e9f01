"""A broker of a test cluster that only notes what is done to it."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.any_broker import AnyBroker


class NotedBroker(AnyBroker):
    """Notes what is done to it."""

    def __init__(self, broker_id: int, port: int = 9092) -> None:
        self.id, self.port = broker_id, port
        self.running = True
        self.done: list[str] = []

    @property
    def is_running(self) -> bool:
        return self.running

    @property
    def log_dir(self) -> Path:
        return Path("/nowhere")

    def start(self) -> None:
        self.done.append("start")

    def stop(self) -> int | None:
        self.done.append("stop")
        return None

    def kill(self) -> None:
        self.done.append("kill")

    def pause(self) -> None:
        self.done.append("pause")

    def resume(self) -> None:
        self.done.append("resume")

    def is_active_controller(self) -> bool:
        return False

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        return False

    def await_brokers(self, brokers: Set[int], timeout_s: float) -> bool:
        return False

    def await_topic(self, topic: str, partitions: int, timeout_s: float) -> bool:
        return False
