"""Cooperative consumers of ours, Java's and librdkafka's in one group; each leads it once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import CooperativeConfluentMember, Member, OurMember
from tests.support.java_members import Cooperative39

pytestmark = [pytest.mark.jvm, pytest.mark.usefixtures("jvm")]

PARTITIONS = 8
TIMEOUT_S = 120
_names = itertools.count()


class Watched(Member):
    """``history`` has the member's partitions after each change; the last entry is current."""

    history: list[frozenset[int]]

    @property
    def partitions(self) -> frozenset[int]:
        return self.history[-1]

    @partitions.setter
    def partitions(self, owned: frozenset[int]) -> None:
        if not hasattr(self, "history"):
            self.history = [owned]
        elif owned != self.history[-1]:
            self.history.append(owned)


class Ours(Watched, OurMember):
    assignor = "cooperative-sticky"


class Librdkafka(Watched, CooperativeConfluentMember):
    pass


class Java(Watched, Cooperative39):
    pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


class Group:
    """Members that join and leave, a topic that is written to meanwhile, and the checks of each rebalance."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.topic = f"cooperative-{next(_names)}"
        cluster.create_topic(self.topic, partitions=PARTITIONS)
        self.members: list[Watched] = []
        self._gone: list[Watched] = []
        self._written = 0

    def rebalance(self, change: Callable[[], object]) -> None:
        """Make a change; no member may meanwhile lose what it owns both before and after."""
        before = {member: (len(member.history), member.history[-1]) for member in self.members}
        change()
        eventually(self._is_shared, self._seen, TIMEOUT_S)
        for member in self.members:
            length, had = before.get(member, (0, frozenset()))
            kept = had & member.history[-1]
            assert all(kept <= owned for owned in member.history[length:]), (type(member).__name__, member.history)
        self._write_and_read()

    def leave(self, member: Watched) -> None:
        self.members.remove(member)
        self._gone.append(member)
        member.close()

    def _is_shared(self) -> bool:
        owned = [member.history[-1] for member in self.members]
        sizes = [len(each) for each in owned]
        return sorted(p for each in owned for p in each) == list(range(PARTITIONS)) and max(sizes) - min(sizes) <= 1

    def _write_and_read(self) -> None:
        first, self._written = self._written, self._written + 3 * PARTITIONS
        for value in range(first, self._written):
            self._cluster.produce(self.topic, str(value).encode(), partition=value % PARTITIONS)
        eventually(lambda: len(self.values()) >= self._written, self._seen, TIMEOUT_S)
        assert self.values() == list(range(self._written)), "everything is read once"

    def values(self) -> list[int]:
        return sorted(value for member in self.members + self._gone for value in member.values)

    def _seen(self) -> object:
        return [(type(each).__name__, each.history, len(each.values), each.failure) for each in self.members]


@pytest.mark.parametrize(
    "libraries",
    [(Ours, Java, Librdkafka), (Java, Librdkafka, Ours), (Librdkafka, Ours, Java)],
    ids=lambda libraries: libraries[0].__name__,
)
def test_partitions_that_do_not_move_are_never_revoked(cluster: Cluster, libraries: list[type[Watched]]) -> None:
    with ExitStack() as stack:
        group = Group(cluster)

        def join(library: type[Watched]) -> None:
            group.members.append(stack.enter_context(library(cluster.bootstrap_servers, group.topic, group.topic)))

        for library in libraries:
            group.rebalance(partial(join, library))
        group.rebalance(lambda: group.leave(group.members[0]))
