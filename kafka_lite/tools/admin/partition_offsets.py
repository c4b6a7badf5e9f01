"""Asks the leaders of partitions for offsets, again while leaders change; an error is never taken for an offset.

Kafka 0.10.2: core/.../tools/GetOffsetShell.scala; later clients/.../clients/admin/internals/ListOffsetsHandler.java,
PartitionLeaderStrategy.java · book 3.6.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, SETTLE_MS, UNKNOWN_TOPIC_MS, AdminChannel
from kafka_lite.tools.common.tool_errors import ToolError

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
"""Timestamps that stand for the end of a log, its beginning, and its record with the highest timestamp."""
NO_OFFSET = -1
"""The offset in a response if no record is as late as the timestamp."""
WITHOUT_TIERED_STORAGE = 7
"""Last ListOffsets version whose responses do not depend on remote storage."""
CONSUMER = -1

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True)
class Offset:
    """A leader's result for a partition; NO_OFFSET without an error means that no record is as late."""

    partition: TopicPartition
    offset: int
    error: Errors


def list_offsets(
    channel: AdminChannel, partitions: Iterable[TopicPartition], timestamp: int, settle_ms: float = SETTLE_MS
) -> list[Offset]:
    """The result for each partition, sorted, at a timestamp (ms since 1970, LATEST, EARLIEST or MAX_TIMESTAMP).

    Asks for up to ``settle_ms`` again if an error is retriable or a leader does not respond. An error that is left
    after that is in the result. Raises ConnectionError if no broker tells the leaders, and ToolError.
    """
    time = channel.time
    began_ms = time.hi_res_ms()
    done: dict[TopicPartition, Offset] = {}
    left = set(partitions)
    while left:
        done |= {each.partition: each for each in _ask_leaders(channel, left, timestamp, settle_ms)}
        waited_ms = time.hi_res_ms() - began_ms
        left = {partition for partition in left if _is_passing(done[partition].error, waited_ms, settle_ms)}
        if left:
            time.sleep(RETRY_BACKOFF_MS)
    return [done[partition] for partition in sorted(done)]


def known_offsets(results: Iterable[Offset]) -> Offsets:
    """The offsets, without those partitions that have no record as late as was asked for.

    Raises ToolError if a partition has an error: its offset is not known.
    """
    results = list(results)
    failed = [f"{each.partition} ({each.error.name})" for each in results if each.error is not Errors.NONE]
    if failed:
        raise ToolError(
            f"the offsets of {', '.join(failed)} are not known. Do the partitions exist, and do they have leaders? "
            "`kafka-lite topics --describe` shows them; try again when they do"
        )
    return {each.partition: each.offset for each in results if each.offset != NO_OFFSET}


def ask_leader(
    channel: AdminChannel, leader: int, partitions: Iterable[TopicPartition], timestamp: int
) -> Iterator[Offset]:
    """One request to the leader of these partitions. What its response leaves out is UNKNOWN_SERVER_ERROR."""
    left_out = set(partitions)
    request = ListOffsetsRequest(replica_id=CONSUMER, topics=_by_topic(left_out, timestamp))
    response = channel.send(request, ListOffsetsResponse, leader, WITHOUT_TIERED_STORAGE)
    for topic in response.topics:
        for each in topic.partitions:
            offset = each.old_style_offsets[0] if each.old_style_offsets else each.offset
            partition = TopicPartition(topic.name, each.partition_index)
            left_out.discard(partition)
            yield Offset(partition, offset, Errors.for_code(each.error_code))
    yield from (Offset(partition, NO_OFFSET, Errors.UNKNOWN_SERVER_ERROR) for partition in sorted(left_out))


def _ask_leaders(
    channel: AdminChannel, partitions: Collection[TopicPartition], timestamp: int, settle_ms: float
) -> Iterator[Offset]:
    leaders = channel.leaders({partition.topic for partition in partitions}, settle_ms)
    led: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        if partition not in leaders:
            yield Offset(partition, NO_OFFSET, Errors.UNKNOWN_TOPIC_OR_PARTITION)
        elif leaders[partition] not in channel.brokers:
            yield Offset(partition, NO_OFFSET, Errors.LEADER_NOT_AVAILABLE)
        else:
            led.setdefault(leaders[partition], []).append(partition)
    for leader, mine in sorted(led.items()):
        try:
            yield from ask_leader(channel, leader, mine, timestamp)
        except ConnectionError:
            yield from (Offset(partition, NO_OFFSET, Errors.NETWORK_EXCEPTION) for partition in mine)


def _is_passing(error: Errors, waited_ms: float, settle_ms: float) -> bool:
    """Whether an error may go away if the partition is asked for again."""
    patience_ms = min(UNKNOWN_TOPIC_MS, settle_ms) if error is Errors.UNKNOWN_TOPIC_OR_PARTITION else settle_ms
    return error.retriable and waited_ms < patience_ms


def _by_topic(partitions: Iterable[TopicPartition], timestamp: int) -> list[ListOffsetsTopic]:
    topics: dict[str, ListOffsetsTopic] = {}
    for topic, partition in sorted(partitions):
        entry = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
        topics.setdefault(topic, ListOffsetsTopic(name=topic)).partitions.append(entry)
    return list(topics.values())
