"""``kafka-lite update-offsets-in-zk``: set a group's ZooKeeper offsets to a topic's beginning or end.

Kafka 0.10.2: core/.../tools/UpdateOffsetsInZK.scala · book 3.5.3
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_lite.common.properties import load_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.client_utils import get_plaintext_end_point
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, LATEST_TIME, SimpleConsumer
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

NAME = "update-offsets-in-zk"
SUMMARY = "reset a group of old consumers to the beginning or the end of a topic"

CLIENT_ID = "UpdateOffsetsInZk"
SOCKET_TIMEOUT_MS = 10_000
TIMES = {"earliest": EARLIEST_TIME, "latest": LATEST_TIME}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of kafka.tools.UpdateOffsetsInZK, which has no script of its own in Kafka."""
    parser.add_argument("where", choices=list(TIMES), help="the beginning or the end of each partition")
    parser.add_argument(
        "config", type=Path, metavar="consumer.properties", help="a file with group.id and zookeeper.connect"
    )
    parser.add_argument("topic", help="the topic")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Set the offset of each partition; returns 1 if one cannot be determined."""
    configure_logging(default_level="WARN")
    config = ConsumerConfig(load_properties(options.config))
    with zookeeper_client(config["zookeeper.connect"]) as zk_client:
        groups = ConsumerGroups(zk_client)
        numbers = groups.get_partitions_for_topics([options.topic])[options.topic]
        if not numbers:
            raise ToolError(f"Can't find topic {options.topic}")
        for number in numbers:
            partition = TopicPartition(options.topic, number)
            offset = log_offset(zk_client, partition, TIMES[options.where])
            print(f"updating partition {number} with new offset: {offset}")
            groups.set_offset(config["group.id"], partition, offset)
    print(f"updated the offset for {len(numbers)} partitions")
    return 0


def log_offset(zk_client: KafkaZkClient, partition: TopicPartition, time: int) -> int:
    """The start or end offset of the leader's log. Raises ToolError, ApiError, ConnectionError."""
    state = zk_client.get_partition_state(partition)
    broker = None if state is None else get_plaintext_end_point(zk_client, state.leader_and_isr.leader)
    if broker is None:
        raise ToolError(f"{partition} has no leader with a PLAINTEXT listener; its offset was not changed")
    with SimpleConsumer(broker.host, broker.port, SOCKET_TIMEOUT_MS, -1, CLIENT_ID) as consumer:
        return consumer.earliest_or_latest_offset(partition, time)
