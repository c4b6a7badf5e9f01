"""``kafka-lite verify-consumer-rebalance``: checks that every partition of an old consumer group has an owner.

Kafka 0.10.2: core/.../tools/VerifyConsumerRebalance.scala · book 3.2.4
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.topic_count import construct_topic_count
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

NAME = "verify-consumer-rebalance"
SUMMARY = "check that a group of old consumers owns every partition of its topics"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka.tools.VerifyConsumerRebalance, which has no script of its own in Kafka."""
    parser.add_argument(
        "--zookeeper.connect", dest="zookeeper", default="localhost:2181", metavar="HOST:PORT[/PATH]",
        help="ZooKeeper to connect to (default: localhost:2181)",
    )  # fmt: skip
    parser.add_argument("--group", required=True, help="the consumer group")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print the result; returns 1 if a partition lacks a valid owner or ZooKeeper cannot be read (Kafka: always 0)."""
    configure_logging(default_level="WARN")
    with zookeeper_client(options.zookeeper) as zk_client:
        problems = list(problems_of(zk_client, options.group))
    for problem in problems:
        logger.error(problem)
    print("Rebalance operation failed !" if problems else "Rebalance operation successful !")
    return 1 if problems else 0


def problems_of(zk_client: KafkaZkClient, group: str) -> Iterator[str]:
    """The problems: partitions without an owner, or whose owner is not a member of the group.

    A group without members has no topics and therefore no problems.
    """
    groups = ConsumerGroups(zk_client)
    threads = threads_by_topic(zk_client, groups, group)
    for topic, numbers in groups.get_partitions_for_topics(threads).items():
        for partition in (TopicPartition(topic, number) for number in numbers):
            owner = groups.get_owner(group, partition)
            if owner is None:
                yield f"No owner for partition [{topic},{partition.partition}]"
            elif owner not in threads[topic]:
                yield (
                    f"Owner {owner} for partition [{topic},{partition.partition}] is not a valid member of consumer "
                    f"group {group}"
                )


def threads_by_topic(zk_client: KafkaZkClient, groups: ConsumerGroups, group: str) -> dict[str, set[str]]:
    """Topic -> consumer thread ids of all its subscribers, in the format of owner znodes."""
    threads: dict[str, set[str]] = {}
    for consumer, registration in groups.get_registrations(group).items():
        topic_count = construct_topic_count(consumer, registration, zk_client.get_all_topics, False)
        for topic, thread_ids in topic_count.get_consumer_thread_ids_per_topic().items():
            threads.setdefault(topic, set()).update(map(str, thread_ids))
    return threads
