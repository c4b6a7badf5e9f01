"""Groups of all clients at once, while their broker is stopped, killed, and restarted: nothing is lost.

Two groups read the same topic: one mixes all ages and languages, as all of them can assign by range; the other has the
clients that can rebalance cooperatively. Records are written all the time, and the groups' commits are watched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import confluent_kafka
import pytest

from tests.support.cluster_process import ClusterProcess
from tests.support.commits_in_log import commits_in_log, explained
from tests.support.eventually import eventually
from tests.support.group_members import (
    AiokafkaMember,
    ConfluentMember,
    CooperativeConfluentMember,
    KafkaPythonMember,
    Member,
    OurMember,
)
from tests.support.java_members import Cooperative39, Cooperative41, Java0102, Java39, Java41
from tests.support.kafka_tools import KafkaTools, Lines, as_3_9_prints, our_tool, words
from tests.support.patience import patient_s
from tests.support.patient_clients import flush
from tests.support.raw_member import RawMember
from tests.support.real_kafka import create_topics

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.usefixtures("jvm"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

MIXED: list[type[Member]] = [
    Java0102, Java39, Java41, ConfluentMember, KafkaPythonMember, AiokafkaMember, OurMember,
]  # fmt: skip
COOPERATIVE: list[type[Member]] = [CooperativeConfluentMember, Cooperative39, Cooperative41]
PARTITIONS = 8
TOPIC = "flights"
TOOL_OF_3_9 = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOOL_OF_0_10_2 = "kafka.admin.ConsumerGroupCommand"
LIMIT_S = 120.0


class Writer(threading.Thread):
    """Writes numbers, one after the other, whatever happens to the broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__(name="writer", daemon=True)
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,
                "message.timeout.ms": 300_000,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )
        self.acknowledged: set[int] = set()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Until stopped."""
        number = 0
        while not self._stopping.wait(0.02):
            self._producer.produce(TOPIC, str(number), partition=number % PARTITIONS, on_delivery=self._noted(number))
            self._producer.poll(0)
            number += 1
        flush(self._producer, LIMIT_S)

    def _noted(self, number: int) -> Callable[[object, object], None]:
        def on_delivery(error: object, _: object) -> None:
            if error is None:
                self.acknowledged.add(number)

        return on_delivery

    def stop(self) -> None:
        """Stop once everything written is acknowledged."""
        self._stopping.set()
        self.join(patient_s(LIMIT_S))
        assert not self.is_alive()


class Watcher(threading.Thread):
    """Watches the committed offsets of a group, which go back only if a member sends an older commit again.

    librdkafka does: a commit without a response, because the broker has gone, is sent after the newer ones. No broker
    can tell it from a new commit, so Kafka takes it, too (``tests/clients/test_faults_with_real_clients.py`` shows it).
    """

    def __init__(self, bootstrap_servers: str, group: str, log_dir: Path) -> None:
        super().__init__(name=f"watcher-{group}", daemon=True)
        self._new_client = lambda: RawMember(bootstrap_servers, group, TOPIC, self.name)
        self._commits = lambda: commits_in_log(log_dir, group, TOPIC)
        self._stopping = threading.Event()
        self.committed = dict.fromkeys(range(PARTITIONS), -1)
        self.went_back: list[tuple[dict[int, int], dict[int, int]]] = []

    def run(self) -> None:
        """With a new connection after each end of a broker."""
        while not self._stopping.is_set():
            # Refused or broken; or the coordinator is not available yet, or still loads its log.
            with suppress(ConnectionError, AssertionError), self._new_client() as client:
                while not self._stopping.wait(0.1):
                    self._look(client)
            self._stopping.wait(0.1)

    def _look(self, client: RawMember) -> None:
        found = client.committed(range(PARTITIONS))
        if any(offset < self.committed[partition] for partition, offset in found.items()):
            self.went_back.append((self.committed, found))
        self.committed = found

    def stop(self) -> None:
        """Raises if an offset has gone back, and the log does not have both commits in that order."""
        self._stopping.set()
        self.join(patient_s(LIMIT_S))
        commits = self._commits()
        lost = [(before, found) for before, found in self.went_back if not explained(commits, before, found)]
        assert not lost, f"{lost} of {commits}"


class Group:
    """The members of one group, and everything that they have read."""

    def __init__(
        self, bootstrap_servers: str, name: str, libraries: Sequence[type[Member]], log_dir: Path, stack: ExitStack
    ) -> None:
        self.name = name
        self.watcher = Watcher(bootstrap_servers, name, log_dir)
        self.watcher.start()
        stack.callback(self.watcher.stop)
        self.members = [stack.enter_context(library(bootstrap_servers, name, TOPIC)) for library in libraries]

    def has_read(self) -> set[int]:
        """All values."""
        return {value for member in self.members for value in list(member.values)}

    def owns_everything(self, members: Sequence[Member]) -> bool:
        """Whether each partition has one owner, and each member has some."""
        owned = sorted(partition for member in members for partition in member.partitions)
        return owned == list(range(PARTITIONS)) and all(member.partitions for member in members)

    def __str__(self) -> str:
        return str([(m.client_id, sorted(m.partitions), len(m.values), m.failure) for m in self.members])


class Lives:
    """A broker, a writer and two groups."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self._stack = stack
        self._log_dir = directory / "data" / "logs"
        self.broker = stack.enter_context(ClusterProcess(directory))
        create_topics(self.broker.bootstrap_servers, [TOPIC], PARTITIONS, {})
        self.writer = Writer(self.broker.bootstrap_servers)
        self.writer.start()
        stack.callback(self.writer.stop)
        self.groups = [self._group("mixed", MIXED), self._group("cooperative", COOPERATIVE)]

    def _group(self, name: str, libraries: Sequence[type[Member]]) -> Group:
        return Group(self.broker.bootstrap_servers, name, libraries, self._log_dir, self._stack)

    def go_on(self, gone: int = 0) -> None:
        """Wait until all members work, except the first ones that are ``gone``: new records have been read,
        and some of them committed."""
        for group in self.groups:
            eventually(lambda group=group: group.owns_everything(group.members[gone:]), group.__str__, LIMIT_S)
        known, committed = len(self.writer.acknowledged), [dict(group.watcher.committed) for group in self.groups]
        eventually(lambda: len(self.writer.acknowledged) > known + 10 * PARTITIONS, "more records are written", LIMIT_S)
        self.all_is_read()
        for group, before in zip(self.groups, committed, strict=True):
            eventually(
                lambda group=group, before=before: all(group.watcher.committed[p] > before[p] for p in before),
                lambda group=group: (group.watcher.committed, str(group)),
                LIMIT_S,
            )

    def looks_the_same(self, kafka_3_9: KafkaTools, kafka_0_10_2: KafkaTools) -> None:
        """Kafka's tools list the same members of the groups as ours; the offsets keep changing."""
        where = ("--bootstrap-server", self.broker.bootstrap_servers, "--describe", "--group")
        for group in self.groups:
            asked = (*where, group.name)
            for question in (("--members", "--verbose"), ("--state",)):
                same_answers(
                    lambda asked=(*asked, *question): as_3_9_prints(words(our_tool("consumer-groups", *asked).output)),
                    lambda asked=(*asked, *question): words(kafka_3_9.run(TOOL_OF_3_9, *asked).output),
                )
            same_answers(
                lambda asked=asked: owners(our_tool("consumer-groups", *asked).output, 1),
                lambda asked=asked: owners(kafka_0_10_2.run(TOOL_OF_0_10_2, "--new-consumer", *asked).output, 0),
                PARTITIONS,
            )

    def all_is_read(self) -> None:
        """Everything acknowledged up to now."""
        written = set(self.writer.acknowledged)
        for group in self.groups:
            eventually(
                lambda group=group: written <= group.has_read(),
                lambda group=group: f"{sorted(written - group.has_read())} are lost: {group}",
                LIMIT_S,
            )


def same_answers(ours: Callable[[], Lines], theirs: Callable[[], Lines], lines: int | None = None) -> None:
    """Ask both tools until they agree: a member that a busy machine held up may rejoin between the two."""
    seen: list[tuple[Lines, Lines]] = []

    def agree() -> bool:
        seen.append((ours(), theirs()))
        return seen[-1][0] == seen[-1][1] and lines in (None, len(seen[-1][0]))

    eventually(agree, lambda: seen[-1], LIMIT_S)


def owners(table: str, first_column: int) -> Lines:
    """Topic, partition, and member, host, client in one (0.10.2 puts no space after a long id), of each row."""
    rows = [line[first_column:] for line in words(table)]
    return sorted([*row[:2], "".join(row[5:])] for row in rows if row[:1] == [TOPIC])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_clients_resume_after_a_restart_and_after_a_kill(tmp_path: Path) -> None:
    with ExitStack() as stack:
        tools = [stack.enter_context(KafkaTools(version, with_errors=True)) for version in ("3.9.1", "0.10.2.2")]
        lives = Lives(tmp_path, stack)
        lives.go_on()
        lives.looks_the_same(*tools)
        assert lives.broker.stop() == 0
        lives.broker.start()
        lives.go_on()
        lives.broker.kill()
        lives.broker.start()
        lives.go_on()
        lives.looks_the_same(*tools)
        for group in lives.groups:
            group.members[0].close()
        lives.go_on(gone=1)
        lives.writer.stop()
        lives.all_is_read()
