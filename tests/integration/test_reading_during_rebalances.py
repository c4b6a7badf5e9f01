"""Our cooperative consumers with our broker: they keep reading partitions that do not move during a rebalance."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from typing import Self

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import ConsumerRebalanceListener, KafkaConsumer
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

PARTITIONS = 6
TIMEOUT_S = 60
STRATEGY = "partition.assignment.strategy"
_names = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


class Reader(ConsumerRebalanceListener):
    """A consumer in a thread of its own, which does not poll while it is ``held``."""

    def __init__(self, cluster: Cluster, topic: str, name: str, **configs: object) -> None:
        self.name = name
        self.read: list[tuple[int, int]] = []
        self.taken: list[set[int]] = []
        """What was revoked or lost, each time."""
        self.assigned: set[int] = set()
        self.held = threading.Event()
        self.rests = threading.Event()
        self.stopping = threading.Event()
        self.failure: Exception | None = None
        self.consumer = KafkaConsumer({
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": topic, "client.id": name,
            STRATEGY: "cooperative-sticky", "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 100, **configs,
        })  # fmt: skip
        self.consumer.subscribe([topic], self)
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self.consumer:
                while not self.stopping.is_set():
                    if self.held.is_set():
                        self.rests.set()
                        time.sleep(0.01)
                        continue
                    self.read += [(record.partition, record.offset) for record in self.consumer.poll(50)]
        except Exception as error:  # noqa: BLE001 - ``__exit__`` raises it
            self.failure = error

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.assigned |= {each.partition for each in partitions}

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.assigned -= {each.partition for each in partitions}
        self.taken.append({each.partition for each in partitions})

    @property
    def waits_for_the_others(self) -> bool:
        """Whether its JoinGroup is in flight, or has arrived."""
        coordinator = self.consumer._coordinator
        assert coordinator is not None
        return coordinator.state is MemberState.REBALANCING

    def has_read(self, partition: int, offset: int) -> bool:
        return (partition, offset) in self.read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.held.clear()
        self.stopping.set()
        self._thread.join(patient_s(TIMEOUT_S))
        assert not self._thread.is_alive()
        if self.failure is not None:
            raise self.failure


def shared(*readers: Reader) -> bool:
    sizes = [len(each.assigned) for each in readers]
    return (
        sum(sizes) == PARTITIONS and max(sizes) - min(sizes) <= 1 and not any(r.waits_for_the_others for r in readers)
    )


def test_a_member_keeps_reading_while_another_delays_the_rebalance(cluster: Cluster) -> None:
    topic = f"read-on-{next(_names)}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    with ExitStack() as stack:
        ann, bob = (stack.enter_context(Reader(cluster, topic, name)) for name in ("ann", "bob"))
        eventually(lambda: shared(ann, bob))
        anns = set(ann.assigned)
        bob.held.set()
        assert bob.rests.wait(patient_s(TIMEOUT_S)), "otherwise, its last poll could see cid and join again"
        cid = stack.enter_context(Reader(cluster, topic, "cid"))
        eventually(lambda: ann.waits_for_the_others)
        for offset in range(3):
            for partition in anns:
                cluster.produce(topic, b"meanwhile", partition=partition)
            eventually(lambda: all(ann.has_read(partition, offset) for partition in anns))  # noqa: B023
        assert (ann.waits_for_the_others, ann.assigned) == (True, anns)
        assert cid.assigned == set()
        bob.held.clear()
        eventually(lambda: shared(ann, bob, cid), lambda: [(r.name, r.assigned) for r in (ann, bob, cid)])
        kept = set(ann.assigned)
        assert kept < anns
        for partition in range(PARTITIONS):
            cluster.produce(topic, b"at last", partition=partition)
        everything = {(p, o) for p in range(PARTITIONS) for o in range(4 if p in anns else 1)}
        eventually(lambda: {each for r in (ann, bob, cid) for each in r.read} == everything)
    read = sorted(each for reader in (ann, bob, cid) for each in reader.read)
    assert read == sorted(everything), "partitions are committed before they move: nothing is read twice"
    assert not any(kept & taken for taken in ann.taken[:-1]), "until it left, it kept its partitions"


def test_a_group_becomes_cooperative_in_two_deployments(cluster: Cluster) -> None:
    topic = f"turned-{next(_names)}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    both, alone = "range,cooperative-sticky", "cooperative-sticky"
    strategies = [("range", "range"), ("range", both), (both, both), (both, alone), (alone, alone)]
    with ExitStack() as stack:
        group = [stack.enter_context(Reader(cluster, topic, f"r{n}", **{STRATEGY: "range"})) for n in range(2)]
        eventually(lambda: shared(*group))
        for step, (_, newer) in enumerate(strategies[1:]):
            old = group.pop(0)
            old.__exit__()
            group.append(stack.enter_context(Reader(cluster, topic, f"s{step}", **{STRATEGY: newer})))
            eventually(lambda: shared(*group), lambda: [(r.name, r.assigned, r.failure) for r in group])
        for partition in range(PARTITIONS):
            cluster.produce(topic, b"v", partition=partition)
        eventually(lambda: {each for r in group for each in r.read} == {(p, 0) for p in range(PARTITIONS)})
