"""How the description of topics is cut into pages."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponsePartition, MetadataResponseTopic
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from kafka_lite.server.apis.topic_pages import names_of_page, refused_page, topic_page

SIZES = {"a": 3, "b": 3, "c": 1}
DEAD = MetadataResponsePartition(error_code=Errors.LEADER_NOT_AVAILABLE.code, partition_index=0, leader_id=9)


def find(name: str) -> MetadataResponseTopic | None:
    if name not in SIZES:
        return None
    partitions = [MetadataResponsePartition(partition_index=number, leader_id=1) for number in range(SIZES[name])]
    return MetadataResponseTopic(name=name, topic_id=UUID(int=ord(name)), partitions=partitions)


def page(limit: int, cursor: tuple[str, int] | None = None, *names: str) -> DescribeTopicPartitionsResponse:
    place = None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1])
    asked = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name) for name in names], cursor=place)
    return topic_page(names_of_page(asked, list(SIZES)), place, limit, find, skip_missing=not names)


def seen(response: DescribeTopicPartitionsResponse) -> tuple[list[str], tuple[str, int] | None]:
    shown = [f"{topic.name}-{each.partition_index}" for topic in response.topics for each in topic.partitions]
    cursor = response.next_cursor
    return shown, None if cursor is None else (cursor.topic_name, cursor.partition_index)


@pytest.mark.parametrize("limit", range(1, 9))
def test_all_partitions_are_on_one_page_each_and_pages_are_full(limit: int) -> None:
    pages, cursor = [], None
    while not pages or cursor is not None:
        shown, cursor = seen(page(limit, cursor))
        pages.append(shown)
    assert [each for shown in pages for each in shown] == ["a-0", "a-1", "a-2", "b-0", "b-1", "b-2", "c-0"]
    assert {len(shown) for shown in pages[:-1]} <= {limit}


def test_a_page_that_is_full_at_the_end_of_a_topic_names_the_next_topic() -> None:
    assert seen(page(3))[1] == ("b", 0)
    assert seen(page(4))[1] == ("b", 1)
    assert seen(page(7))[1] is None


def test_a_topic_that_is_asked_for_and_missing_is_an_error_and_takes_no_room() -> None:
    response = page(1, None, "missing", "c", "not/valid")
    assert [(each.name, Errors.for_code(each.error_code)) for each in response.topics] == [
        ("c", Errors.NONE),
    ]
    assert seen(response)[1] == ("missing", 0)
    response = page(10, ("missing", 0), "missing", "c", "not/valid")
    assert [(each.name, Errors.for_code(each.error_code)) for each in response.topics] == [
        ("missing", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("not/valid", Errors.INVALID_TOPIC_EXCEPTION),
    ]


def test_a_cursor_beyond_the_partitions_of_a_topic_shows_none_of_them() -> None:
    assert seen(page(10, ("b", 3))) == (["c-0"], None)


def test_of_all_topics_the_cursors_may_have_gone() -> None:
    assert seen(page(10, ("bb", 2))) == (["c-0"], None)


@pytest.mark.parametrize("cursor", [("a", 0), ("b", -1)])
def test_a_cursor_must_be_of_a_topic_that_is_asked_for_and_not_negative(cursor: tuple[str, int]) -> None:
    with pytest.raises(ApiError) as raised:
        page(10, cursor, "b")
    assert raised.value.error is Errors.INVALID_REQUEST
    asked = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="b")])
    [topic] = refused_page(asked, raised.value).topics
    assert (topic.name, topic.error_code, topic.partitions) == ("b", Errors.INVALID_REQUEST.code, [])


def test_a_dead_leader_is_none_and_no_error() -> None:
    found = MetadataResponseTopic(name="a", partitions=[DEAD])
    [topic] = topic_page(["a"], None, 10, lambda _: found, skip_missing=True).topics
    [partition] = topic.partitions
    assert (partition.error_code, partition.leader_id, partition.eligible_leader_replicas) == (0, -1, [])
