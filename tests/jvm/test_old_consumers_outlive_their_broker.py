"""A group of our ZooKeeper consumer and Kafka's, while the broker is stopped, killed, and restarted."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.cluster_process import ClusterProcess
from tests.support.eventually import eventually
from tests.support.old_consumers import QUICK, Group, PythonMember, ScalaMember
from tests.support.real_kafka import create_topics

pytestmark = pytest.mark.jvm

TOPIC = "flights"
PARTITIONS = {TOPIC: 6}
LIMIT_S = 120.0


class Lives:
    """A broker, the group, and a writer."""

    def __init__(self, directory: Path, stack: ExitStack, *, zookeeper_dies: bool) -> None:
        settings = {"zookeeper.session.timeout.ms": "2000"}
        if zookeeper_dies:
            port = free_port()
            settings["zookeeper.embedded.port"] = str(port)
            self.zookeeper_connect = f"127.0.0.1:{port}"
        else:
            zookeeper = stack.enter_context(EmbeddedZooKeeper(directory / "zookeeper", tick_time_ms=500))
            settings["zookeeper.connect"] = self.zookeeper_connect = zookeeper.connect_string
        self._zookeeper_dies = zookeeper_dies
        self.broker = stack.enter_context(ClusterProcess(directory, settings))
        create_topics(self.broker.bootstrap_servers, [TOPIC], PARTITIONS[TOPIC], {})
        self.group = Group(self.zookeeper_connect, "outliving")
        stack.callback(self.group.close)
        self._rounds = count()
        config = QUICK | {
            "zookeeper.connect": self.zookeeper_connect, "group.id": "outliving",
            "zookeeper.session.timeout.ms": "10000", "auto.commit.interval.ms": "500",
        }  # fmt: skip
        self.ours = PythonMember(f"static:{TOPIC}=1", config | {"consumer.id": "ours"})
        stack.callback(self.ours.close)
        self.scala = ScalaMember(f"static:{TOPIC}=1", config | {"consumer.id": "scala"})
        stack.callback(self.scala.close)
        self._written: set[str] = set()
        self._ends = {f"{TOPIC}-{number}": 0 for number in range(PARTITIONS[TOPIC])}
        self._committed: dict[str, int] = {}

    def owners(self) -> set[str | None]:
        """The owners of the partitions."""
        return {owner and owner.rpartition("-")[0] for owner in self.group.owners(PARTITIONS).values()}

    def write(self, messages: int = 10) -> None:
        """Write this many messages into each partition."""
        tag = next(self._rounds)
        values = {f"{tag}:{number}-{place}" for number in range(PARTITIONS[TOPIC]) for place in range(messages)}
        with Producer({
            "metadata.broker.list": self.broker.bootstrap_servers, "request.required.acks": -1,
            "message.send.max.retries": 20, "batch.num.messages": 200,
            "partitioner.class": "tests.support.old_consumers_partitioner.ByNumber",
            "serializer.class": "kafka_lite.old_producer.encoder.StringEncoder",
            "key.serializer.class": "kafka_lite.old_producer.encoder.StringEncoder",
        }) as producer:  # fmt: skip
            messages_to_send = [
                KeyedMessage(TOPIC, value, value.partition(":")[2].partition("-")[0]) for value in sorted(values)
            ]
            producer.send(*messages_to_send)
        self._written |= values
        for number in range(PARTITIONS[TOPIC]):
            self._ends[f"{TOPIC}-{number}"] += messages

    def go_on(self) -> None:
        """Wait until both own partitions, and everything written is read and committed; commits must not go back."""
        self.write()
        eventually(lambda: self.owners() == {"outliving_ours", "outliving_scala"}, self.owners, LIMIT_S)
        eventually(lambda: not self._unread(), self._unread, LIMIT_S)
        eventually(self._all_is_committed, lambda: self._committed, LIMIT_S)

    def _unread(self) -> set[str]:
        return self._written - {value for *_, value in [*self.ours.messages, *self.scala.messages]}

    def _all_is_committed(self) -> bool:
        found = self.group.offsets(PARTITIONS)
        back = {partition for partition, offset in found.items() if offset < self._committed.get(partition, 0)}
        assert not back, f"{back} went back: {self._committed}, {found}"
        self._committed = found
        return found == self._ends


@pytest.mark.timeout(600)
@pytest.mark.parametrize("zookeeper_dies", [False, True], ids=["zookeeper lives", "zookeeper dies with it"])
def test_a_group_of_old_consumers_resumes_after_a_restart_and_after_a_kill(
    tmp_path: Path, zookeeper_dies: bool
) -> None:
    with ExitStack() as stack:
        lives = Lives(tmp_path, stack, zookeeper_dies=zookeeper_dies)
        lives.go_on()
        for end in (lives.broker.stop, lives.broker.kill):
            assignments = len(lives.ours.assignments)
            lives.write(500)
            end()  # while they are being read
            lives.broker.start()
            lives.go_on()
            # The end of a broker is no reason to rebalance. When ZooKeeper returns, ours checks whether it missed one.
            assert zookeeper_dies or len(lives.ours.assignments) == assignments
