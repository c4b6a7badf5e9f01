"""Brokers that each have a process of their own, around one ZooKeeper: ours, Kafka's, or both.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py (KafkaService), services/zookeeper.py · book 1.4.2
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, Self, TypeVar

from kafka_lite.server.broker_process import HOST, BrokerProcess, ServerProcess, free_port
from kafka_lite.testing.any_cluster import AnyCluster
from kafka_lite.testing.cluster_properties import several_defaults
from kafka_lite.testing.cluster_zookeeper import new_zookeeper
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

P = TypeVar("P", bound=ProcessBroker)
SETTINGS = {
    "zookeeper.session.timeout.ms": "18000",  # ``kill`` ends those of the killed, and a busy machine ends none
    "replica.lag.time.max.ms": "3000",
    "log.retention.ms": "-1",  # many tests have records with old timestamps, which would be deleted after 30 s
}
"""Differences from the defaults of a cluster in the test's process: these brokers share the processors."""
MakeProcess = Callable[[Path, Mapping[str, str]], ServerProcess]
"""Makes the process of a broker from its folder and its settings."""


class AnyProcessCluster(AnyCluster[P], Generic[P]):
    """Base of all clusters whose brokers are processes. A subclass makes a broker of the right kind.

    ``overrides`` are keys of every broker's ``server.properties``. ``zookeeper_connect`` names a ZooKeeper that runs;
    by default an embedded one runs in the test's process.
    """

    def __init__(
        self,
        folder: Path,
        ids: Iterable[int],
        overrides: Mapping[str, str] | None = None,
        *,
        zookeeper_connect: str | None = None,
    ) -> None:
        super().__init__()
        self.folder = folder
        self.ids = list(ids)
        self._overrides = dict(overrides or {})
        self._given_zookeeper = zookeeper_connect
        self._embedded: EmbeddedZooKeeper | None = None

    @abstractmethod
    def _new_broker(self, broker_id: int, folder: Path) -> P:
        """A broker of this cluster, not started. ``folder``, which exists, is its own."""

    def start(self) -> Self:
        """Start ZooKeeper, then all brokers at the same time, and wait until they know each other.

        Raises BrokerStartError, leaving nothing running.
        """
        try:
            self.prepare()
            self.start_broker()
            self._leadership.await_acquaintance()
        except BaseException:
            self.stop()
            raise
        return self

    def prepare(self) -> None:
        """Start ZooKeeper, and make the brokers without starting them."""
        if self._brokers:
            raise RuntimeError("this cluster is already running")
        if self._given_zookeeper is None:
            self._embedded = new_zookeeper(self.folder / "zookeeper")
            self._embedded.start()
        for broker_id in self.ids:
            folder = self.folder / f"broker-{broker_id}"
            folder.mkdir(parents=True, exist_ok=True)
            self._brokers.append(self._new_broker(broker_id, folder))

    def stop(self) -> None:
        """Kill what still runs, and stop ZooKeeper; the data stays. Idempotent."""
        for broker in self._brokers:
            broker.process.kill()
        self.zookeeper.close()
        if self._embedded is not None:
            self._embedded.shutdown()
        self._brokers, self._embedded = [], None

    @property
    def zookeeper_connect(self) -> str:
        """The connect string of the cluster's ZooKeeper. Raises RuntimeError before the start of an embedded one."""
        if self._given_zookeeper is not None:
            return self._given_zookeeper
        if self._embedded is None:
            raise RuntimeError("this cluster has not been started, or has been stopped: so has its ZooKeeper")
        return self._embedded.connect_string


class ProcessCluster(AnyProcessCluster[ProcessBroker]):
    """Running brokers in processes::

        with ProcessCluster(tmp_path, brokers=3) as cluster:
            cluster.create_topic("orders")
            cluster.leader_of("orders").kill()

    ``make`` makes their processes, or, by id, those of some of them: ``BrokerProcess`` is our ``server-start``.
    """

    def __init__(
        self,
        folder: Path,
        overrides: Mapping[str, str] | None = None,
        *,
        brokers: int = 3,
        make: MakeProcess | Mapping[int, MakeProcess] = BrokerProcess,
        zookeeper_connect: str | None = None,
    ) -> None:
        super().__init__(folder, range(brokers), overrides, zookeeper_connect=zookeeper_connect)
        self._make = make

    def _new_broker(self, broker_id: int, folder: Path) -> ProcessBroker:
        own = {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://{HOST}:{free_port()}",
            "zookeeper.connect": self.zookeeper_connect,
            "log.dirs": str(folder / "kafka-logs"),
        }
        make = self._make.get(broker_id, BrokerProcess) if isinstance(self._make, Mapping) else self._make
        process = make(folder, several_defaults(len(self.ids)) | SETTINGS | self._overrides | own)
        return ProcessBroker(broker_id, folder, process, self.zookeeper)
