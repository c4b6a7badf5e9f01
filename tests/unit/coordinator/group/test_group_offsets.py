"""Offsets of a group: committed, fetched, refused, deleted."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_offsets import Committer
from tests.support.groups import GROUP, Groups


@pytest.fixture
def groups() -> Groups:
    return Groups()


@pytest.mark.parametrize(
    ("refusal", "answer"),
    [
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
        (Errors.KAFKA_STORAGE_ERROR, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE),
        (Errors.RECORD_LIST_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE),
        (Errors.REQUEST_TIMED_OUT, Errors.REQUEST_TIMED_OUT),
    ],
)
def test_errors_of_a_failed_append_are_translated_for_commits(groups: Groups, refusal: Errors, answer: Errors) -> None:
    groups.commit(1)
    groups.offsets_log.error = refusal
    assert groups.commit(2) is answer
    assert groups.committed() == 1
    assert not groups.group().offsets.is_pending(TopicPartition("topic", 0))


def test_too_long_metadata_is_refused_for_its_partition_only(groups: Groups) -> None:
    assert groups.commit(1, metadata="x" * 100) is Errors.NONE
    assert groups.commit(2, metadata="x" * 101) is Errors.OFFSET_METADATA_TOO_LARGE
    assert groups.committed() == 1


def test_a_commit_gets_its_response_once_it_is_in_the_log(groups: Groups) -> None:
    groups.commit(1)
    groups.offsets_log.held = []
    assert groups.commit(2) is None
    assert groups.committed() == 1
    topic_partition = TopicPartition("topic", 0)
    unstable = groups.offsets.handle_fetch_offsets(GROUP, [topic_partition], require_stable=True)
    assert unstable[topic_partition][1] is Errors.UNSTABLE_OFFSET_COMMIT
    groups.offsets_log.release()
    assert groups.committed() == 2


def test_a_commit_in_progress_is_not_lost_when_the_group_moves(groups: Groups) -> None:
    groups.offsets_log.held = []
    groups.commit(2)
    for partition in range(2):
        groups.coordinator.on_resignation(partition, 1)
    groups.sleep(0)
    groups.offsets_log.release()
    assert groups.restart().committed() == 2


def test_offsets_are_deleted_only_for_topics_without_subscribers(groups: Groups) -> None:
    (member,) = groups.stable()
    committer = Committer(member.member_id, member.generation)
    for topic in ("topic", "other"):
        groups.commit(7, topic=topic, committer=committer)
    ours, other = TopicPartition("topic", 0), TopicPartition("other", 0)
    assert groups.offsets.handle_delete_offsets(GROUP, [ours, other]) == {
        ours: Errors.GROUP_SUBSCRIBED_TO_TOPIC,
        other: Errors.NONE,
    }
    assert (groups.committed(), groups.committed("other")) == (7, -1)
    member.leave()
    assert groups.offsets.handle_delete_offsets(GROUP, [ours]) == {ours: Errors.NONE}
    assert groups.state() is None, "the group is gone, too"


@pytest.mark.parametrize(
    ("prepare", "error"),
    [
        (lambda _groups: None, Errors.GROUP_ID_NOT_FOUND),
        (lambda groups: groups.stable(protocol_type="connect"), Errors.NON_EMPTY_GROUP),
        (lambda groups: groups.coordinator.shutdown(), Errors.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_groups_whose_offsets_cannot_be_deleted(groups: Groups, prepare: object, error: Errors) -> None:
    prepare(groups)  # type: ignore[operator]
    with pytest.raises(ApiError) as failure:
        groups.offsets.handle_delete_offsets(GROUP, [TopicPartition("topic", 0)])
    assert failure.value.error is error


def test_all_offsets_of_a_group_are_fetched_at_once(groups: Groups) -> None:
    assert groups.offsets.handle_fetch_offsets(GROUP, None) == {}
    for partition in range(3):
        groups.commit(partition, partition=partition)
    fetched = groups.offsets.handle_fetch_offsets(GROUP, None)
    assert {tp.partition: offset.offset for tp, (offset, _) in fetched.items()} == {0: 0, 1: 1, 2: 2}
