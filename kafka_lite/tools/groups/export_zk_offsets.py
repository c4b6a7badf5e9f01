"""``kafka-lite export-zk-offsets``: write the offsets that groups store in ZooKeeper to a file.

Kafka 0.10.2: core/.../tools/ExportZkOffsets.scala · book 3.5.3
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups

NAME = "export-zk-offsets"
SUMMARY = "export the offsets of old consumers from ZooKeeper to a file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka.tools.ExportZkOffsets, which has no script of its own in Kafka."""
    parser.add_argument(
        "--zkconnect",
        default="localhost:2181",
        metavar="HOST:PORT[/PATH]",
        help="ZooKeeper to connect to (default: localhost:2181)",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        help="a consumer group; may be repeated (default: all groups with offsets)",
    )
    parser.add_argument("--output-file", type=Path, required=True, metavar="FILE", help="the file to write")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Write one line per offset; returns 1 if ZooKeeper cannot be read or the file cannot be written."""
    configure_logging(default_level="WARN")
    with zookeeper_client(options.zkconnect) as zk_client:
        lines = list(exported(ConsumerGroups(zk_client), options.group))
    with options.output_file.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    print_to_stderr(f"Exported {len(lines)} offsets to {options.output_file}")
    return 0


def exported(groups: ConsumerGroups, names: Sequence[str]) -> Iterator[str]:
    """``/consumers/g/offsets/t/0:33`` per offset, by group, topic and partition; of all groups if none is named.

    Raises ToolError if a named group has no offsets.
    """
    for group in names or groups.get_groups():
        offsets = groups.get_all_offsets(group)
        if names and not offsets:
            raise ToolError(
                f"The group {group} has no offsets in ZooKeeper: is it misspelt? "
                "What groups keep in Kafka shows `kafka-lite consumer-groups --describe`."
            )
        for partition, offset in offsets.items():
            yield f"{paths.consumer_offset(group, *partition)}:{offset}"
