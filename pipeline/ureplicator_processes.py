"""The processes of ``make ureplicator``, each with its files and its log below one folder::

    folder/zookeeper/     one ZooKeeper for both clusters, /source and /target, and for Helix, /helix
    folder/source/        a broker
    folder/target/        a broker
    folder/controller.log
    folder/w1/            consumer.properties, producer.properties, helix.properties, worker.log

uReplicator kafka-0.10.2.1: bin/start-controller.sh, bin/start-worker.sh · book 8.2
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.helix.manager.routing_table_provider import RoutingTableProvider, View
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.helix_names import SESSION_TIMEOUT_PROPERTY
from kafka_lite.server.broker_process import HOST, BrokerProcess, ServerProcess, free_port
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

COMMAND = (sys.executable, "-m", "kafka_lite.tools.main")
CLUSTER = "testMirrorMaker"
GROUP = "ureplicator"
SESSION_TIMEOUT_MS = 6_000
REBALANCE_DELAY_S = 3
"""Both are short, so that nobody waits long for the dead. uReplicator's defaults are 30 and 120 seconds."""
STOP_TIMEOUT_S = 20


class WorkerProcess:
    """``kafka-lite ureplicator-worker``. It listens nowhere: the external view says whether it copies."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self._command = [*COMMAND, "ureplicator-worker", *arguments]
        self._log = folder / "worker.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Let it commit what it has copied."""
        if self.is_running:
            self._process.terminate()
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()


@dataclass
class Arrived:
    """The records in the target."""

    total: int = 0
    values: set[bytes | None] = field(default_factory=set)

    @property
    def distinct(self) -> int:
        """Without those that came again."""
        return len(self.values)


class MirrorProcesses:
    """Starts the parts. The stack stops them, the last one first."""

    source: BrokerProcess
    target: BrokerProcess
    controller: ServerProcess

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder.resolve()
        self._stack = stack
        self._zookeeper_port = free_port()
        self.workers: dict[str, WorkerProcess] = {}
        self.arrived = Arrived()
        self._consumer: KafkaConsumer

    # ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────

    def start_clusters(self, topics: Mapping[str, int]) -> None:
        """ZooKeeper, a broker for each cluster, and these topics in both of them."""
        self._start_zookeeper()
        self.source, self.target = self._spawn_broker("source"), self._spawn_broker("target")
        for broker in (self.source, self.target):
            self._stack.enter_context(broker)
        partitions = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
        for broker in (self.source, self.target):
            admin = TopicAdmin({"bootstrap.servers": broker.bootstrap_servers})
            for topic, count in topics.items():
                admin.ensure_exists(topic, count, 1)
        config = {"bootstrap.servers": self.target.bootstrap_servers, "auto.offset.reset": "earliest"}
        self._consumer = self._stack.enter_context(closing(KafkaConsumer(config)))
        self._consumer.assign(partitions)

    def read_target(self) -> None:
        """Count what has arrived."""
        for record in self._consumer.poll(0):
            self.arrived.total += 1
            self.arrived.values.add(record.value)

    def _start_zookeeper(self) -> None:
        folder = self._folder / "zookeeper"
        folder.mkdir()
        overrides = (f"dataDir={folder}", f"clientPort={self._zookeeper_port}", "tickTime=1000")
        arguments = [part for each in overrides for part in ("--override", each)]
        command = [*COMMAND, "zookeeper-server-start", *arguments]
        self._stack.enter_context(ServerProcess(command, self._zookeeper_port, folder / "zookeeper.log"))

    def _spawn_broker(self, name: str) -> BrokerProcess:
        """Both start at the same time."""
        folder = self._folder / name
        folder.mkdir()
        broker = BrokerProcess(folder, {"zookeeper.connect": self._connect(name)})
        broker.spawn()
        self._stack.callback(broker.stop)
        return broker

    def _connect(self, name: str) -> str:
        return f"{HOST}:{self._zookeeper_port}/{name}"

    # ── uReplicator ──────────────────────────────────────────────────────────────────────────────────────────────

    def start_controller(self) -> None:
        """The controller, with its REST interface at a free port."""
        port = free_port()
        flags = {
            "helixClusterName": CLUSTER,
            "zookeeper": self._connect("helix"),
            "port": str(port),
            "instanceId": "controller",
            SESSION_TIMEOUT_PROPERTY: str(SESSION_TIMEOUT_MS),
            "autoRebalanceDelayInSeconds": str(REBALANCE_DELAY_S),
            "localBackupFilePath": str(self._folder / "backup"),
        }
        arguments = [part for name, value in flags.items() for part in (f"-{name}", value)]
        command = [*COMMAND, "ureplicator-controller", *arguments]
        self.controller = self._stack.enter_context(ServerProcess(command, port, self._folder / "controller.log"))

    def start_worker(self, name: str) -> None:
        """A worker, which waits for what the controller gives it."""
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        files = {
            "consumer": {
                "zookeeper.connect": self._connect("source"),
                "group.id": GROUP,
                "auto.offset.reset": "smallest",
                "consumer.timeout.ms": "500",
            },
            "producer": {"bootstrap.servers": self.target.bootstrap_servers},
            "helix": {
                "zkServer": self._connect("helix"),
                "helixClusterName": CLUSTER,
                "instanceId": name,
                SESSION_TIMEOUT_PROPERTY: str(SESSION_TIMEOUT_MS),
            },
        }
        arguments = ["--offset.commit.interval.ms", "1000"]
        for what, properties in files.items():
            path = folder / f"{what}.properties"
            path.write_text(dump_properties(properties), encoding="utf-8")
            arguments += [f"--{what}.config", str(path)]
        self.workers[name] = worker = WorkerProcess(folder, arguments)
        self._stack.callback(worker.stop)

    def follow_views(self, on_view: Callable[[View], None]) -> None:
        """Call ``on_view`` with each external view of the mirror."""
        zk = ZooKeeperClient(self._connect("helix"), SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
        zk.connect()
        self._stack.callback(zk.close)
        spectator = RoutingTableProvider(ZKHelixDataAccessor(zk, PropertyPaths(CLUSTER)), on_view)
        spectator.start()
        self._stack.callback(spectator.shutdown)
