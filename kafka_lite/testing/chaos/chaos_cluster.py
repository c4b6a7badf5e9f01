"""The processes of a run: brokers, each started as ``make cluster`` starts it, a ZooKeeper, and their network.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py, tests/kafkatest/services/zookeeper.py · book 1.4.2
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_process import HOST, SERVER_START, BrokerProcess, ServerProcess, free_port
from kafka_lite.testing.chaos import real_kafka
from kafka_lite.testing.cluster_client import ClusterClient
from kafka_lite.testing.cluster_properties import network_properties, several_defaults, target_ports
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper
from kafka_lite.testing.network.cluster_network import CLIENTS, ClusterNetwork, Machine

ZOOKEEPER_START: Final = (sys.executable, "-m", "kafka_lite.tools.main", "zookeeper-server-start")
ZOOKEEPER_SETTINGS: Final = {
    "tickTime": "500",
    "maxSessionTimeout": "120000",
    "maxClientCnxns": "0",
    "forceSync": "no",  # no fault of a run loses what the system has taken
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
"""What a broker may end with when it starts while ZooKeeper is out of reach, or its last session has not expired."""
OPERATOR: Final = "operator"


class ChaosBroker:
    """A broker with its data and ports, which stay while its process is killed and started again.

    It is ours, or Kafka's if ``kafka_version`` is given.
    """

    def __init__(
        self, broker_id: int, folder: Path, port: int, settings: Mapping[str, str], kafka_version: str = ""
    ) -> None:
        folder.mkdir()
        self.id = broker_id
        self.kafka_version = kafka_version
        self.port = port
        self.folder = folder
        self.is_wanted = False
        """Whether it should run: false while a fault keeps it down."""
        self.is_paused = False
        self.starts = 0
        command = real_kafka.start_command(kafka_version, folder) if kafka_version else SERVER_START
        self._process = BrokerProcess(folder, settings, start_command=command)
        self._lock = threading.Lock()  # a fault and the supervisor may both start it

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process.is_running

    @property
    def pid(self) -> int:
        """Its process. Raises BrokerStartError if there is none."""
        return self._process.process.pid

    @property
    def log_dir(self) -> Path:
        """Where its replicas are."""
        return self.folder / "kafka-logs"

    def start(self) -> None:
        """Start it with its former data, without waiting. Each life has a log of its own."""
        with self._lock:
            self.is_wanted = True
            if not self.is_running:
                self.starts += 1
                self._process.log_file = self.folder / f"broker-{self.starts}.log"
                self._process.spawn()

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        with self._lock:
            return self.is_wanted and not self.is_running

    def stop(self) -> int | None:
        """SIGTERM, and wait for its end; kills it if it takes too long. Returns its exit code, 0 if it was clean."""
        self.is_wanted = False
        code = self._process.stop()
        return 0 if self.kafka_version and code == real_kafka.STOPPED else code

    def kill(self) -> None:
        """kill -9, also while it is paused."""
        self.is_wanted = self.is_paused = False
        self._process.kill()

    def pause(self) -> None:
        """SIGSTOP."""
        self.is_paused = True
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self.is_paused = False
        with suppress(ProcessLookupError, KafkaError):
            os.kill(self.pid, signal.SIGCONT)

    def empty_disk(self) -> None:
        """Remove its files while it is down, as if its disk had been replaced."""
        shutil.rmtree(self.log_dir)

    def log(self) -> str:
        """What the current life has logged."""
        return self._process.log()

    def end_of_log(self) -> str:
        """The last lines of the current life's log."""
        return self._process.end_of_log(30)

    def may_have_ended(self) -> bool:
        """Whether its log says why it ended, and that is what a broker may do; it is then started again."""
        reasons = real_kafka.MAY_END_WITH if self.kafka_version else NO_ZOOKEEPER
        return any(name in self.end_of_log() for name in reasons)

    def why_it_needs_a_restart(self) -> str:
        """What a broker of Kafka has not survived, though it still runs; "" if there is no such thing."""
        if not self.kafka_version or not self.is_running:
            return ""
        log = self.log()
        return next((why for line, why in real_kafka.NEEDS_RESTART.items() if re.search(line, log)), "")


class ChaosCluster:
    """Brokers, a ZooKeeper and their network. A context manager: starts them, and kills what is left at the end.

    Given a version of Kafka, every second broker, from broker 1 on, is Kafka's.
    """

    def __init__(
        self, folder: Path, brokers: int, overrides: Mapping[str, str] | None = None, kafka_version: str = ""
    ) -> None:
        self._folder = folder
        self._ids = range(brokers)
        self._kafka_version = kafka_version
        self._overrides = (real_kafka.SETTINGS if kafka_version else {}) | dict(overrides or {})
        self.brokers: list[ChaosBroker] = []
        self.zookeeper = ClusterZooKeeper(lambda: f"{HOST}:{self._zookeeper_port}")
        """What is stored in ZooKeeper, read beside the network that is cut."""
        self._zookeeper_port = free_port()
        self._zookeeper_process = self._new_zookeeper()
        self._network: ClusterNetwork | None = None
        self._busy: set[Machine] = set()
        self._lock = threading.Lock()

    def _new_zookeeper(self) -> ServerProcess:
        folder = self._folder / "zookeeper"
        folder.mkdir(parents=True)
        settings = {"dataDir": str(folder), "clientPort": str(self._zookeeper_port), **ZOOKEEPER_SETTINGS}
        arguments = [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]
        return ServerProcess([*ZOOKEEPER_START, *arguments], self._zookeeper_port, folder / "zookeeper.log")

    def __enter__(self) -> ChaosCluster:
        try:
            self._zookeeper_process.start()
            self._network = ClusterNetwork(self._ids, with_clients=True)
            inner_ports = [[free_port() for _ in self._ids] for _ in self._ids]
            ports = [free_port() for _ in self._ids]
            targets = target_ports(inner_ports, self._zookeeper_port)
            self.network.start(targets | {(CLIENTS, broker_id): ports[broker_id] for broker_id in self._ids})
            for broker_id in self._ids:
                settings = self._settings(broker_id, ports[broker_id], inner_ports[broker_id])
                folder = self._folder / f"broker-{broker_id}"
                version = self._kafka_version if broker_id % 2 else ""
                self.brokers.append(ChaosBroker(broker_id, folder, ports[broker_id], settings, version))
                self.brokers[-1].start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers:
            broker.kill()
        self.zookeeper.close()
        self._zookeeper_process.kill()
        if self._network is not None:
            self._network.stop()

    def _settings(self, broker_id: int, port: int, inner_ports: list[int]) -> dict[str, str]:
        own = network_properties(broker_id, port, inner_ports, self.network)
        return {**several_defaults(len(self._ids)), **BROKER_SETTINGS, **own, **self._overrides}

    @property
    def network(self) -> ClusterNetwork:
        """The network between brokers, ZooKeeper and clients. Raises RuntimeError before the start."""
        if self._network is None:
            raise RuntimeError("the network of a cluster exists from its start")
        return self._network

    # ── addresses ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def bootstrap(self) -> str:
        """The brokers' addresses for clients, through the network."""
        return ",".join(self.network.address(CLIENTS, broker_id) for broker_id in self._ids)

    @property
    def direct_bootstrap(self) -> str:
        """The brokers' addresses beside the network, for the operator."""
        return ",".join(f"{HOST}:{broker.port}" for broker in self.brokers)

    def client(self, broker: ChaosBroker) -> ClusterClient:
        """The operator's client of one broker, beside the network."""
        return ClusterClient(HOST, broker.port, OPERATOR)

    def controller(self) -> ChaosBroker | None:
        """The controller, as the first broker knows it that responds."""
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
