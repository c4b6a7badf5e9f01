"""The interface of the high-level consumer: streams of messages, whose partitions are shared by a group.

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
    """The user's callbacks for rebalances, called in the rebalancing thread."""

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        """Fetching has stopped, and these partitions are about to be released."""
        ...

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        """The assignment of all members as this one computed it, by topic. This member already owns its partitions."""
        ...


class ConsumerConnector(ABC):
    """Creates streams, once, for topics or for a filter::

        with Consumer.create({"group.id": "g", "zookeeper.connect": "localhost:2181"}) as connector:
            (stream,) = connector.create_message_streams({"topic": 1})["topic"]
            for message in stream:
                print(message.key, message.message)

    Each stream is for one thread. Its partitions change as members join and leave the group.
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
        """Create streams: the given number for each topic. Without decoders, they return bytes.

        Joins the group, and returns once partitions are assigned. Raises MessageStreamsExistError on a second call,
        ConsumerRebalanceFailedError if the group cannot agree in time.
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
        """Create streams for all existing and future topics that the filter allows. Raises the same errors."""

    @abstractmethod
    def commit_offsets(
        self, offsets: Mapping[TopicPartition, int] | None = None, retry_on_failure: bool = True
    ) -> bool:
        """Commit these offsets, by default those consumed in all owned partitions; false if that failed."""

    @abstractmethod
    def set_consumer_rebalance_listener(self, listener: ConsumerRebalanceListener) -> None:
        """Set the callbacks for rebalances. Raises MessageStreamsExistError once there are streams."""

    @abstractmethod
    def shutdown(self) -> None:
        """Commit if auto-commit is enabled, leave the group, and end all streams."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
