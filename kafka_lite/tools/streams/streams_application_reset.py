"""``kafka-lite streams-application-reset``: let a Streams application begin again.

Kafka 0.10.2: core/.../tools/StreamsResetter.java, bin/kafka-streams-application-reset.sh; ``--dry-run`` is
0.11's, ``--config-file`` 1.0's · book 9.1
"""

from __future__ import annotations

import argparse

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.admin_channel import AdminChannel, unknown_topics
from kafka_lite.tools.admin.command_config import add_command_config_argument, command_configs, new_admin_channel
from kafka_lite.tools.admin.partition_offsets import EARLIEST, LATEST, Offsets
from kafka_lite.tools.admin.topic_service import BrokerTopicService
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
    add_command_config_argument(parser, "--config-file", "--command-config")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Reset the application. Its instances must be stopped, and clean up their state directories by themselves.

    All offsets are looked up before anything is changed: without the offsets of its input, an application that has
    lost its state would resume in the middle.
    """
    application_id, dry_run = options.application_id, options.dry_run
    with new_admin_channel(options.bootstrap_servers, command_configs(options)) as channel:
        groups = ConsumerGroupService(channel)
        members = groups.describe(application_id).members
        if members:
            raise ToolError(
                f"Consumer group '{application_id}' is still active with {len(members)} members. Make sure to "
                "stop all running application instances before running the reset tool."
            )
        starts = groups.log_offsets(_partitions(channel, "input", options.input_topics), EARLIEST)
        ends = groups.log_offsets(_partitions(channel, "intermediate", options.intermediate_topics), LATEST)
        topics = BrokerTopicService(channel)
        internal = [topic for topic in topics.list_topics() if is_internal(topic, application_id)]
        if dry_run:
            print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
        _print_offsets(application_id, starts, ends)
        if not dry_run and (starts or ends):
            groups.commit_offsets(application_id, {**starts, **ends})
        print(f"Deleting all internal/auto-created topics for application {application_id}")
        for topic in internal:
            print(f"Topic: {topic}")
        if internal and not dry_run:
            topics.delete(internal)
    print("Done.")
    return 0


def is_internal(topic: str, application_id: str) -> bool:
    """Whether Streams has created a topic for the application."""
    return topic.startswith(f"{application_id}-") and topic.endswith(_INTERNAL_SUFFIXES)


def _partitions(channel: AdminChannel, kind: str, names: str) -> list[TopicPartition]:
    """All partitions of the topics in a list. Raises ToolError if one does not exist (Kafka's tool skips it)."""
    topics = {name for each in names.split(",") if (name := each.strip())}
    partitions = sorted(channel.leaders(topics))
    if missing := topics - {partition.topic for partition in partitions}:
        raise ToolError(f"--{kind}-topics: {unknown_topics(missing)}. Nothing has been changed.")
    return partitions


def _print_offsets(application_id: str, starts: Offsets, ends: Offsets) -> None:
    if not starts and not ends:
        print("No input or intermediate topics specified. Skipping seek.")
    for kind, offsets in (("input", starts), ("intermediate", ends)):
        if offsets:
            print(f"Following {kind} topics offsets will be reset to (for consumer group {application_id})")
        for partition, offset in sorted(offsets.items()):
            print(f"Topic: {partition.topic} Partition: {partition.partition} Offset: {offset}")
