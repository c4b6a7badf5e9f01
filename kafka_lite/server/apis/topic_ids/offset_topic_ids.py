"""Topics of OffsetCommit and OffsetFetch, which have ids in place of names since version 10.

Kafka 4.1: core/.../server/KafkaApis.scala (handleOffsetCommitRequest, fetchOffsetsForGroup) · book 3.5.4
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Protocol
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_08_offset_commit as offset_commit
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.server.apis.api_handler import Handler, Respond

FIRST_VERSION_WITH_TOPIC_IDS = 10


class TopicNames(Protocol):
    """The metadata cache, as far as topics have names and ids."""

    def topic_id(self, topic: str) -> UUID | None:
        """The id of the topic; None without one."""
        ...

    def topic_name(self, topic_id: UUID) -> str | None:
        """The name of the topic with this id."""
        ...


def by_topic_ids(topics: TopicNames, handler: Handler) -> Handler:
    """A handler of OffsetCommit or OffsetFetch in all versions, from one that knows topics by name.

    ::

        ids ─▶ names ─▶ handler ─▶ names ─▶ ids
          ╰── unknown ──── UNKNOWN_TOPIC_ID ─╯

    Offsets are kept by the names of topics. A topic that was deleted and made again has another id, and the offsets of
    the old one are not found by it.
    """

    def handle(request: Request, body: Any, respond: Respond) -> None:
        if request.header.api_version < FIRST_VERSION_WITH_TOPIC_IDS:
            handler(request, body, respond)
        elif body.API_KEY is ApiKey.OFFSET_COMMIT:
            _commit(topics, request, body, respond, handler)
        else:
            _fetch(topics, request, body, respond, handler)

    return handle


def _commit(
    topics: TopicNames, request: Request, body: offset_commit.OffsetCommitRequest, respond: Respond, handler: Handler
) -> None:
    known, unknown = _named(topics, body.topics)
    error = Errors.UNKNOWN_TOPIC_ID.code
    refused = [
        offset_commit.OffsetCommitResponseTopic(
            topic_id=topic.topic_id,
            partitions=[
                offset_commit.OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                for each in topic.partitions
            ],
        )
        for topic in unknown
    ]
    rest = copy.copy(body)
    rest.topics = known

    def complete(response: Any) -> None:
        _set_ids(topics, response.topics)
        response.topics += refused
        respond(response)

    if known or not unknown:
        handler(request, rest, complete)
    else:
        complete(offset_commit.OffsetCommitResponse())


def _fetch(
    topics: TopicNames, request: Request, body: offset_fetch.OffsetFetchRequest, respond: Respond, handler: Handler
) -> None:
    error = Errors.UNKNOWN_TOPIC_ID.code
    refused: dict[str, list[offset_fetch.OffsetFetchResponseTopics]] = {}
    rest = copy.copy(body)
    rest.groups = []
    for group in body.groups:
        named = copy.copy(group)
        if group.topics is not None:
            named.topics, unknown = _named(topics, group.topics)
            refused.setdefault(group.group_id, []).extend(
                offset_fetch.OffsetFetchResponseTopics(
                    topic_id=topic.topic_id,
                    partitions=[_nothing(number, error) for number in topic.partition_indexes],
                )
                for topic in unknown
            )
        rest.groups.append(named)

    def complete(response: Any) -> None:
        for group in response.groups:
            _set_ids(topics, group.topics)
            # Of all topics with offsets, those without an id are left out.
            group.topics = [topic for topic in group.topics if topic.topic_id.int]
            if not group.error_code:
                group.topics += refused.pop(group.group_id, [])
        respond(response)

    handler(request, rest, complete)


def _nothing(number: int, error: int) -> offset_fetch.OffsetFetchResponsePartitions:
    return offset_fetch.OffsetFetchResponsePartitions(
        partition_index=number, committed_offset=-1, metadata="", error_code=error
    )


def _named(topics: TopicNames, asked: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The topics with their names, and those whose ids nobody knows."""
    known, unknown = [], []
    for topic in asked:
        name = topics.topic_name(topic.topic_id)
        if name is None:
            unknown.append(topic)
        else:
            named = copy.copy(topic)
            named.name = name
            known.append(named)
    return known, unknown


def _set_ids(topics: TopicNames, answered: Iterable[Any]) -> None:
    for topic in answered:
        if not topic.topic_id.int:
            topic.topic_id = topics.topic_id(topic.name) or ZERO_UUID
