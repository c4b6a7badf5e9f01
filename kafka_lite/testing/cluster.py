"""Brokers inside your own test process, with their own ZooKeeper, on free ports.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala, utils/TestUtils.scala · book 1.4.1, 1.4.2
"""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.broker_process import free_port
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.testing.cluster_broker import ClusterBroker
from kafka_lite.testing.cluster_client import ALL_IN_SYNC, ClusterClient, Data, StoredRecord
from kafka_lite.testing.cluster_leadership import TIMEOUT_S, ClusterLeadership
from kafka_lite.testing.cluster_properties import (
    MAX_REPLICAS,
    TEST_DEFAULTS,
    listener_of,
    network_properties,
    several_defaults,
    target_ports,
)
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper, new_zookeeper
from kafka_lite.testing.fault import Fault
from kafka_lite.testing.fault_injector import OWN_CLIENT_ID
from kafka_lite.testing.fault_list import FaultList
from kafka_lite.testing.network.cluster_network import ClusterNetwork
from kafka_lite.testing.request_log import Api, RequestLog
from kafka_lite.testing.shifted_time import ShiftedTime
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

POLL_S = 0.01
HOST = "127.0.0.1"


class Cluster:
    """Running kafka_lite brokers::

        with Cluster({"auto.create.topics.enable": "false"}) as cluster:
            cluster.create_topic("orders", partitions=3)
            producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
            cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()

        with Cluster(brokers=3) as cluster:
            cluster.create_topic("orders")                    # three replicas
            cluster.leader_of("orders").kill()
            cluster.network.cut(0, 2)

    ``overrides`` are keys of ``server.properties``, ``broker_overrides`` those of single brokers, by id. Data is kept
    in ``data_dir``, or in a temporary folder that is removed with the cluster. Brokers have the ids 0, 1, …

    One broker has an embedded ZooKeeper. Several share one that is outside of them, and a ``network``, which tests can
    cut; topics then have three replicas by default, or as many as there are brokers.
    """

    def __init__(
        self,
        overrides: Mapping[str, object] | None = None,
        data_dir: Path | str | None = None,
        *,
        brokers: int = 1,
        broker_overrides: Mapping[int, Mapping[str, object]] | None = None,
        time: ShiftedTime | None = None,
    ) -> None:
        if brokers < 1:
            raise ValueError(f"brokers={brokers}: a cluster has at least one broker")
        if time is not None and not isinstance(time, ShiftedTime):
            raise TypeError(
                f"time={time!r}: a broker with sockets needs a clock that runs by itself, as ShiftedTime does"
            )
        self._overrides = _texts(overrides or {})
        if brokers > 1 and "listeners" in self._overrides:
            raise ValueError("listeners: a cluster of several brokers chooses them, see ClusterNetwork")
        self._broker_overrides = {each: _texts(values) for each, values in (broker_overrides or {}).items()}
        _warn_of_unknown_keys([self._overrides, *self._broker_overrides.values()])
        self._given_dir = None if data_dir is None else Path(data_dir)
        self._temporary_dir: Path | None = None
        self._size = brokers
        self._brokers: list[ClusterBroker] = []
        self._zookeeper_server: EmbeddedZooKeeper | None = None  # only of several brokers
        self._zookeeper = ClusterZooKeeper(lambda: self.zookeeper_connect)
        self._network: ClusterNetwork | None = None
        self.time = time or ShiftedTime()
        """The brokers' clock: ``cluster.time.advance(hours=1)``."""
        self.requests = RequestLog()
        """The clients' requests to all brokers since the last ``reset``."""
        self._faults = FaultList()

    # ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Self:
        """Start all brokers. Raises what ``KafkaServer.startup`` raises, leaving nothing running."""
        if self._brokers:
            raise RuntimeError("this cluster is already running")
        if self._given_dir is None and self._temporary_dir is None:
            self._temporary_dir = Path(tempfile.mkdtemp(prefix="kafka-lite-"))
            atexit.register(self._remove_temporary_dir)  # for a script that forgets to stop the cluster
        try:
            if self._size == 1:
                self._make_one_broker()
            else:
                self._make_several_brokers()
            self.start_broker()
            if self._size > 1:
                self._leadership.await_acquaintance()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all brokers and remove the temporary folder. Idempotent."""
        atexit.unregister(self._remove_temporary_dir)
        self.stop_broker()
        self._zookeeper.close()
        if self._network is not None:
            self._network.stop()
        if self._zookeeper_server is not None:
            self._zookeeper_server.shutdown()
        self._remove_temporary_dir()
        self._brokers, self._network, self._zookeeper_server = [], None, None

    def _remove_temporary_dir(self) -> None:
        if self._temporary_dir is not None:
            shutil.rmtree(self._temporary_dir, ignore_errors=True)
            self._temporary_dir = None

    def start_broker(self) -> None:
        """Start every broker that is not running, with its previous data and port."""
        down = [broker for broker in self._brokers if not broker.is_running]
        if not down:
            return
        with ThreadPoolExecutor(len(down), "kafka-lite-start") as pool:
            for started in [pool.submit(broker.start) for broker in down]:
                started.result()

    def stop_broker(self) -> None:
        """Shut every broker down cleanly; data and faults remain. Nobody is left to whom leaderships could move."""
        for broker in self._brokers:
            broker.stop(controlled=False)

    def restart(self) -> None:
        """Stop every broker and start it again with the same data and port. Raises RuntimeError if one is down."""
        for broker in self.brokers:
            broker.restart()

    def _make_one_broker(self) -> None:
        port = free_port()
        own = {"log.dirs": str(self.data_dir / "logs"), "listeners": f"PLAINTEXT://{HOST}:{port}"}
        self._brokers = [self._new_broker(0, port, TEST_DEFAULTS | own)]

    def _make_several_brokers(self) -> None:
        """Start ZooKeeper and the network, whose ports the brokers' properties need."""
        ids = range(self._size)
        self._zookeeper_server = new_zookeeper(self.data_dir / "zookeeper")
        self._zookeeper_server.start()
        self._network = ClusterNetwork(ids)
        inner_ports = [[free_port() for _ in ids] for _ in ids]
        self._network.start(target_ports(inner_ports, self._zookeeper_server.port))
        for broker_id in ids:
            port = free_port()
            own = network_properties(broker_id, port, inner_ports[broker_id], self._network)
            own["log.dirs"] = str(self.data_dir / f"broker-{broker_id}")
            self._brokers.append(self._new_broker(broker_id, port, several_defaults(self._size) | own))

    def _new_broker(self, broker_id: int, port: int, properties: Mapping[str, str]) -> ClusterBroker:
        return ClusterBroker(
            broker_id,
            port,
            {**properties, **self._overrides, **self._broker_overrides.get(broker_id, {})},
            self.time,
            self._zookeeper,
            self._faults,
            self.requests,
            self._network,
            {listener_of(sender): sender for sender in range(self._size)},
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ── brokers, addresses and paths ──────────────────────────────────────────────────────────────────────────────

    @property
    def is_started(self) -> bool:
        """Whether there are brokers, even if all of them are down: from ``start`` to ``stop``."""
        return bool(self._brokers)

    @property
    def brokers(self) -> Sequence[ClusterBroker]:
        """All brokers, by id, also those that are down: ``cluster.brokers[1].kill()``."""
        if not self._brokers:
            raise RuntimeError(
                "this cluster has not been started, or has been stopped: its brokers exist from start to stop. "
                "Use it in a with block, or start it"
            )
        return self._brokers

    @property
    def server(self) -> KafkaServer:
        """The broker of a cluster of one. Raises RuntimeError if it is not running, or one of several."""
        if self._size > 1:
            raise RuntimeError(f"this cluster has {self._size} brokers: say which one, as in cluster.brokers[0].server")
        return self.brokers[0].server

    @property
    def network(self) -> ClusterNetwork:
        """The network between the brokers. Raises RuntimeError if there is only one broker, or none yet."""
        if self._network is None:
            raise RuntimeError("only a started cluster of several brokers has a network")
        return self._network

    @property
    def data_dir(self) -> Path:
        """The directory of all brokers' files. Raises RuntimeError if it is temporary and does not exist now."""
        directory = self._given_dir or self._temporary_dir
        if directory is None:
            raise RuntimeError("the cluster's temporary folder exists only from start to stop")
        return directory

    @property
    def bootstrap_servers(self) -> str:
        """The value for a client's ``bootstrap.servers``: all brokers, also those that are stopped temporarily."""
        return ",".join(broker.bootstrap_server for broker in self.brokers)

    @property
    def zookeeper_connect(self) -> str:
        """The connect string of the cluster's ZooKeeper, beside the network that tests cut."""
        if self._zookeeper_server is not None:
            return self._zookeeper_server.connect_string
        embedded = self.server.embedded_zookeeper
        return embedded.connect_string if embedded is not None else self.server.config.zk_connect

    # ── leadership ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def controller(self) -> ClusterBroker:
        """The broker that is the controller. Waits for one; raises TimeoutError."""
        return self.wait_for_controller()

    def wait_for_controller(
        self, *, other_than: ClusterBroker | None = None, timeout_s: float = TIMEOUT_S
    ) -> ClusterBroker:
        """Wait until a broker (``other_than`` this one) is the controller. Raises TimeoutError."""
        return self._leadership.controller(other_than, timeout_s)

    def leader_of(
        self,
        topic: str,
        partition: int = 0,
        *,
        other_than: ClusterBroker | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> ClusterBroker:
        """The broker that leads a partition, once ZooKeeper and the broker agree. Waits for one (``other_than`` this).

        Raises TimeoutError.
        """
        return self._leadership.leader(TopicPartition(topic, partition), other_than, timeout_s)

    def isr(self, topic: str, partition: int = 0) -> set[int]:
        """The ids of the brokers in a partition's ISR, as ZooKeeper has it."""
        return self._leadership.isr(TopicPartition(topic, partition))

    def wait_for_isr(
        self,
        topic: str,
        partition: int = 0,
        *,
        brokers: Iterable[ClusterBroker | int] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Wait until the ISR has exactly these brokers, by default all replicas.

        Raises TimeoutError, and ValueError if it is to have all replicas and there is no such partition.
        """
        self._leadership.await_isr(TopicPartition(topic, partition), brokers, timeout_s)

    def move_leadership(
        self, to: ClusterBroker, topic: str, partition: int = 0, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Make a broker that has a replica the leader, and the preferred leader from now on.

        The controller does that as for Kafka's tools: the replicas are reassigned in another order, and the preferred
        one is elected. Raises ValueError if the broker has no replica, ApiError if it is not in sync, TimeoutError.
        """
        topic_partition, leadership = TopicPartition(topic, partition), self._leadership
        replicas = leadership.order_with_preferred(topic_partition, to)
        with self._client_of_controller() as client:
            client.reassign(topic, partition, replicas)
            leadership.await_replicas(topic_partition, replicas, timeout_s)
            client.elect_preferred_leader(topic, partition)
        leadership.await_leader(topic_partition, to, timeout_s)

    @property
    def _leadership(self) -> ClusterLeadership:
        return ClusterLeadership(self.brokers, self._zookeeper)

    # ── topics and records ────────────────────────────────────────────────────────────────────────────────────────

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, object] | None = None,
        *,
        replication_factor: int | None = None,
    ) -> None:
        """Create a topic that every broker knows on return; ``configs`` are its overrides.

        ``replication_factor`` is by default three, or the number of brokers if that is smaller. Raises ApiError with
        the broker's error.
        """
        replicas = replication_factor or min(MAX_REPLICAS, self._size)
        if self._size > 1:
            self._leadership.await_brokers()
        with self._client_of_controller() as client:
            client.create_topic(name, partitions, _texts(configs or {}), replicas)
        if self._size > 1:
            self._leadership.await_topic(name, partitions)

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises ApiError."""
        with self._client_of_controller() as client:
            client.delete_topic(name)

    @property
    def topics(self) -> dict[str, int]:
        """Topic -> number of partitions, without internal topics."""
        with self._client() as client:
            return client.topics()

    def produce(
        self,
        topic: str,
        *values: Data,
        key: Data = None,
        partition: int = 0,
        headers: Mapping[str, Data] | Iterable[tuple[str, Data]] = (),
        timestamp_ms: int | None = None,
        acks: int = ALL_IN_SYNC,
    ) -> int:
        """Append records with these values to one partition; returns the offset of the first.

        ``headers`` are names and values, or a mapping. ``acks`` is 1 or -1: whether to wait for the leader alone,
        or for the whole ISR. A missing topic is created if ``auto.create.topics.enable`` is true. Raises ApiError.
        Faults do not affect this, and ``requests`` does not show it.
        """
        stamp_ms = self.time.milliseconds() if timestamp_ms is None else timestamp_ms
        config = self._any_broker.server.config
        if config.auto_create_topics_enable and topic not in self.topics:
            self.create_topic(topic, max(config.num_partitions, partition + 1))
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        with self._client_of_leader(topic, partition) as client:
            return client.produce(topic, partition, values, key, pairs, stamp_ms, acks)

    def records(self, topic: str, partition: int | None = None) -> list[StoredRecord]:
        """The records of a topic, or of one partition: by partition, then by offset. Raises ApiError.

        As a consumer sees them now: up to the high watermark. A leader that has just been elected or restarted may not
        know yet that its followers have the last records; ``wait_for_records`` waits for them.
        """
        with self._client() as client:
            partitions = range(client.partitions(topic)) if partition is None else [partition]
        found: list[StoredRecord] = []
        for number in partitions:
            with self._client_of_leader(topic, number) as client:
                found += client.records(topic, number)
        return found

    def values(self, topic: str, partition: int | None = None) -> list[bytes | None]:
        """The values of those records."""
        return [record.value for record in self.records(topic, partition)]

    def wait_for_records(self, topic: str, count: int = 1, timeout_s: float = 10) -> list[StoredRecord]:
        """Wait until a topic has ``count`` records and return all its records. Raises TimeoutError."""
        deadline = time.monotonic() + timeout_s
        found: list[StoredRecord] = []
        while time.monotonic() < deadline:
            found = self._records_if_any(topic)
            if len(found) >= count:
                return found
            time.sleep(POLL_S)
        raise TimeoutError(f"{topic} has {len(found)} of {count} records after {timeout_s:g} s")

    def _records_if_any(self, topic: str) -> list[StoredRecord]:
        try:
            return self.records(topic)
        except KafkaError as failure:
            if getattr(failure, "error", None) is Errors.UNKNOWN_TOPIC_OR_PARTITION:
                return []
            raise

    @property
    def _any_broker(self) -> ClusterBroker:
        return next((broker for broker in self.brokers if broker.is_running), self.brokers[0])

    def _client(self, broker: ClusterBroker | None = None) -> ClusterClient:
        broker = broker or self._any_broker
        broker.server  # noqa: B018  raises if the broker is not running
        return ClusterClient(HOST, broker.port, OWN_CLIENT_ID)

    def _client_of_controller(self) -> ClusterClient:
        return self._client(self.controller if self._size > 1 else None)

    def _client_of_leader(self, topic: str, partition: int) -> ClusterClient:
        """Raises ApiError at once if several brokers have no such partition; one says so itself."""
        if self._size == 1:
            return self._client()
        if not self._zookeeper.replicas(TopicPartition(topic, partition)):
            unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION
            raise unknown.exception(f"{topic}-{partition}: {unknown.message}")
        return self._client(self.leader_of(topic, partition))

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def inject(self, api: Api | None, error: Errors | None = None) -> Fault:
        """Define a fault: ``cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()``. See ``Fault``.

        ``api`` None: requests of any API. Without an error, call what should happen: ``.drop_response().once()``.
        """
        return self._faults.inject(api, error)

    @property
    def faults(self) -> list[Fault]:
        """The faults in force, in the whole cluster and in single brokers."""
        return [*self._faults.faults, *(fault for broker in self._brokers for fault in broker.faults)]

    @property
    def unarmed_faults(self) -> list[Fault]:
        """Faults that still lack the call that puts them in force."""
        return [*self._faults.unarmed, *(fault for broker in self._brokers for fault in broker.unarmed_faults)]

    def disconnect_all(self) -> None:
        """Close every connection to a broker, like a network failure; the brokers stay up."""
        for broker in self.brokers:
            broker.disconnect_all()

    def pause(self) -> None:
        """Handle no requests and send no responses until ``resume``, like hung brokers. Connections stay open."""
        for broker in self.brokers:
            broker.pause()

    def resume(self) -> None:
        """Continue, starting with the requests that have piled up."""
        for broker in self.brokers:
            broker.resume()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Context manager: ``pause`` and ``resume`` around a block."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def reset(self) -> None:
        """Remove all faults, restore the network, resume, and clear the request logs.

        The clock is not reset: it only moves forward. Brokers that are down stay down.
        """
        self._faults.clear()
        if self._network is not None:
            self._network.restore()
        for broker in self._brokers:
            broker.reset()
        self.requests.clear()


def _warn_of_unknown_keys(overrides: Iterable[Mapping[str, object]]) -> None:
    """The broker only logs it, and nobody reads the log of a test that passes for the wrong reason.

    Reporters of metrics get all keys, and may have their own.
    """
    given = {key: value for values in overrides for key, value in values.items()}
    has_reporters = any(given.get(key) for key in ("metric.reporters", "kafka.metrics.reporters"))
    for key in KAFKA_CONFIG_DEF.unused(given):
        meant = KAFKA_CONFIG_DEF.meant_by(key)
        if meant or not has_reporters:
            warnings.warn(f"{key!r} is no key of a broker's configuration, and has no effect.{meant}", stacklevel=3)


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """The values as written in a properties file."""
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in values.items()}
