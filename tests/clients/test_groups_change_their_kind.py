"""Consumers of a group that are switched to ``group.protocol=consumer`` and back, one by one, while they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import ConsumerGroupType
from confluent_kafka.admin import AdminClient

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import (
    ConfluentMember,
    CooperativeConfluentMember,
    Member,
    ModernConfluentMember,
    ModernOurMember,
    OurMember,
)
from tests.support.group_watcher import GroupWatcher
from tests.support.patience import patient_s

PARTITIONS = 6
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "6000",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(QUICK) as running:
        yield running


@pytest.mark.parametrize(
    ("classic", "modern"),
    [
        ((ConfluentMember, OurMember), (ModernConfluentMember, ModernOurMember)),
        ((CooperativeConfluentMember, CooperativeConfluentMember), (ModernOurMember, ModernConfluentMember)),
        ((OurMember, OurMember), (ModernOurMember, ModernOurMember)),
    ],
)
def test_each_record_is_read_once_while_members_are_switched(
    cluster: Cluster, classic: tuple[Callable[..., Member], ...], modern: tuple[Callable[..., Member], ...]
) -> None:
    name = f"switched-{classic[0].__name__}-{modern[1].__name__}"
    cluster.create_topic(name, partitions=PARTITIONS)
    bootstrap, written = cluster.bootstrap_servers, 0
    admin = AdminClient({"bootstrap.servers": bootstrap})
    ever: list[Member] = []

    def kind() -> ConsumerGroupType:
        return next(
            each.type for each in admin.list_consumer_groups().result(patient_s(60)).valid if each.group_id == name
        )

    with ExitStack() as stack:

        def start(library: Callable[..., Member]) -> Member:
            member = stack.enter_context(library(bootstrap, name, name, client_id=f"{library.__name__}-{len(ever)}"))
            ever.append(member)
            return member

        def state() -> str:
            return str([(m.client_id, sorted(m.partitions), len(m.values), m.failure) for m in ever])

        def all_is_read(alive: list[Member]) -> None:
            nonlocal written
            for value in range(written, written + 60):
                cluster.produce(name, str(value).encode(), partition=value % PARTITIONS)
            written += 60
            owned = lambda: sorted(partition for member in alive for partition in member.partitions)  # noqa: E731
            eventually(lambda: owned() == list(range(PARTITIONS)) and all(m.partitions for m in alive), state)
            eventually(lambda: {v for m in ever for v in list(m.values)} >= set(range(written)), state)

        alive = [start(library) for library in classic]
        all_is_read(alive)
        assert kind() is ConsumerGroupType.CLASSIC
        watcher = stack.enter_context(GroupWatcher(bootstrap, name))
        for libraries, end in (
            (modern, ConsumerGroupType.CONSUMER),
            (classic, ConsumerGroupType.CLASSIC),
        ):
            for position, library in enumerate(libraries):
                alive[position].close()
                alive[position] = start(library)
                all_is_read(alive)
                if position == 0:
                    assert kind() is ConsumerGroupType.CONSUMER
            assert kind() is end
        assert watcher.looks > 0
    assert sorted(v for m in ever for v in m.values) == list(range(written))
