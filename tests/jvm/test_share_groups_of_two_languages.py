"""Java's KafkaShareConsumer 4.1.0 and ours in one share group, members killed: each record is accepted exactly once."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.jvm.test_share_groups import (
    GROUP,
    LIMIT_S,
    OVERRIDES,
    PARTITIONS,
    TOPIC,
    ShareMember,
    begin_at_the_beginning,
)
from tests.support.eventually import eventually

pytestmark = [pytest.mark.jvm, pytest.mark.nightly, pytest.mark.usefixtures("jvm")]

DELIVERIES = 5
QUICK = {"group.share.min.session.timeout.ms": "3000", "group.share.session.timeout.ms": "6000"}


class OurMember(ShareMember):
    """Our consumer in a process of its own."""

    def command(self, bootstrap: str, client_id: str) -> list[str]:
        return [sys.executable, "-m", "tests.support.share_member", bootstrap, GROUP, TOPIC, client_id]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(OVERRIDES | QUICK, brokers=1) as running:
        running.create_topic(TOPIC, partitions=PARTITIONS)
        yield running


def test_each_record_is_accepted_once_though_members_are_killed(cluster: Cluster) -> None:
    written: set[tuple[int, int]] = set()

    def write(count: int) -> None:
        for partition in range(PARTITIONS):
            begin = sum(1 for each in written if each[0] == partition)
            for offset in range(begin, begin + count):
                cluster.produce(TOPIC, str(offset).encode(), partition=partition)
                written.add((partition, offset))

    begin_at_the_beginning(cluster.bootstrap_servers)
    with ExitStack() as stack:
        members: list[ShareMember] = []

        def enter(kind: type[ShareMember]) -> ShareMember:
            members.append(stack.enter_context(kind(cluster.bootstrap_servers, f"member-{len(members)}")))
            return members[-1]

        def accepted() -> Counter[tuple[int, int]]:
            return sum((Counter(each.accepted) for each in list(members)), Counter[tuple[int, int]]())

        def state() -> str:
            return f"missing {sorted(written - accepted().keys())}, failures {[each.failures for each in members]}"

        killed = [enter(ShareMember), enter(OurMember)]
        enter(ShareMember)
        enter(OurMember)

        def every_member_works() -> bool:
            write(6)  # a few at a time, so that the first member does not get them all
            return all(each.delivered for each in members)

        eventually(every_member_works, state, LIMIT_S)
        write(20)
        for each in killed:
            each.process.kill()
        write(20)
        eventually(lambda: written <= accepted().keys(), state, LIMIT_S)
    # A member that was killed may not have said what the broker had confirmed: nobody else got that record.
    assert set(accepted().values()) == {1}
    deliveries: dict[tuple[int, int], list[int]] = defaultdict(list)
    for each in members:
        for at, counts in each.delivered.items():
            deliveries[at] += counts
    assert all(max(counts) <= DELIVERIES for counts in deliveries.values())
    assert all(len(deliveries[at]) >= 2 for at in written if at[1] % 7 == 3), "what is released comes again"
