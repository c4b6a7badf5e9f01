"""Three brokers of one kind, each in its own process, and a ZooKeeper for them.

Real Kafka runs in ZooKeeper mode here, so that both have the same controller's work to do, and with the same ZooKeeper:
ours, in a process whose time is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self, cast

from bench.brokers import Broker, Candidate
from bench.measure import TIMEOUT_S, SkippedError
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.server.broker_process import HOST, ServerProcess, free_port
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.testing.process_cluster import AnyProcessCluster
from kafka_lite.tools.server.local_cluster import ZOOKEEPER_START
from kafka_lite.zookeeper import paths

REPLICAS = 3
SETTINGS = {
    "offsets.topic.replication.factor": str(REPLICAS),
    "default.replication.factor": str(REPLICAS),
    "zookeeper.session.timeout.ms": "6000",
    "auto.leader.rebalance.enable": "false",
    # A busy machine must not turn a slow follower into one that is out of sync: that would be measured, too.
    "replica.lag.time.max.ms": "30000",
}
_METADATA_VERSION, _CREATE_TOPICS_VERSION = 8, 4
_POLL_S = 0.02


class Cluster(AnyProcessCluster[ProcessBroker]):
    """Brokers 1, 2 and 3 of one kind, and a ZooKeeper in a process of its own."""

    def __init__(self, candidate: Candidate, folder: Path) -> None:
        if candidate.name.startswith("Kafka 4"):
            raise SkippedError("Kafka 4 has no ZooKeeper mode")
        folder.mkdir()
        self.name = candidate.name
        self._candidate = candidate
        port = free_port()
        self._zookeeper_process = ServerProcess(
            [*ZOOKEEPER_START, "--override", f"dataDir={folder / 'zookeeper'}", "--override", f"clientPort={port}"],
            port,
            folder / "zookeeper.log",
        )
        self._channels: dict[int, BlockingChannel] = {}
        super().__init__(folder, range(1, REPLICAS + 1), SETTINGS, zookeeper_connect=f"{HOST}:{port}")

    def _new_broker(self, broker_id: int, folder: Path) -> ProcessBroker:
        own = self._overrides | {"zookeeper.connect": self.zookeeper_connect, "broker.id": str(broker_id)}
        return ProcessBroker(broker_id, folder, self._candidate.make(folder / "files", own), self.zookeeper)

    def start(self) -> Self:
        """Start ZooKeeper and the brokers, and wait until these know each other."""
        self._zookeeper_process.start()
        super().start()
        for broker in self.brokers:
            channel = BlockingChannel(HOST, broker.port, read_timeout_ms=TIMEOUT_S * 1000)
            channel.connect()
            self._channels[broker.id] = channel
        self.await_condition("all brokers know each other", self._is_complete)
        return self

    def stop(self) -> None:
        """End the brokers, then ZooKeeper."""
        for channel in self._channels.values():
            channel.close()
        super().stop()
        self._zookeeper_process.stop()

    def _is_complete(self) -> bool:
        return all(len(self.metadata(each, []).brokers) == REPLICAS for each in self.ids)

    # ── like one broker ───────────────────────────────────────────────────────────────────────────────────────────────

    def _running(self) -> Iterator[Broker]:
        return (cast(Broker, broker.process) for broker in self.brokers if broker.is_running)

    def cpu_s(self) -> float:
        """Processor time of all brokers so far, in seconds."""
        return sum(broker.cpu_s() for broker in self._running())

    def kernel_cpu_s(self) -> float:
        """The system part of it, in seconds."""
        return sum(broker.kernel_cpu_s() for broker in self._running())

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def metadata(self, broker_id: int, topics: Sequence[str]) -> MetadataResponse:
        """The metadata that a broker has of these topics."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in topics], allow_auto_topic_creation=False
        )
        return cast(MetadataResponse, self._channels[broker_id].exchange(request, _METADATA_VERSION))

    def create_topic(  # type: ignore[override]  # measured, with nothing but requests to Kafka's brokers, too
        self, name: str, partitions: int, replicas: int = REPLICAS
    ) -> None:
        """Create a topic and wait until every broker knows a leader of each partition."""
        self.await_condition(f"{name} can be created", lambda: self._try_to_create(name, partitions, replicas))
        for broker_id in self.ids:
            self.await_condition(f"broker {broker_id} knows {name}", partial(self._knows, broker_id, name, partitions))

    def _knows(self, broker_id: int, name: str, partitions: int) -> bool:
        return sum(each >= 0 for each in self.leaders(broker_id, name)) == partitions

    def _try_to_create(self, name: str, partitions: int, replicas: int) -> bool:
        """Ask the controller; false if there is none, or it has just changed."""
        controller = self.zookeeper.controller_id()
        if controller not in self._channels:
            return False
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=int(TIMEOUT_S * 1000))
        response = self._channels[controller].exchange(request, _CREATE_TOPICS_VERSION)
        error = Errors.for_code(cast(CreateTopicsResponse, response).topics[0].error_code)
        if error not in (Errors.NONE, Errors.NOT_CONTROLLER, Errors.TOPIC_ALREADY_EXISTS):
            raise RuntimeError(f"{self.name} does not create {name}: {error.name}")
        return error is not Errors.NOT_CONTROLLER

    def leaders(self, broker_id: int, name: str) -> list[int]:
        """The leaders of a topic's partitions as a broker knows them; -1 for none."""
        (topic,) = self.metadata(broker_id, [name]).topics
        return [partition.leader_id for partition in topic.partitions]

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def kill_a_broker(self) -> tuple[int, float]:
        """Kill (-9) a broker that is not the controller; returns its id, and when its session ended."""
        controller = self.zookeeper.controller_id()
        killed = max(each for each in self.ids if each != controller)
        self._broker(killed).kill(expire_session=False)
        self.await_condition("the session of the killed broker ends", lambda: not self._is_registered(killed))
        return killed, time.perf_counter()

    def _is_registered(self, broker_id: int) -> bool:
        return self.zookeeper.client.zookeeper.exists(f"{paths.BROKER_IDS}/{broker_id}") is not None

    def depose_the_controller(self) -> None:
        """Delete its znode, as administrators do: the brokers elect another one, or the same again."""
        self.zookeeper.client.zookeeper.delete(paths.CONTROLLER)

    def await_condition(self, what: str, condition: Callable[[], bool]) -> None:
        """Ask again and again. Raises RuntimeError after some minutes."""
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: {what}: not within {TIMEOUT_S} s")
            time.sleep(_POLL_S)
