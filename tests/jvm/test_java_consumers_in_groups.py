"""Apache's Java consumers of three ages in groups: by themselves, and mixed with those of Python and C."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.group_members import AiokafkaMember, ConfluentMember, KafkaPythonMember, Member
from tests.support.jvm import classpath, compile_java, java_command

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

VERSIONS = ["0.10.2.2", "3.9.1", "4.1.0"]
RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
PARTITIONS = 8
TIMEOUT_S = 120
_names = itertools.count()


class JavaMember(Member):
    """A Java consumer in a process of its own."""

    version = ""
    assignor = RANGE

    def _run(self) -> None:
        jars = classpath(f"org.apache.kafka:kafka-clients:{self.version}", "org.slf4j:slf4j-nop:1.7.36")
        classes = compile_java(Path(__file__).with_name("GroupMember.java"), jars)
        arguments = [self.bootstrap, self.group, self.topic, self.client_id, self.assignor]
        process = subprocess.Popen(
            java_command("GroupMember", *arguments, classpath=[classes, *jars]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        stdin = process.stdin
        self.on_close = stdin.close
        with process:
            for line in process.stdout:
                kind, *numbers = line.split()
                if kind == "partitions":
                    self.partitions = frozenset(map(int, numbers))
                else:
                    self.values.append(int(numbers[0]))


class Java0102(JavaMember):
    version = "0.10.2.2"


class Java39(JavaMember):
    version = "3.9.1"


class Java41(JavaMember):
    version = "4.1.0"


class Cooperative(Java39):
    assignor = COOPERATIVE


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def wait_until(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


def produce(cluster: Cluster, topic: str, values: range) -> None:
    for value in values:
        cluster.produce(topic, str(value).encode(), partition=value % PARTITIONS)


def share(cluster: Cluster, libraries: list[type[Member]]) -> None:
    """All of them share a topic, and read all of it; then one goes, and the others take over."""
    topic = f"java-groups-{next(_names)}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    with ExitStack() as stack:
        members = [stack.enter_context(library(cluster.bootstrap_servers, topic, topic)) for library in libraries]

        def shared_by(those: list[Member]) -> bool:
            owned = [partition for member in those for partition in member.partitions]
            return sorted(owned) == list(range(PARTITIONS)) and all(member.partitions for member in those)

        def seen() -> object:
            return [(member.client_id, member.partitions, len(member.values), member.failure) for member in members]

        wait_until(lambda: shared_by(members), seen)
        produce(cluster, topic, range(80))
        wait_until(lambda: sum(len(member.values) for member in members) >= 80, seen)
        assert sorted(value for member in members for value in member.values) == list(range(80))
        members[0].close()
        wait_until(lambda: shared_by(members[1:]), seen)
        produce(cluster, topic, range(80, 120))
        wait_until(lambda: set(range(80, 120)) <= {v for m in members[1:] for v in m.values}, seen)
        assert len([v for member in members for v in member.values]) == 120, "nothing was read twice"


@pytest.mark.parametrize("library", [Java0102, Java41, Cooperative])
def test_java_consumers_share_a_topic(cluster: Cluster, library: type[Member]) -> None:
    share(cluster, [library, library])


def test_consumers_of_all_ages_and_languages_share_a_group(cluster: Cluster) -> None:
    share(cluster, [Java0102, Java39, Java41, ConfluentMember, KafkaPythonMember, AiokafkaMember])
