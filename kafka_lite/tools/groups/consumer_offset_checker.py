"""``kafka-lite consumer-offset-checker``: offsets and partition owners of a group of old consumers.

Kafka 0.10.2: core/.../tools/ConsumerOffsetChecker.scala · book 3.5.3
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from typing import cast

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_consumer.client_utils import channel_to_offset_manager, get_plaintext_end_point
from kafka_lite.old_consumer.consumer_offsets import OFFSET_FETCH_VERSION, committed_offsets, fetch_topics
from kafka_lite.old_consumer.simple.simple_consumer import LATEST_TIME, SimpleConsumer
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import print_error
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

NAME = "consumer-offset-checker"
SUMMARY = "show the offsets and owners of a group of old consumers"

CLIENT_ID = "ConsumerOffsetChecker"
TRIES = 5
"""Attempts to find the coordinator; Kafka's tool retries forever."""
UNKNOWN = "unknown"
_LINE = "{:<15} {:<30} {:<3} {:<15} {:<15} {:<15} {}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-consumer-offset-checker.sh."""
    parser.add_argument(
        "--zookeeper",
        default="localhost:2181",
        metavar="HOST:PORT[/PATH]",
        help="ZooKeeper to connect to (default: localhost:2181)",
    )
    parser.add_argument("--group", required=True, help="the consumer group")
    parser.add_argument(
        "--topic", metavar="T1,T2", help="only these topics (default: all that the group owns or has owned)"
    )
    parser.add_argument(
        "--socket.timeout.ms", dest="socket_timeout_ms", type=int, default=6000, metavar="MS",
        help="how long to wait for a response (default: 6000)",
    )  # fmt: skip
    parser.add_argument(
        "--retry.backoff.ms", dest="retry_backoff_ms", type=int, default=3000, metavar="MS",
        help="how long to wait before looking for the coordinator again (default: 3000)",
    )  # fmt: skip
    parser.add_argument(
        "--broker-info", action="store_true", help="also print the addresses of the brokers that were queried"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print a line for each partition; returns 1 if a partition has no reachable leader."""
    configure_logging(default_level="WARN")
    print_error("ConsumerOffsetChecker is deprecated since Kafka 0.9.0: `kafka-lite consumer-groups` shows the same.")
    with zookeeper_client(options.zookeeper) as zk_client:
        return OffsetChecker(zk_client, options).print_group()


class OffsetChecker:
    """Reads owners from ZooKeeper, offsets from the coordinator or ZooKeeper, and log ends from the leaders."""

    def __init__(self, zk: KafkaZkClient, options: argparse.Namespace) -> None:
        self._zk = zk
        self._groups = ConsumerGroups(zk)
        self._options = options
        self._group: str = options.group
        self._consumers: dict[int, SimpleConsumer] = {}

    def print_group(self) -> int:
        """Print the table; returns the exit code. Raises KafkaError, ConnectionError."""
        topics = sorted((self._options.topic or "").split(",") if self._options.topic else self._topics())
        partitions = [
            TopicPartition(topic, number)
            for topic, numbers in self._groups.get_partitions_for_topics(topics).items()
            for number in numbers
        ]
        offsets = self._offsets(partitions)
        print(_LINE.format("Group", "Topic", "Pid", "Offset", "logSize", "Lag", "Owner"))
        try:
            leaderless = [partition for partition in partitions if not self._print_partition(partition, offsets)]
            if self._options.broker_info:
                self._print_broker_info()
        finally:
            for consumer in self._consumers.values():
                consumer.close()
        return 1 if leaderless else 0

    def _topics(self) -> list[str]:
        found = self._groups.get_topics_of_group(self._group)
        if not found:
            raise ToolError(f"Group {self._group} owns nothing in ZooKeeper and never has. Is the name misspelt?")
        return found

    def _offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """The coordinator's offsets, or ZooKeeper's if it has none: the group may not have migrated yet."""
        timeout_ms = self._options.socket_timeout_ms
        request = OffsetFetchRequest(group_id=self._group, topics=fetch_topics(partitions))
        channel = self._channel(timeout_ms)
        try:
            response = cast(OffsetFetchResponse, channel.exchange(request, OFFSET_FETCH_VERSION))
        finally:
            channel.close()
        committed = committed_offsets(response, partitions)
        in_kafka = {partition: offset for partition, offset in committed.items() if offset >= 0}
        others = [partition for partition in partitions if partition not in in_kafka]
        return in_kafka | self._groups.get_offsets(self._group, others)

    def _channel(self, timeout_ms: int) -> BlockingChannel:
        """Connect to the coordinator, retrying: the first request may have to create the offsets topic."""
        for _ in range(TRIES - 1):
            try:
                return channel_to_offset_manager(self._group, self._zk, CLIENT_ID, timeout_ms)
            except (ConnectionError, KafkaError) as error:
                logger.info("Cannot connect to the offset manager yet: %s", error)
                SYSTEM_TIME.sleep(self._options.retry_backoff_ms)
        return channel_to_offset_manager(self._group, self._zk, CLIENT_ID, timeout_ms)

    def _print_partition(self, partition: TopicPartition, offsets: Mapping[TopicPartition, int]) -> bool:
        """Print one partition; returns False if it has no reachable leader."""
        state = self._zk.get_partition_state(partition)
        consumer = None if state is None else self._consumer(state.leader_and_isr.leader)
        if consumer is None:
            print(f"No broker for partition {partition.topic} - {partition.partition}")
            return False
        log_size = consumer.earliest_or_latest_offset(partition, LATEST_TIME)
        offset = offsets.get(partition)
        owner = self._groups.get_owner(self._group, partition) or "none"
        shown, lag = (UNKNOWN, UNKNOWN) if offset is None else (offset, log_size - offset)
        print(_LINE.format(self._group, *partition, shown, log_size, lag, owner))
        return True

    def _consumer(self, broker_id: int) -> SimpleConsumer | None:
        if broker_id not in self._consumers:
            broker = get_plaintext_end_point(self._zk, broker_id)
            if broker is None:
                return None
            timeout_ms = self._options.socket_timeout_ms
            self._consumers[broker_id] = SimpleConsumer(broker.host, broker.port, timeout_ms, -1, CLIENT_ID)
        return self._consumers[broker_id]

    def _print_broker_info(self) -> None:
        print("BROKER INFO")
        for broker_id, consumer in sorted(self._consumers.items()):
            print(f"{broker_id} -> {consumer.host}:{consumer.port}")
