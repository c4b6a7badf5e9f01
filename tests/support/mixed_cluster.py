"""A cluster of our brokers and Kafka's, on one ZooKeeper, with the same configuration files for both."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientPartition

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.broker_process import (
    HOST,
    SERVER_START,
    BrokerStartError,
    ServerProcess,
    free_port,
    write_properties,
)
from kafka_lite.testing.arguments import id_of
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.testing.process_cluster import AnyProcessCluster
from kafka_lite.zookeeper.data import LeaderAndIsr, TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.dump_log_segments import dump_log_segments
from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command
from tests.support.kafka_tools import our_tool
from tests.support.patience import patient_s
from tests.support.patient_clients import next_message
from tests.support.produce_load import Load
from tests.support.real_kafka import JARS
from tests.support.real_zookeeper import real_zookeeper

OURS = "kafka_lite"
SESSION_TIMEOUT_MS = 18_000
"""Long enough for a busy machine; nobody waits for its end: see ``kill``."""
SETTINGS = {
    "inter.broker.protocol.version": "0.10.2",
    "log.message.format.version": "0.10.2",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    "replica.lag.time.max.ms": "5000",
    "replica.fetch.backoff.ms": "100",
    "replica.fetch.max.bytes": "100000",  # a follower of Kafka's appends no more at once than a segment holds
    "controlled.shutdown.retry.backoff.ms": "500",
    "unclean.leader.election.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    "delete.topic.enable": "true",
    "min.insync.replicas": "2",
    "offsets.topic.num.partitions": "4",
    "log.segment.bytes": "200000",
    "log.retention.ms": "-1",  # the load has old timestamps
    "log.cleaner.dedupe.buffer.size": "10485760",
    "num.io.threads": "2",
    "num.network.threads": "2",
}
_STARTED = re.compile(r"^kafka_lite .* started: |started \(kafka\.server\.KafkaServer\)", re.MULTILINE)
_HANDED_OVER = re.compile("Controlled shutdown succeeded|Controlled shutdown request returned successfully")
_THEIR_MESSAGE = re.compile(r"^offset: (\d+) .* crc: (\d+)$", re.MULTILINE)
_OUR_MESSAGE = re.compile(r"^\| offset: (\d+) .* crc: (\d+)}$", re.MULTILINE)
_LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.apache.zookeeper=WARN
"""


class MixedProcess(ServerProcess):
    """A broker of any version, which says in its log that it has started."""

    def is_ready(self) -> bool:
        """Whether it has said so."""
        return _STARTED.search(self.log()) is not None


class MixedBroker(ProcessBroker):
    """A broker of some version; ``become`` puts another version on its configuration file and its data."""

    def __init__(self, broker_id: int, folder: Path, zookeeper: ClusterZooKeeper, settings: Mapping[str, str]) -> None:
        port = free_port()
        super().__init__(broker_id, folder, MixedProcess([], port, folder / "broker.log"), zookeeper)
        self._properties = folder / "server.properties"
        own = {"broker.id": str(broker_id), "listeners": f"PLAINTEXT://{HOST}:{port}", "log.dirs": str(self.log_dir)}
        write_properties(self._properties, {**own, **settings})
        (folder / "log4j.properties").write_text(_LOG4J)

    def become(self, version: str) -> None:
        """Run this version from the next start on."""
        if version == OURS:
            self.process.command = [*SERVER_START, str(self._properties)]
            return
        log4j = f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}"
        self.process.command = java_command(
            "kafka.Kafka", str(self._properties), classpath=classpath(*JARS[version]), options=["-Xmx256m", log4j]
        )

    def start(self) -> None:
        """Start it, once more if ZooKeeper has ended its session meanwhile: Kafka's brokers exit then, and on a busy
        machine a start takes longer than a session."""
        try:
            super().start()
        except BrokerStartError:
            if "SessionExpiredException" not in self.log():
                raise
            super().start()

    def stop(self) -> int | None:
        """SIGTERM; the controller must have moved its leaderships away before it ends."""
        code = super().stop()
        assert code in (0, 128 + signal.SIGTERM), f"exit code {code}\n{self.end_of_log(40)}"
        assert _HANDED_OVER.search(self.log()), self.end_of_log(40)
        return code


class MixedCluster(AnyProcessCluster[MixedBroker]):
    """Brokers of some versions on a real ZooKeeper. Those of 0.10.2 do not speak what ``produce`` and others need."""

    def __init__(
        self, folder: Path, zookeeper_connect: str, versions: Mapping[int, str], settings: Mapping[str, str]
    ) -> None:
        own = {"zookeeper.connect": zookeeper_connect}
        super().__init__(folder, versions, {**settings, **own}, zookeeper_connect=zookeeper_connect)
        self._versions = versions

    def _new_broker(self, broker_id: int, folder: Path) -> MixedBroker:
        broker = MixedBroker(broker_id, folder, self.zookeeper, self._overrides)
        broker.become(self._versions[broker_id])
        return broker

    @property
    def zk(self) -> KafkaZkClient:
        """What ZooKeeper has."""
        return self.zookeeper.client

    # ── brokers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def start_broker(self, *brokers: MixedBroker | int) -> None:
        """Start brokers at the same time. The first broker of a cluster becomes its controller."""
        super().start_broker(*brokers)
        wanted = {id_of(broker) for broker in brokers}
        eventually(lambda: wanted <= set(self.zk.get_broker_ids()))

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_assigned(self, topic: str, assignment: Mapping[int, list[int]]) -> None:
        """Write a topic into ZooKeeper, as Kafka's tool does, and wait until it is in sync."""
        self.zk.set_entity_config(f"topics/{topic}", {})
        self.zk.create_topic_assignment(topic, TopicAssignment(assignment))
        self.await_in_sync(topic)

    def assignment(self, topic: str) -> Mapping[int, list[int]]:
        """The replicas of each partition."""
        found = self.zk.get_topic_assignment(topic)
        return found.partitions if found is not None else {}

    def states(self, topic: str) -> dict[int, LeaderAndIsr]:
        """Leader and ISR of each partition."""
        partitions = [TopicPartition(topic, number) for number in self.assignment(topic)]
        return {tp.partition: state.leader_and_isr for tp, state in self.zk.get_partition_states(partitions).items()}

    def led_by(self, broker_id: int, topic: str) -> set[int]:
        """The partitions that a broker leads."""
        return {number for number, state in self.states(topic).items() if state.leader == broker_id}

    def is_in_sync(self, topic: str) -> bool:
        """Whether every partition has a leader, and all replicas in its ISR."""
        states = self.states(topic)
        assignment = self.assignment(topic)
        return bool(assignment) and all(
            number in states and states[number].leader >= 0 and set(states[number].isr) == set(replicas)
            for number, replicas in assignment.items()
        )

    def await_in_sync(self, *topics: str) -> None:
        """Wait until all replicas of the topics are in sync."""
        for topic in topics:
            eventually(lambda topic=topic: self.is_in_sync(topic), lambda topic=topic: self.states(topic))

    def log_files(self, broker_id: int, topic: str, partition: int) -> list[Path]:
        """The log files of a replica, in order."""
        return sorted((self.brokers[broker_id].log_dir / f"{topic}-{partition}").glob("*.log"))

    def log_bytes(self, broker_id: int, topic: str, partition: int) -> bytes:
        """All messages of a replica."""
        return b"".join(path.read_bytes() for path in self.log_files(broker_id, topic, partition))


def _replication(brokers: int) -> dict[str, str]:
    """Three replicas, or as many as there are brokers.

    Since 0.11, Kafka creates no offsets topic with fewer replicas than its factor says (KIP-115), while ours and 0.10.2
    do: with a higher factor, a client that happens to ask only Kafka's broker for its coordinator never finds one.
    """
    factor = str(min(3, brokers))
    return {"default.replication.factor": factor, "offsets.topic.replication.factor": factor}


@contextmanager
def mixed_cluster(
    folder: Path, versions: Mapping[int, str], settings: Mapping[str, str] | None = None
) -> Iterator[MixedCluster]:
    """A cluster with a real ZooKeeper, in which no broker runs yet. ``versions``: broker id -> OURS or Kafka's."""
    with ExitStack() as stack:
        connect = stack.enter_context(real_zookeeper(folder / "zookeeper"))
        cluster = MixedCluster(folder, connect, versions, SETTINGS | _replication(len(versions)) | dict(settings or {}))
        stack.callback(cluster.stop)
        cluster.prepare()
        yield cluster


# ── what must be true ─────────────────────────────────────────────────────────────────────────────────────────────────


def assert_nothing_lost(cluster: MixedCluster, topic: str, load: Load) -> None:
    """Every message that was sent was acknowledged, and every acknowledged one is where it was acknowledged."""
    load.finish()
    assert len(load.acknowledged) == load.sent
    found = read_all(cluster.bootstrap_servers, topic, cluster.assignment(topic))
    missing = {place: value for place, value in load.acknowledged.items() if found.get(place) != value}
    assert not missing, f"{len(missing)} of {load.sent} messages are lost: {sorted(missing)[:10]}"


def read_all(bootstrap_servers: str, topic: str, partitions: Iterable[int]) -> dict[tuple[int, int], bytes]:
    """(partition, offset) -> value of all committed messages of a topic."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "read-all", "enable.partition.eof": False, "log_level": 0}
    )
    found: dict[tuple[int, int], bytes] = {}
    try:
        for number in partitions:
            _, end = consumer.get_watermark_offsets(ClientPartition(topic, number), timeout=patient_s(30))
            consumer.assign([ClientPartition(topic, number, 0)])
            position = 0
            while position < end:
                message = next_message(consumer, f"{topic}-{number}: {position}; the end is {end}")
                assert message.error() is None, message.error()
                found[number, message.offset()] = message.value()
                position = message.offset() + 1
    finally:
        consumer.close()
    return found


def assert_replicas_are_equal(cluster: MixedCluster, topic: str) -> None:
    """Every replica of a partition has the same bytes."""
    for number, (first, *others) in cluster.assignment(topic).items():
        for other in others:
            eventually(
                lambda n=number, f=first, o=other: cluster.log_bytes(f, topic, n) == cluster.log_bytes(o, topic, n),
                f"{topic}-{number} is the same on {first} and {other}",
            )
        assert cluster.log_bytes(first, topic, number)


def assert_dumps_are_equal(cluster: MixedCluster, topic: str, partition: int) -> None:
    """Kafka's tool and ours find the same messages, by offset and CRC, in every replica, and no fault in any."""
    dumps = []
    for broker_id in cluster.assignment(topic)[partition]:
        files = cluster.log_files(broker_id, topic, partition)
        dumps.append(_THEIR_MESSAGE.findall(dump_log_segments(files, "0.10.2", "--deep-iteration")))
        ours = our_tool("dump-log", "--files", ",".join(map(str, files)), "--deep-iteration")
        assert ours.code == 0, ours.output
        dumps.append(_OUR_MESSAGE.findall(ours.output))
    assert dumps[0]
    assert dumps == [dumps[0]] * len(dumps)


def replicated_over(*brokers: int, partitions: int, replicas: int = 3) -> dict[int, list[int]]:
    """An assignment with the partitions' leaders and followers in turn."""
    ring: Sequence[int] = brokers
    return {number: [ring[(number + each) % len(ring)] for each in range(replicas)] for number in range(partitions)}
