"""From what a member has to what it is assigned."""

from __future__ import annotations

from kafka_lite.consumer.group.modern.local_assignment import (
    NO_ASSIGNMENT,
    LocalAssignment,
    partitions_of,
    reconciliation,
)
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import Assignment, TopicPartitions
from tests.support.scripted_members import T0, T1, U0
from tests.support.scripted_modern_group import topic_id

T, U = topic_id("t"), topic_id("u")
NAMES = {T: "t", U: "u"}


def test_what_is_given_up_and_what_is_new() -> None:
    plan = reconciliation(LocalAssignment(3, {T: frozenset({1}), U: frozenset({0})}), {T0: T, T1: T}, NAMES)
    assert (plan.assigned, plan.revoked, plan.added) == ({T1: T, U0: U}, {T0}, {U0})
    assert (plan.resolved.local_epoch, plan.unresolved, plan.changes_nothing) == (3, frozenset(), False)


def test_a_topic_without_a_name_waits() -> None:
    plan = reconciliation(LocalAssignment(1, {T: frozenset({0}), U: frozenset({0})}), {T0: T}, {T: "t"})
    assert (plan.resolved.partitions, plan.unresolved) == ({T: {0}}, {U})
    assert plan.changes_nothing


def test_a_topic_that_was_made_again_is_another_topic() -> None:
    again = topic_id("t, made again")
    plan = reconciliation(LocalAssignment(1, {again: frozenset({0})}), {T0: T}, {T: "t", again: "t"})
    assert (plan.revoked, plan.added) == ({T0}, {T0})


def test_the_local_epoch_rises_with_every_other_assignment() -> None:
    first = NO_ASSIGNMENT.then({})
    assert (first.local_epoch, first == NO_ASSIGNMENT) == (0, False)
    second = first.then({T: frozenset({0})})
    assert second.then({T: frozenset({0})}) is second
    assert second.then({}) != first


def test_assignments_in_requests_and_responses() -> None:
    sent = Assignment(
        topic_partitions=[TopicPartitions(topic_id=T, partitions=[1, 0]), TopicPartitions(topic_id=U, partitions=[])]
    )
    partitions = partitions_of(sent)
    assert partitions == {T: {0, 1}}
    assert LocalAssignment(1, partitions).structs() == [TopicPartitions(topic_id=T, partitions=[0, 1])]
