"""A broker inside your own test process, with a ZooKeeper of its own, on ports that are free.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala, utils/TestUtils.scala · book 1.4.1
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.server.broker_process import free_port
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.testing.cluster_client import ClusterClient, Data, StoredRecord
from kafka_lite.testing.fault import Fault
from kafka_lite.testing.fault_injector import OWN_CLIENT_ID, FaultInjector
from kafka_lite.testing.request_log import Api, RequestLog
from kafka_lite.testing.shifted_time import ShiftedTime

TEST_DEFAULTS: dict[str, str] = {
    "broker.id": "0",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "zookeeper.connect": "embedded",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    # The first consumer of a group need not wait for others to come.
    "group.initial.rebalance.delay.ms": "0",
    # Files of deleted topics and segments go at once: a test's folder is short-lived.
    "log.segment.delete.delay.ms": "1000",
    "num.io.threads": "4",
    # A jump of the clock shall not cost every client its connection.
    "connections.max.idle.ms": "-1",
}
"""What differs from a broker's defaults, so that it starts quickly and leaves nothing lying about."""

SETTLE_S = 5.0
"""How long ``time.advance`` waits for background work that has become due."""
POLL_S = 0.01
HOST = "127.0.0.1"


class Cluster:
    """A running kafka_lite broker::

        with Cluster({"auto.create.topics.enable": "false"}) as cluster:
            cluster.create_topic("orders", partitions=3)
            producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
            cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()

    ``overrides`` are keys of ``server.properties``. The data lie in ``data_dir`` and stay there, or in a temporary
    folder that goes with the cluster. ``brokers``: 1, for brokers do not replicate yet.
    """

    def __init__(
        self,
        overrides: Mapping[str, object] | None = None,
        data_dir: Path | str | None = None,
        *,
        brokers: int = 1,
        time: ShiftedTime | None = None,
    ) -> None:
        if brokers != 1:
            raise ValueError(f"brokers={brokers}: a cluster has one broker until brokers replicate to each other")
        if time is not None and not isinstance(time, ShiftedTime):
            raise TypeError(
                f"time={time!r}: a broker with sockets needs a clock that runs by itself, as ShiftedTime does"
            )
        self._overrides = {key: _text(value) for key, value in (overrides or {}).items()}
        self._given_dir = None if data_dir is None else Path(data_dir)
        self._temporary_dir: Path | None = None
        self._port = 0  # while there is none
        self._server: KafkaServer | None = None
        self.time = time or ShiftedTime()
        """The broker's clock: ``cluster.time.advance(hours=1)``."""
        self._faults = FaultInjector(self.time)

    # ── life ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Self:
        """Start the broker; raises what ``KafkaServer.startup`` raises, with nothing left running."""
        if self._server is not None:
            raise RuntimeError("this cluster is running already")
        if self._given_dir is None and self._temporary_dir is None:
            self._temporary_dir = Path(tempfile.mkdtemp(prefix="kafka-lite-"))
        try:
            self.start_broker()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the broker and remove the temporary folder; again: nothing happens."""
        self.stop_broker()
        if self._temporary_dir is not None:
            shutil.rmtree(self._temporary_dir, ignore_errors=True)
            self._temporary_dir = None
        self._port = 0

    def start_broker(self) -> None:
        """Start the broker on the data and the port that it had before."""
        self._port = self._port or free_port()
        server = KafkaServer(
            KafkaConfig(self._properties()),
            self.time,
            lambda key, handler: self._faults.wrap(key, handler, lambda: server.socket_server.request_channel),
        )
        server.startup()
        self._server = server
        self._port = server.bound_port(server.config.listeners[0].listener_name)
        self.time.add_listener(self._settle)

    def stop_broker(self) -> None:
        """Stop the broker in good order, as Kafka's controlled shutdown; its data and its faults stay."""
        server, self._server = self._server, None
        if server is not None:
            self.time.remove_listener(self._settle)
            self._faults.shutdown()
            server.shutdown()

    def restart(self) -> None:
        """Stop the broker and start it anew on the same data and the same port."""
        self.server  # noqa: B018  not one that does not run
        self.stop_broker()
        self.start_broker()

    def _properties(self) -> dict[str, str]:
        own = {"log.dirs": str(self.data_dir / "logs"), "listeners": f"PLAINTEXT://{HOST}:{self._port}"}
        return TEST_DEFAULTS | own | self._overrides

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ── where it is ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def server(self) -> KafkaServer:
        """The broker itself; RuntimeError when it does not run."""
        if self._server is None:
            raise RuntimeError("the broker of this cluster does not run: use the cluster in a with block, or start it")
        return self._server

    @property
    def data_dir(self) -> Path:
        """Where its files are; RuntimeError when there are none because it has not been started."""
        directory = self._given_dir or self._temporary_dir
        if directory is None:
            raise RuntimeError("a cluster has its temporary folder from start to stop only")
        return directory

    @property
    def bootstrap_servers(self) -> str:
        """What a client's ``bootstrap.servers`` should say; also while the broker is stopped for a while."""
        if not self._port:
            raise RuntimeError("this cluster has no port yet: use it in a with block, or start it")
        return f"{HOST}:{self._port}"

    @property
    def zookeeper_connect(self) -> str:
        """Where the cluster's ZooKeeper is."""
        embedded = self.server.embedded_zookeeper
        return embedded.connect_string if embedded is not None else self.server.config.zk_connect

    # ── topics and records ────────────────────────────────────────────────────────────────────────────────────────

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, object] | None = None) -> None:
        """Create a topic; ``configs`` are its overrides. Raises ApiError, of the kind the broker answers."""
        with self._client() as client:
            client.create_topic(name, partitions, {key: _text(value) for key, value in (configs or {}).items()})

    def delete_topic(self, name: str) -> None:
        """Delete a topic; raises ApiError."""
        with self._client() as client:
            client.delete_topic(name)

    @property
    def topics(self) -> dict[str, int]:
        """The topics, but for the broker's own, with the number of their partitions."""
        with self._client() as client:
            return client.topics()

    def produce(
        self,
        topic: str,
        *values: Data,
        key: Data = None,
        partition: int = 0,
        headers: Iterable[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
    ) -> int:
        """Append records with these values to one partition; returns the offset of the first.

        A topic that is not there is created, if ``auto.create.topics.enable`` is true. Raises ApiError. No fault
        happens to this, and ``requests`` does not show it.
        """
        stamp_ms = self.time.milliseconds() if timestamp_ms is None else timestamp_ms
        with self._client() as client:
            if self.server.config.auto_create_topics_enable and topic not in client.topics():
                client.create_topic(topic, max(self.server.config.num_partitions, partition + 1), {})
            return client.produce(topic, partition, values, key, list(headers), stamp_ms)

    def records(self, topic: str, partition: int | None = None) -> list[StoredRecord]:
        """The records of a topic, or of one partition: by partition, then by offset. Raises ApiError."""
        with self._client() as client:
            partitions = range(client.partitions(topic)) if partition is None else [partition]
            return [record for number in partitions for record in client.records(topic, number)]

    def values(self, topic: str, partition: int | None = None) -> list[bytes | None]:
        """The values of those records."""
        return [record.value for record in self.records(topic, partition)]

    def wait_for_records(self, topic: str, count: int = 1, timeout_s: float = 10) -> list[StoredRecord]:
        """Wait until a topic has ``count`` records, and return all it has; raises TimeoutError."""
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

    def _client(self) -> ClusterClient:
        self.server  # noqa: B018  says what is wrong when there is none
        return ClusterClient(HOST, self._port, OWN_CLIENT_ID)

    # ── what goes wrong ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def requests(self) -> RequestLog:
        """What the clients have asked since the last ``reset``."""
        return self._faults.requests

    def inject(self, api: Api | None, error: Errors | None = None) -> Fault:
        """Begin a fault: ``cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()``. See ``Fault``.

        ``api`` None: requests of any API. Without an error, say what else shall happen: ``.drop_answer().once()``.
        """
        return self._faults.inject(api, error)

    @property
    def faults(self) -> list[Fault]:
        """The faults in force."""
        return self._faults.faults

    @property
    def unarmed_faults(self) -> list[Fault]:
        """Those that lack the call which puts them into force."""
        return list(self._faults.unarmed)

    def disconnect_all(self) -> None:
        """End every connection of a client, as a network that breaks; the broker stays up."""
        self.server.socket_server.disconnect_all()

    def pause(self) -> None:
        """Handle and answer nothing until ``resume``: a broker that is stuck. Connections are accepted and kept."""
        self._faults.pause()

    def resume(self) -> None:
        """Go on, with what has piled up."""
        self._faults.resume()

    def paused(self) -> contextlib.AbstractContextManager[None]:
        """``pause`` and ``resume`` around a block."""
        return self._faults.paused()

    def reset(self) -> None:
        """Remove all faults, resume, and forget the requests. The clock stays where it is: it goes forward only."""
        self._faults.reset()

    # ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _settle(self) -> None:
        """After a jump of the clock: let the network threads see it, wait for the background work that is due now."""
        server = self.server
        server.socket_server.wake_up()
        deadline = time.monotonic() + SETTLE_S
        while not server.scheduler.is_idle and time.monotonic() < deadline:
            time.sleep(POLL_S / 5)


def _text(value: object) -> str:
    """As a properties file says it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
