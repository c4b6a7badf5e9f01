"""``kafka-lite log-dirs``: the size of each partition in each broker's log directories.

Kafka 1.0: core/.../admin/LogDirsCommand.scala, bin/kafka-log-dirs.sh · book 6.1.5
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsResult
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.log_dir_descriptions import describe_log_dirs
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "log-dirs"
SUMMARY = "show the brokers' log directories and the size of each partition"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-log-dirs.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    parser.add_argument("--describe", action="store_true", required=True, help="describe the directories")
    parser.add_argument("--topic-list", default="", metavar="T1,T2", help="only these topics (default: all)")
    parser.add_argument("--broker-list", default="", metavar="0,1", help="only these brokers (default: all)")
    add_command_config_argument(parser)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print one JSON document, as Kafka does; a table on a terminal."""
    topics = {topic.strip() for topic in options.topic_list.split(",") if topic.strip()}
    with admin_channel(options) as channel:
        brokers = _brokers(options.broker_list, channel)
        results = {broker_id: describe_log_dirs(channel, broker_id) for broker_id in brokers}
    if on_terminal():
        _print_tables(results, topics)
        return 0
    print("Querying brokers for log directories information")
    print(f"Received log directory information from brokers {','.join(map(str, brokers))}")
    print(json.dumps(as_json(results, topics), separators=(",", ":")))
    return 0


def _brokers(text: str, channel: AdminChannel) -> list[int]:
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not all(entry.isdecimal() for entry in entries):
        raise ToolError(f"--broker-list {text}: must be broker ids separated by commas")
    unknown = {int(entry) for entry in entries} - set(channel.brokers)
    if unknown:
        alive = ",".join(map(str, sorted(channel.brokers)))
        missing = ",".join(map(str, sorted(unknown)))
        raise ToolError(
            f"ERROR: The given brokers do not exist from --broker-list: {missing}. Current existent brokers: {alive}"
        )
    return sorted({int(entry) for entry in entries} or channel.brokers)


def as_json(results: dict[int, list[DescribeLogDirsResult]], topics: Collection[str]) -> dict[str, object]:
    """Kafka's JSON document: version, brokers, their directories and the partitions in them."""
    return {
        "version": 1,
        "brokers": [
            {"broker": broker_id, "logDirs": [_directory(result, topics) for result in directories]}
            for broker_id, directories in results.items()
        ],
    }


def _directory(result: DescribeLogDirsResult, topics: Collection[str]) -> dict[str, object]:
    error = Errors.for_code(result.error_code)
    return {
        "logDir": result.log_dir,
        "error": None if error is Errors.NONE else _java_name(error),
        "partitions": [
            {
                "partition": f"{topic.name}-{partition.partition_index}",
                "size": partition.partition_size,
                "offsetLag": partition.offset_lag,
                "isFuture": partition.is_future_key,
            }
            for topic in sorted(result.topics, key=lambda topic: topic.name)
            for partition in sorted(topic.partitions, key=lambda partition: partition.partition_index)
            if not topics or topic.name in topics
        ],
    }


def _java_name(error: Errors) -> str:
    """The Java client's exception class, as Kafka's tool shows it: ``…errors.KafkaStorageException``."""
    name = error.name.removesuffix("_ERROR").title().replace("_", "")
    return f"org.apache.kafka.common.errors.{name}Exception"


def _print_tables(results: dict[int, list[DescribeLogDirsResult]], topics: Collection[str]) -> None:
    for broker_id, directories in results.items():
        for result in directories:
            error = Errors.for_code(result.error_code)
            rows = [
                (topic.name, partition.partition_index, f"{partition.partition_size:,}", partition.offset_lag)
                for topic in sorted(result.topics, key=lambda topic: topic.name)
                for partition in sorted(topic.partitions, key=lambda partition: partition.partition_index)
                if not topics or topic.name in topics
            ]
            state = "" if error is Errors.NONE else f" ({error.name})"
            title = f"broker {broker_id}: {result.log_dir}{state}"
            if result.usable_bytes >= 0:
                title += f", {result.usable_bytes:,} of {result.total_bytes:,} bytes free"
            columns = ["topic", "partition", "size in bytes", "offset lag"]
            print_table(columns, rows, title=title, right=columns[1:])
