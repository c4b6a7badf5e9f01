"""``kafka-lite topics``: create, list, describe, alter and delete topics.

Kafka 0.10.2: core/.../admin/TopicCommand.scala, bin/kafka-topics.sh · book 1.4.1
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from kafka_lite.admin.replica_assignment import Assignment
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import ZERO_UUID, encode_uuid
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.topic_names import has_collision_chars, is_internal
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.topic_service import (
    UNSET,
    BrokerTopicService,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicService,
    ZooKeeperTopicService,
)
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client

NAME = "topics"
SUMMARY = "create, list, describe, alter and delete topics"

_USED_WITH = {
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "config": ("create", "alter"),
    "delete-config": ("alter",),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
    "disable-rack-aware": ("create",),
    "under-replicated-partitions": ("describe",),
    "unavailable-partitions": ("describe",),
    "under-min-isr-partitions": ("describe",),
    "at-min-isr-partitions": ("describe",),
    "topics-with-overrides": ("describe",),
}
"""The actions that each flag belongs to. With others they would be ignored, although the user means something."""
CONFIG_WARNING = (
    "WARNING: Altering topic configuration from this script has been deprecated and may be removed in future "
    "releases.\n"
    "         Going forward, please use `kafka-lite configs` for this functionality"
)
COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-topics.sh."""
    add_cluster_arguments(parser)
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--create", action="store_true", help="create a topic")
    actions.add_argument("--list", action="store_true", help="list all topics, or those that --topic matches")
    actions.add_argument("--describe", action="store_true", help="show partitions, leaders, replicas and ISRs")
    actions.add_argument("--alter", action="store_true", help="add partitions; with --zookeeper also change configs")
    actions.add_argument("--delete", action="store_true", help="delete topics")
    parser.add_argument("--topic", help="the topic; except with --create, a regular expression for names")
    parser.add_argument("--partitions", type=int, help="number of partitions")
    parser.add_argument("--replication-factor", type=int, metavar="N", help="number of replicas of each partition")
    parser.add_argument(
        "--replica-assignment",
        metavar="0:1,1:0",
        help="broker ids of each partition's replicas, starting with partition 0",
    )
    parser.add_argument(
        "--config", action="append", default=[], metavar="NAME=VALUE", help="a config of the topic; may be repeated"
    )
    parser.add_argument(
        "--delete-config",
        action="append",
        default=[],
        metavar="NAME",
        help="a config to remove, with --alter and --zookeeper; may be repeated",
    )
    parser.add_argument("--if-exists", action="store_true", help="do nothing if the topic does not exist")
    parser.add_argument("--if-not-exists", action="store_true", help="do nothing if the topic already exists")
    parser.add_argument(
        "--exclude-internal", action="store_true", help="leave out internal topics such as __consumer_offsets"
    )
    parser.add_argument("--disable-rack-aware", action="store_true", help="ignore racks (with --zookeeper)")
    parser.add_argument("--force", action="store_true", help="no effect; there are no prompts to suppress")
    _add_report_arguments(parser)
    add_command_config_argument(parser)


def _add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that filter --describe."""
    reports = parser.add_mutually_exclusive_group()
    reports.add_argument(
        "--under-replicated-partitions", action="store_true", help="only partitions whose ISR lacks a replica"
    )
    reports.add_argument("--unavailable-partitions", action="store_true", help="only partitions without a leader")
    reports.add_argument(
        "--under-min-isr-partitions",
        action="store_true",
        help="only partitions whose ISR is smaller than min.insync.replicas",
    )
    reports.add_argument(
        "--at-min-isr-partitions", action="store_true", help="only partitions whose ISR is exactly min.insync.replicas"
    )
    reports.add_argument("--topics-with-overrides", action="store_true", help="only topics with overridden configs")


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--bootstrap-server`` and ``--zookeeper``, of which exactly one is required."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-server", metavar="HOST:PORT", help="brokers to connect to, separated by commas")
    where.add_argument("--zookeeper", metavar="HOST:PORT[/PATH]", help="the cluster's ZooKeeper")


@contextmanager
def topic_service(options: argparse.Namespace) -> Iterator[TopicService]:
    """A connected service, through a broker or ZooKeeper as the options choose."""
    if options.bootstrap_server:
        with admin_channel(options) as channel:
            yield BrokerTopicService(channel)
        return
    with zookeeper_client(options.zookeeper) as zk_client:
        yield ZooKeeperTopicService(zk_client)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the chosen action; returns 1 on error."""
    if not options.topic and not (options.list or options.describe):
        raise ToolError("--topic is required")
    actions: dict[str, Callable[[TopicService, argparse.Namespace], None]] = {
        "create": create_topic,
        "list": list_topics,
        "describe": describe_topics,
        "alter": alter_topics,
        "delete": delete_topics,
    }
    name = next(name for name in actions if getattr(options, name))
    _check_flags(options, name)
    with topic_service(options) as service:
        actions[name](service, options)
    return 0


def _check_flags(options: argparse.Namespace, action: str) -> None:
    """Raise ToolError for a flag that the action does not use."""
    for flag, used_with in _USED_WITH.items():
        value = getattr(options, flag.replace("-", "_"))
        if value not in (None, False, []) and action not in used_with:
            raise ToolError(f'Option "[{flag}]" can\'t be used with option "[{action}]"')
    if action == "alter" and options.bootstrap_server and (options.config or options.delete_config):
        raise ToolError("--alter changes configs with --zookeeper only; use `kafka-lite configs --alter`")


# ------------------------------------------------------------------------------------------------------------- actions


def create_topic(service: TopicService, options: argparse.Namespace) -> None:
    """Create one topic."""
    assignment = parse_replica_assignment(options.replica_assignment) if options.replica_assignment else None
    if assignment and (options.partitions is not None or options.replication_factor is not None):
        raise ToolError("--replica-assignment cannot be combined with --partitions or --replication-factor")
    if options.zookeeper and not assignment and None in (options.partitions, options.replication_factor):
        raise ToolError("--zookeeper requires --partitions and --replication-factor")
    if has_collision_chars(options.topic):
        print(COLLISION_WARNING)
    partitions = UNSET if options.partitions is None else _at_least_1("--partitions", options.partitions)
    replicas = options.replication_factor
    replicas = UNSET if replicas is None else _at_least_1("--replication-factor", replicas)
    rack_aware = not options.disable_rack_aware
    topic = NewTopic(options.topic, partitions, replicas, assignment, parse_configs(options.config), rack_aware)
    if assignment and options.bootstrap_server:
        _ensure_leaders(assignment, service.live_brokers())
    try:
        service.create(topic)
    except ApiError as error:
        if error.error is Errors.TOPIC_ALREADY_EXISTS and options.if_not_exists:
            return
        raise
    print(f"Created topic {options.topic}.")


def _ensure_leaders(assignment: Assignment, live: set[int]) -> None:
    """Raise ToolError if a partition could have no leader. Brokers would create it, and show it to nobody."""
    for partition, replicas in assignment.items():
        if live.isdisjoint(replicas):
            raise ToolError(
                f"--replica-assignment: partition {partition} would have no leader, for no broker of "
                f"{':'.join(map(str, replicas))} is running. Running: {', '.join(map(str, sorted(live)))}"
            )


def list_topics(service: TopicService, options: argparse.Namespace) -> None:
    """Print the topic names."""
    names = _matching_topics(service, options)
    marked = service.marked_for_deletion()
    if on_terminal():
        rows = [(name, "yes" if is_internal(name) else "", "marked" if name in marked else "") for name in names]
        columns = 3 if marked else 2
        print_table(["topic", "internal", "for deletion"][:columns], [row[:columns] for row in rows])
    else:
        print("\n".join(f"{name} - marked for deletion" if name in marked else name for name in names))


def describe_topics(service: TopicService, options: argparse.Namespace) -> None:
    """Print topics and partitions."""
    names = _existing_topics(service, options)
    if not names:
        return
    wanted = _partition_filter(service, options)
    topics = service.describe(names)
    if options.topics_with_overrides:
        topics = [topic for topic in topics if topic.configs]
    for topic in topics:
        partitions = [p for p in topic.partitions if wanted is None or wanted(topic, p)]
        if on_terminal():
            _print_topic_table(topic, partitions, options.topics_with_overrides)
        else:
            _print_topic_text(topic, partitions, header=wanted is None, rows=not options.topics_with_overrides)


def alter_topics(service: TopicService, options: argparse.Namespace) -> None:
    """Change configs, then add partitions."""
    changes_configs = bool(options.config or options.delete_config)
    if options.partitions is None and not changes_configs:
        raise ToolError("--alter requires --partitions; use `kafka-lite configs --alter` to change configs")
    assignment = parse_replica_assignment(options.replica_assignment) if options.replica_assignment else None
    for name in _existing_topics(service, options):
        if changes_configs:
            print(CONFIG_WARNING)
            service.alter_configs(name, parse_configs(options.config), options.delete_config)
            print(f"Updated config for topic {name}.")
        if options.partitions is not None:
            _add_partitions(service, name, options.partitions, assignment)


def _add_partitions(service: TopicService, topic: str, count: int, assignment: Assignment | None) -> None:
    new_replicas = None
    if assignment is not None:
        # As in Kafka, the list covers all partitions, existing ones first.
        old_count = len(service.describe([topic])[0].partitions)
        new_replicas = [replicas for partition, replicas in assignment.items() if partition >= old_count]
    service.add_partitions(topic, count, new_replicas)
    print("Adding partitions succeeded!")


def delete_topics(service: TopicService, options: argparse.Namespace) -> None:
    """Delete all topics that match."""
    names = _existing_topics(service, options)
    internal = [name for name in names if is_internal(name)]
    if internal and options.zookeeper:
        raise ToolError(f"Topic {internal[0]} is a kafka internal topic and is not allowed to be marked for deletion.")
    if names:
        service.delete(names)
    for name in names if options.zookeeper else ():
        print(f"Topic {name} is marked for deletion.")
        print("Note: This will have no impact if delete.topic.enable is not set to true.")


# ------------------------------------------------------------------------------------------------------------- options


def _at_least_1(flag: str, value: int) -> int:
    if not 1 <= value <= 2**31 - 1:
        raise ToolError(f"{flag} {value}: must be at least 1")
    return value


def _matching_topics(service: TopicService, options: argparse.Namespace) -> list[str]:
    names = service.list_topics()
    if options.exclude_internal:
        names = [name for name in names if not is_internal(name)]
    if options.topic is None:
        return names
    matches = topic_pattern(options.topic).fullmatch
    return [name for name in names if matches(name)]


def _existing_topics(service: TopicService, options: argparse.Namespace) -> list[str]:
    """The topics that --topic matches. Raises ToolError if there are none, unless --if-exists."""
    names = _matching_topics(service, options)
    if options.topic and not names and not options.if_exists:
        raise ToolError(f"Topic '{options.topic}' does not exist as expected")
    return names


def topic_pattern(text: str) -> re.Pattern[str]:
    """Compile ``--topic`` as Kafka does: one regular expression, or several separated by commas. Raises ToolError."""
    pattern = text.strip().strip("\"'").replace(",", "|").replace(" ", "")
    try:
        return java_pattern(pattern)
    except JavaPatternError as error:
        raise ToolError(f"{text} is an invalid regular expression: {error}") from None


def parse_replica_assignment(text: str) -> Assignment:
    """Parse ``0:1,1:0`` into {0: [0, 1], 1: [1, 0]}. Raises ToolError."""
    assignment: Assignment = {}
    for partition, entry in enumerate(text.split(",")):
        brokers = [broker.strip() for broker in entry.split(":")]
        if not all(broker.isdecimal() for broker in brokers):
            raise ToolError(f"--replica-assignment {text}: must be broker ids such as 0:1,1:0")
        assignment[partition] = [int(broker) for broker in brokers]
        if len(set(brokers)) < len(brokers):
            raise ToolError(f"Partition replica lists may not contain duplicate entries: {entry}")
        if len(brokers) != len(assignment[0]):
            raise ToolError(f"Partition {partition} has different replication factor: {entry}")
    return assignment


def parse_configs(entries: Sequence[str]) -> dict[str, str]:
    """Parse ``name=value`` entries. Raises ToolError."""
    without = [entry for entry in entries if "=" not in entry]
    if without:
        raise ToolError(f"--config {without[0]}: must be of the form name=value")
    pairs = (entry.split("=", 1) for entry in entries)
    return {name.strip(): value.strip() for name, value in pairs}


PartitionFilter = Callable[[TopicDescription, PartitionDescription], bool]


def _partition_filter(service: TopicService, options: argparse.Namespace) -> PartitionFilter | None:
    """A filter for the partitions to show; None for all."""
    if options.under_replicated_partitions:
        return lambda _topic, partition: len(partition.isr) < len(partition.replicas)
    if options.unavailable_partitions:
        live = service.live_brokers()
        return lambda _topic, partition: partition.leader not in live
    if options.under_min_isr_partitions:
        return lambda topic, partition: partition.leader < 0 or len(partition.isr) < (topic.min_isr or 0)
    if options.at_min_isr_partitions:
        return lambda topic, partition: len(partition.isr) == topic.min_isr
    return None


# -------------------------------------------------------------------------------------------------------------- output


def _print_topic_text(
    topic: TopicDescription, partitions: Sequence[PartitionDescription], *, header: bool, rows: bool
) -> None:
    """Print a topic in the format of kafka-topics.sh."""
    mark = "\tMarkedForDeletion: true" if topic.marked_for_deletion else ""
    if header:
        configs = ",".join(f"{name}={value}" for name, value in topic.configs.items())
        topic_id = "" if topic.topic_id == ZERO_UUID else f"\tTopicId: {encode_uuid(topic.topic_id)}"
        print(
            f"Topic: {topic.topic}{topic_id}\tPartitionCount: {len(topic.partitions)}"
            f"\tReplicationFactor: {topic.replication_factor}\tConfigs: {configs}{mark}"
        )
    for p in partitions if rows else ():
        leader = p.leader if p.leader >= 0 else "none"
        print(
            f"\tTopic: {topic.topic}\tPartition: {p.partition}\tLeader: {leader}"
            f"\tReplicas: {_ids(p.replicas)}\tIsr: {_ids(p.isr)}{mark}"
        )


def _print_topic_table(topic: TopicDescription, partitions: Sequence[PartitionDescription], only_head: bool) -> None:
    configs = ", ".join(f"{name}={value}" for name, value in topic.configs.items())
    count = "1 partition" if len(topic.partitions) == 1 else f"{len(topic.partitions)} partitions"
    title = f"{topic.topic}: {count}, replication factor {topic.replication_factor}"
    title += " (marked for deletion)" if topic.marked_for_deletion else ""
    title += "" if topic.topic_id == ZERO_UUID else f"\nid {encode_uuid(topic.topic_id)}"
    if configs:
        title += f"\n{configs}"
    rows = [
        (p.partition, p.leader if p.leader >= 0 else "none", _ids(p.replicas), _ids(p.isr))
        for p in ([] if only_head else partitions)
    ]
    print_table(["partition", "leader", "replicas", "in sync"], rows, title=title, right=["partition", "leader"])


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
