"""Apache's Java consumers in groups of their own; test_groups_outlive_their_broker mixes them with others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import Member
from tests.support.java_members import Cooperative39, Java0102, Java41

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.usefixtures("jvm"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

PARTITIONS = 8
TIMEOUT_S = 120
_names = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def produce(cluster: Cluster, topic: str, values: range) -> None:
    for value in values:
        cluster.produce(topic, str(value).encode(), partition=value % PARTITIONS)


def share(cluster: Cluster, libraries: list[type[Member]]) -> None:
    """All members share a topic and read all of it; then one leaves, and the others take over."""
    topic = f"java-groups-{next(_names)}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    with ExitStack() as stack:
        members = [stack.enter_context(library(cluster.bootstrap_servers, topic, topic)) for library in libraries]

        def shared_by(those: list[Member]) -> bool:
            owned = [partition for member in those for partition in member.partitions]
            return sorted(owned) == list(range(PARTITIONS)) and all(member.partitions for member in those)

        def seen() -> object:
            return [(member.client_id, member.partitions, len(member.values), member.failure) for member in members]

        eventually(lambda: shared_by(members), seen, TIMEOUT_S)
        produce(cluster, topic, range(80))
        eventually(lambda: sum(len(member.values) for member in members) >= 80, seen, TIMEOUT_S)
        assert sorted(value for member in members for value in member.values) == list(range(80))
        members[0].close()
        eventually(lambda: shared_by(members[1:]), seen, TIMEOUT_S)
        produce(cluster, topic, range(80, 120))
        eventually(lambda: set(range(80, 120)) <= {v for m in members[1:] for v in m.values}, seen, TIMEOUT_S)
        assert len([v for member in members for v in member.values]) == 120, "everything was read once"


@pytest.mark.parametrize("library", [Java0102, Java41, Cooperative39])
def test_java_consumers_share_a_topic(cluster: Cluster, library: type[Member]) -> None:
    share(cluster, [library, library])
