"""Three brokers of one kind, each in its own process, and a ZooKeeper for them.

Real Kafka runs in ZooKeeper mode here, so that both have the same controller's work to do, and with the same ZooKeeper:
ours, in a process whose time is not counted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, cast

from bench.brokers import Broker, Candidate
from bench.measure import TIMEOUT_S, SkippedError
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.server.broker_process import HOST, ServerProcess, free_port
from kafka_lite.tools.server.local_cluster import ZOOKEEPER_START
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

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


class Cluster:
    """A context manager that starts the brokers and stops them."""

    def __init__(self, candidate: Candidate, folder: Path) -> None:
        if candidate.name.startswith("Kafka 4"):
            raise SkippedError("Kafka 4 has no ZooKeeper mode")
        folder.mkdir()
        self.name = candidate.name
        port = free_port()
        self._zookeeper = ServerProcess(
            [*ZOOKEEPER_START, "--override", f"dataDir={folder / 'zookeeper'}", "--override", f"clientPort={port}"],
            port,
            folder / "zookeeper.log",
        )
        own = SETTINGS | {"zookeeper.connect": f"{HOST}:{port}"}
        self.brokers: Mapping[int, Broker] = {
            each: candidate.make(folder / f"broker-{each}", own | {"broker.id": str(each)})
            for each in range(1, REPLICAS + 1)
        }
        self._zk_client = KafkaZkClient(f"{HOST}:{port}")
        self._channels: dict[int, BlockingChannel] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._zookeeper)
            self._zk_client.start()
            stack.callback(self._zk_client.close)
            with ThreadPoolExecutor(REPLICAS) as pool:
                for broker in self.brokers.values():
                    stack.callback(broker.stop)
                list(pool.map(lambda broker: broker.start(), self.brokers.values()))
            for broker_id, broker in self.brokers.items():
                self._channels[broker_id] = stack.enter_context(
                    BlockingChannel(HOST, broker.port, read_timeout_ms=TIMEOUT_S * 1000)
                )
            self._stack = stack.pop_all()
        self.await_condition("all brokers know each other", self._is_complete)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _is_complete(self) -> bool:
        return all(len(self.metadata(each, []).brokers) == REPLICAS for each in self.brokers)

    # ── like one broker ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers.values())

    def cpu_s(self) -> float:
        """Processor time of all brokers so far, in seconds."""
        return sum(broker.cpu_s() for broker in self.brokers.values() if broker.is_running)

    def kernel_cpu_s(self) -> float:
        """The system part of it, in seconds."""
        return sum(broker.kernel_cpu_s() for broker in self.brokers.values() if broker.is_running)

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def metadata(self, broker_id: int, topics: Sequence[str]) -> MetadataResponse:
        """The metadata that a broker has of these topics."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in topics], allow_auto_topic_creation=False
        )
        return cast(MetadataResponse, self._channels[broker_id].exchange(request, _METADATA_VERSION))

    def create_topic(self, name: str, partitions: int, replicas: int = REPLICAS) -> None:
        """Create a topic and wait until every broker knows a leader of each partition."""
        self.await_condition(f"{name} can be created", lambda: self._try_to_create(name, partitions, replicas))
        for broker_id in self.brokers:
            self.await_condition(
                f"broker {broker_id} knows {name}",
                lambda broker_id=broker_id: sum(each >= 0 for each in self.leaders(broker_id, name)) == partitions,
            )

    def _try_to_create(self, name: str, partitions: int, replicas: int) -> bool:
        """Ask the controller; false if there is none, or it has just changed."""
        controller = self._zk_client.get_controller_id()
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
        controller = self._zk_client.get_controller_id()
        killed = max(each for each in self.brokers if each != controller)
        self.brokers[killed].kill()
        self.await_condition("the session of the killed broker ends", lambda: not self._is_registered(killed))
        return killed, time.perf_counter()

    def _is_registered(self, broker_id: int) -> bool:
        return self._zk_client.zookeeper.exists(f"{paths.BROKER_IDS}/{broker_id}") is not None

    def depose_the_controller(self) -> None:
        """Delete its znode, as administrators do: the brokers elect another one, or the same again."""
        self._zk_client.zookeeper.delete(paths.CONTROLLER)

    def await_condition(self, what: str, condition: Callable[[], bool]) -> None:
        """Ask again and again. Raises RuntimeError after some minutes."""
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: {what}: not within {TIMEOUT_S} s")
            time.sleep(_POLL_S)
