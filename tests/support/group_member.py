"""A consumer in a thread of its own that reads until stopped, and records what it read."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import ConsumerRebalanceListener, ConsumerRecord, KafkaConsumer
from kafka_lite.consumer.consumer_errors import WakeupError
from tests.support.patience import patient_s

LIMIT_S = 60.0


class GroupMember(threading.Thread, ConsumerRebalanceListener):
    """Polls in a loop; ``stop`` closes the consumer cleanly, ``vanish`` leaves it to the session timeout."""

    def __init__(self, bootstrap_servers: str, topics: Any, name: str = "member", **configs: Any) -> None:
        super().__init__(name=name, daemon=True)
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 100, "session.timeout.ms": 6000, "retry.backoff.ms": 20,
        }  # fmt: skip
        self.consumer = KafkaConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()})
        self.topics = topics
        self.records: list[ConsumerRecord] = []
        self.assignment: frozenset[TopicPartition] = frozenset()
        self.assignments = 0
        self.error: Exception | None = None
        self.busy = threading.Event()
        """Set: the member is to work on its records until it is cleared, and does not poll."""
        self.works = threading.Event()
        """Set while it does so: a poll that had begun before is over."""
        self._stopping = threading.Event()

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.assignment = frozenset()

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.assignment = frozenset(partitions)
        self.assignments += 1

    def run(self) -> None:
        try:
            self.consumer.subscribe(self.topics, self)
            while not self._stopping.is_set():
                self.records += self.consumer.poll(200)
                while self.busy.is_set() and not self._stopping.is_set():
                    self.works.set()
                    time.sleep(0.01)
                self.works.clear()
        except WakeupError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the test has to hear of it
            self.error = error
        finally:
            self.consumer.close(10_000)

    def stop(self) -> None:
        """Leave the group and end."""
        self._stopping.set()
        self.consumer.wakeup()
        self.join(patient_s(LIMIT_S))
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


def balanced(members: list[GroupMember], partitions: int) -> bool:
    """Whether every partition has exactly one of these members, and every member has some."""
    owned = [partition for member in members for partition in member.assignment]
    return len(owned) == len(set(owned)) == partitions and all(member.assignment for member in members)
