"""Consumers in a group, for the labs' tests: ours, new and old, with the learner's modules in them, confluent-kafka's.

They are polled in turn by one thread, so that a test says when each of them does something.
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
"""Settings of a broker whose groups begin at once."""
SETTINGS = {"auto.offset.reset": "earliest", "session.timeout.ms": 6000, "heartbeat.interval.ms": 100}
POLL_S = 0.02
OLD_SETTINGS = {
    "auto.offset.reset": "smallest",
    "auto.commit.interval.ms": 600_000,
    "rebalance.backoff.ms": 100,
    "rebalance.max.retries": 100,
}
"""Of old consumers, which then commit when they rebalance and when they leave, and not in between."""


class Member(ABC):
    """A consumer that has subscribed; ``read`` has the (topic, partition, offset) of all that it was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.read: list[tuple[str, int, int]] = []

    @abstractmethod
    def poll(self) -> None:
        """Take what is there; waits a moment."""

    @property
    @abstractmethod
    def owns(self) -> list[str]:
        """Its partitions, as ``topic-0``, sorted."""

    @abstractmethod
    def commit(self) -> None:
        """Commit how far it has read, and wait for that."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group."""


class OurMember(Member):
    """Our KafkaConsumer, which has the learner's modules in it."""

    def __init__(self, broker: LabBroker, group: str, topics: Sequence[str], **settings: Any) -> None:
        from kafka_lite.consumer import KafkaConsumer

        super().__init__("ours")
        configs = {**SETTINGS, "enable.auto.commit": False, **settings}
        self.consumer = KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, **configs})
        self.consumer.subscribe(topics)

    def poll(self) -> None:
        """Take what is there."""
        self.read += [(each.topic, each.partition, each.offset) for each in self.consumer.poll(POLL_S * 1000)]

    @property
    def owns(self) -> list[str]:
        """Its partitions."""
        return sorted(map(str, self.consumer.assignment))

    def commit(self) -> None:
        """Commit."""
        self.consumer.commit_sync(timeout_ms=TIMEOUT_S * 1000)

    def close(self) -> None:
        """Leave."""
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
        """Take what is there."""
        messages: list[Any] = self.consumer.consume(500, timeout=POLL_S)
        self.errors += [each.error() for each in messages if each.error()]
        self.read += [(each.topic(), each.partition(), each.offset()) for each in messages if not each.error()]

    @property
    def owns(self) -> list[str]:
        """Its partitions."""
        return sorted(f"{each.topic}-{each.partition}" for each in self.consumer.assignment())

    def commit(self) -> None:
        """Commit."""
        self.consumer.commit(asynchronous=False)

    def close(self) -> None:
        """Leave."""
        self.consumer.close()


class OldMember(Member):
    """Our old consumer, which has the learner's modules in it: a member of a group that meets in ZooKeeper.

    It rebalances in a thread of its own, polled or not; to be created is to join.
    """

    def __init__(
        self, zookeeper_connect: str, group: str, name: str, topics: Mapping[str, int], **settings: Any
    ) -> None:
        """``topics``: how many threads read each. Its id is ``group_name``."""
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
        """Take what is there."""
        from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError

        for stream in self._streams:
            with contextlib.suppress(ConsumerTimeoutError):
                for each in stream:
                    self.read.append((each.topic, each.partition, each.offset))

    @property
    def owns(self) -> list[str]:
        """Its partitions."""
        return sorted(str(info.topic_partition) for info in self.connector.load_balancer_listener.owned_partitions())

    def commit(self) -> None:
        """Commit."""
        assert self.connector.commit_offsets(), f"{self.name} could not commit"

    def die(self) -> None:
        """Its session is over, as if it had been killed long enough ago; it has committed nothing."""
        self.connector._zk.close()

    def close(self) -> None:
        """Leave."""
        self.connector.shutdown()


@contextlib.contextmanager
def together(*members: Member) -> Iterator[tuple[Member, ...]]:
    """Close the members in the end, whatever becomes of the test."""
    try:
        yield members
    finally:
        for member in members:
            with contextlib.suppress(Exception):  # a test that failed has said why already
                member.close()


def poll_until(members: Sequence[Member], reached: Callable[[], bool], wanted: str) -> None:
    """Poll the members in turn until it is so; AssertionError says what was wanted, and who owned and read what."""
    deadline = time.monotonic() + TIMEOUT_S
    while not reached():
        if time.monotonic() > deadline:
            states = "; ".join(f"{m.name}: owns {m.owns}, has read {len(m.read)}" for m in members)
            raise AssertionError(f"not within {TIMEOUT_S} s: {wanted}. {states}")
        for member in members:
            member.poll()


def settle(members: Sequence[Member], shares: Sequence[Sequence[str]]) -> None:
    """Poll until the members own these shares, whichever of them owns which."""
    wanted = sorted(sorted(share) for share in shares)
    poll_until(members, lambda: sorted(member.owns for member in members) == wanted, f"the shares {wanted}")
