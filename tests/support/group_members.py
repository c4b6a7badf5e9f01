"""Consumers of several libraries with one interface, each in a thread of its own: their partitions, their records.

They assign by range unless their name says otherwise, commit their positions periodically and when they leave, and
start at the beginning.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import confluent_kafka
import kafka
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AiokafkaRange
from kafka.coordinator.assignors.range import RangePartitionAssignor as KafkaPythonRange

from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.kafka_python_joins import await_pending_joins
from tests.support.patience import patient_s

SESSION_TIMEOUT_MS = 10_000
HEARTBEAT_INTERVAL_MS = 500
COMMIT_INTERVAL_MS = 1000
JOIN_S = 60


class Member(ABC):
    """One consumer. ``partitions`` and ``values`` (numbers, as text on the wire) may be read from any thread."""

    assignor = "range"

    def __init__(self, bootstrap: str, group: str, topic: str, *, client_id: str = "") -> None:
        self.bootstrap, self.group, self.topic = bootstrap, group, topic
        self.client_id = client_id or type(self).__name__
        self.partitions: frozenset[int] = frozenset()
        self.values: list[int] = []
        self.failure: Exception | None = None
        self.on_close: Callable[[], object] = lambda: None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run_noting_failure, name=self.client_id, daemon=True)
        self._thread.start()

    @property
    def configs(self) -> dict[str, str | int]:
        """Configuration of a consumer with the keys of Java's."""
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "client.id": self.client_id,
            "partition.assignment.strategy": self.assignor,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
            "auto.commit.interval.ms": COMMIT_INTERVAL_MS,
        }

    def _run_noting_failure(self) -> None:
        try:
            self._run()
        except Exception as failure:  # noqa: BLE001 (raised again by close)
            self.failure = failure

    @abstractmethod
    def _run(self) -> None:
        """Consume until ``_stopping``, commit, leave."""

    def close(self) -> None:
        """Commit, and leave the group. Raises the error of the thread, if any."""
        self._stopping.set()
        self.on_close()
        self._thread.join(patient_s(JOIN_S))
        assert not self._thread.is_alive(), f"{self.client_id} does not end"
        if self.failure is not None:
            raise self.failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OurMember(Member):
    """Ours."""

    def _run(self) -> None:
        consumer = KafkaConsumer(self.configs)
        consumer.subscribe([self.topic])
        try:
            while not self._stopping.is_set():
                polled = consumer.poll(100)
                self.partitions = frozenset(partition.partition for partition in consumer.assignment)
                self.values.extend(int(record.value) for record in polled if record.value is not None)
        finally:
            consumer.close(10_000)


class ConfluentMember(Member):
    """librdkafka."""

    def _run(self) -> None:
        consumer = confluent_kafka.Consumer(self.configs)
        consumer.subscribe([self.topic])
        try:
            while not self._stopping.is_set():
                message = consumer.poll(0.05)
                self.partitions = frozenset(tp.partition for tp in consumer.assignment())
                if message is not None and message.error() is None:
                    self.values.append(int(message.value()))
        finally:
            consumer.close()


def modern(configs: dict[str, str | int]) -> dict[str, str | int]:
    """Without the keys that the broker decides, if it assigns (KIP-848)."""
    of_broker = ("partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms")
    kept = {key: value for key, value in configs.items() if key not in of_broker}
    return {**kept, "group.protocol": "consumer"}


class ModernConfluentMember(ConfluentMember):
    """librdkafka with a coordinator that assigns (KIP-848)."""

    @property
    def configs(self) -> dict[str, str | int]:
        """Without what the broker decides."""
        return modern(super().configs)


class ModernOurMember(OurMember):
    """Ours with a coordinator that assigns (KIP-848)."""

    @property
    def configs(self) -> dict[str, str | int]:
        """Without what the broker decides."""
        return modern(super().configs)


class CooperativeConfluentMember(ConfluentMember):
    """librdkafka with cooperative rebalancing."""

    assignor = "cooperative-sticky"


class KafkaPythonMember(Member):
    """kafka-python."""

    def _run(self) -> None:
        consumer = kafka.KafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            client_id=self.client_id,
            partition_assignment_strategy=[KafkaPythonRange],
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            auto_commit_interval_ms=COMMIT_INTERVAL_MS,
        )
        await_pending_joins(consumer)
        try:
            while not self._stopping.is_set():
                polled = self._poll(consumer)
                self.partitions = frozenset(tp.partition for tp in consumer.assignment())
                self.values.extend(int(record.value) for records in polled.values() for record in records)
        finally:
            consumer.close()

    def _poll(self, consumer: kafka.KafkaConsumer) -> dict[Any, Any]:
        """Without a broker to connect to, ``poll`` may raise at once instead of waiting."""
        try:
            polled: dict[Any, Any] = consumer.poll(timeout_ms=1000)
        except kafka.errors.KafkaConnectionError:
            self._stopping.wait(0.1)
            return {}
        return polled


class AiokafkaMember(Member):
    """aiokafka, in an event loop of its own."""

    def _run(self) -> None:
        asyncio.run(self._consume())

    async def _consume(self) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            client_id=self.client_id,
            partition_assignment_strategy=[AiokafkaRange],
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            auto_commit_interval_ms=COMMIT_INTERVAL_MS,
        )
        consumer.subscribe([self.topic], listener=_Listener())
        await consumer.start()
        try:
            while not self._stopping.is_set():
                polled: dict[Any, Any] = await consumer.getmany(timeout_ms=50)
                self.partitions = frozenset(tp.partition for tp in consumer.assignment())
                self.values.extend(int(record.value) for records in polled.values() for record in records)
        finally:
            await consumer.stop()


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Required by aiokafka."""

    def on_partitions_revoked(self, revoked: object) -> None:
        """A no-op."""

    def on_partitions_assigned(self, assigned: object) -> None:
        """A no-op."""
