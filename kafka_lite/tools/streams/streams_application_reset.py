"""``kafka-lite streams-application-reset``: let a Streams application begin again.

Kafka 0.10.2: core/.../tools/StreamsResetter.java, bin/kafka-streams-application-reset.sh; ``--dry-run`` is 0.11's ·
book 9.1
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.topic_service import BrokerTopicService
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService

NAME = "streams-application-reset"
SUMMARY = "let a Streams application begin again: reset its offsets, delete its internal topics"

_INTERNAL_SUFFIXES = ("-changelog", "-repartition")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-streams-application-reset.sh."""
    parser.add_argument("--application-id", required=True, metavar="ID", help="the application.id")
    parser.add_argument(
        "--bootstrap-servers", default="localhost:9092", metavar="HOST:PORT", help="brokers, separated by commas"
    )
    parser.add_argument(
        "--input-topics", default="", metavar="TOPICS", help="separated by commas; their offsets are reset to the start"
    )
    parser.add_argument(
        "--intermediate-topics",
        default="",
        metavar="TOPICS",
        help="topics of through(), separated by commas; what they have is skipped",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Reset the application. Its instances must be stopped, and clean up their state directories by themselves."""
    application_id, dry_run = options.application_id, options.dry_run
    with AdminChannel(options.bootstrap_servers) as channel:
        group = ConsumerGroupService(channel).describe(application_id)
        if group.members:
            raise ToolError(
                f"Consumer group '{application_id}' is still active with {len(group.members)} members. Make sure to "
                "stop all running application instances before running the reset tool."
            )
        service = BrokerTopicService(channel)
        topics = service.list_topics()
        if dry_run:
            print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
        _reset_offsets(options, topics)
        internal = [topic for topic in topics if is_internal(topic, application_id)]
        print(f"Deleting all internal/auto-created topics for application {application_id}")
        for topic in internal:
            print(f"Topic: {topic}")
        if internal and not dry_run:
            service.delete(internal)
    print("Done.")
    return 0


def is_internal(topic: str, application_id: str) -> bool:
    """Whether Streams has created a topic for the application."""
    return topic.startswith(f"{application_id}-") and topic.endswith(_INTERNAL_SUFFIXES)


def _reset_offsets(options: argparse.Namespace, existing: Collection[str]) -> None:
    inputs = _known("input", options.input_topics, existing)
    intermediates = _known("intermediate", options.intermediate_topics, existing)
    if not inputs and not intermediates:
        print("No input or intermediate topics specified. Skipping seek.")
        return
    configs = {"bootstrap.servers": options.bootstrap_servers, "group.id": options.application_id}
    with KafkaConsumer({**configs, "enable.auto.commit": False}) as consumer:
        starts = consumer.beginning_offsets(_partitions(consumer, inputs))
        ends = consumer.end_offsets(_partitions(consumer, intermediates))
        for kind, offsets in (("input", starts), ("intermediate", ends)):
            if offsets:
                print(f"Following {kind} topics offsets will be reset to (for consumer group {options.application_id})")
            for partition, offset in sorted(offsets.items()):
                print(f"Topic: {partition.topic} Partition: {partition.partition} Offset: {offset}")
        if not options.dry_run:
            offsets = {**starts, **ends}
            consumer.assign(list(offsets))
            consumer.commit_sync({partition: OffsetAndMetadata(offset) for partition, offset in offsets.items()})


def _known(kind: str, names: str, existing: Collection[str]) -> list[str]:
    """The topics of a list that exist; the others are reported."""
    topics = [name for each in names.split(",") if (name := each.strip())]
    missing = [topic for topic in topics if topic not in existing]
    if missing:
        print_to_stderr(f"Following {kind} topics are not found, skipping them: {', '.join(missing)}")
    return [topic for topic in topics if topic in existing]


def _partitions(consumer: KafkaConsumer, topics: Iterable[str]) -> list[TopicPartition]:
    return [TopicPartition(topic, info.partition) for topic in topics for info in consumer.partitions_for(topic)]
