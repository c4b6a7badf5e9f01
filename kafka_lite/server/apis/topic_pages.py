"""Cuts the description of topics into pages. Pure.

Kafka 3.8: core/.../server/metadata/KRaftMetadataCache.scala (getTopicMetadataForDescribeTopicResponse), KIP-966;
0.10 describes all topics at once · book 7.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import is_internal, is_valid_topic_name
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponsePartition, MetadataResponseTopic
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

NO_LEADER = -1


def names_of_page(asked: DescribeTopicPartitionsRequest, all_topics: Sequence[str]) -> list[str]:
    """The topics of a page and of those after it, by name.

    Raises ApiError INVALID_REQUEST for a cursor with a topic that is not asked for, or with a negative partition.
    """
    cursor, names = asked.cursor, {topic.name for topic in asked.topics} or set(all_topics)
    if cursor is None:
        return sorted(names)
    if asked.topics and cursor.topic_name not in names:
        raise Errors.INVALID_REQUEST.exception(f"the cursor's topic {cursor.topic_name!r} is not asked for")
    if cursor.partition_index < 0:
        raise Errors.INVALID_REQUEST.exception(f"the cursor's partition is {cursor.partition_index}")
    return sorted(name for name in names if name >= cursor.topic_name)


def topic_page(
    names: Sequence[str],
    cursor: Cursor | None,
    limit: int,
    find: Callable[[str], MetadataResponseTopic | None],
    skip_missing: bool,
) -> DescribeTopicPartitionsResponse:
    """The topics of one page, with at most ``limit`` partitions, and where the next page begins::

        limit 4     a-0  a-1  a-2 │ b-0 ┆ b-1  b-2 │ c-0        next cursor: b, 1
                    a-0  a-1  a-2 │ b-0 │ c-0                   next cursor: c, 0

    ``find`` returns a topic with its partitions in order, or None; such a topic is an error, or skipped.
    """
    page, left = DescribeTopicPartitionsResponse(), limit
    for name in names:
        if left == 0:
            page.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        found = find(name)
        if found is None:
            if not skip_missing:
                page.topics.append(_missing(name))
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        shown = found.partitions[first : first + left]
        page.topics.append(_topic(name, found, shown))
        if first + len(shown) < len(found.partitions):
            page.next_cursor = Cursor(topic_name=name, partition_index=first + len(shown))
            break
        left -= len(shown)
    return page


def refused_page(asked: DescribeTopicPartitionsRequest, failure: ApiError) -> DescribeTopicPartitionsResponse:
    """The response to a request that is not valid: it has the error for each topic."""
    code = failure.error.code
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(error_code=code, name=topic.name) for topic in asked.topics]
    )


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    error = Errors.UNKNOWN_TOPIC_OR_PARTITION if is_valid_topic_name(name) else Errors.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(error_code=error.code, name=name, is_internal=is_internal(name))


def _topic(
    name: str, found: MetadataResponseTopic, shown: Sequence[MetadataResponsePartition]
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=name, topic_id=found.topic_id, is_internal=is_internal(name), partitions=[_partition(p) for p in shown]
    )


def _partition(state: MetadataResponsePartition) -> DescribeTopicPartitionsResponsePartition:
    """A leader that is dead, or does not listen where the client does, is none; that is no error here."""
    return DescribeTopicPartitionsResponsePartition(
        partition_index=state.partition_index,
        leader_id=NO_LEADER if state.error_code else state.leader_id,
        leader_epoch=state.leader_epoch,
        replica_nodes=state.replica_nodes,
        isr_nodes=state.isr_nodes,
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=state.offline_replicas,
    )
