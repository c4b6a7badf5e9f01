"""``kafka-lite get-offsets``: start and end offsets of partitions, or offsets by timestamp.

Kafka 0.10.2: core/.../tools/GetOffsetShell.scala; filters as in Kafka 3.0 · book 3.6.3
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.partition_offsets import EARLIEST, LATEST, MAX_TIMESTAMP, NO_OFFSET, Offset, list_offsets
from kafka_lite.tools.admin.topics import topic_pattern
from kafka_lite.tools.common.terminal import on_terminal, print_error, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "get-offsets"
SUMMARY = "show the latest or earliest offsets of partitions, or those at a given time"

SPECIAL_TIMES = {"latest": LATEST, "earliest": EARLIEST, "max-timestamp": MAX_TIMESTAMP}

PartitionFilter = Callable[[TopicPartition], bool]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-get-offsets.sh (GetOffsetShell)."""
    parser.add_argument(
        "--bootstrap-server",
        "--broker-list",
        required=True,
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas",
    )
    parser.add_argument("--topic", help="regular expression for the names of topics (default: all topics)")
    parser.add_argument("--partitions", metavar="0,1", help="only these partitions (default: all)")
    parser.add_argument(
        "--topic-partitions",
        metavar="t1:1,t2:0-3,t3,t4:5-",
        help="topics with their partitions: a number, or a range that excludes its end; not with --topic or "
        "--partitions",
    )
    parser.add_argument(
        "--time",
        default="latest",
        metavar="TIME",
        help="offset of the first record at or after this time in ms since 1970; or latest (-1, the default), "
        "earliest (-2), max-timestamp (-3)",
    )
    parser.add_argument(
        "--exclude-internal-topics", action="store_true", help="leave out internal topics such as __consumer_offsets"
    )
    add_command_config_argument(parser)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print ``topic:partition:offset`` lines; returns 1 if no topic matches or a partition has an error."""
    timestamp = parse_time(options.time)
    wanted = partition_filter(options)
    with admin_channel(options) as channel:
        partitions = [partition for partition in channel.leaders(None) if wanted(partition)]
        if not partitions:
            raise ToolError("Could not match any topic-partitions with the specified filters")
        offsets = list_offsets(channel, partitions, timestamp)
    _print_offsets([offset for offset in offsets if offset.error is Errors.NONE and offset.offset != NO_OFFSET])
    failed = [offset for offset in offsets if offset.error is not Errors.NONE]
    for offset in failed:
        partition = offset.partition
        print_error(
            f"Skip getting offsets for topic-partition {partition.topic}:{partition.partition}: {offset.error.name}"
        )
    return 1 if failed else 0


def parse_time(text: str) -> int:
    """Parse ``--time`` into a protocol timestamp. Raises ToolError."""
    if text in SPECIAL_TIMES:
        return SPECIAL_TIMES[text]
    if re.fullmatch(r"-[123]|[0-9]{1,19}", text) and int(text) < 2**63:
        return int(text)
    valid = ", ".join(SPECIAL_TIMES)
    raise ToolError(f"Malformed time argument {text}: must be milliseconds since 1970 (not before) or one of {valid}")


# ------------------------------------------------------------------------------------------------------------- filters


def partition_filter(options: argparse.Namespace) -> PartitionFilter:
    """A filter for the partitions that the options select. Raises ToolError."""
    if options.topic_partitions and (options.topic or options.partitions):
        raise ToolError("--topic-partitions cannot be used with --topic or --partitions")
    if options.topic_partitions:
        selected = parse_topic_partitions(options.topic_partitions)
    else:
        selected = _topic_and_partitions(options.topic, options.partitions)
    if options.exclude_internal_topics:
        return lambda partition: not is_internal(partition.topic) and selected(partition)
    return selected


def _topic_and_partitions(topic: str | None, partitions: str | None) -> PartitionFilter:
    pattern = topic_pattern(topic or ".*")
    entries = (partitions or "").split(",") if partitions else []
    if not all(entry.strip().isdecimal() for entry in entries):
        raise ToolError(
            f"--partitions expects a comma separated list of numeric partition ids, but received: {partitions}"
        )
    numbers = {int(entry) for entry in entries}
    return lambda p: pattern.fullmatch(p.topic) is not None and (not numbers or p.partition in numbers)


def parse_topic_partitions(text: str) -> PartitionFilter:
    """Parse ``t1:1,t2:0-3,t3,t4:5-,:-3`` into a filter that accepts what any entry matches. Raises ToolError."""
    filters = [_parse_entry(entry) for entry in text.split(",")]
    return lambda partition: any(matches(partition) for matches in filters)


def _parse_entry(entry: str) -> PartitionFilter:
    match = re.fullmatch(r"(?P<topic>[^:]*)(?::(?P<number>\d*)|:(?P<low>\d*)-(?P<high>\d*))?", entry.strip())
    if match is None:
        raise ToolError(f"Invalid topic-partition pattern {entry}: must be topic, topic:number or topic:from-to")
    pattern = topic_pattern(match["topic"] or ".*")
    low, high = int(match["number"] or match["low"] or 0), None
    if match["number"]:
        high = low + 1
    elif match["high"]:
        high = int(match["high"])
    return lambda p: (
        pattern.fullmatch(p.topic) is not None and p.partition >= low and (high is None or p.partition < high)
    )


def _print_offsets(offsets: list[Offset]) -> None:
    if on_terminal():
        rows = [(o.partition.topic, o.partition.partition, o.offset) for o in offsets]
        print_table(["topic", "partition", "offset"], rows, right=["partition", "offset"])
        return
    for o in offsets:
        print(f"{o.partition.topic}:{o.partition.partition}:{o.offset}")
