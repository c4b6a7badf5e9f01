"""Brokers inside your own test process, with their own ZooKeeper, on free ports.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala, utils/TestUtils.scala · book 1.4.1, 1.4.2
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from kafka_lite.common.errors import Errors
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.server.broker_process import free_port
from kafka_lite.server.config.listener_configs import is_listener_key
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.testing.any_broker import HOST
from kafka_lite.testing.any_cluster import AnyCluster, texts
from kafka_lite.testing.arguments import check_keys, check_whole_number
from kafka_lite.testing.cluster_broker import ClusterBroker
from kafka_lite.testing.cluster_properties import (
    PLAINTEXT,
    TEST_DEFAULTS,
    listener_of,
    network_properties,
    several_defaults,
    target_ports,
)
from kafka_lite.testing.cluster_zookeeper import new_zookeeper
from kafka_lite.testing.fault import Fault
from kafka_lite.testing.fault_list import FaultList
from kafka_lite.testing.network.cluster_network import ClusterNetwork
from kafka_lite.testing.request_log import Api, RequestLog
from kafka_lite.testing.security.cluster_security import ADMIN, ClusterSecurity
from kafka_lite.testing.security.secured_cluster import CLIENTS, SecuredCluster
from kafka_lite.testing.shifted_time import ShiftedTime
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

INTERNAL = "INTERNAL"
"""The listener on which the broker of a secured cluster of one talks to itself."""


class Cluster(AnyCluster[ClusterBroker]):
    """Running kafka_lite brokers::

        with Cluster({"auto.create.topics.enable": "false"}) as cluster:
            cluster.create_topic("orders", partitions=3)
            producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
            cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()

        with Cluster(brokers=3) as cluster:
            cluster.create_topic("orders")                    # three replicas
            cluster.leader_of("orders").kill()
            cluster.network.cut(0, 2)

        with Cluster(security="SASL_SSL") as cluster:
            producer = confluent_kafka.Producer(cluster.librdkafka_configs("alice"))

    ``overrides`` are keys of ``server.properties``, ``broker_overrides`` those of single brokers, by id. Data is kept
    in ``data_dir``, or in a temporary folder that is removed with the cluster. Brokers have the ids 0, 1, …

    One broker has an embedded ZooKeeper. Several share one that is outside of them, and a ``network``, which tests can
    cut; topics then have three replicas by default, or as many as there are brokers. With ``security``, clients need
    what ``ClusterSecurity`` says.
    """

    def __init__(
        self,
        overrides: Mapping[str, object] | None = None,
        data_dir: Path | str | None = None,
        *,
        brokers: int = 1,
        broker_overrides: Mapping[int, Mapping[str, object]] | None = None,
        time: ShiftedTime | None = None,
        security: ClusterSecurity | str | None = None,
    ) -> None:
        super().__init__()
        self._security = None if security is None else SecuredCluster(ClusterSecurity.of(security))
        _check_keys(overrides, broker_overrides)
        check_whole_number("brokers", brokers, "Cluster(brokers=3)")
        if brokers < 1:
            raise ValueError(f"brokers={brokers}: a cluster has at least one broker")
        if time is not None and not isinstance(time, ShiftedTime):
            raise TypeError(
                f"time={time!r}: a broker with sockets needs a clock that runs by itself, as ShiftedTime does"
            )
        self._overrides = texts(overrides or {})
        if unknown := set(broker_overrides or {}) - set(range(brokers)):
            raise ValueError(f"broker_overrides: there is no broker {min(unknown)}; the last one is {brokers - 1}")
        if brokers > 1 and "listeners" in self._overrides:
            raise ValueError("listeners: a cluster of several brokers chooses them, see ClusterNetwork")
        if security is not None and "listeners" in self._overrides:
            raise ValueError("listeners: a secured cluster chooses them; leave security out to make your own")
        self._broker_overrides = {each: texts(values) for each, values in (broker_overrides or {}).items()}
        _warn_of_unknown_keys([self._overrides, *self._broker_overrides.values()])
        self._given_dir = None if data_dir is None else Path(data_dir)
        self._temporary_dir: Path | None = None
        self._wanted = brokers
        self._zookeeper_server: EmbeddedZooKeeper | None = None  # only of several brokers, or of a secured one
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
            if self._wanted == 1:
                self._make_one_broker()
            else:
                self._make_several_brokers()
            self.start_broker()
            if self._wanted > 1:
                self._leadership.await_acquaintance()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all brokers and remove the temporary folder. Idempotent."""
        atexit.unregister(self._remove_temporary_dir)
        self.stop_broker()
        self.zookeeper.close()
        if self._network is not None:
            self._network.stop()
        if self._zookeeper_server is not None:
            self._zookeeper_server.shutdown()
        self._remove_temporary_dir()
        self._brokers, self._network, self._zookeeper_server = [], None, None

    def stop_broker(self, *brokers: ClusterBroker | int) -> None:
        """Shut these brokers down cleanly, by default all; data and faults remain.

        If all are stopped, no broker is left to take over their leaderships.
        """
        if brokers:
            super().stop_broker(*brokers)
            return
        for broker in self._brokers:
            broker.stop(controlled=False)

    def _remove_temporary_dir(self) -> None:
        if self._temporary_dir is not None:
            shutil.rmtree(self._temporary_dir, ignore_errors=True)
            self._temporary_dir = None

    def _make_one_broker(self) -> None:
        port = free_port()
        own = {"log.dirs": str(self.data_dir / "logs"), "listeners": f"{PLAINTEXT}://{HOST}:{port}"}
        if self._security is not None:
            self._start_zookeeper()
            own |= self._security.broker_properties([INTERNAL])
            own |= {
                "listeners": f"{CLIENTS}://{HOST}:{port},{INTERNAL}://{HOST}:0",
                "inter.broker.listener.name": INTERNAL,
                "zookeeper.connect": self.zookeeper_connect,
            }
        self._brokers = [self._new_broker(0, port, TEST_DEFAULTS | own)]

    def _start_zookeeper(self) -> EmbeddedZooKeeper:
        """A ZooKeeper outside of the brokers, with the users that must exist before them."""
        self._zookeeper_server = new_zookeeper(self.data_dir / "zookeeper")
        self._zookeeper_server.start()
        if self._security is not None:
            self._security.create_users(self._zookeeper_server.connect_string)
        return self._zookeeper_server

    def _make_several_brokers(self) -> None:
        """Start ZooKeeper and the network, whose ports the brokers' properties need."""
        ids = range(self._wanted)
        zookeeper = self._start_zookeeper()
        self._network = ClusterNetwork(ids)
        inner_ports = [[free_port() for _ in ids] for _ in ids]
        self._network.start(target_ports(inner_ports, zookeeper.port))
        for broker_id in ids:
            port = free_port()
            own = network_properties(broker_id, port, inner_ports[broker_id], self._network, self._client_listener)
            if self._security is not None:
                own |= self._security.broker_properties(map(listener_of, ids))
            own["log.dirs"] = str(self.data_dir / f"broker-{broker_id}")
            self._brokers.append(self._new_broker(broker_id, port, several_defaults(self._wanted) | own))

    @property
    def _client_listener(self) -> str:
        return PLAINTEXT if self._security is None else CLIENTS

    def _new_broker(self, broker_id: int, port: int, properties: Mapping[str, str]) -> ClusterBroker:
        return ClusterBroker(
            broker_id,
            port,
            {**properties, **self._overrides, **self._broker_overrides.get(broker_id, {})},
            self.time,
            self.zookeeper,
            self._faults,
            self.requests,
            self._network,
            {listener_of(sender): sender for sender in range(self._wanted)},
        )

    # ── brokers, addresses and paths ──────────────────────────────────────────────────────────────────────────────

    @property
    def server(self) -> KafkaServer:
        """The broker of a cluster of one. Raises RuntimeError if it is not running, or one of several."""
        if self._wanted > 1:
            raise RuntimeError(f"this cluster has {self._wanted} brokers: say which, as in cluster.brokers[0].server")
        return self.brokers[0].server

    @property
    def network(self) -> ClusterNetwork:
        """The network between the brokers. Raises RuntimeError if there is only one broker, or none yet."""
        if self._network is None:
            raise RuntimeError("only a started cluster of several brokers has a network: see Cluster(brokers=3)")
        return self._network

    def _now_ms(self) -> int:
        return self.time.milliseconds()

    def _partitions_of_new_topics(self) -> int | None:
        config = self._any_broker.server.config
        return config.num_partitions if config.auto_create_topics_enable else None

    @property
    def data_dir(self) -> Path:
        """The directory of all brokers' files. Raises RuntimeError if it is temporary and does not exist now."""
        directory = self._given_dir or self._temporary_dir
        if directory is None:
            raise RuntimeError("the cluster's temporary folder exists only from start to stop")
        return directory

    # ── clients ───────────────────────────────────────────────────────────────────────────────────────────────────

    def client_configs(self, user: str = ADMIN, *, password: str | None = None) -> dict[str, str]:
        """The properties with which a user connects, under Kafka's names: for Java, and for kafka_lite's clients.

        In a secured cluster they have the keys and certificates themselves, no files. ``password``: another one than
        the user's, which the broker refuses. Raises ValueError if there is no such user.
        """
        servers = {"bootstrap.servers": self.bootstrap_servers}
        return servers if self._security is None else servers | self._security.client_configs(user, password)

    def librdkafka_configs(self, user: str = ADMIN, *, password: str | None = None) -> dict[str, str]:
        """The same under librdkafka's names: ``Producer(cluster.librdkafka_configs("alice"))``."""
        servers = {"bootstrap.servers": self.bootstrap_servers}
        return servers if self._security is None else servers | self._security.librdkafka_configs(user, password)

    def _own_security(self) -> ClientChannelBuilder | None:
        return None if self._security is None else self._security.channel_builder

    @property
    def zookeeper_connect(self) -> str:
        """The connect string of the cluster's ZooKeeper, beside the network that tests cut."""
        if self._zookeeper_server is not None:
            return self._zookeeper_server.connect_string
        embedded = self.server.embedded_zookeeper
        return embedded.connect_string if embedded is not None else self.server.config.zk_connect

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

    def reset(self) -> None:
        """Remove all faults, restore the network, resume, and clear the request logs.

        The clock is not reset: while brokers run it only moves forward. Brokers that are down stay down.
        """
        self._faults.clear()
        if self._network is not None:
            self._network.restore()
        for broker in self._brokers:
            broker.reset()
        self.requests.clear()


def _check_keys(overrides: object, broker_overrides: Mapping[int, object] | None) -> None:
    check_keys("overrides", overrides or {}, "Cluster({'num.partitions': 3}, brokers=3)")
    example = "broker_overrides={0: {'broker.rack': 'a'}}"
    if broker_overrides and not isinstance(broker_overrides, Mapping):
        raise TypeError(f"{broker_overrides!r}: overrides by the broker's id, as in {example}")
    for broker_id, values in dict(broker_overrides or {}).items():
        check_whole_number("a broker's id", broker_id, example)
        check_keys(f"the overrides of broker {broker_id}", values, example)


def _warn_of_unknown_keys(overrides: Iterable[Mapping[str, object]]) -> None:
    """Warn of unknown keys: the broker only logs them, and nobody reads the log of a test that passes.

    Reporters of metrics get all keys, and may have their own.
    """
    given = {key: value for values in overrides for key, value in values.items()}
    has_reporters = any(given.get(key) for key in ("metric.reporters", "kafka.metrics.reporters"))
    for key in filter(lambda key: not is_listener_key(key), KAFKA_CONFIG_DEF.unused(given)):
        meant = KAFKA_CONFIG_DEF.meant_by(key)
        if meant or not has_reporters:
            warnings.warn(f"{key!r} is no key of a broker's configuration, and has no effect.{meant}", stacklevel=3)
