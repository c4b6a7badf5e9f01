"""Java's KafkaShareConsumer 4.1 on three brokers whose leaders are killed: each record is accepted, none is lost."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.clients.admin_client import AdminClient
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.server.admin.config_admin_manager import GROUP_RESOURCE
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.patience import patient_s

pytestmark = [pytest.mark.jvm, pytest.mark.nightly, pytest.mark.usefixtures("jvm")]

TOPIC, GROUP, PARTITIONS = "orders", "workers", 3
LIMIT_S = 90.0
OVERRIDES = {
    "group.share.enable": "true",
    "group.share.min.heartbeat.interval.ms": "300",
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.record.lock.duration.ms": "3000",
    "group.share.record.lock.duration.ms": "3000",
    "share.coordinator.state.topic.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
    "default.replication.factor": "3",
    "min.insync.replicas": "1",
    "zookeeper.session.timeout.ms": "3000",
}
SOURCE = Path(__file__).parent / "ShareMember.java"


class ShareMember:
    """A member in a process of its own."""

    def __init__(self, bootstrap: str, client_id: str) -> None:
        command = self.command(bootstrap, client_id)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.delivered: dict[tuple[int, int], list[int]] = defaultdict(list)
        """Partition and offset → the delivery counts that the member was told."""
        self.accepted: Counter[tuple[int, int]] = Counter()
        self.uncertain: set[tuple[int, int]] = set()
        """Records whose acceptance failed: the broker may have written it, and died before it said so."""
        self.failures: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def command(self, bootstrap: str, client_id: str) -> list[str]:
        """The program with its arguments."""
        jars = classpath("org.apache.kafka:kafka-clients:4.1.0", "org.slf4j:slf4j-nop:1.7.36")
        arguments = [bootstrap, GROUP, TOPIC, client_id]
        return java_command("ShareMember", *arguments, classpath=[compile_java(SOURCE, jars), *jars])

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            kind, *words = line.split()
            if kind == "delivered":
                self.delivered[int(words[0]), int(words[1])].append(int(words[2]))
            elif kind == "accepted":
                self.accepted[int(words[0]), int(words[1])] += 1
            elif kind == "uncertain":
                self.uncertain.add((int(words[0]), int(words[1])))
            else:
                self.failures.append(line.strip())

    def __enter__(self) -> ShareMember:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(patient_s(20))
        finally:
            self.process.kill()
            self._reader.join()
            assert self.process.stdout is not None
            self.process.stdout.close()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(OVERRIDES, brokers=3) as running:
        running.create_topic(TOPIC, partitions=PARTITIONS, replication_factor=3)
        yield running


def begin_at_the_beginning(bootstrap: str) -> None:
    change = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=GROUP, configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    (response,) = admin.send_any_node(request, IncrementalAlterConfigsResponse).responses
    assert response.error_code == 0


def test_members_share_partitions_while_leaders_are_killed(cluster: Cluster) -> None:
    written: set[tuple[int, int]] = set()

    def write(count: int) -> None:
        for partition in range(PARTITIONS):
            begin = sum(1 for each in written if each[0] == partition)
            for offset in range(begin, begin + count):
                cluster.produce(TOPIC, str(offset).encode(), partition=partition)
                written.add((partition, offset))

    begin_at_the_beginning(cluster.bootstrap_servers)
    with ExitStack() as stack:
        write(20)
        members = [stack.enter_context(ShareMember(cluster.bootstrap_servers, f"member-{n}")) for n in range(2)]

        def state() -> str:
            missing = written - {at for each in members for at in each.accepted}
            return f"missing {sorted(missing)}, failures {[each.failures for each in members]}"

        def all_is_accepted() -> bool:
            return written <= {at for each in members for at in [*each.accepted, *each.uncertain]}

        eventually(all_is_accepted, state, LIMIT_S)
        for number in (1, 2):
            cluster.brokers[number].kill()
            write(20)
            eventually(all_is_accepted, state, LIMIT_S)
            cluster.brokers[number].start()
        accepted = sum((each.accepted for each in members), Counter[tuple[int, int]]())
        assert written <= set(accepted) | {at for each in members for at in each.uncertain}
        twice = {
            at: count for at, count in accepted.items() if count > 1 and not any(at in m.uncertain for m in members)
        }
        assert not twice, "what is acknowledged is not delivered to anybody again"
        released = [at for at in written if at[1] % 7 == 3]
        counts = {at: [n for each in members for n in each.delivered[at]] for at in released}
        assert all(max(each) >= 2 for each in counts.values()), "what is released is delivered once more"
