"""The high-level consumer's interface: streams of messages, whose partitions a group shares.

Kafka 0.10.2: core/.../consumer/ConsumerConnector.scala · book 3.1.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeVar, overload

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.decoder import Decoder
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.old_consumer.topic_filter import TopicFilter

K = TypeVar("K")
V = TypeVar("V")


class ConsumerRebalanceListener(Protocol):
    """What is told of rebalances, by the thread that rebalances."""

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        """Fetching has stopped; these partitions are given back now."""
        ...

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        """The partitions of all members as this one has assigned them, by topic; its own are owned now."""
        ...


class ConsumerConnector(ABC):
    """Streams can be created once, by topics or by a filter::

        with Consumer.create({"group.id": "g", "zookeeper.connect": "localhost:2181"}) as connector:
            (stream,) = connector.create_message_streams({"topic": 1})["topic"]
            for message in stream:
                print(message.key, message.message)

    Each stream is for one thread. Partitions come and go as members of the group do.
    """

    @overload
    def create_message_streams(
        self, topic_count_map: Mapping[str, int]
    ) -> dict[str, list[KafkaStream[bytes, bytes]]]: ...

    @overload
    def create_message_streams(
        self, topic_count_map: Mapping[str, int], key_decoder: Decoder[K], value_decoder: Decoder[V]
    ) -> dict[str, list[KafkaStream[K, V]]]: ...

    @abstractmethod
    def create_message_streams(
        self,
        topic_count_map: Mapping[str, int],
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> dict[str, list[KafkaStream[Any, Any]]]:
        """So many streams for each topic; without decoders, of bytes.

        Joins the group, and returns when partitions are assigned. Raises MessageStreamsExistError the second time,
        ConsumerRebalanceFailedError when the group could not agree in time.
        """

    @overload
    def create_message_streams_by_filter(
        self, topic_filter: TopicFilter, num_streams: int = 1
    ) -> list[KafkaStream[bytes, bytes]]: ...

    @overload
    def create_message_streams_by_filter(
        self, topic_filter: TopicFilter, num_streams: int, key_decoder: Decoder[K], value_decoder: Decoder[V]
    ) -> list[KafkaStream[K, V]]: ...

    @abstractmethod
    def create_message_streams_by_filter(
        self,
        topic_filter: TopicFilter,
        num_streams: int = 1,
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> list[KafkaStream[Any, Any]]:
        """So many streams for all topics, of now and to come, that the filter lets through. Raises likewise."""

    @abstractmethod
    def commit_offsets(
        self, offsets: Mapping[TopicPartition, int] | None = None, retry_on_failure: bool = True
    ) -> bool:
        """Commit these offsets, or what the streams have consumed of all owned partitions; false when that failed."""

    @abstractmethod
    def set_consumer_rebalance_listener(self, listener: ConsumerRebalanceListener) -> None:
        """Tell ``listener`` of rebalances. Raises MessageStreamsExistError once there are streams."""

    @abstractmethod
    def shutdown(self) -> None:
        """Commit if that is automatic, leave the group, and end all streams."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
