"""Which partitions have state, on their way from a subscription to a deletion."""

from __future__ import annotations

from uuid import UUID

from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions, of_topics
from kafka_lite.coordinator.group.modern.topics_image import TopicMetadata

T, S = UUID(int=1), UUID(int=2)
TOPICS = [TopicMetadata("t", T, 3), TopicMetadata("s", S, 1)]
BEGUN = StatePartitions().begin({T: frozenset({0, 1}), S: frozenset({0})}, {T: "t", S: "s"})


def test_what_is_subscribed_to_and_has_no_state_is_missing() -> None:
    assert StatePartitions().missing(TOPICS, {}) == {T: frozenset({0, 1, 2}), S: frozenset({0})}
    done = BEGUN.succeed({T: frozenset({0})})
    assert done.missing(TOPICS, {}) == {T: frozenset({1, 2}), S: frozenset({0})}, "asked for too long ago"
    assert done.missing(TOPICS, done.initializing) == {T: frozenset({2})}


def test_success_and_failure_end_the_initialization() -> None:
    done = BEGUN.succeed({T: frozenset({0})}).fail({S: frozenset({0})})
    assert (done.initializing, done.initialized) == ({T: frozenset({1})}, {T: frozenset({0})})


def test_a_deletion_finds_all_there_may_be() -> None:
    state = BEGUN.succeed({T: frozenset({0})})
    assert state.with_state() == {T: frozenset({0, 1}), S: frozenset({0})}
    gone = state.delete()
    assert (gone.initializing, gone.initialized, gone.deleting) == ({}, {}, {T, S})
    assert gone.with_state([TOPICS[1]]) == {S: frozenset({0})}, "asked for once more after a failure"
    assert gone.deleted([T]).deleting == {S}


def test_a_deletion_may_be_of_one_topic() -> None:
    gone = BEGUN.delete([S, UUID(int=9)])
    assert (gone.initializing, gone.deleting) == ({T: frozenset({0, 1})}, {S})


def test_a_topic_that_is_initialized_anew_is_not_deleted() -> None:
    again = BEGUN.delete().begin({T: frozenset({0})}, {})
    assert (again.initializing, again.deleting) == ({T: frozenset({0})}, {S})


def test_the_record_has_all_of_it_with_names() -> None:
    state = BEGUN.succeed({T: frozenset({0})}).delete([S])
    value = state.to_value()
    assert [topic.topic_name for topic in value.deleting_topics] == ["s"]
    assert StatePartitions.from_value(value) == state
    nameless = StatePartitions().succeed({T: frozenset({1})}).to_value()
    assert nameless.initialized_topics[0].topic_name == "<UNKNOWN>"


def test_topics_are_picked() -> None:
    assert of_topics({T: frozenset({1})}, [T, S]) == {T: frozenset({1})}
