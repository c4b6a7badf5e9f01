"""The processes of a run: brokers, each started as ``make cluster`` starts it, a ZooKeeper, and their network.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py, tests/kafkatest/services/zookeeper.py · book 1.4.2
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_process import HOST, SERVER_START, BrokerProcess, ServerProcess, free_port
from kafka_lite.testing.chaos import real_kafka
from kafka_lite.testing.chaos.chaos_security import ChaosSecurity
from kafka_lite.testing.cluster_client import ClusterClient
from kafka_lite.testing.cluster_properties import PLAINTEXT, network_properties, several_defaults, target_ports
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper
from kafka_lite.testing.network.cluster_network import CLIENTS, ClusterNetwork, Machine
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.testing.process_cluster import AnyProcessCluster
from kafka_lite.testing.security.secured_cluster import CLIENTS as CLIENT_LISTENER

ZOOKEEPER_START: Final = (sys.executable, "-m", "kafka_lite.tools.main", "zookeeper-server-start")
ZOOKEEPER_SETTINGS: Final = {
    "tickTime": "500",
    "maxSessionTimeout": "120000",
    "maxClientCnxns": "0",
    "forceSync": "no",  # no fault of a run loses data that the operating system has accepted
}
BROKER_SETTINGS: Final = {
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.initial.rebalance.delay.ms": "500",
    "zookeeper.session.timeout.ms": "4000",
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.backoff.ms": "200",
    "replica.socket.timeout.ms": "4000",
    "controller.socket.timeout.ms": "4000",
    "controlled.shutdown.retry.backoff.ms": "500",
    "auto.leader.rebalance.enable": "true",
    "leader.imbalance.check.interval.seconds": "10",
    "log.segment.bytes": "200000",
    "log.segment.delete.delay.ms": "2000",
}
"""Differences from the defaults of test clusters: what is lost is noticed within seconds, and segments are rolled."""
NO_ZOOKEEPER: Final = ("Unable to connect to zookeeper server", "A broker is already registered on the path")
"""Errors that end a broker if it starts while ZooKeeper is unreachable or before its last session has expired."""
OPERATOR: Final = "operator"


class ChaosBroker(ProcessBroker):
    """A broker of a run, ours or Kafka's if ``kafka_version`` is given."""

    def __init__(
        self,
        broker_id: int,
        folder: Path,
        settings: Mapping[str, str],
        zookeeper: ClusterZooKeeper,
        kafka_version: str = "",
    ) -> None:
        self.kafka_version = kafka_version
        self.is_wanted = False
        """Whether it should run: false while a fault keeps it down."""
        self._lock = threading.Lock()  # a fault and the supervisor may both start it
        command = real_kafka.start_command(kafka_version, folder) if kafka_version else SERVER_START
        super().__init__(broker_id, folder, BrokerProcess(folder, settings, start_command=command), zookeeper)

    def start(self) -> None:
        """Start it with its former data, without waiting."""
        with self._lock:
            self.is_wanted = True
            if not self.is_running:
                self.spawn()

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        with self._lock:
            return self.is_wanted and not self.is_running

    def stop(self) -> int | None:
        """SIGTERM, and wait for its end; kills it if it takes too long. Returns its exit code, 0 if it was clean."""
        self.is_wanted = False
        code = super().stop()
        return 0 if self.kafka_version and code == real_kafka.STOPPED else code

    def kill(self, *, expire_session: bool = False) -> None:
        """kill -9, even while it is paused. Its session expires by itself, unless ``expire_session``."""
        self.is_wanted = False
        super().kill(expire_session=expire_session)

    def empty_disk(self) -> None:
        """Remove its files while it is down, as if its disk had been replaced."""
        shutil.rmtree(self.log_dir)

    def may_have_ended(self) -> bool:
        """Whether its log says why it ended, and that is what a broker may do; it is then started again."""
        reasons = real_kafka.MAY_END_WITH if self.kafka_version else NO_ZOOKEEPER
        return any(name in self.end_of_log() for name in reasons)

    def why_it_needs_a_restart(self) -> str:
        """The error that one of Kafka's brokers has not recovered from, though it still runs; "" if there is none."""
        if not self.kafka_version or not self.is_running:
            return ""
        log = self.log()
        return next((why for line, why in real_kafka.NEEDS_RESTART.items() if re.search(line, log)), "")


class ChaosCluster(AnyProcessCluster[ChaosBroker]):
    """Brokers, a ZooKeeper in its own process, and their network, which is cut. It kills what is left at the end.

    Given a version of Kafka, every second broker, from broker 1 on, is Kafka's.
    """

    def __init__(
        self,
        folder: Path,
        brokers: int,
        overrides: Mapping[str, str] | None = None,
        kafka_version: str = "",
        security: ChaosSecurity | None = None,
    ) -> None:
        """``security``: how clients and brokers authenticate; None: not at all."""
        self._zookeeper_process = _new_zookeeper(folder / "zookeeper")
        connect = self._zookeeper_process.bootstrap_servers
        settings = (real_kafka.SETTINGS if kafka_version else {}) | dict(overrides or {})
        super().__init__(folder, range(brokers), settings, zookeeper_connect=connect)
        self._kafka_version = kafka_version
        self._network: ClusterNetwork | None = None
        self._security = security
        self._ports = [free_port() for _ in self.ids]
        self._operator_ports = [free_port() for _ in self.ids] if security else []
        self._inner_ports = [[free_port() for _ in self.ids] for _ in self.ids]
        self._busy: set[Machine] = set()
        self._lock = threading.Lock()

    def start(self) -> Self:
        """Start all of it, without waiting for the brokers."""
        try:
            self._zookeeper_process.start()
            self._network = ClusterNetwork(self.ids, with_clients=True)
            targets = target_ports(self._inner_ports, self._zookeeper_process.port)
            self.network.start(targets | {(CLIENTS, broker_id): self._ports[broker_id] for broker_id in self.ids})
            if self._security is not None:
                self._security.create_users(self._zookeeper_process.bootstrap_servers)
            self.prepare()
            for broker in self.brokers:
                broker.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Kill what still runs."""
        super().stop()
        self._zookeeper_process.kill()
        if self._network is not None:
            self._network.stop()

    def _new_broker(self, broker_id: int, folder: Path) -> ChaosBroker:
        version = self._kafka_version if broker_id % 2 else ""
        settings = self._settings(broker_id, self._ports[broker_id], self._inner_ports[broker_id])
        return ChaosBroker(broker_id, folder, settings, self.zookeeper, version)

    def _settings(self, broker_id: int, port: int, inner_ports: list[int]) -> dict[str, str]:
        name = PLAINTEXT if self._security is None else CLIENT_LISTENER
        own = network_properties(broker_id, port, inner_ports, self.network, name)
        if self._security is not None:
            own = self._security.broker_settings(own, self._operator_ports[broker_id])
        return {**several_defaults(len(self.ids)), **BROKER_SETTINGS, **own, **self._overrides}

    @property
    def network(self) -> ClusterNetwork:
        """The network between brokers, ZooKeeper and clients. Raises RuntimeError before the start."""
        if self._network is None:
            raise RuntimeError("the network of a cluster does not exist before its start")
        return self._network

    # ── addresses ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def bootstrap_through_network(self) -> str:
        """The brokers' addresses for clients; ``bootstrap_servers`` are those beside the network, for the operator."""
        return ",".join(self.network.address(CLIENTS, broker_id) for broker_id in self.ids)

    def client(self, broker: ChaosBroker) -> ClusterClient:
        """The operator's client of one broker, beside the network."""
        return ClusterClient(HOST, broker.port, OPERATOR)

    def controller_if_any(self) -> ChaosBroker | None:
        """The controller, as the first broker knows it that responds; ``controller`` waits for one."""
        for broker in self.brokers:
            if not broker.is_running or broker.is_paused:
                continue
            with suppress(OSError, KafkaError), self.client(broker) as client:
                controller_id = client.controller_id()
                if controller_id >= 0:
                    return self.brokers[controller_id]
        return None

    # ── ZooKeeper ─────────────────────────────────────────────────────────────────────────────────────────────────

    def stop_zookeeper(self, *, hard: bool) -> None:
        """kill -9 or SIGTERM of ZooKeeper."""
        if hard:
            self._zookeeper_process.kill()
        else:
            self._zookeeper_process.stop()

    def start_zookeeper(self) -> None:
        """Start ZooKeeper with its former data, and wait until it listens."""
        self._zookeeper_process.start()

    # ── who is down ───────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def holding(self, machine: Machine) -> Iterator[bool]:
        """Reserve a process for a fault that ends or stops it. False if another such fault has it."""
        with self._lock:
            is_free = machine not in self._busy
            self._busy.add(machine)
        try:
            yield is_free
        finally:
            if is_free:
                with self._lock:
                    self._busy.discard(machine)

    def restart_ended(self) -> list[str]:
        """Start brokers again that ended by themselves; returns what is wrong with those that should not have."""
        found = []
        for broker in self.brokers:
            if broker.has_ended():
                if not broker.may_have_ended():
                    found.append(f"broker {broker.id} ended by itself:\n{broker.end_of_log()}")
                broker.start()
        return found

    def restart_those_that_need_it(self) -> dict[int, str]:
        """Restart the brokers of Kafka that would not recover by themselves; returns the reason by broker id."""
        reasons = {broker: why for broker in self.brokers if (why := broker.why_it_needs_a_restart())}
        for broker in reasons:
            broker.kill()
            broker.start()
        return {broker.id: why for broker, why in reasons.items()}


def _new_zookeeper(folder: Path) -> ServerProcess:
    folder.mkdir(parents=True)
    port = free_port()
    settings = {"dataDir": str(folder), "clientPort": str(port), **ZOOKEEPER_SETTINGS}
    arguments = [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]
    return ServerProcess([*ZOOKEEPER_START, *arguments], port, folder / "zookeeper.log")
