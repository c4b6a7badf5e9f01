"""``kafka-lite delete-records``: delete the records below given offsets.

Kafka 0.11: core/.../admin/DeleteRecordsCommand.scala, bin/kafka-delete-records.sh · book 6.1.5
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, AdminChannel
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "delete-records"
SUMMARY = "delete the records below given offsets"

TIMEOUT_MS = 30_000
MAX_RETRIES = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-delete-records.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    parser.add_argument(
        "--offset-json-file",
        required=True,
        type=Path,
        metavar="FILE",
        help='{"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}; deletes the records '
        "before the offset; -1: all of them",
    )
    add_command_config_argument(parser)


@dataclass(frozen=True)
class Deletion:
    """A leader's result for a partition: its new log start offset, or the error."""

    partition: TopicPartition
    low_watermark: int
    error: Errors


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print each partition's new log start offset; returns 1 if any failed (Kafka's tool returns 0)."""
    offsets = parse_offsets(options.offset_json_file.read_text(encoding="utf-8-sig"))
    with admin_channel(options) as channel:
        print("Executing records delete operation")
        deletions = sorted(delete_records(channel, offsets), key=lambda deletion: deletion.partition)
    print("Records delete operation completed:")
    _print(deletions)
    return 1 if any(deletion.error is not Errors.NONE for deletion in deletions) else 0


def parse_offsets(text: str) -> dict[TopicPartition, int]:
    """Partition -> the first offset to keep. Raises ToolError if the text is not in Kafka's format."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ToolError(f"The input string is not a valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise ToolError("The input string is not a JSON object")
    version = document.get("version", 1)
    if version != 1:
        raise ToolError(f"Not supported version field value {version}")
    entries = document.get("partitions")
    if not isinstance(entries, list):
        raise ToolError("Missing partitions field")
    offsets: dict[TopicPartition, int] = {}
    duplicates = set()
    for entry in entries:
        partition, offset = _parse_entry(entry)
        if partition in offsets:
            duplicates.add(partition)
        offsets[partition] = offset
    if duplicates:
        names = ",".join(map(str, sorted(duplicates)))
        raise ToolError(f"Offset json file contains duplicate topic partitions: {names}")
    return offsets


def _parse_entry(entry: object) -> tuple[TopicPartition, int]:
    match entry:
        case {"topic": str(topic), "partition": int(partition), "offset": int(offset)} if (
            0 <= partition < 2**31 and -(2**63) <= offset < 2**63
        ):
            return TopicPartition(topic, partition), offset
    raise ToolError(f"{json.dumps(entry)} has no topic (text), partition and offset (integers)")


def delete_records(channel: AdminChannel, offsets: Mapping[TopicPartition, int]) -> list[Deletion]:
    """Send the deletions to the partitions' leaders; retry partitions with a retriable error, as of a new leader."""
    done: dict[TopicPartition, Deletion] = {}
    for attempt in range(MAX_RETRIES):
        left = {p: offset for p, offset in offsets.items() if p not in done or _is_passing(done[p].error)}
        if not left:
            break
        if attempt:
            channel.time.sleep(RETRY_BACKOFF_MS)
        leaders = channel.leaders({partition.topic for partition in left})
        for leader, partitions in _by_leader(left, leaders).items():
            refused = leader not in channel.brokers
            deletions = _refused(partitions, leaders) if refused else _ask(channel, leader, partitions, left)
            done.update((deletion.partition, deletion) for deletion in deletions)
    return list(done.values())


def _is_passing(error: Errors) -> bool:
    """Whether another try may succeed. The channel has asked for an unknown topic often enough."""
    return error.retriable and error is not Errors.UNKNOWN_TOPIC_OR_PARTITION


def _by_leader(
    partitions: Iterable[TopicPartition], leaders: Mapping[TopicPartition, int]
) -> dict[int, list[TopicPartition]]:
    by_leader = defaultdict(list)
    for partition in partitions:
        by_leader[leaders.get(partition, -1)].append(partition)
    return by_leader


def _refused(partitions: Iterable[TopicPartition], leaders: Mapping[TopicPartition, int]) -> Iterable[Deletion]:
    """Results for partitions that have no leader or do not exist."""
    for partition in partitions:
        exists = partition in leaders
        yield Deletion(partition, -1, Errors.LEADER_NOT_AVAILABLE if exists else Errors.UNKNOWN_TOPIC_OR_PARTITION)


def _ask(
    channel: AdminChannel, leader: int, partitions: Collection[TopicPartition], offsets: Mapping[TopicPartition, int]
) -> Iterable[Deletion]:
    by_topic: dict[str, list[DeleteRecordsPartition]] = defaultdict(list)
    for tp in partitions:
        by_topic[tp.topic].append(DeleteRecordsPartition(partition_index=tp.partition, offset=offsets[tp]))
    topics = [DeleteRecordsTopic(name=topic, partitions=entries) for topic, entries in by_topic.items()]
    request = DeleteRecordsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    try:
        response = channel.send(request, DeleteRecordsResponse, leader)
    except ConnectionError:  # deleting twice does no harm
        yield from (Deletion(partition, -1, Errors.NETWORK_EXCEPTION) for partition in partitions)
        return
    results = {
        TopicPartition(topic.name, each.partition_index): (each.low_watermark, Errors.for_code(each.error_code))
        for topic in response.topics
        for each in topic.partitions
    }
    for partition in partitions:
        yield Deletion(partition, *results.get(partition, (-1, Errors.UNKNOWN_SERVER_ERROR)))


def _print(deletions: Iterable[Deletion]) -> None:
    if on_terminal():
        rows = [
            (
                d.partition.topic,
                d.partition.partition,
                "" if d.error is not Errors.NONE else d.low_watermark,
                _reason(d),
            )
            for d in deletions
        ]
        print_table(["topic", "partition", "begins at", "error"], rows, right=["partition", "begins at"])
        return
    for deletion in deletions:
        if deletion.error is Errors.NONE:
            print(f"partition: {deletion.partition}\tlow_watermark: {deletion.low_watermark}")
        else:
            print(f"partition: {deletion.partition}\terror: {_reason(deletion)}")


def _reason(deletion: Deletion) -> str:
    return "" if deletion.error is Errors.NONE else f"{deletion.error.name}: {deletion.error.message}"
