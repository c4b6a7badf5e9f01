"""Fetches partitions from one broker for a consumer's streams.

Kafka 0.10.2: core/.../consumer/ConsumerFetcherThread.scala · book 3.3.3
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from kafka_lite.clients.abstract_fetcher_thread import AbstractFetcherThread, PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import SMALLEST, ConsumerConfig
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, LATEST_TIME, SimpleConsumer
from kafka_lite.old_consumer.simple.simple_fetch import FetchRequest, FetchRequestBuilder, FetchResponsePartitionData


class ConsumerFetcherThread(AbstractFetcherThread[FetchRequest, FetchResponsePartitionData]):
    """Puts fetched messages into the streams' queues, and blocks while a queue is full.

    A partition that fails is handed back to the LeaderFinderThread, which looks for a new leader.
    """

    def __init__(
        self,
        name: str,
        config: ConsumerConfig,
        source_broker: BrokerEndPoint,
        partition_map: Mapping[TopicPartition, PartitionTopicInfo],
        add_partitions_with_error: Callable[[Collection[TopicPartition]], None],
        stats: ConsumerStats,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(
            name,
            config["client.id"],
            source_broker,
            config["refresh.leader.backoff.ms"],
            registry=stats.registry,
            time=time,
        )
        self._config = config
        self._partition_map = partition_map
        self._add_partitions_with_error = add_partitions_with_error
        self._simple_consumer = SimpleConsumer(
            source_broker.host,
            source_broker.port,
            config["socket.timeout.ms"],
            config["socket.receive.buffer.bytes"],
            config["client.id"],
            stats.fetches,
            time,
        )
        self._builder = (
            FetchRequestBuilder()
            .max_wait(config["fetch.wait.max.ms"])
            .min_bytes(config["fetch.min.bytes"])
            .max_bytes(config["fetch.max.bytes"])
        )

    def process_partition_data(
        self, partition: TopicPartition, fetch_offset: int, data: FetchResponsePartitionData
    ) -> None:
        """Pass the messages to the partition's stream. Raises FetcherInterruptedError if the thread must end."""
        info = self._partition_map[partition]
        if info.fetch_offset != fetch_offset:
            raise RuntimeError(f"Offset doesn't match for {info}: fetched from {fetch_offset}")
        info.enqueue(data.records, is_interrupted=lambda: not self.is_running)

    def handle_offset_out_of_range(self, partition: TopicPartition) -> int:
        """Reset the offset by ``auto.offset.reset``."""
        time = EARLIEST_TIME if self._config["auto.offset.reset"] == SMALLEST else LATEST_TIME
        new_offset = self._simple_consumer.earliest_or_latest_offset(partition, time)
        info = self._partition_map[partition]
        info.reset_fetch_offset(new_offset)
        info.reset_consume_offset(new_offset)
        return new_offset

    def handle_partitions_with_errors(self, partitions: Collection[TopicPartition]) -> None:
        """Have new leaders looked up for these partitions."""
        self.remove_partitions(partitions)
        self._add_partitions_with_error(partitions)

    def build_fetch_request(self, partitions: Sequence[tuple[TopicPartition, PartitionFetchState]]) -> FetchRequest:
        """A request of version 3 for the active partitions."""
        now_ms = self._time.hi_res_ms()
        for partition, state in partitions:
            if state.is_active(now_ms):
                self._builder.add_fetch(*partition, state.offset, self._config["fetch.message.max.bytes"])
        return self._builder.build()

    def fetch(self, request: FetchRequest) -> list[tuple[TopicPartition, FetchResponsePartitionData]]:
        """Send the request to the broker."""
        return list(self._simple_consumer.fetch(request).data.items())

    def wake_up(self) -> None:
        """End whatever the thread waits for: a backoff, a response, or room in a queue."""
        super().wake_up()
        self._simple_consumer.abort()
        for info in self._partition_map.values():
            info.wake_producers()

    def on_exit(self) -> None:
        """Close the connection."""
        self._simple_consumer.close()
