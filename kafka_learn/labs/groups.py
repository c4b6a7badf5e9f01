"""Group members for the labs' tests: our new and old consumers with the learner's modules, and confluent-kafka's.

A single thread polls them in turn, so a test controls when each of them acts.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.clients import TIMEOUT_S

GROUP_BROKER = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
"""Settings of a broker whose groups start without delay."""
SETTINGS = {"auto.offset.reset": "earliest", "session.timeout.ms": 6000, "heartbeat.interval.ms": 100}
POLL_S = 0.02
OLD_SETTINGS = {
    "auto.offset.reset": "smallest",
    "auto.commit.interval.ms": 600_000,
    "rebalance.backoff.ms": 100,
    "rebalance.max.retries": 100,
}
"""Settings of old consumers, which then commit only when they rebalance and when they leave."""


class Member(ABC):
    """A subscribed consumer; ``read`` lists the (topic, partition, offset) of every message it has read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.read: list[tuple[str, int, int]] = []

    @abstractmethod
    def poll(self) -> None:
        """Read the available messages, waiting briefly for some."""

    @property
    @abstractmethod
    def owns(self) -> list[str]:
        """The member's partitions, as ``topic-0``, sorted."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the positions; blocks until done."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group."""


class OurMember(Member):
    """Our KafkaConsumer, with the learner's modules."""

    def __init__(self, broker: LabBroker, group: str, topics: Sequence[str], **settings: Any) -> None:
        from kafka_lite.consumer import KafkaConsumer

        super().__init__("ours")
        configs = {**SETTINGS, "enable.auto.commit": False, **settings}
        self.consumer = KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, **configs})
        self.consumer.subscribe(topics)

    def poll(self) -> None:
        """Read the available messages."""
        self.read += [(each.topic, each.partition, each.offset) for each in self.consumer.poll(POLL_S * 1000)]

    @property
    def owns(self) -> list[str]:
        """The member's partitions, sorted."""
        return sorted(map(str, self.consumer.assignment))

    def commit(self) -> None:
        """Commit the positions."""
        self.consumer.commit_sync(timeout_ms=TIMEOUT_S * 1000)

    def close(self) -> None:
        """Leave the group."""
        self.consumer.close(5000)


class TheirMember(Member):
    """A consumer of confluent-kafka."""

    def __init__(self, broker: LabBroker, group: str, topics: Sequence[str], **settings: Any) -> None:
        from confluent_kafka import Consumer

        super().__init__("confluent-kafka's")
        self.errors: list[Any] = []
        configs = {**SETTINGS, "enable.auto.commit": False, "fetch.wait.max.ms": 100, **settings}
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, **configs})
        self.consumer.subscribe(list(topics))

    def poll(self) -> None:
        """Read the available messages."""
        messages: list[Any] = self.consumer.consume(500, timeout=POLL_S)
        self.errors += [each.error() for each in messages if each.error()]
        self.read += [(each.topic(), each.partition(), each.offset()) for each in messages if not each.error()]

    @property
    def owns(self) -> list[str]:
        """The member's partitions, sorted."""
        return sorted(f"{each.topic}-{each.partition}" for each in self.consumer.assignment())

    def commit(self) -> None:
        """Commit the positions."""
        self.consumer.commit(asynchronous=False)

    def close(self) -> None:
        """Leave the group."""
        self.consumer.close()


class OldMember(Member):
    """Our old consumer, with the learner's modules; its group is coordinated through ZooKeeper.

    It joins when created, and rebalances in its own thread whether or not it is polled.
    """

    def __init__(
        self, zookeeper_connect: str, group: str, name: str, topics: Mapping[str, int], **settings: Any
    ) -> None:
        """``topics``: topic -> number of threads. The member's id is ``group_name``."""
        from kafka_lite.old_consumer.consumer_config import ConsumerConfig
        from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector

        super().__init__(name)
        names = {"zookeeper.connect": zookeeper_connect, "group.id": group, "consumer.id": name}
        config = ConsumerConfig({**OLD_SETTINGS, **names, "consumer.timeout.ms": int(POLL_S * 1000), **settings})
        self.connector = ZookeeperConsumerConnector(config)
        try:
            per_topic = self.connector.create_message_streams(topics)
        except BaseException:
            self.connector.shutdown()
            raise
        self._streams = [stream for streams in per_topic.values() for stream in streams]

    def poll(self) -> None:
        """Read the available messages."""
        from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError

        for stream in self._streams:
            with contextlib.suppress(ConsumerTimeoutError):
                for each in stream:
                    self.read.append((each.topic, each.partition, each.offset))

    @property
    def owns(self) -> list[str]:
        """The member's partitions, sorted."""
        return sorted(str(info.topic_partition) for info in self.connector.load_balancer_listener.owned_partitions())

    def commit(self) -> None:
        """Commit the positions."""
        assert self.connector.commit_offsets(), f"{self.name} could not commit"

    def die(self) -> None:
        """Lose the session without a commit, as after kill -9."""
        self.connector._zk.close()

    def close(self) -> None:
        """Leave the group."""
        self.connector.shutdown()


@contextlib.contextmanager
def together(*members: Member) -> Iterator[tuple[Member, ...]]:
    """Context manager that closes the members at the end, whether or not the test passes."""
    try:
        yield members
    finally:
        for member in members:
            with contextlib.suppress(Exception):  # a failed test has already reported its reason
                member.close()


def poll_until(members: Sequence[Member], reached: Callable[[], bool], wanted: str) -> None:
    """Poll the members in turn until ``reached``. Raises AssertionError with ``wanted`` and each member's state."""
    deadline = time.monotonic() + TIMEOUT_S
    while not reached():
        if time.monotonic() > deadline:
            states = "; ".join(f"{m.name}: owns {m.owns}, has read {len(m.read)}" for m in members)
            raise AssertionError(f"not within {TIMEOUT_S} s: {wanted}. {states}")
        for member in members:
            member.poll()


def settle(members: Sequence[Member], shares: Sequence[Sequence[str]]) -> None:
    """Poll until the members own these shares, in any order."""
    wanted = sorted(sorted(share) for share in shares)
    poll_until(members, lambda: sorted(member.owns for member in members) == wanted, f"the shares {wanted}")
