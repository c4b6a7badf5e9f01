"""Manages fetcher threads by broker.

Kafka 0.10.2: core/.../server/AbstractFetcherManager.scala (BrokerAndFetcherId, BrokerAndInitialOffset) · book 3.3.1
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from kafka_lite.clients.abstract_fetcher_thread import AbstractFetcherThread
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry

logger = logging.getLogger(__name__)

MAX_LISTED_PARTITIONS: Final = 1000
"""How many partitions one line of the log names: a request of the controller may have a million."""


class BrokerAndFetcherId(NamedTuple):
    """The key of a fetcher thread: its broker, and its number among the threads of that broker."""

    broker: BrokerEndPoint
    fetcher_id: int


class BrokerAndInitialOffset(NamedTuple):
    """The broker to fetch a partition from, and the first offset."""

    broker: BrokerEndPoint
    init_offset: int


T = TypeVar("T", bound=AbstractFetcherThread)  # type: ignore[type-arg]


class AbstractFetcherManager(ABC, Generic[T]):
    """Keeps up to ``num_fetchers`` threads per leader, and assigns each partition to one of them.

    As long as its leader stays the same, a partition keeps its fetcher: ``|31 · hash(topic) + number| mod
    num_fetchers``. A thread starts with its first partition; ``shutdown_idle_fetcher_threads`` ends those without
    partitions.
    """

    def __init__(
        self,
        name: str,
        client_id: str,
        num_fetchers: int = 1,
        *,
        registry: MetricsRegistry,
        time: Time,
        metric_group: tuple[str, str] = ("kafka.server", "AbstractFetcherManager"),
    ) -> None:
        self.name = name
        self._num_fetchers = num_fetchers
        self._map_lock = threading.Lock()
        self.fetcher_thread_map: dict[BrokerAndFetcherId, T] = {}
        self.registry = registry
        metrics = KafkaMetricsGroup(self.registry, time, *metric_group)
        metrics.new_gauge("MaxLag", lambda: self.max_lag, {"clientId": client_id})
        metrics.new_gauge("MinFetchRate", lambda: self.min_fetch_rate, {"clientId": client_id})

    @abstractmethod
    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> T:
        """Create a thread that fetches from a broker, without starting it."""

    @property
    def max_lag(self) -> int:
        """The largest lag of any partition, in records."""
        return max((each.fetcher_lag_stats.max_lag for each in list(self.fetcher_thread_map.values())), default=0)

    @property
    def min_fetch_rate(self) -> float:
        """The lowest request rate of all threads, per second, averaged over about a minute."""
        threads = list(self.fetcher_thread_map.values())
        return min((each.fetcher_stats.request_rate.one_minute_rate for each in threads), default=0.0)

    def get_fetcher_id(self, partition: TopicPartition) -> int:
        """The number of the broker's fetcher that a partition belongs to."""
        number = (31 * java_string_hash(partition.topic) + partition.partition) & 0xFFFFFFFF
        return java_abs(number - (1 << 32) if number >= 1 << 31 else number) % self._num_fetchers

    def add_fetcher_for_partitions(self, partitions: Mapping[TopicPartition, BrokerAndInitialOffset]) -> None:
        """Fetch these partitions. Raises like ``AbstractFetcherThread.add_partitions``, with some of them added."""
        by_fetcher: dict[BrokerAndFetcherId, dict[TopicPartition, int]] = {}
        for partition, (broker, init_offset) in partitions.items():
            key = BrokerAndFetcherId(broker, self.get_fetcher_id(partition))
            by_fetcher.setdefault(key, {})[partition] = init_offset
        with self._map_lock:
            for key, offsets in by_fetcher.items():
                self._fetcher(key).add_partitions(offsets)
        for partition, (broker, init_offset) in partitions.items():
            logger.info(
                "[%s] Added fetcher for %s from offset %d to broker %s", self.name, partition, init_offset, broker
            )

    def _fetcher(self, key: BrokerAndFetcherId) -> T:
        thread = self.fetcher_thread_map.get(key)
        if thread is None or not thread.is_running:  # replace a thread that has failed
            if thread is not None:
                thread.shutdown()
            thread = self.fetcher_thread_map[key] = self.create_fetcher_thread(key.fetcher_id, key.broker)
            thread.start()
        return thread

    def remove_fetcher_for_partitions(self, partitions: Collection[TopicPartition]) -> None:
        """Stop fetching these partitions. Once this returns, none of them is being processed."""
        with self._map_lock:
            for thread in self.fetcher_thread_map.values():
                thread.remove_partitions(partitions)
        logger.info("[%s] Removed fetcher for partitions %s", self.name, _listed(partitions))

    def shutdown_idle_fetcher_threads(self) -> None:
        """End the threads without partitions."""
        with self._map_lock:
            for key, thread in list(self.fetcher_thread_map.items()):
                if thread.partition_count == 0:
                    thread.shutdown()
                    del self.fetcher_thread_map[key]

    def initiate_shutdown_of_all_fetchers(self) -> None:
        """Ask all threads to end, without waiting for a lock that one of them may hold."""
        for thread in list(self.fetcher_thread_map.values()):
            thread.initiate_shutdown()

    def close_all_fetchers(self) -> None:
        """End all threads, and wait for them."""
        self.initiate_shutdown_of_all_fetchers()
        with self._map_lock:
            for thread in self.fetcher_thread_map.values():
                thread.shutdown()
            self.fetcher_thread_map.clear()


def _listed(partitions: Collection[TopicPartition]) -> str:
    """Their names for a line of the log; of many, the first ones and the number of the others."""
    names = ",".join(map(str, islice(partitions, MAX_LISTED_PARTITIONS)))
    more = len(partitions) - MAX_LISTED_PARTITIONS
    return f"{names} and {more} more" if more > 0 else names
