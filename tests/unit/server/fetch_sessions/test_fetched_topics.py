"""From the partitions of a request to those that are read, and back to what the response calls them."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.fetch_context import Results
from kafka_lite.server.fetch_sessions.fetched_topics import FetchedTopicIds, FetchedTopics

T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)
ID_OF_T, ID_OF_U, UNKNOWN = (UUID(int=number) for number in (7, 8, 9))
BY_ID_T, BY_ID_U, BY_ID_UNKNOWN = (TopicIdPartition(each, 0) for each in (ID_OF_T, ID_OF_U, UNKNOWN))
NAMES = {ID_OF_T: "t", ID_OF_U: "u"}
WANTED = FetchPartition(5, 100)
READ = LogReadResult(Errors.NONE, 10)


def errors(results: Results) -> dict[object, Errors]:
    return {key: result.error for key, result in results}


def by_id(*keys: TopicIdPartition, logs: dict[TopicPartition, UUID] | None = None) -> FetchedTopicIds:
    found = {T0: ID_OF_T, U0: ID_OF_U} if logs is None else logs
    return FetchedTopicIds([(key, WANTED) for key in keys], NAMES.get, found.get)


def test_names_are_read_as_they_are() -> None:
    topics = FetchedTopics([(T0, WANTED), (U0, WANTED)])
    assert topics.readable == [(T0, WANTED), (U0, WANTED)]
    assert (topics.key_of(T0), topics.name_of(T0)) == (T0, T0)
    assert topics.as_asked([(T0, READ)]) == [(T0, READ)]
    assert (topics.new_response(T0).topic, topics.new_response(T0).topic_id.int) == ("t", 0)


def test_ids_are_read_by_their_names() -> None:
    topics = by_id(BY_ID_T, BY_ID_U)
    assert topics.readable == [(T0, WANTED), (U0, WANTED)]
    assert (topics.key_of(T0), topics.name_of(BY_ID_U)) == (BY_ID_T, U0)
    assert topics.as_asked([(T0, READ), (U0, READ)]) == [(BY_ID_T, READ), (BY_ID_U, READ)]
    response = topics.new_response(BY_ID_T)
    assert (response.topic, response.topic_id, response.partitions) == ("", ID_OF_T, [])


def test_an_unknown_id_is_an_error_and_the_others_are_read() -> None:
    topics = by_id(BY_ID_UNKNOWN, BY_ID_T)
    assert topics.readable == [(T0, WANTED)]
    assert errors(topics.as_asked([(T0, READ)])) == {BY_ID_UNKNOWN: Errors.UNKNOWN_TOPIC_ID, BY_ID_T: Errors.NONE}
    assert topics.name_of(BY_ID_UNKNOWN) == TopicPartition("", 0)


def test_the_log_of_another_topic_is_not_read() -> None:
    topics = by_id(BY_ID_T, BY_ID_U, logs={T0: UNKNOWN})
    assert topics.readable == [(U0, WANTED)], "a log from before ids may have any"
    assert errors(topics.failed) == {BY_ID_T: Errors.INCONSISTENT_TOPIC_ID}


def test_a_topic_that_was_made_again_while_the_request_waited_is_not_returned() -> None:
    logs = {T0: ID_OF_T, U0: ID_OF_U}
    topics = by_id(BY_ID_T, BY_ID_U, logs=logs)
    logs[T0] = UNKNOWN
    answered = errors(topics.as_asked([(T0, READ), (U0, READ)]))
    assert answered == {BY_ID_T: Errors.INCONSISTENT_TOPIC_ID, BY_ID_U: Errors.NONE}


@pytest.mark.parametrize("ids", [False, True])
def test_topics_that_the_user_may_not_read_are_refused(ids: bool) -> None:
    topics = by_id(BY_ID_T, BY_ID_U) if ids else FetchedTopics([(T0, WANTED), (U0, WANTED)])
    topics.refuse({"t"})
    assert topics.readable == [(U0, WANTED)]
    refused = BY_ID_T if ids else T0
    assert errors(topics.failed) == {refused: Errors.TOPIC_AUTHORIZATION_FAILED}
    assert [result.aborted_transactions for _, result in topics.failed] == [[]], "not null, as in Kafka"
