"""The brokers of a run, and the ZooKeeper that several of them share.

Not in Kafka. One broker has its ZooKeeper embedded; several have one on a machine of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka_lite.testing.simulation.machine import Machine, Process
from kafka_lite.testing.simulation.world import World

PROGRAMS: Final = "kafka_lite.testing.simulation.programs:"
OPERATOR_PROGRAMS: Final = "kafka_lite.testing.simulation.operator_programs:"
PORT: Final = 9092
ZOOKEEPER: Final = "zookeeper"
ZOOKEEPER_PORT: Final = 2181
RESTART_S: Final = 0.5
"""After how long a broker that ended by itself is started again."""

REPLICATED: Final[Mapping[str, str]] = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
    "zookeeper.session.timeout.ms": "3000",
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.backoff.ms": "200",
    "replica.socket.timeout.ms": "4000",
    "controller.socket.timeout.ms": "4000",
    "controlled.shutdown.retry.backoff.ms": "500",
}
"""Differences from a broker's defaults in a cluster: what is lost is noticed within seconds."""

NO_ZOOKEEPER: Final = ("ZkConnectionError", "NodeExistsError", "ControllerMovedError")
"""Errors that end a broker if it starts while ZooKeeper is unreachable or before its last session has expired."""
NO_ROOM: Final = ("No space left on device", "Too many open files", "no block of")
"""Messages of a broker that cannot start because its disk is full (it names the folder, as Kafka does) or because
descriptors or memory run out."""
STOPPED: Final = "BrokerStoppedError"
"""The error that ends a broker if its only disk fails during startup."""


@dataclass
class Server(ABC):
    """A program on a machine of its own, which is started again after each fault."""

    world: World
    machine: Machine
    process: Process | None = None
    is_wanted: bool = False
    """Whether it should run: false while a fault keeps it down."""
    _is_starting: bool = False

    def start(self) -> None:
        """Start it with its former data. No-op if it runs.

        Other tasks run while a process begins: the supervisor, for one, may start it as well, or a fault end it.
        """
        self.is_wanted = True
        if self._is_starting or (self.process is not None and self.process.is_running):
            return
        self._is_starting = True
        self.process = self._started()
        self._is_starting = False
        if not self.is_wanted:
            self.process.kill()

    @abstractmethod
    def _started(self) -> Process:
        """Start the program."""

    def running(self) -> Process:
        """Its process: the last one, if none runs."""
        assert self.process is not None
        return self.process

    def kill(self) -> None:
        """kill -9, until it is started again."""
        self.is_wanted = False
        self.running().kill()

    def stop(self) -> None:
        """SIGTERM, until it is started again. Does not wait."""
        self.is_wanted = False
        self.running().stop()

    @property
    def parts(self) -> Any:
        """The object of the running program: a KafkaServer, an EmbeddedZooKeeper. None if there is none yet."""
        if self.process is None or not self.process.is_running:
            return None
        servers = self.process.module(PROGRAMS.rstrip(":")).servers
        return servers[-1] if servers else None


@dataclass
class Broker(Server):
    """A broker."""

    number: int = 0
    properties: Mapping[str, str] | None = None
    """In ``listeners``, ``{ip}`` is the machine's address."""

    @property
    def bootstrap(self) -> str:
        """Its address for clients."""
        return f"{self.machine.ip}:{PORT}"

    def _started(self) -> Process:
        given = dict(self.properties or {})
        own = {
            "broker.id": str(self.number),
            "log.dirs": str(self.machine.folder / "data"),
            "listeners": given.pop("listeners", f"PLAINTEXT://{{ip}}:{PORT}").format(ip=self.machine.ip),
        }
        return self.machine.start(PROGRAMS + "broker", own | given)


@dataclass
class ZooKeeper(Server):
    """The ZooKeeper of several brokers."""

    @property
    def connect_string(self) -> str:
        """Its address for brokers."""
        return f"{self.machine.ip}:{ZOOKEEPER_PORT}"

    def _started(self) -> Process:
        folder = str(self.machine.folder / "data")
        return self.machine.start(PROGRAMS + "zookeeper", folder, self.machine.ip, ZOOKEEPER_PORT)


class BrokerCluster:
    """One broker, or several with a ZooKeeper. ``name`` is that of its machine, or begins the names of theirs."""

    def __init__(self, world: World, brokers: int, properties: Mapping[str, str], name: str = "broker") -> None:
        self.world = world
        self.zookeeper: ZooKeeper | None = None
        if brokers > 1:
            self.zookeeper = ZooKeeper(world, world.machine(ZOOKEEPER))
            properties = {**REPLICATED, "zookeeper.connect": self.zookeeper.connect_string, **properties}
        names = [name] if brokers == 1 else [f"{name}-{number}" for number in range(brokers)]
        self.brokers = [
            Broker(world, world.machine(each), number=number, properties=dict(properties))
            for number, each in enumerate(names)
        ]
        self.is_over = False

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers."""
        return ",".join(broker.bootstrap for broker in self.brokers)

    @property
    def servers(self) -> list[Server]:
        """Brokers and ZooKeeper."""
        return [*self.brokers, *([self.zookeeper] if self.zookeeper is not None else [])]

    def start(self) -> None:
        """Start all of them. Brokers of a cluster that end by themselves are started again."""
        for server in reversed(self.servers):
            server.start()
        if self.zookeeper is not None:
            self.world.in_background("supervisor", self._supervise)

    def _supervise(self) -> None:
        while not self.is_over:
            self.world.sleep(RESTART_S)
            for server in self.servers:
                if server.is_wanted and not server.running().is_running:
                    server.start()

    def controller(self) -> Broker | None:
        """The broker that is the controller, by its own account."""
        active = [broker for broker in self.brokers if broker.parts is not None and _is_controller(broker.parts)]
        return active[0] if active else None

    def others(self, machine: str) -> Iterator[str]:
        """The other machines of the world."""
        names = [server.machine.name for server in self.servers]
        return (name for name in [*names, "clients"] if name != machine)


def _is_controller(server: Any) -> bool:
    controller = getattr(server, "controller", None)
    return controller is not None and controller.is_active
