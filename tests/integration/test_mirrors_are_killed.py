"""Mirrors in processes of their own are killed with kill -9, and the networks to the clusters are cut.

Nothing is lost, each key's records keep their order, and no more come twice than were copied since the last commit.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.helix_names import ONLINE, SESSION_TIMEOUT_PROPERTY, STATE_MODEL
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.network.tcp_proxy import HOST, Route, TcpProxy
from kafka_lite.testing.network.way import Way
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper
from tests.support.mirrored_records import check_complete, new_consumer, old_consumer, publish
from tests.support.patience import patient_s

pytestmark = [pytest.mark.soak, pytest.mark.nightly, pytest.mark.timeout(900)]

TOPIC, PARTITIONS = "t", 4
SESSION_TIMEOUT_MS = 6_000
COMMAND = (sys.executable, "-m", "kafka_lite.tools.main")


class FarCluster:
    """A cluster of one broker, which clients reach over a network that can be cut."""

    def __init__(self, stack: ExitStack) -> None:
        self._there, self._back, self._proxy = Way(), Way(), TcpProxy()
        port = free_port()
        far_port = self._proxy.open(Route("clients", "broker", port, self._there, self._back, lambda: False))
        self._proxy.start()
        stack.callback(self._proxy.shutdown)
        settings = {
            "listeners": f"PLAINTEXT://{HOST}:{port}", "advertised.listeners": f"PLAINTEXT://{HOST}:{far_port}",
            "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100,
        }  # fmt: skip
        self.cluster = stack.enter_context(Cluster(settings))
        self.cluster.create_topic(TOPIC, partitions=PARTITIONS)

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Let nothing pass until the end of the block."""
        self._set(is_cut=True)
        try:
            yield
        finally:
            self._set(is_cut=False)

    def _set(self, *, is_cut: bool) -> None:
        self._there.is_cut = self._back.is_cut = is_cut
        self._proxy.wake_up()


class Course:
    """Two clusters, what was published, and how many records may come twice."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.folder = folder
        self.source, self.target = FarCluster(stack), FarCluster(stack)
        self.published = self.may_come_twice = 0

    def run(self, name: str, tool: str, *flags: str, **files: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a tool with properties files: ``consumer={…}`` is ``--consumer.config FILE``."""
        arguments = list(flags)
        for what, properties in files.items():
            path = self.folder / f"{name}-{what}.properties"
            path.write_text(dump_properties(properties))
            arguments += [f"--{what}.config", str(path)]
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen([*COMMAND, tool, *arguments], stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def publish(self, count: int) -> None:
        publish(self.source.cluster, TOPIC, range(self.published, self.published + count))
        self.published += count

    def arrived(self) -> int:
        return len({record.value for record in self.target.cluster.records(TOPIC)})

    def await_some(self, count: int) -> None:
        """Wait until the target has so many of them."""
        eventually(lambda: self.arrived() >= count, self._logs, timeout_s=120)

    def _logs(self) -> str:
        return "\n".join(path.read_text()[-3000:] for path in self.folder.glob("*.log"))

    def kill(self, process: subprocess.Popen[bytes], committed: int) -> None:
        """Records that were published, but not committed before the kill, may be copied again."""
        process.kill()
        process.wait()
        self.may_come_twice += self.published - committed

    def check(self) -> None:
        self.await_some(self.published)
        twice = check_complete(self.target.cluster.records(TOPIC), self.published)
        print(f"{twice} of {self.published} records came twice, at most {self.may_come_twice} might have")
        assert twice <= self.may_come_twice

    def committed_in_zookeeper(self, group: str) -> int:
        zk = KafkaZkClient(self.source.cluster.zookeeper_connect)
        zk.start()
        try:
            found = [
                ConsumerGroups(zk).get_offset(group, TopicPartition(TOPIC, number)) for number in range(PARTITIONS)
            ]
        finally:
            zk.close()
        return sum(offset or 0 for offset in found)

    def committed(self, group: str) -> int:
        partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        servers = self.source.cluster.bootstrap_servers
        with KafkaConsumer({"bootstrap.servers": servers, "group.id": group}) as consumer:
            return sum(each.offset for each in consumer.committed(partitions).values() if each is not None)


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    with ExitStack() as stack:
        yield Course(stack, tmp_path)


@pytest.mark.parametrize("reads_with", ["new", "old"])
def test_mirror_maker(course: Course, reads_with: str) -> None:
    source = course.source.cluster
    if reads_with == "new":
        consumer = new_consumer(source, "mirror") | {"session.timeout.ms": str(SESSION_TIMEOUT_MS)}
    else:
        consumer = old_consumer(source, "mirror") | {"zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS)}

    def start() -> subprocess.Popen[bytes]:
        producer = {"bootstrap.servers": course.target.cluster.bootstrap_servers, "request.timeout.ms": "2000"}
        flags = ("--whitelist", TOPIC, "--offset.commit.interval.ms", "100", "--num.streams", "2")
        return course.run("mirror", "mirror-maker", *flags, consumer=consumer, producer=producer)

    def committed() -> int:
        return course.committed("mirror") if reads_with == "new" else course.committed_in_zookeeper("mirror")

    for far in (course.target, course.source, course.target):
        mirror = start()
        course.publish(400)
        course.await_some(course.published - 200)
        with far.cut():
            if far is course.target:
                course.publish(300)  # the mirror reads what it cannot send
            else:
                eventually(is_over(seconds=3))
        course.publish(200)
        course.await_some(course.published - 300)
        course.kill(mirror, committed())
    mirror = start()
    course.publish(100)
    course.check()
    mirror.terminate()
    assert mirror.wait(patient_s(60)) == 143


def is_over(seconds: float) -> Callable[[], bool]:
    """Whether some time has passed: requests of the mirror have timed out."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def test_workers_of_ureplicator(course: Course) -> None:
    with ExitStack() as stack:

        def connect() -> ZooKeeperClient:
            client = ZooKeeperClient(course.target.cluster.zookeeper_connect, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
            client.connect()
            stack.callback(client.close)
            return client

        helix = HelixOnZooKeeper(connect)
        stack.callback(helix.close)
        helix.start_controller("controller")

        def await_session(name: str, *, is_alive: bool) -> None:
            eventually(lambda: (name in helix.accessor.children(PATHS.live_instances)) is is_alive, timeout_s=120)

        def start(name: str) -> subprocess.Popen[bytes]:
            of_helix = {
                "zkServer": course.target.cluster.zookeeper_connect, "helixClusterName": PATHS.cluster,
                "instanceId": name, SESSION_TIMEOUT_PROPERTY: str(SESSION_TIMEOUT_MS),
            }  # fmt: skip
            producer = {"bootstrap.servers": course.target.cluster.bootstrap_servers, "request.timeout.ms": "2000"}
            consumer = old_consumer(course.source.cluster, "ur")
            flags = ("--offset.commit.interval.ms", "100")
            worker = course.run(
                name, "ureplicator-worker", *flags, consumer=consumer, producer=producer, helix=of_helix
            )
            await_session(name, is_alive=True)
            return worker

        def assign(*names: str) -> None:
            assignment = {str(number): {name: ONLINE} for number, name in enumerate(names)}
            helix.admin.add_resource(IdealState.customized(TOPIC, STATE_MODEL, assignment))
            helix.await_view(assignment, TOPIC)

        workers = {name: start(name) for name in ("w1", "w2")}
        for victim, survivor in (("w1", "w2"), ("w2", "w1")):
            assign("w1", "w2", "w1", "w2")
            course.publish(400)
            course.await_some(course.published - 200)
            with course.target.cut():
                course.publish(300)
            course.await_some(course.published - 300)
            course.kill(workers[victim], course.committed_in_zookeeper("ur"))
            await_session(victim, is_alive=False)
            course.publish(100)
            assign(*[survivor] * PARTITIONS)
            workers[victim] = start(victim)
        course.publish(100)
        course.check()
        for worker in workers.values():
            worker.terminate()
        for worker in workers.values():
            assert worker.wait(patient_s(60)) == 143
