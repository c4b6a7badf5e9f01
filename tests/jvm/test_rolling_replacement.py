"""Three brokers of Kafka are replaced by ours one by one, on their own data, and ours by Kafka's again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientPartition

from tests.support.mixed_cluster import (
    OURS,
    MixedCluster,
    assert_nothing_lost,
    assert_replicas_are_equal,
    mixed_cluster,
    replicated_over,
)
from tests.support.patience import patient_s
from tests.support.patient_clients import next_message
from tests.support.produce_load import A_FEW_PER_S, Load
from tests.support.real_kafka import OLD

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPIC, PARTITIONS = "load", 3
OFFSETS = "__consumer_offsets"
GROUPS = [f"group-{number}" for number in range(8)]
"""Enough that every partition of the topic of offsets has one."""


class Groups:
    """Offsets that were committed, and a member that reads on through all of it."""

    def __init__(self, cluster: MixedCluster, stack: ExitStack) -> None:
        self._config = {"bootstrap.servers": cluster.bootstrap_servers, "enable.auto.commit": False, "log_level": 0}
        self._committed: dict[str, int] = {}
        self._member = Consumer(self._config | {"group.id": "reader", "auto.offset.reset": "earliest"})
        stack.callback(self._member.close)
        self._member.subscribe([TOPIC])
        self._positions = [0] * PARTITIONS

    def commit(self, offset: int) -> None:
        """Commit this offset in every group."""
        for group in GROUPS:
            with self._consumer(group) as consumer:
                consumer.commit(offsets=[ClientPartition(TOPIC, 0, offset)], asynchronous=False)
            self._committed[group] = offset

    def committed(self) -> dict[str, int]:
        """The offsets as the coordinators know them."""
        found = {}
        for group in GROUPS:
            with self._consumer(group) as consumer:
                found[group] = consumer.committed([ClientPartition(TOPIC, 0)], timeout=patient_s(30))[0].offset
        return found

    def check(self) -> None:
        """The offsets are what was committed."""
        assert self.committed() == self._committed

    def read_to(self, ends: dict[int, int]) -> None:
        """Read, message by message, what was written since; commit it."""
        while any(self._positions[partition] < end for partition, end in ends.items()):
            message = next_message(self._member, (self._positions, ends))
            assert message.error() is None, message.error()
            assert message.offset() == self._positions[message.partition()], "neither skipped nor read twice"
            self._positions[message.partition()] += 1
        # Not what the client has stored: it forgets what it read before a rebalance, which may just have ended.
        read = [ClientPartition(TOPIC, partition, offset) for partition, offset in enumerate(self._positions)]
        self._member.commit(offsets=read, asynchronous=False)

    @contextmanager
    def _consumer(self, group: str) -> Iterator[Consumer]:
        consumer = Consumer(self._config | {"group.id": group})
        try:
            yield consumer
        finally:
            consumer.close()


def acknowledged_ends(load: Load) -> dict[int, int]:
    """Per partition, the offset after the last acknowledged message."""
    ends: dict[int, int] = {}
    for partition, offset in list(load.acknowledged):
        ends[partition] = max(ends.get(partition, 0), offset + 1)
    return ends


def test_brokers_are_replaced_one_by_one_and_back(tmp_path: Path) -> None:
    random.seed(1)
    with ExitStack() as stack:
        cluster = stack.enter_context(mixed_cluster(tmp_path, {1: OLD, 2: OLD, 3: OLD}))
        cluster.start_broker(1, 2, 3)
        cluster.create_assigned(TOPIC, replicated_over(1, 2, 3, partitions=PARTITIONS))
        load = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS, idempotent=False, per_s=A_FEW_PER_S)
        load.run(1)
        groups = Groups(cluster, stack)
        groups.commit(0)
        for step, (version, broker_id) in enumerate((v, b) for v in (OURS, OLD) for b in (1, 2, 3)):
            with load.running():
                cluster.stop_broker(broker_id)
                assert not cluster.led_by(broker_id, TOPIC), "it hands its leaderships over before it stops"
                cluster.brokers[broker_id].become(version)
                cluster.start_broker(broker_id)
                cluster.await_in_sync(TOPIC, OFFSETS)
            groups.check()
            groups.commit(step + 1)
            groups.read_to(acknowledged_ends(load))
        assert_nothing_lost(cluster, TOPIC, load)
        assert_replicas_are_equal(cluster, TOPIC)
        assert_replicas_are_equal(cluster, OFFSETS)
