"""A broker inside your own test process, with its own ZooKeeper, on free ports.

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
    # The first consumer of a group does not wait for others to join.
    "group.initial.rebalance.delay.ms": "0",
    # Files of deleted topics and segments are removed soon: a test's folder is short-lived.
    "log.segment.delete.delay.ms": "1000",
    "num.io.threads": "4",
    # A clock jump must not close every client's connection.
    "connections.max.idle.ms": "-1",
}
"""Differences from a broker's defaults, for a quick start and nothing left behind."""

SETTLE_S = 5.0
"""How long ``time.advance`` waits for background work that is due."""
POLL_S = 0.01
HOST = "127.0.0.1"


class Cluster:
    """A running kafka_lite broker::

        with Cluster({"auto.create.topics.enable": "false"}) as cluster:
            cluster.create_topic("orders", partitions=3)
            producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
            cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()

    ``overrides`` are keys of ``server.properties``. Data is kept in ``data_dir``, or in a temporary folder that is
    removed with the cluster. ``brokers`` must be 1, because brokers do not replicate yet.
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
        self._port = 0  # 0 until the first start
        self._server: KafkaServer | None = None
        self.time = time or ShiftedTime()
        """The broker's clock: ``cluster.time.advance(hours=1)``."""
        self._faults = FaultInjector(self.time)

    # ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Self:
        """Start the broker. Raises what ``KafkaServer.startup`` raises, leaving nothing running."""
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
        """Stop the broker and remove the temporary folder. Idempotent."""
        self.stop_broker()
        if self._temporary_dir is not None:
            shutil.rmtree(self._temporary_dir, ignore_errors=True)
            self._temporary_dir = None
        self._port = 0

    def start_broker(self) -> None:
        """Start the broker with its previous data and port."""
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
        """Shut the broker down cleanly, as Kafka's controlled shutdown does; its data and faults remain."""
        server, self._server = self._server, None
        if server is not None:
            self.time.remove_listener(self._settle)
            self._faults.shutdown()
            server.shutdown()

    def restart(self) -> None:
        """Stop the broker and start it again with the same data and port."""
        self.server  # noqa: B018  raises if the broker is not running
        self.stop_broker()
        self.start_broker()

    def _properties(self) -> dict[str, str]:
        own = {"log.dirs": str(self.data_dir / "logs"), "listeners": f"PLAINTEXT://{HOST}:{self._port}"}
        return TEST_DEFAULTS | own | self._overrides

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ── addresses and paths ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def server(self) -> KafkaServer:
        """The broker itself. Raises RuntimeError if it is not running."""
        if self._server is None:
            raise RuntimeError("the broker of this cluster does not run: use the cluster in a with block, or start it")
        return self._server

    @property
    def data_dir(self) -> Path:
        """The directory of the broker's files. Raises RuntimeError if it is temporary and does not exist now."""
        directory = self._given_dir or self._temporary_dir
        if directory is None:
            raise RuntimeError("a cluster has its temporary folder from start to stop only")
        return directory

    @property
    def bootstrap_servers(self) -> str:
        """The value for a client's ``bootstrap.servers``; also available while the broker is stopped temporarily."""
        if not self._port:
            raise RuntimeError("this cluster has no port yet: use it in a with block, or start it")
        return f"{HOST}:{self._port}"

    @property
    def zookeeper_connect(self) -> str:
        """The connect string of the cluster's ZooKeeper."""
        embedded = self.server.embedded_zookeeper
        return embedded.connect_string if embedded is not None else self.server.config.zk_connect

    # ── topics and records ────────────────────────────────────────────────────────────────────────────────────────

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, object] | None = None) -> None:
        """Create a topic; ``configs`` are its overrides. Raises ApiError with the broker's error."""
        with self._client() as client:
            client.create_topic(name, partitions, {key: _text(value) for key, value in (configs or {}).items()})

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises ApiError."""
        with self._client() as client:
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
        headers: Iterable[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
    ) -> int:
        """Append records with these values to one partition; returns the offset of the first.

        A missing topic is created if ``auto.create.topics.enable`` is true. Raises ApiError. Faults do not affect
        this, and ``requests`` does not show it.
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

    def _client(self) -> ClusterClient:
        self.server  # noqa: B018  raises if the broker is not running
        return ClusterClient(HOST, self._port, OWN_CLIENT_ID)

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def requests(self) -> RequestLog:
        """The clients' requests since the last ``reset``."""
        return self._faults.requests

    def inject(self, api: Api | None, error: Errors | None = None) -> Fault:
        """Define a fault: ``cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()``. See ``Fault``.

        ``api`` None: requests of any API. Without an error, call what should happen: ``.drop_answer().once()``.
        """
        return self._faults.inject(api, error)

    @property
    def faults(self) -> list[Fault]:
        """The faults in force."""
        return self._faults.faults

    @property
    def unarmed_faults(self) -> list[Fault]:
        """Faults that still lack the call that puts them in force."""
        return list(self._faults.unarmed)

    def disconnect_all(self) -> None:
        """Close every client connection, like a network failure; the broker stays up."""
        self.server.socket_server.disconnect_all()

    def pause(self) -> None:
        """Handle no requests and send no responses until ``resume``, like a hung broker. Connections stay open."""
        self._faults.pause()

    def resume(self) -> None:
        """Continue, starting with the requests that have piled up."""
        self._faults.resume()

    def paused(self) -> contextlib.AbstractContextManager[None]:
        """Context manager: ``pause`` and ``resume`` around a block."""
        return self._faults.paused()

    def reset(self) -> None:
        """Remove all faults, resume, and clear the request log. The clock is not reset: it only moves forward."""
        self._faults.reset()

    # ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _settle(self) -> None:
        """After a clock jump: wake up the network threads and wait for the background work that is now due."""
        server = self.server
        server.socket_server.wake_up()
        deadline = time.monotonic() + SETTLE_S
        while not server.scheduler.is_idle and time.monotonic() < deadline:
            time.sleep(POLL_S / 5)


def _text(value: object) -> str:
    """The value as written in a properties file."""
    return str(value).lower() if isinstance(value, bool) else str(value)
