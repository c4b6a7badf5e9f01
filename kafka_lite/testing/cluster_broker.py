"""One broker of a test cluster: its life and death, its requests, its faults.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala · book 1.4.2
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Set
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.request import Request
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.testing.any_broker import AnyBroker
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper
from kafka_lite.testing.fault import Fault
from kafka_lite.testing.fault_injector import FaultInjector
from kafka_lite.testing.fault_list import FaultList
from kafka_lite.testing.network.cluster_network import ClusterNetwork
from kafka_lite.testing.request_log import Api, RequestLog
from kafka_lite.testing.shifted_time import ShiftedTime

SETTLE_S = 5.0
"""How long ``time.advance`` waits for background work that is due."""
POLL_S = 0.002


class ClusterBroker(AnyBroker):
    """A broker, started from its properties as often as a test likes; data, port and faults outlive a restart.

    ``network`` is None in a cluster of one.
    """

    def __init__(
        self,
        broker_id: int,
        port: int,
        properties: Mapping[str, str],
        time: ShiftedTime,
        zookeeper: ClusterZooKeeper,
        cluster_faults: FaultList,
        clients_requests: RequestLog,
        network: ClusterNetwork | None,
        senders: Mapping[str, int],
    ) -> None:
        self.id = broker_id
        self.port = port
        self._properties = properties
        self._time = time
        self._zookeeper = zookeeper
        self._network = network
        self._faults = FaultList()
        alone = network is None
        self.requests = clients_requests if alone else RequestLog()
        """All requests to this broker since the last ``reset``, including those of other brokers."""
        self._injector = FaultInjector(
            time,
            [self._faults, cluster_faults],
            self.requests,
            None if alone else clients_requests,
            None if alone else broker_id,
            lambda request: _sender(request, senders),
        )
        self._server: KafkaServer | None = None

    @property
    def server(self) -> KafkaServer:
        """The broker itself. Raises RuntimeError if it is not running."""
        self.check_running()
        assert self._server is not None
        return self._server

    @property
    def is_running(self) -> bool:
        """Whether it has been started and has neither been stopped nor killed; a paused broker is running."""
        return self._server is not None

    @property
    def log_dir(self) -> Path:
        """The directory of its logs."""
        return Path(self._properties["log.dirs"])

    # ── life and death ────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start the broker with its previous data and port. Raises what ``KafkaServer.startup`` raises."""
        if self._server is not None:
            raise RuntimeError(f"broker {self.id} is already running")
        if self._network is not None:
            self._network.revive(self)
        server = KafkaServer(
            KafkaConfig(dict(self._properties)),
            self._time,
            lambda key, handler: self._injector.wrap(key, handler, lambda: server.socket_server.request_channel),
        )
        server.startup()
        self._server = server
        self.port = server.bound_port(server.config.listeners[0].listener_name)
        self._time.add_listener(self._settle)

    def stop(self, *, controlled: bool = True) -> None:
        """Shut the broker down cleanly: it flushes its logs and ends its session. Idempotent.

        If it is ``controlled``, its leaderships are moved to other brokers first.
        """
        server = self._detach()
        if server is not None:
            server.config.controlled_shutdown_enable &= controlled
            server.shutdown()

    def kill(self, *, expire_session: bool = True) -> None:
        """End the broker as nearly like ``kill -9`` as one process allows.

        First nothing it sends reaches anyone: connections to brokers and ZooKeeper are reset. Then its own threads end
        without flushing, trimming or checkpointing, and its state is dropped. What it wrote to its files stays there.
        Its ZooKeeper session ends at once; with ``expire_session=False`` only after ``zookeeper.session.timeout.ms``.
        In a cluster of one, ZooKeeper dies with its broker.
        """
        server = self.server
        session = server.zk_client.zookeeper.session
        server.halt(self._cut_off)
        if expire_session and session is not None and self._network is not None:
            self._zookeeper.expire(session)

    def _cut_off(self) -> None:
        if self._network is not None:
            self._network.kill(self)
        self._detach()

    def _detach(self) -> KafkaServer | None:
        server, self._server = self._server, None
        if server is not None:
            self._time.remove_listener(self._settle)
            self._injector.shutdown()
            if self._network is not None:
                self._network.thaw(self)
        return server

    def expire_session(self) -> None:
        """End its ZooKeeper session, as after a long pause. The broker notices as soon as it reaches ZooKeeper."""
        session = self.server.zk_client.zookeeper.session
        if session is None:
            raise RuntimeError(f"broker {self.id} has no ZooKeeper session")
        self._zookeeper.expire(session)

    # ── what it knows ─────────────────────────────────────────────────────────────────────────────────────────────

    def is_active_controller(self) -> bool:
        """Whether it has taken the office of controller."""
        return self.server.controller.is_active

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        """Whether it leads a partition, and knows that epoch of the leader."""
        local = self.server.replica_manager.get_partition(partition)
        return local is not None and local.leader_replica_if_local is not None and local.leader_epoch >= leader_epoch

    def await_brokers(self, brokers: Set[int], timeout_s: float) -> bool:
        """Wait until it knows that these are alive. False after ``timeout_s``."""
        cache = self.server.metadata_cache
        return cache.await_snapshot(lambda known: brokers <= known.alive_brokers.keys(), timeout_s)

    def await_topic(self, topic: str, partitions: int, timeout_s: float) -> bool:
        """Wait until it knows so many partitions of a topic. False after ``timeout_s``."""
        cache = self.server.metadata_cache
        return cache.await_snapshot(lambda known: len(known.partitions.get(topic, ())) >= partitions, timeout_s)

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def pause(self) -> None:
        """Handle no requests and send nothing until ``resume``, like a hung process. Connections stay open.

        In a cluster of several, nothing passes between it and the other brokers or ZooKeeper either. So its session
        expires if the pause is longer than ``zookeeper.session.timeout.ms``.
        """
        self._injector.pause()
        if self._network is not None:
            self._network.freeze(self)

    def resume(self) -> None:
        """Continue, starting with the requests that have piled up."""
        if self._network is not None:
            self._network.thaw(self)
        self._injector.resume()

    def inject(self, api: Api | None, error: Errors | None = None) -> Fault:
        """Define a fault of this broker: see ``Cluster.inject``."""
        return self._faults.inject(api, error)

    @property
    def faults(self) -> list[Fault]:
        """The faults in force for this broker alone."""
        return self._faults.faults

    @property
    def unarmed_faults(self) -> list[Fault]:
        """Faults of this broker that still lack the call that puts them in force."""
        return list(self._faults.unarmed)

    def disconnect_all(self) -> None:
        """Close every connection of clients and brokers to this broker, which stays up."""
        self.server.socket_server.disconnect_all()

    def reset(self) -> None:
        """Remove its faults, resume, and clear its request log."""
        self._faults.clear()
        self.resume()
        self.requests.clear()

    def _settle(self) -> None:
        """After a clock jump: wake up the network threads and wait for the background work that is now due."""
        server = self.server
        server.socket_server.wake_up()
        deadline = time.monotonic() + SETTLE_S
        while not server.scheduler.is_idle and time.monotonic() < deadline:
            time.sleep(POLL_S)


def _sender(request: Request, senders: Mapping[str, int]) -> int | None:
    """The broker that has sent a request: each uses a listener of its own."""
    return senders.get(request.listener_name)
