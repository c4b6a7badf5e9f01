"""The interface of every test cluster, wherever its brokers run: addresses, leadership, topics and records.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala, utils/TestUtils.scala · book 1.4.1, 1.4.2
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Self, TypeVar, overload

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.testing.any_broker import HOST, AnyBroker
from kafka_lite.testing.arguments import check_acks, check_keys, check_name, check_whole_number, id_of
from kafka_lite.testing.cluster_client import ALL_IN_SYNC, ClusterClient, Data, StoredRecord
from kafka_lite.testing.cluster_leadership import TIMEOUT_S, ClusterLeadership
from kafka_lite.testing.cluster_properties import MAX_REPLICAS
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper
from kafka_lite.testing.fault_injector import OWN_CLIENT_ID

POLL_S = 0.01
B = TypeVar("B", bound=AnyBroker)


class BrokersById(Sequence[B]):
    """The brokers of a cluster in the order of their ids; ``brokers[1]`` is the one with the id 1."""

    def __init__(self, brokers: Sequence[B]) -> None:
        self._brokers = brokers

    @overload
    def __getitem__(self, broker_id: int) -> B: ...
    @overload
    def __getitem__(self, broker_id: slice) -> Sequence[B]: ...
    def __getitem__(self, broker_id: int | slice) -> B | Sequence[B]:
        if isinstance(broker_id, slice):
            return self._brokers[broker_id]
        for broker in self._brokers:
            if broker.id == broker_id:
                return broker
        raise IndexError(f"there is no broker {broker_id!r} in this cluster: {', '.join(map(str, self._brokers))}")

    def __len__(self) -> int:
        return len(self._brokers)

    def __iter__(self) -> Iterator[B]:
        return iter(self._brokers)

    def __reversed__(self) -> Iterator[B]:
        return reversed(self._brokers)

    def __contains__(self, broker: object) -> bool:
        return broker in self._brokers

    def __repr__(self) -> str:
        return repr(list(self._brokers))


class AnyCluster(ABC, Generic[B]):
    """The verbs that ``Cluster`` and ``ProcessCluster`` share. A subclass makes the brokers and their ZooKeeper.

    As a context manager it starts on entry and stops on exit.
    """

    def __init__(self) -> None:
        self._brokers: list[B] = []
        self.zookeeper = ClusterZooKeeper(lambda: self.zookeeper_connect)
        """The contents of ZooKeeper, read in a session that no fault affects."""

    @abstractmethod
    def start(self) -> Self:
        """Start all brokers. Leaves nothing running if that fails."""

    @abstractmethod
    def stop(self) -> None:
        """End all that the cluster has started. Idempotent."""

    @property
    @abstractmethod
    def zookeeper_connect(self) -> str:
        """The connect string of the cluster's ZooKeeper, beside the network that tests cut."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ── brokers ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def brokers(self) -> BrokersById[B]:
        """All brokers by id, including those that are down: ``cluster.brokers[1].kill()``."""
        if not self._brokers:
            raise RuntimeError(
                "this cluster has not been started, or has been stopped: its brokers exist from start to stop. "
                "Use it in a with block, or start it"
            )
        return BrokersById(self._brokers)

    @property
    def is_started(self) -> bool:
        """Whether there are brokers, even if all of them are down: from ``start`` to ``stop``."""
        return bool(self._brokers)

    @property
    def bootstrap_servers(self) -> str:
        """The value for a client's ``bootstrap.servers``: all brokers, including those that are stopped temporarily."""
        return ",".join(broker.bootstrap_server for broker in self.brokers)

    def start_broker(self, *brokers: B | int) -> None:
        """Start these brokers at the same time, with their previous data and ports; by default all that are down."""
        wanted = [self._broker(broker) for broker in brokers] or self._brokers
        down = [broker for broker in wanted if not broker.is_running]
        if not down:
            return
        with ThreadPoolExecutor(len(down), "kafka-lite-start") as pool:
            for started in [pool.submit(broker.start) for broker in down]:
                started.result()

    def stop_broker(self, *brokers: B | int) -> None:
        """Shut these brokers down cleanly, one by one, by default all; the data remains."""
        for broker in [self._broker(broker) for broker in brokers] or self._brokers:
            broker.stop()

    def restart(self) -> None:
        """Stop every broker and start it again with the same data and port. Raises RuntimeError if one is down."""
        for broker in self.brokers:
            broker.restart()

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

    def _broker(self, broker: B | int) -> B:
        """The broker of an id. Raises TypeError if it is neither an id nor a broker, ValueError if there is none."""
        wanted = id_of(broker)
        for found in self.brokers:
            if found.id == wanted:
                return found
        raise ValueError(f"there is no broker {wanted} in this cluster: {', '.join(map(str, self.brokers))}")

    # ── leadership ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def controller(self) -> B:
        """The broker that is the controller. Waits for one; raises TimeoutError."""
        return self.wait_for_controller()

    def wait_for_controller(self, *, other_than: B | int | None = None, timeout_s: float = TIMEOUT_S) -> B:
        """Wait until a broker (``other_than`` this one) is the controller. Raises TimeoutError."""
        return self._leadership.controller(self._excluded(other_than), timeout_s)

    def leader_of(
        self,
        topic: str,
        partition: int = 0,
        *,
        other_than: B | int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> B:
        """The broker that leads a partition, once ZooKeeper and the broker agree. Waits for one (``other_than`` this).

        Raises TimeoutError, and ValueError at once if there is no such partition.
        """
        found = TopicPartition(topic, partition)
        self._leadership.check_exists(found)
        return self._leadership.leader(found, self._excluded(other_than), timeout_s)

    def _excluded(self, other_than: B | int | None) -> B | None:
        return None if other_than is None else self._broker(other_than)

    def isr(self, topic: str, partition: int = 0) -> set[int]:
        """The ids of the brokers in a partition's ISR, as ZooKeeper has it. Raises ValueError if there is none."""
        self._leadership.check_exists(TopicPartition(topic, partition))
        return self._leadership.isr(TopicPartition(topic, partition))

    def wait_for_isr(
        self,
        topic: str,
        partition: int = 0,
        *,
        brokers: Iterable[B | int] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Wait until the ISR has exactly these brokers, by default all replicas.

        Raises TimeoutError, and ValueError at once if there is no such partition, or no such broker.
        """
        self._leadership.check_exists(TopicPartition(topic, partition))
        if brokers is not None and not isinstance(brokers, Iterable):
            raise TypeError(f"brokers={brokers!r}: several brokers, as in brokers=[{brokers!r}]")
        wanted = None if brokers is None else {self._broker(broker).id for broker in brokers}
        self._leadership.await_isr(TopicPartition(topic, partition), wanted, timeout_s)

    def move_leadership(self, to: B | int, topic: str, partition: int = 0, *, timeout_s: float = TIMEOUT_S) -> None:
        """Make a broker that has a replica the leader, and the preferred leader from now on.

        The controller does that as for Kafka's tools: the replicas are reassigned in another order, and the preferred
        one is elected. Raises ValueError if the broker has no replica, ApiError if it is not in sync, TimeoutError.
        """
        topic_partition, leadership = TopicPartition(topic, partition), self._leadership
        leadership.check_exists(topic_partition)
        preferred = self._broker(to)
        replicas = leadership.order_with_preferred(topic_partition, preferred)
        with self._client_of_controller() as client:
            client.reassign(topic, partition, replicas)
            leadership.await_replicas(topic_partition, replicas, timeout_s)
            client.elect_preferred_leader(topic, partition)
        leadership.await_leader(topic_partition, preferred, timeout_s)

    @property
    def _leadership(self) -> ClusterLeadership[B]:
        return ClusterLeadership(list(self.brokers), self.zookeeper)

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
        check_name("a topic", name, "create_topic('orders')")
        check_whole_number("partitions", partitions, "create_topic('orders', 3, configs={'cleanup.policy': 'compact'})")
        check_keys("configs", configs or {}, "create_topic('orders', configs={'cleanup.policy': 'compact'})")
        replicas = min(MAX_REPLICAS, self._size) if replication_factor is None else replication_factor
        check_whole_number("replication_factor", replicas, "create_topic('orders', replication_factor=2)")
        if self._size > 1:
            self._leadership.await_brokers()
        with self._client_of_controller() as client:
            client.create_topic(name, partitions, texts(configs or {}), replicas)
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
        check_name("a topic", topic, "produce('orders', 'a value')")
        check_whole_number("partition", partition, "produce('orders', 'a value', partition=1)")
        check_acks(acks)
        if not values:
            raise ValueError("produce() of which values? Say produce('orders', 'one', 'two'); None is a tombstone")
        stamp_ms = self._now_ms() if timestamp_ms is None else timestamp_ms
        check_whole_number("timestamp_ms", stamp_ms, "produce('orders', 'a value', timestamp_ms=0)")
        partitions = self._partitions_of_new_topics()
        if partitions is not None and topic not in self.topics:
            self.create_topic(topic, max(partitions, partition + 1))
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        with self._client_of_leader(topic, partition) as client:
            return client.produce(topic, partition, values, key, pairs, stamp_ms, acks)

    def _now_ms(self) -> int:
        """The timestamp of a record that is given none."""
        return time.time_ns() // 1_000_000

    def _partitions_of_new_topics(self) -> int | None:
        """How many partitions a topic gets that is created by being written to; None if none is."""
        return None

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
        missing = "" if topic in self.topics else f"; there is no topic {topic!r}"
        raise TimeoutError(f"{topic} has {len(found)} of {count} records after {timeout_s:g} s{missing}")

    def _records_if_any(self, topic: str) -> list[StoredRecord]:
        try:
            return self.records(topic)
        except KafkaError as failure:
            if getattr(failure, "error", None) is Errors.UNKNOWN_TOPIC_OR_PARTITION:
                return []
            raise

    @property
    def _size(self) -> int:
        return len(self.brokers)

    @property
    def _any_broker(self) -> B:
        return next((broker for broker in self.brokers if broker.is_running), self._brokers[0])

    def _client(self, broker: B | None = None) -> ClusterClient:
        broker = broker or self._any_broker
        broker.check_running()
        return ClusterClient(HOST, broker.port, OWN_CLIENT_ID, self._own_security())

    def _own_security(self) -> ClientChannelBuilder | None:
        """How the cluster's own client connects to brokers; None: in plain text."""
        return None

    def _client_of_controller(self) -> ClusterClient:
        return self._client(self.controller if self._size > 1 else None)

    def _client_of_leader(self, topic: str, partition: int) -> ClusterClient:
        """Raises ApiError at once if several brokers have no such partition; one says so itself."""
        if self._size == 1:
            return self._client()
        if not self.zookeeper.replicas(TopicPartition(topic, partition)):
            unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION
            raise unknown.exception(f"{topic}-{partition}: {unknown.message}")
        return self._client(self.leader_of(topic, partition))


def texts(values: Mapping[str, object]) -> dict[str, str]:
    """The values as written in a properties file."""
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in values.items()}
