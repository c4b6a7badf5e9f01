"""``kafka-lite import-zk-offsets``: set the offsets that groups store in ZooKeeper from a file.

Kafka 0.10.2: core/.../tools/ImportZkOffsets.scala · book 3.5.3
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups

NAME = "import-zk-offsets"
SUMMARY = "import offsets of old consumers into ZooKeeper from a file"

MAX_INT, MAX_LONG = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF
_LINE = re.compile(r"/consumers/([^/]+)/offsets/([^/]+)/([0-9]{1,10}):([0-9]{1,19})")

GroupOffsets = dict[str, dict[TopicPartition, int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka.tools.ImportZkOffsets, which has no script of its own in Kafka."""
    parser.add_argument(
        "--zkconnect",
        default="localhost:2181",
        metavar="HOST:PORT[/PATH]",
        help="ZooKeeper to connect to (default: localhost:2181)",
    )
    parser.add_argument(
        "--input-file",
        type=Path,
        required=True,
        metavar="FILE",
        help="a file written by export-zk-offsets, or part of one",
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Import all offsets; returns 1 if the file is malformed (then nothing is set) or ZooKeeper fails."""
    configure_logging(default_level="WARN")
    with options.input_file.open(encoding="utf-8", errors="replace") as file:
        offsets = parse(file)
    with zookeeper_client(options.zkconnect) as zk_client:
        groups = ConsumerGroups(zk_client)
        for group, of_group in offsets.items():
            if members := groups.get_consumers_in_group(group):
                print_to_stderr(
                    f"The group {group} has members, which will commit their own offsets over these: "
                    f"stop them first ({', '.join(members)})"
                )
            for partition, offset in of_group.items():
                groups.set_offset(group, partition, offset)
    print_to_stderr(f"Imported {sum(map(len, offsets.values()))} offsets of {len(offsets)} groups")
    return 0


def parse(lines: Iterable[str]) -> GroupOffsets:
    """Parse lines of the form ``/consumers/g/offsets/t/0:33``; for a repeated partition the last line wins.

    Raises ToolError for any other line. Kafka's tool would set whatever znode the line names, and silently stops at the
    first empty line.
    """
    offsets: GroupOffsets = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None or int(found[3]) > MAX_INT or int(found[4]) > MAX_LONG:
            raise ToolError(
                f"line {number} is not an offset: {line.strip()[:200]!r} "
                "(an offset is written /consumers/GROUP/offsets/TOPIC/PARTITION:OFFSET); nothing was imported"
            )
        offsets.setdefault(found[1], {})[TopicPartition(found[2], int(found[3]))] = int(found[4])
    return offsets
