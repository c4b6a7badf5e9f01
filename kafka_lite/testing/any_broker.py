"""The interface of every broker of a test cluster: in the test's process or in one of its own, ours or Kafka's.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py (KafkaService) · book 1.4.2
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Set
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition

HOST = "127.0.0.1"


class AnyBroker(ABC):
    """A broker with its id, port and data, which stay while it is stopped, killed and started again."""

    id: int
    port: int

    # ── life and death ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def is_running(self) -> bool:
        """Whether it has been started and has neither been stopped nor killed; a paused broker is running."""

    @property
    @abstractmethod
    def log_dir(self) -> Path:
        """The directory of its logs."""

    @abstractmethod
    def start(self) -> None:
        """Start it with its former data and port."""

    @abstractmethod
    def stop(self) -> int | None:
        """Shut it down cleanly. Idempotent. Returns the exit code of a process."""

    @abstractmethod
    def kill(self) -> None:
        """End it as ``kill -9`` does."""

    @abstractmethod
    def pause(self) -> None:
        """Stop it as SIGSTOP does, until ``resume``."""

    @abstractmethod
    def resume(self) -> None:
        """End ``pause``."""

    def restart(self) -> None:
        """Stop the broker cleanly and start it again. Raises RuntimeError if it is not running."""
        self.check_running()
        self.stop()
        self.start()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """``pause`` and ``resume`` around a block."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def check_running(self) -> None:
        """Raises RuntimeError, which says what to do, unless it is running."""
        if not self.is_running:
            raise RuntimeError(
                f"broker {self.id} of this cluster is not running: use the cluster in a with block, or start the "
                f"broker again, as in cluster.brokers[{self.id}].start()"
            )

    @property
    def bootstrap_server(self) -> str:
        """``host:port`` for clients, the same after each start."""
        return f"{HOST}:{self.port}"

    # ── what it knows, asked while it is running ──────────────────────────────────────────────────────────────────

    @abstractmethod
    def is_active_controller(self) -> bool:
        """Whether it has taken the office of controller."""

    @abstractmethod
    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        """Whether it leads a partition, and knows that epoch of the leader."""

    @abstractmethod
    def await_brokers(self, brokers: Set[int], timeout_s: float) -> bool:
        """Wait until it knows that these are alive. False after ``timeout_s``."""

    @abstractmethod
    def await_topic(self, topic: str, partitions: int, timeout_s: float) -> bool:
        """Wait until it knows so many partitions of a topic. False after ``timeout_s``."""

    def __repr__(self) -> str:
        return f"broker {self.id}"
